"""Which paths belong to the store and to Dagster: no command writes there on anybody's word."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files import real_path

#: What lies beside a store, by how its name goes on after the store's own without its ending.
_BESIDE = (".snapshots", ".dagster", ".night", ".demo", ".answers.jsonl")


def check_is_free(path: Path, store: Path, kept: Sequence[Path] = ()) -> None:
    """Raises OutputError for a path that is the store's own, or is one of `kept` or lies below one, whatever links
    lead there and however its capitals are written. Both need not exist."""
    target, home = real_path(path), real_path(store)
    if _same(target, home):
        raise OutputError(f"'{path}' is the store itself; name another file")
    if _belongs_to(target, home):
        raise OutputError(f"'{path}' belongs to the store '{store}'; name another file")
    for place in map(real_path, kept):
        if _is_below(target, place):
            raise OutputError(f"'{path}' is or lies in '{place}', which no command writes over; name another file")


def _belongs_to(target: Path, store: Path) -> bool:
    """A log, a lock, a copy made by a restore: all begin with the store's name. Or one of the directories beside it."""
    for place in (target, *target.parents):
        if _same(place.parent, store.parent):
            name, own, stem = _folded(place.name), _folded(store.name), _folded(store.stem)
            beside = {stem + ending for ending in _BESIDE}
            return name in beside or name == own or name.startswith((f"{own}.", f".{own}."))
    return False


def _is_below(target: Path, place: Path) -> bool:
    return any(_same(each, place) for each in (target, *target.parents))


def _same(one: Path, other: Path) -> bool:
    """One file or directory, by what the disk says and by name: not every file system tells capitals apart."""
    if _folded(str(one)) == _folded(str(other)):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
