"""Finds one object by its id, by the start of its id, or by its handle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from memory_pipeline.errors import InputError
from memory_pipeline.records.identifiers import Handles

_IDS_TOLD = 3
Thing = TypeVar("Thing")


def only_one(things: Mapping[str, Thing], wanted: str, noun: str, mend: str) -> Thing:
    """The object in `things` whose id is `wanted`, or the only one whose id starts with it, or whose handle it is.
    `mend`: where ids can be found.

    Raises InputError if there is none, and if there are several, with the first ones named.
    """
    if wanted in things:
        return things[wanted]
    found = [known for known in things if known.startswith(wanted)]
    if not found and (of_handle := Handles(things).whole_id(wanted)) in things:
        return things[of_handle]
    if not found:
        raise InputError(f"no {noun} has an id that starts with '{wanted}'; {mend}")
    if len(found) > 1:
        ids = ", ".join(found[:_IDS_TOLD]) + (", ..." if len(found) > _IDS_TOLD else "")
        raise InputError(f"{len(found)} {noun}s have ids that start with '{wanted}'; give more of the id ({ids})")
    return things[found[0]]
