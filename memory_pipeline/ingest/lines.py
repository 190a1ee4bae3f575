"""Lines of a text file of any length, in the encoding that its bytes indicate, and lines of JSON."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import zstandard

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Rejected, RowError, Skipped

#: A line that its program is still writing has no end yet.
UNFINISHED = "lines that were not written to their end"
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
    file: TextIO, name: str, limit: int, skipped: Skipped, is_left_out: Callable[[str], str | None] = lambda line: None
) -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
    """Number and object of every line; a broken line is rejected. A last line without its end is counted and left to
    the next reading.

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
            if line.endswith("\n"):
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
