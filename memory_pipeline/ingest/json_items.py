"""Items of a large JSON document, one after the other: the document is never in memory as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import ijson
import ijson.backends.python as in_python

from memory_pipeline.errors import InputError

_MARK = codecs.BOM_UTF8
_BEGINNING = 4096


class Broken(NamedTuple):
    """Where a document cannot be read on, with the reason."""

    reason: str


def json_items(path: Path, *places: str) -> Iterator[tuple[int, Any] | Broken]:
    """Number and value of each item of the lists at these places, `""` for a document that is itself a list.

    A document that breaks off ends with what is wrong with it. Raises InputError if it cannot be opened.
    """
    is_list = begins_with(path, b"[")
    prefixes = frozenset("item" if place == "" else f"{place}.item" for place in places if (place == "") == is_list)
    done = 0
    try:
        for parse in (ijson.parse, in_python.parse):
            try:
                for number, value in _items(path, prefixes, parse):
                    if number > done:
                        done = number
                        yield number, value
                return
            except UnicodeDecodeError:  # half of a surrogate pair, which the fast parser cannot pass on
                if parse is in_python.parse:
                    raise
    except (ijson.JSONError, ValueError, RecursionError) as error:
        told = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        yield Broken(f"the JSON cannot be read after its item {done}: {told}")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error


def _items(path: Path, prefixes: frozenset[str], parse: Callable[[Any], Any]) -> Iterator[tuple[int, Any]]:
    number = 0
    with path.open("rb") as file:
        events = _with_floats(parse(_Utf8(file)))
        for prefix, event, value in events:
            if prefix in prefixes:
                number += 1
                yield number, _built(event, value, prefix, events)


class _Utf8:
    """A file without its byte order mark, in which bytes that are not UTF-8 are replaced."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def read(self, size: int = -1) -> bytes:
        """The next bytes; empty at the end alone."""
        while True:
            data = self._file.read(size)
            text = self._decoder.decode(data, final=not data)
            if text or not data or size == 0:
                return text.encode()


def _built(event: str, value: Any, prefix: str, events: Iterator[tuple[str, str, Any]]) -> Any:
    """The value that begins with an event."""
    builder = ijson.ObjectBuilder()
    builder.event(event, value)
    if event not in ("start_map", "start_array"):
        return builder.value
    for inner, following, told in events:
        builder.event(following, told)
        if inner == prefix and following in ("end_map", "end_array"):
            return builder.value
    raise ijson.IncompleteJSONError("it breaks off")


def _with_floats(events: Iterator[tuple[str, str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """The events with numbers as `json` gives them; a whole number may have any number of digits."""
    for prefix, event, value in events:
        yield prefix, event, float(value) if isinstance(value, Decimal) else value


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
