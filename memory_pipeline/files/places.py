"""The paths that belong to the store and to Dagster, which no command overwrites."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files.writing import real_path

#: The directory in which a program is asked about memories, as it stands in the paths of what it keeps of that.
QUESTIONS = "memory-pipeline-questions"
#: Suffixes of the files next to a store, after the store's name without its extension.
_BESIDE = (
    ".snapshots",
    ".dagster",
    ".night",
    ".demo",
    ".answers.jsonl",
    ".tokens.json",
    ".tokens.lock",
    ".index",
    ".written",
    ".forgetting",
    ".pages",
    ".originals",
)


def demo_mark(store: Path) -> Path:
    """The file beside a store that says that it is a demo's."""
    return store.with_suffix(".demo")


def forgetting_mark(store: Path) -> Path:
    """The file beside a store that says that a forgetting was begun and is not complete."""
    return store.with_name(f"{store.stem}.forgetting")


def places_beside(store: Path) -> list[Path]:
    """The files and directories that this program keeps next to a store under its name, as far as they are there."""
    return [place for ending in _BESIDE if (place := store.with_name(f"{store.stem}{ending}")).exists()]


def check_is_free(path: Path, store: Path, protected: Sequence[Path] = ()) -> None:
    """Raises OutputError for a path that belongs to the store, or that equals or is inside one of `protected`, through
    any links and whatever the case of its letters. Neither has to exist."""
    target, home = real_path(path), real_path(store)
    if _are_same(target, home):
        raise OutputError(f"'{path}' is the store itself; name another file")
    if _belongs_to(target, home):
        raise OutputError(f"'{path}' belongs to the store '{store}'; name another file")
    for place in map(real_path, protected):
        if any(_are_same(each, place) for each in (target, *target.parents)):
            raise OutputError(f"'{path}' is or is inside '{place}', which no command overwrites; name another file")


def _belongs_to(target: Path, store: Path) -> bool:
    """True if a path is a log, a lock or a copy, which start with the store's name, or one of the places beside it."""
    for place in (target, *target.parents):
        if _are_same(place.parent, store.parent):
            name, own, stem = _folded(place.name), _folded(store.name), _folded(store.stem)
            beside = {stem + ending for ending in _BESIDE}
            return name in beside or name == own or name.startswith((f"{own}.", f".{own}."))
    return False


def _are_same(one: Path, other: Path) -> bool:
    """True if two paths are one file or directory, on disk or by name: some file systems ignore case."""
    if _folded(str(one)) == _folded(str(other)):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
