"""A file that is there as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_pipeline.errors import StoreError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Another name to write under; the file gets its own when the block ends well.

    Raises StoreError when the disk is full or the directory cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise StoreError(
            f"'{path}' could not be written: {error.strerror or error}; nothing was left behind"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
