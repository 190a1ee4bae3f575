"""Lines of JSON as another program writes them, also compressed ones, read as streams and within limits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import zstandard

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Rejected, Skipped
from memory_pipeline.ingest.lines import bounded_lines

#: A line that its program is still writing has no end yet.
UNFINISHED = "lines that were not written to their end"


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
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            if line.endswith("\n"):
                reason = f"the line is not a JSON object that can be read ({type(error).__name__})"
                yield Rejected.of(name, number, reason, text)
            else:
                skipped.add(UNFINISHED)
            continue
        if isinstance(record, Mapping) and record:
            yield number, record
        else:
            yield Rejected.of(name, number, "the line is not a JSON object with content", text)


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
