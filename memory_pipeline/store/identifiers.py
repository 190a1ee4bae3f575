"""Finding the one thing that a person means by an id, or by how an id begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from memory_pipeline.errors import InputError

_IDS_TOLD = 3
Thing = TypeVar("Thing")


def only_one(things: Mapping[str, Thing], wanted: str, noun: str, mend: str) -> Thing:
    """The thing, of `things` by id, whose id is `wanted` or alone begins so. `mend`: where its id can be found.

    Raises InputError when there is none, and when there are several, of which it names the first.
    """
    if wanted in things:
        return things[wanted]
    found = [known for known in things if known.startswith(wanted)]
    if not found:
        raise InputError(f"no {noun} has an id that begins with '{wanted}'; {mend}")
    if len(found) > 1:
        ids = ", ".join(found[:_IDS_TOLD]) + (", ..." if len(found) > _IDS_TOLD else "")
        raise InputError(f"{len(found)} {noun}s have ids that begin with '{wanted}'; give more of the id ({ids})")
    return things[found[0]]
