"""Forgets memories in every file of a store: in its snapshots and the copies that were put aside, and last in itself.

The store is replaced in one step, when nothing else has the words any more. Until then it has them, and with them what
is needed to begin again.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_pipeline.errors import DamagedStoreError, StoreError
from memory_pipeline.files.writing import sync
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine, folding
from memory_pipeline.store.connection import Store
from memory_pipeline.store.rewriting import Forgetting, rewrite_without
from memory_pipeline.store.seal import lock_path, log_path
from memory_pipeline.store.snapshots import list_snapshots, rewrite_snapshot, snapshot_directory, snapshot_path
from memory_pipeline.store.transaction import Transaction
from memory_pipeline.text.own_words import OwnWords


def forget_in_copies(store: Store, forgetting: Forgetting, words: OwnWords) -> tuple[list[str], list[str]]:
    """Write the snapshots and the copies that were put aside anew without the words; returns their names, and the names
    of those that were removed because they cannot be read. The logs that were kept go."""
    changed, removed = [], []
    directory = snapshot_directory(store)
    if directory.is_dir():
        folding.forget_logs_before(store.path, float("inf"))
        described = {snapshot.name for snapshot in list_snapshots(store)}
        for left in [
            *directory.glob(".*"),
            *(copy for copy in directory.glob("*.duckdb") if copy.stem not in described),
        ]:
            left.unlink(missing_ok=True)
    for snapshot in list_snapshots(store):
        file = snapshot_path(store, snapshot.name)
        try:
            with _rewritten(file, forgetting, words) as fresh:
                rewrite_snapshot(store, snapshot, fresh)
            changed.append(snapshot.name)
        except DamagedStoreError:
            for each in (file, file.with_suffix(".json")):
                each.unlink(missing_ok=True)
            removed.append(snapshot.name)
        reached("forget.snapshot")
    for file in copies_aside(store):
        try:
            with _rewritten(file, forgetting, words) as fresh:
                fresh.replace(file)
                log_path(file).unlink(missing_ok=True)
                sync(file.parent)
            changed.append(file.name)
        except DamagedStoreError:
            folding.remove_database(file)
            removed.append(file.name)
        lock_path(file).unlink(missing_ok=True)
    return changed, removed


def copies_aside(store: Store) -> list[Path]:
    """The store's earlier files, which a restore or a recovery has put aside."""
    named = glob.escape(store.path.name)
    files = [*store.path.parent.glob(f"{named}.before-*"), *store.path.parent.glob(f"{named}.damaged-*")]
    return sorted(file for file in files if not file.name.endswith((".wal", ".lock")))


def forget_in_store(store: Store, forgetting: Forgetting, words: OwnWords) -> None:
    """Replace the store with one that is without the words. Nobody else has it open meanwhile."""
    try:
        with store.held(shared=False) as lock:
            for left in store.path.parent.glob(f".{glob.escape(store.path.name)}.*"):
                left.unlink(missing_ok=True)
            folding.fold_held(store.path, lock)
            with _rewritten(store.path, forgetting, words) as fresh:
                reached("forget.store")
                folding.put_in_place(fresh, store.path, lock)
            folding.forget_logs_before(store.path, float("inf"))
    except OSError as error:
        raise StoreError(
            f"'{store.path}' could not be written anew: {error.strerror or error}; it is as it was, run again"
        ) from error


def files_that_say(store: Store, words: OwnWords) -> tuple[int, list[str]]:
    """Read every text of the store, its snapshots and the copies that were put aside; returns how many files that were,
    and those of them that say any of it."""
    snapshots = [snapshot_path(store, snapshot.name) for snapshot in list_snapshots(store)]
    copies = [*snapshots, *copies_aside(store)]
    saying = []
    with store.reading() as tx:
        if any(map(words.stands_in, tx.transfer.texts())):
            saying.append(str(store.path))
    for path in copies:
        with engine.attached_copy(path, read_only=True) as connection:
            if any(map(words.stands_in, Transaction(connection).transfer.texts())):
                saying.append(str(path))
    return len(copies) + 1, saying


@contextmanager
def _rewritten(path: Path, forgetting: Forgetting, words: OwnWords) -> Iterator[Path]:
    """A fresh file with what a database file and its log have but for the words, to be moved."""
    copy, fresh = (path.with_name(f".{path.name}.{name}") for name in ("forgetting", "forgotten"))
    try:
        folding.copy_files(path, copy)
        folding.make_whole(copy)
        rewrite_without(copy, fresh, forgetting, words)
        yield fresh
    finally:
        folding.remove_database(copy)
        folding.remove_database(fresh)
