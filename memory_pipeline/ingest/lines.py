"""Lines of a text file of any length, in the Unicode encoding that its first bytes indicate."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from memory_pipeline.errors import InputError

#: Byte order marks; UTF-32's starts with UTF-16's, so it is tried first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


@contextmanager
def opened(path: Path, newline: str = "\n") -> Iterator[TextIO]:
    """Open a file as text: UTF-8, or the encoding of its byte order mark. Undecodable bytes become lone surrogates,
    which no row may contain. `newline`: the line terminator, `""` for any of the three.

    Raises InputError if the file cannot be opened.
    """
    try:
        with path.open("rb") as raw:
            start = raw.read(4)
            raw.seek(0)
            encoding = next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")
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
