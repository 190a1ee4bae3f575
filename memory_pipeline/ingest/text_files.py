"""Text files of other programs: in the encoding that their bytes indicate, as lines of JSON, and as JSON of any size in
a stream of objects, within limits."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

import ijson
import zstandard

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Rejected, RowError, Skipped
from memory_pipeline.ingest.values import first_line

#: A line that its program is still writing has no end yet.
UNFINISHED = "lines that were cut off at the end"
#: The start of the reason for a line without any object.
NO_OBJECT = "is not a JSON object"
#: Byte order marks; UTF-32's starts with UTF-16's, so it is tried first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


#: One of the encodings of earlier Windows and Latin-1 in one.
FALLBACK = "cp1252"
#: How reports call a file in it.
RECODED = "files that are not in UTF-8 (read as Windows-1252)"
_HIGH, _ALONE = re.compile(rb"[\x80-\xff]"), re.compile(rb"[\x80-\xff](?![\x80-\xbf])")
_MOST_HIGH, _MOSTLY = 0.3, 0.8
_SAMPLE = 1 << 20


def encoding_of(data: bytes) -> str:
    """The encoding of a text, or of the beginning of one: that of its byte order mark, else UTF-8, else Windows-1252.

    In UTF-8, bytes beyond ASCII come in runs, also around a character that was cut; in texts of one byte a letter, they
    mostly stand alone.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    high = len(_HIGH.findall(data))
    alone = len(_ALONE.findall(data))
    is_fallback = high and alone > _MOSTLY * high and high <= _MOST_HIGH * len(data) and b"\0" not in data
    return FALLBACK if is_fallback else "utf-8"


@contextmanager
def opened(path: Path, newline: str = "\n", *, guess: bool = False) -> Iterator[TextIO]:
    """Open a file as text: UTF-8, or the encoding of its byte order mark. Undecodable bytes become lone surrogates,
    which no row may contain. `newline`: the line terminator, `""` for any of the three. With `guess`, a file that is
    not in UTF-8 is read as `encoding_of` tells.

    Raises InputError if the file cannot be opened.
    """
    try:
        with path.open("rb") as raw:
            encoding = encoding_of(raw.read(_SAMPLE if guess else 4))
            encoding = "utf-8" if encoding == FALLBACK and not guess else encoding
            raw.seek(0)
            errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
            yield io.TextIOWrapper(raw, encoding=encoding, errors=errors, newline=newline)
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error


def beginning(path: Path, most_bytes: int) -> str:
    """The beginning of a file as text, without its mark and with line ends as here; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most_bytes).decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def bounded_lines(file: TextIO, limit: int) -> Iterator[tuple[int, str, bool]]:
    """Number and text of every line, and whether it was too long. Of a line with more than `limit` characters only
    the start is returned; the rest is skipped."""
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        too_long = len(line) > limit
        rest = line
        while too_long and rest and not rest.endswith("\n"):
            rest = file.readline(limit)
        yield number, line, too_long


def json_object(text: str, what: str = "the line") -> Mapping[str, Any]:
    """The object in a text of JSON. Raises RowError if there is none with content."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        where = f", it breaks off at character {error.pos + 1}" if text.startswith("{") else ""
        raise RowError(f"{what} {NO_OBJECT}{where}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or endless brackets
        raise RowError(f"{what} {NO_OBJECT} that can be read ({type(error).__name__})") from None
    if isinstance(found, list):
        raise RowError(f"{what} is a JSON list; write one object per line")
    if not isinstance(found, Mapping) or not found:
        raise RowError(f"{what} {NO_OBJECT} with content")
    return found


def json_records(
    file: TextIO,
    name: str,
    limit: int,
    skipped: Skipped,
    is_left_out: Callable[[str], str | None] = lambda line: None,
    *,
    grows: bool = True,
) -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
    """Number and object of every line; a broken line is rejected. A last line without its end is counted and left to
    the next reading where a file `grows` by lines.

    `is_left_out` says by the beginning of a line that is too long why it is no memory, if it is none.
    """
    for number, line, too_long in bounded_lines(file, limit):
        if too_long:
            why = is_left_out(line)
            if why:
                skipped.add(why)
            else:
                yield Rejected.of(name, number, f"the line is longer than {limit} bytes", line[:4000])
            continue
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        try:
            yield number, json_object(text)
        except RowError as error:
            if line.endswith("\n") or not grows:
                yield Rejected.of(name, number, str(error), text)
            else:
                skipped.add(UNFINISHED)


def unpacked(data: bytes, most_bytes: int) -> str | None:
    """A compressed text; None if it is longer than the limit. Raises InputError for other data."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as stream:
            found = stream.read(most_bytes + 1)
    except zstandard.ZstdError as error:
        raise InputError(f"it is not compressed as it should be: {error}") from error
    return None if len(found) > most_bytes else found.decode("utf-8", "surrogateescape")


@contextmanager
def opened_packed(path: Path) -> Iterator[TextIO]:
    """Open a compressed file as text; bytes that are not UTF-8 become lone surrogates. Raises InputError."""
    try:
        with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            yield io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="\n")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except zstandard.ZstdError as error:
        raise InputError(f"'{path}' is not compressed as it should be: {error}") from error


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


def first_item(path: Path, *places: str) -> Any:
    """The first item at these places; None if there is none or it cannot be read. Never raises."""
    try:
        found = next(json_items(path, *places), None)
    except InputError:
        return None
    return None if found is None or isinstance(found, Broken) else found[1]
