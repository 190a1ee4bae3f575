"""Keeps the first original of every file of somebody else that an export changes, beside the store.

It stands under its own absolute path in `STORE.originals`, and is never overwritten.
"""

from __future__ import annotations

from pathlib import Path

from memory_pipeline.files import directories, nobody, real_path, writing_whole
from memory_pipeline.workspace.places import ORIGINALS


def original_of(store: Path, path: Path) -> Path:
    """Where the first original of a file is kept."""
    real = real_path(path)
    return store.with_suffix(ORIGINALS).joinpath(*real.relative_to(real.anchor).parts)


def keep_original(store: Path, path: Path, text: str) -> None:
    """Keep the text of a file that is to be changed, unless one of it is kept. Raises OutputError if it cannot be."""
    kept = original_of(store, path)
    if kept.exists():
        return
    with directories(kept.parent), writing_whole(kept, nobody, private=True) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
