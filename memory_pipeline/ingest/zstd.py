"""Texts that another program compressed with Zstandard, read as streams and within limits."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import zstandard

from memory_pipeline.errors import InputError


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
