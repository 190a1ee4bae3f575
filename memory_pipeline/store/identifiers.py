"""Finding the one thing that a person means by an id, or by how an id begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from memory_pipeline.errors import InputError

_IDS_TOLD = 3


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


Thing = TypeVar("Thing", bound=_HasId)


def only_one(things: Sequence[Thing], wanted: str, noun: str, shown_by: str) -> Thing:
    """The thing whose id is `wanted` or alone begins so. `shown_by`: the command that shows all of `things`.

    Raises InputError when there is none, and when there are several, of which it names the first.
    """
    found = [thing for thing in things if thing.id.startswith(wanted)]
    if not found:
        raise InputError(f"no {noun} has an id that begins with '{wanted}'; '{shown_by}' shows every {noun}")
    if len(found) > 1:
        ids = ", ".join(thing.id for thing in found[:_IDS_TOLD]) + (", ..." if len(found) > _IDS_TOLD else "")
        raise InputError(f"{len(found)} {noun}s have ids that begin with '{wanted}'; give more of the id ({ids})")
    return found[0]
