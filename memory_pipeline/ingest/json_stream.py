"""JSON of any size as a stream of objects, within limits."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple

import ijson

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.values import first_line

#: A kind of event, as ijson names it, with its value.
Event = tuple[str, Any]

#: Characters of one text, characters and events of one value, and levels of nesting that are read.
LONGEST_TEXT, LARGEST_VALUE, DEEPEST = 8_000_000, 16_000_000, 500
#: What an event counts for beside its text: about the bytes that it takes in memory.
_EVENT = 16
_CHUNK, _LONGEST_NUMBER = 1 << 16, 1 << 15
_CUT, _CUT_WRITTEN = "\x01cut\x01", "\\u0001cut\\u0001"
#: The end of a piece that makes sense only with the next one: half of an escape, or of a pair of them.
_HALF_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?$")
_LONGEST_HALF = 11
#: Escapes of surrogates: a pair is a character, one alone is none.
_SURROGATES = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_WORD_AT_END = re.compile(r"-?[A-Za-z]{0,9}$")
#: Numbers as Python and JavaScript write them into JSON, which has none of them.
_NO_NUMBERS = re.compile(r"-?\b(?:NaN|Infinity)\b")
_BETWEEN = re.compile(r'[\s",:\[\]{}]')


class Unreadable(NamedTuple):
    """A value that is passed over, with the reason."""

    reason: str


class _Cut(str):
    """The beginning of a text that is passed over."""


def events(file: IO[bytes]) -> Iterator[Event]:
    """The events of a document. Bytes that are not UTF-8 and escapes that are no characters are replaced.

    Raises ValueError or ijson.JSONError where it is no JSON.
    """
    try:
        for kind, value in ijson.basic_parse(_Bounded(file), buf_size=_CHUNK):
            if isinstance(value, Decimal):
                value = float(value)
            elif isinstance(value, str) and value.endswith(_CUT):
                value = _Cut(value.removesuffix(_CUT))
            yield kind, value
    except ArithmeticError as error:
        raise ValueError("a number is beyond every limit") from error


def value_of(kind: str, value: Any, following: Iterator[Event]) -> Any:
    """The value that begins with an event; Unreadable if it goes beyond a limit."""
    builder: ijson.ObjectBuilder | None = ijson.ObjectBuilder()
    why = ""
    depth = weight = 0
    while True:
        depth += kind.startswith("start_") - kind.startswith("end_")
        if builder is not None:
            weight += _EVENT + (len(value) if isinstance(value, str) else 0)
            if isinstance(value, _Cut):
                why = f"it has a text of more than {LONGEST_TEXT:,} characters"
            elif depth > DEEPEST:
                why = f"it is nested deeper than {DEEPEST} levels"
            elif weight > LARGEST_VALUE:
                why = f"it is longer than {LARGEST_VALUE:,} characters"
            if why:
                builder = None
            else:
                builder.event(kind, value)
        if not depth:
            return Unreadable(why) if builder is None else builder.value
        kind, value = next(following)


def pass_over(kind: str, following: Iterator[Event]) -> None:
    """Read on to the end of the value that begins with an event."""
    depth = 1 if kind.startswith("start_") else 0
    while depth:
        kind, _ = next(following)
        depth += kind.startswith("start_") - kind.startswith("end_")


class _Bounded:
    """A file as the parser gets it: in UTF-8, without its byte order mark, and within the limits."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._held = ""
        self._in_text = False
        self._length = 0  # of the text so far

    def read(self, size: int = -1) -> bytes:
        """The next bytes; empty at the end, or if none are asked for. A text comes whole, since the parser would look
        at its beginning again with each piece."""
        pieces: list[str] = []
        while size:
            data = self._file.read(_CHUNK)
            pieces.append(self._within(self._decoder.decode(data, final=not data), is_last=not data))
            is_within_text = self._in_text and self._length > _CHUNK
            if not data or (any(pieces) and not is_within_text):
                break
        return "".join(pieces).encode()

    def _within(self, text: str, *, is_last: bool) -> str:
        text, self._held = self._held + text, ""
        plain = text.replace("\\\\", "__").replace('\\"', "__") if "\\" in text else text
        if not is_last:
            held = _HALF_ESCAPE.search(plain, max(0, len(plain) - _LONGEST_HALF))
            if held and held[0]:
                text, plain, self._held = text[: held.start()], plain[: held.start()], text[held.start() :]
        if "\\ud" in plain or "\\uD" in plain:
            text = _without_lone_surrogates(text, plain)
        if not self._in_text:
            return self._between(text, plain, is_last=is_last)
        end = plain.find('"')
        first = self._more_of_text(text if end < 0 else text[:end])
        if end < 0:
            return first
        self._in_text = False
        return first + '"' + self._between(text[end + 1 :], plain[end + 1 :], is_last=is_last)

    def _more_of_text(self, text: str) -> str:
        """What is passed on of a text that goes on."""
        before = self._length
        self._length += len(text)
        if before > LONGEST_TEXT:
            return ""
        return text if self._length <= LONGEST_TEXT else _CUT_WRITTEN

    def _between(self, text: str, plain: str, *, is_last: bool) -> str:
        """What is passed on of a piece that does not begin within a text."""
        last = plain.rpartition('"')[2]
        self._in_text = plain.count('"') % 2 == 1
        self._length = len(last)
        if not self._in_text and not is_last:
            word = _WORD_AT_END.search(last, max(0, len(last) - 10))
            if word and word[0]:
                count = len(word[0])
                self._held = text[-count:] + self._held
                text, plain = text[:-count], plain[:-count]
        if len(text) >= _LONGEST_NUMBER and not _BETWEEN.search(plain):
            raise ValueError("a number has more digits than can be read")
        return _with_null(text, plain) if "NaN" in plain or "Infinity" in plain else text


def _without_lone_surrogates(text: str, plain: str) -> str:
    """A piece in which escapes of half a character stand for the mark of a character that cannot be read. `plain`: the
    piece as it is searched, of the same length."""
    kept: list[str] = []
    done = 0
    for found in _SURROGATES.finditer(plain):
        if found[1] is None:
            kept += [text[done : found.start()], "\\ufffd"]
            done = found.end()
    return "".join([*kept, text[done:]])


def _with_null(text: str, plain: str) -> str:
    """A piece that begins between texts, with null for numbers that are none. `plain`: as before."""
    kept: list[str] = []
    at = 0
    for number, part in enumerate(plain.split('"')):
        own = text[at : at + len(part)]
        kept.append(own if number % 2 else _NO_NUMBERS.sub("null", own))
        at += len(part) + 1
    return '"'.join(kept)


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
            for number, value in enumerate(items_of(events(file), *places), start=1):
                yield number, value
    except (ijson.JSONError, ValueError) as error:
        yield Broken(f"the JSON cannot be read after its item {number}: {first_line(error)}")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error


def items_of(
    told: Iterator[Event], *places: str, take: Callable[[str, Any, Iterator[Event]], Any] = value_of
) -> Iterator[Any]:
    """Each item of the lists at these places, in the order of the document, as `take` reads it from its first event and
    those that follow."""
    kind, _ = next(told)
    if kind == "start_array" and "" in places:
        yield from _list(told, take)
    elif kind == "start_map":
        for kind, key in told:
            if kind == "end_map":
                break
            kind, _ = next(told)
            if kind == "start_array" and key and key in places:
                yield from _list(told, take)
            else:
                pass_over(kind, told)
    for _ in told:  # what follows is no JSON, which only reading it tells
        pass


def _list(told: Iterator[Event], take: Callable[[str, Any, Iterator[Event]], Any]) -> Iterator[Any]:
    for kind, value in told:
        if kind == "end_array":
            return
        yield take(kind, value, told)


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
