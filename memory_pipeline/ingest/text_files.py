"""Text files of other programs: in the encoding that their bytes indicate, as lines of JSON, and as JSON of any size in
a stream of objects, within limits."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

import zstandard

from memory_pipeline.errors import InputError, first_line
from memory_pipeline.ingest.candidates import Rejected, RowError, Skipped
from memory_pipeline.ingest.values import check_storable

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


def detect_encoding(data: bytes) -> str:
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
    not in UTF-8 is read as `detect_encoding` tells. A file that is called `*.zst` is decompressed.

    Raises InputError if the file cannot be opened.
    """
    try:
        with path.open("rb") as raw:
            if path.suffix == ".zst":
                with zstandard.ZstdDecompressor().stream_reader(raw) as stream:
                    yield io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline=newline)
                return
            encoding = detect_encoding(raw.read(_SAMPLE if guess else 4))
            encoding = "utf-8" if encoding == FALLBACK and not guess else encoding
            raw.seek(0)
            errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
            yield io.TextIOWrapper(raw, encoding=encoding, errors=errors, newline=newline)
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except zstandard.ZstdError as error:
        raise InputError(f"'{path}' is not compressed as it should be: {error}") from error


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
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f", it breaks off at character {error.pos + 1}" if text.startswith("{") else ""
        raise RowError(f"{what} {NO_OBJECT}{where}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or endless brackets
        raise RowError(f"{what} {NO_OBJECT} that can be read ({type(error).__name__})") from None
    if isinstance(value, list):
        raise RowError(f"{what} is a JSON list; write one object per line")
    if not isinstance(value, Mapping) or not value:
        raise RowError(f"{what} {NO_OBJECT} with content")
    return value


def json_records(
    file: TextIO,
    name: str,
    limit: int,
    skipped: Skipped,
    why_left_out: Callable[[str], str | None] = lambda line: None,
    *,
    grows: bool = True,
    strict: bool = False,
) -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
    """Number and object of every line of at most `limit` bytes; a broken line is rejected, with `strict` also one that
    cannot be stored. Where a file `grows`, a last line without its end is counted, and left to the next reading.

    `why_left_out` says by the beginning of a line that is too long why it is no memory, if it is none.
    """
    for number, line, too_long in bounded_lines(file, limit):
        if too_long or (len(line) > limit // 4 and len(line.encode("utf-8", "surrogatepass")) > limit):
            why = why_left_out(line)
            if why:
                skipped.add(why)
            else:
                yield Rejected.of(name, number, f"the line is longer than {limit} bytes", line[:4000])
            continue
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        try:
            yield number, json_object(check_storable(text, "the line") if strict else text)
        except RowError as error:
            if line.endswith("\n") or not grows:
                yield Rejected.of(name, number, str(error), text)
            else:
                skipped.add(UNFINISHED)


def first_objects(path: Path, lines: int, most_bytes: int) -> Iterator[Mapping[str, Any]]:
    """The objects in the first lines of a file; none of a file that cannot be read."""
    with suppress(InputError, OSError, ValueError), opened(path) as file:
        for item in islice(json_records(file, path.name, most_bytes, Skipped()), lines):
            if not isinstance(item, Rejected):
                yield item[1]


#: Characters of one value, its parts, and bytes that are read at once.
LARGEST_VALUE, _MOST_PARTS, _CHUNK = 48_000_000, 2_000_000, 1 << 16
#: `NaN` and `Infinity`, as Python and JavaScript write them, count as null.
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
_STRUCTURE = re.compile(r'[\[\]{},"]|\\.', re.DOTALL)
#: Escapes of surrogates: a pair is a character, one alone is none.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_NO_SPACE = re.compile(r"[^ \t\r\n]")
#: Characters of a value that was cut in which the parser may find the first error: `-Infinit`, `\u12`.
_LONGEST_CUT = 12


class Unreadable(NamedTuple):
    """A value that is passed over, with the reason."""

    reason: str


class Broken(NamedTuple):
    """The place where a document cannot be read on, with the reason."""

    reason: str


class _Document:
    """A document of any length, of which one value at a time is in memory. Bytes that are not UTF-8 and escapes that
    are no characters are replaced. Its methods raise ValueError where it is no JSON."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text, self._position = "", 0

    def items(self, places: Sequence[str]) -> Iterator[Any]:
        """Each item of the lists at these places, in order; Unreadable for one beyond the limits."""
        first = self._sign()
        if first == "[" and "" in places:
            for _ in self._parts("]"):
                yield self._value()
        elif first == "{":
            for _ in self._parts("}"):
                key = self._value()
                self._take(":")
                if key in places and self._sign() == "[":
                    for _ in self._parts("]"):
                        yield self._value()
                else:
                    self._pass_over()
        else:
            self._value()
        if self._sign():
            raise ValueError("something follows its end")

    def whole(self) -> Any:
        """The one value that it is."""
        value = self._value()
        if self._sign():
            raise ValueError("something follows its end")
        return value

    def _more(self) -> bool:
        """Read on, twice as much as before: each time, a value is parsed from its beginning. False at the end."""
        data = self._file.read(max(_CHUNK, len(self._text) - self._position))
        self._text, self._position = self._text[self._position :] + self._decoder.decode(data, final=not data), 0
        return bool(data)

    def _sign(self) -> str:
        """The next sign; empty at the end."""
        while not (match := _NO_SPACE.search(self._text, self._position)):
            self._position = len(self._text)
            if not self._more():
                return ""
        self._position = match.start()
        return match[0]

    def _take(self, signs: str) -> str:
        sign = self._sign()
        if not sign or sign not in signs:
            raise ValueError(f"'{sign}' stands where one of {' '.join(signs)} is expected" if sign else "it breaks off")
        self._position += 1
        return sign

    def _parts(self, end: str) -> Iterator[None]:
        """Once before each part of a list or of an object."""
        self._position += 1
        if self._sign() == end:
            self._position += 1
            return
        while True:
            yield
            if self._take(f",{end}") == end:
                return

    def _value(self) -> Any:
        """The value that begins here; Unreadable if it goes beyond a limit."""
        why = "" if self._sign() else "it breaks off"
        while not why:
            try:
                value, end = _JSON.raw_decode(self._text, self._position)
            except RecursionError:
                why = "it is nested too deeply"
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _LONGEST_CUT
                if not is_cut or not self._more():
                    raise
            except ValueError:
                why = "it has a number with too many digits"
            else:
                if end < len(self._text) or not self._more():
                    return self._decoded(value, end)
            if len(self._text) - self._position > LARGEST_VALUE:
                why = f"it is longer than {LARGEST_VALUE:,} characters"
            elif sum(map(self._text.count, "[{,")) > _MOST_PARTS:
                why = f"it has more than {_MOST_PARTS:,} parts"
        self._pass_over()
        return Unreadable(why)

    def _decoded(self, value: Any, end: int) -> Any:
        """The value of the text up to a place; with the mark of what cannot be read in the place of half characters."""
        text, self._position = self._text[self._position : end], end
        if self._text[end : end + 1].isalnum():
            raise ValueError(f"'{self._text[end]}' stands behind a value")
        if "\\ud" not in text and "\\uD" not in text:
            return value
        return _JSON.decode(_ESCAPE.sub(lambda match: "\\ufffd" if match["alone"] else match[0], text))

    def _pass_over(self) -> None:
        """Go on to the end of the value that begins here."""
        depth, in_text = 0, False
        while True:
            for match in _STRUCTURE.finditer(self._text, self._position):
                self._position = match.end()
                sign = match[0]
                if in_text or sign == '"':
                    in_text = in_text != (sign == '"')
                elif sign in "[{":
                    depth += 1
                elif not depth and sign in ",]}":
                    self._position = match.start()
                    return
                else:
                    depth -= sign in "]}"
            if not self._text.endswith("\\"):  # which escapes what comes next
                self._position = len(self._text)
            if not self._more():
                raise ValueError("it breaks off")


def json_items(source: Path | IO[bytes], *places: str) -> Iterator[tuple[int, Any] | Broken]:
    """Number and value of each item of the lists at these places, `""` for a document that is itself a list. An item
    beyond the limits of a stream is Unreadable.

    A document that breaks off ends with what is wrong with it. Raises InputError if it cannot be opened.
    """
    number = 0
    try:
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
            for number, value in enumerate(_Document(file).items(places), start=1):
                yield number, value
    except ValueError as error:
        yield Broken(f"the JSON cannot be read after its item {number}: {first_line(error)}")
    except OSError as error:
        raise InputError(f"'{source}' cannot be read: {error.strerror or error}") from error


def json_document(path: Path) -> Any:
    """A document that is small enough to be in memory. Raises InputError for one that cannot be read."""
    try:
        with path.open("rb") as file:
            value = _Document(file).whole()
    except (ValueError, OSError) as error:
        raise InputError(f"'{path}' cannot be read as JSON: {first_line(error)}") from error
    if isinstance(value, Unreadable):
        raise InputError(f"'{path}' cannot be read: {value.reason}")
    return value
