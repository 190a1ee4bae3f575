"""Items of a large JSON document, one after the other: the document is never in memory as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ijson

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.json_stream import Event, events, pass_over, value_of

_MARK = codecs.BOM_UTF8
_BEGINNING = 4096


class Broken(NamedTuple):
    """Where a document cannot be read on, with the reason."""

    reason: str


def json_items(path: Path, *places: str) -> Iterator[tuple[int, Any] | Broken]:
    """Number and value of each item of the lists at these places, `""` for a document that is itself a list. An item
    beyond the limits of a stream is Unreadable.

    A document that breaks off ends with what is wrong with it. Raises InputError if it cannot be opened.
    """
    number = 0
    try:
        with path.open("rb") as file:
            for number, value in enumerate(_values(events(file), frozenset(places)), start=1):
                yield number, value
    except (ijson.JSONError, ValueError) as error:
        told = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        yield Broken(f"the JSON cannot be read after its item {number}: {told}")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error


def _values(told: Iterator[Event], places: frozenset[str]) -> Iterator[Any]:
    """Each item, in the order of the document."""
    kind, _ = next(told)
    if kind == "start_array" and "" in places:
        yield from _list(told)
    elif kind == "start_map":
        for kind, key in told:
            if kind == "end_map":
                break
            kind, _ = next(told)
            if kind == "start_array" and key and key in places:
                yield from _list(told)
            else:
                pass_over(kind, told)
    for _ in told:  # what follows is no JSON, which only reading it tells
        pass


def _list(told: Iterator[Event]) -> Iterator[Any]:
    for kind, value in told:
        if kind == "end_array":
            return
        yield value_of(kind, value, told)


def begins_with(path: Path, *marks: bytes) -> bool:
    """Whether the first character of a file that is no white space is one of these."""
    try:
        with path.open("rb") as file:
            return file.read(_BEGINNING).removeprefix(_MARK).lstrip()[:1] in marks
    except OSError:
        return False


def first_item(path: Path, *places: str) -> Any:
    """The first item at these places; None if there is none or it cannot be read. Never raises."""
    try:
        found = next(json_items(path, *places), None)
    except InputError:
        return None
    return None if found is None or isinstance(found, Broken) else found[1]
