"""Snapshots: verified copies of the store next to it, one before every night.

A copy is taken while nobody writes, folded into one file, read block by block and table by table, and only then
given its name. As long as the log that was started after a snapshot has not been folded in, snapshot and log
together equal the store; `recovery` uses this.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import DamagedStoreError, SnapshotError, StoreBusyError, StoreError
from memory_pipeline.files.writing import sync
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine, folding
from memory_pipeline.store.connection import Store
from memory_pipeline.store.seal import directory_beside, log_path, read_blocks
from memory_pipeline.store.transaction import Transaction

_LABEL = re.compile(r"^[a-z0-9][a-z0-9-]{0,40}$")
_LEFT_OVER_AFTER_S = 3600


class Snapshot(Document):
    """One snapshot, with the hashes that verify it."""

    name: str = Field(description="Its name: when it was taken, and its label.")
    taken_at: str = Field(description="When it was taken.")
    label: str = Field(description="Why it was taken.")
    bytes: int = Field(description="Its size.")
    file_sha256: str = Field(description="SHA-256 of its file.")
    store_hash: str = Field(
        description="SHA-256 over its memories, archived ones included, lineage, log, conflicts, atoms and playbook."
    )
    contents: str = Field(description="SHA-256 over every table.")


def snapshot_directory(store: Store) -> Path:
    return directory_beside(store.path)


def create_snapshot(
    store: Store, label: str, at: datetime, keep: int | None, *, only_if_changed: bool = True
) -> Snapshot:
    """Take a verified snapshot named after its time and `label`; drop the oldest ones with this label beyond `keep`.

    If no memory, decision or conflict has changed since the newest one with this label, and that one is still whole,
    it is returned instead, unless `only_if_changed` is off; the store's blocks are checked all the same. Raises
    SnapshotError for an invalid label, DamagedStoreError for a store that cannot be read completely (then no older
    snapshot is dropped), and StoreError for a full disk.
    """
    if not _LABEL.match(label):
        raise SnapshotError(f"'{label}' is not a snapshot label; use small letters, digits and hyphens")
    with store.reading():
        pass  # reports a missing store, and updates an older schema
    directory = snapshot_directory(store)
    directory.mkdir(parents=True, exist_ok=True)
    _sweep(store)
    unchanged = _still_right(store, label) if only_if_changed else None
    if unchanged:
        return unchanged
    name = f"{at:%Y%m%dT%H%M%S%f}Z-{label}"
    partial = directory / f".{name}.partial"
    try:
        with store.held(shared=False) as lock:
            # In one hold: a commit in between would leave a copy from which no kept log continues.
            folding.fold_held(store.path, lock)
            folding.copy_files(store.path, partial)
        reached("snapshot.copied")
        snapshot = _put(store, partial, name, at, label, "snapshot.named")
    except DamagedStoreError as error:
        raise DamagedStoreError(
            f"the store '{store.path}' is damaged, so no snapshot was taken; earlier ones were kept ({error}); "
            f"'memory-pipeline recover' recovers everything that can be read"
        ) from error
    except OSError as error:
        raise StoreError(f"the snapshot of '{store.path}' could not be written: {error.strerror or error}") from error
    finally:
        folding.remove_database(partial)
    # If the clock was set back, the snapshot just taken is not the newest by name, but is kept all the same.
    others = [old for old in list_snapshots(store) if old.name != name]
    same = [old for old in others if old.label == label]
    for old in same[: max(0, len(same) - keep + 1) if keep else 0]:
        snapshot_path(store, old.name).unlink(missing_ok=True)
        (directory / f"{old.name}.json").unlink(missing_ok=True)
        others.remove(old)
    if others:
        # The second newest snapshot is needed if the newest is damaged; no log continues from older ones.
        folding.forget_logs_before(store.path, snapshot_path(store, others[-1].name).stat().st_mtime)
    return snapshot


def rewrite_snapshot(store: Store, snapshot: Snapshot, fresh: Path) -> None:
    """Let a snapshot have the contents of another file, which is moved; a kill leaves one that is known as changed."""
    taken_at = datetime.fromisoformat(snapshot.taken_at)
    _put(store, fresh, snapshot.name, taken_at, snapshot.label, "forget.snapshot.moved")


def _still_right(store: Store, label: str) -> Snapshot | None:
    """The newest snapshot with a label, if the store's knowledge equals it and both files are whole.

    None also for a store that cannot be read: copying it raises the error that says why.
    """
    known = [old for old in list_snapshots(store) if old.label == label]
    if not known:
        return None
    try:
        _, damaged = read_blocks(store.path)
        if damaged:
            return None
        with store.reading() as tx:
            knowledge = tx.contents.knowledge_digest()
    except (DamagedStoreError, ValueError, OSError):
        return None
    return known[-1] if knowledge == known[-1].store_hash and _is_whole(store, known[-1]) else None


def _put(store: Store, file: Path, name: str, at: datetime, label: str, place: str) -> Snapshot:
    """Fold a copy's log, read all of it, and move it to where the snapshot has its place, with its description."""
    contents = folding.make_whole(file)
    with engine.attached_copy(file, read_only=True) as connection:
        knowledge = Transaction(connection).contents.digest(with_log=True)
    snapshot = Snapshot(
        name=name,
        taken_at=at.isoformat(),
        label=label,
        bytes=file.stat().st_size,
        file_sha256=_sha256(file),
        store_hash=knowledge,
        contents=_short(contents),
    )
    file.replace(snapshot_path(store, name))
    reached(place)
    described = snapshot_directory(store) / f".{name}.json.partial"
    described.write_text(json.dumps(snapshot.as_json(), indent=1), encoding="utf-8")
    described.replace(snapshot_directory(store) / f"{name}.json")
    return snapshot


def _is_whole(store: Store, snapshot: Snapshot) -> bool:
    return _sha256(snapshot_path(store, snapshot.name)) == snapshot.file_sha256


def list_snapshots(store: Store) -> list[Snapshot]:
    """The complete snapshots, oldest first. One with an unreadable description is skipped."""
    snapshots = []
    for described in sorted(snapshot_directory(store).glob("*.json")):
        try:
            snapshot = Snapshot(**json.loads(described.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        if snapshot_path(store, snapshot.name).is_file():
            snapshots.append(snapshot)
    return snapshots


def verify_snapshot(store: Store, name: str) -> Snapshot:
    """Read a snapshot from the first byte to the last, and compare it with what was recorded; returns it.

    Raises SnapshotError if it does not exist, cannot be read, or differs.
    """
    snapshot = {known.name: known for known in list_snapshots(store)}.get(name)
    if snapshot is None:
        raise SnapshotError(
            f"there is no snapshot '{name}' of '{store.path}'; 'memory-pipeline snapshot list' shows them"
        )
    file = snapshot_path(store, name)
    try:
        if not _is_whole(store, snapshot):
            raise SnapshotError(
                f"snapshot '{name}' is damaged: its bytes differ from those that were written; use another one"
            )
        contents = _short(folding.verify_whole(file))
        with engine.attached_copy(file, read_only=True) as connection:
            knowledge = Transaction(connection).contents.digest(with_log=True)
    except OSError as error:
        raise SnapshotError(
            f"snapshot '{name}' cannot be read: {error.strerror or error}; check '{file}', or use another one"
        ) from error
    except (DamagedStoreError, duckdb.Error) as error:
        raise SnapshotError(f"snapshot '{name}' is damaged: {str(error).splitlines()[0]}; use another one") from error
    if (contents, knowledge) != (snapshot.contents, snapshot.store_hash):
        raise SnapshotError(f"snapshot '{name}' does not contain what was recorded; use another one")
    return snapshot


def restore_snapshot(store: Store, name: str, to: Path | None = None) -> Path:
    """Replace the store with a verified snapshot, or write the snapshot to `to`; returns the path.

    The previous store is kept next to it as `NAME.before-restore-TIME`, with its log. Refused, with the holder's
    name, while another process has the store open or a night runs on it; also refused if `to` exists. The lease of
    the night that took the snapshot is not restored.
    """
    verify_snapshot(store, name)
    reached("restore.verified")
    target = to or store.path
    incoming = target.with_name(f".{target.name}.incoming")
    try:
        if to is None:
            _refuse_while_a_night_runs(store)
        elif to.exists() or to.is_symlink():
            raise SnapshotError(f"'{to}' already exists; give the name of a new file")
        target.parent.mkdir(parents=True, exist_ok=True)
        folding.remove_database(incoming)
        shutil.copyfile(snapshot_path(store, name), incoming)
        sync(incoming)
        if to is not None:
            incoming.rename(to)
        else:
            with store.held(shared=False) as lock:
                keep_aside(store.path, "before-restore")
                folding.put_in_place(incoming, store.path, lock)
    except OSError as error:
        raise SnapshotError(
            f"snapshot '{name}' could not be written to '{target}': {error.strerror or error}; the store is unchanged"
        ) from error
    finally:
        folding.remove_database(incoming)
    # The file equals the snapshot to the last byte, so that later logs can be followed from it.
    with Store(target).writing("lease") as tx:
        tx.lease.drop()
    return target


def _refuse_while_a_night_runs(store: Store) -> None:
    try:
        with store.reading() as tx:
            holder = tx.lease.holder()
    except StoreBusyError:
        raise
    except StoreError:  # there is none, or it is too damaged to be read
        return
    if holder:
        raise StoreBusyError(f"'{store.path}' is in use by {holder}; restore when it has ended")


def _sweep(store: Store) -> None:
    """Remove what killed processes left unfinished: partial files, and copies without a description."""
    directory = snapshot_directory(store)
    described = {path.stem for path in directory.glob("*.json")}
    orphans = [path for path in directory.glob("*.duckdb") if path.stem not in described]
    copies = store.path.parent.glob(f".{glob.escape(store.path.name)}.verified-*")
    for leftover in [*directory.glob(".*.partial*"), *orphans, *copies]:
        if time.time() - leftover.stat().st_mtime > _LEFT_OVER_AFTER_S:
            leftover.unlink(missing_ok=True)


def keep_aside(path: Path, why: str) -> None:
    """Give a store's file and its log second names, so that at every instant there is a store under the first:
    `NAME.why-TIME` and `NAME.why-TIME.wal`, which open like a store."""
    aside = path.with_name(f"{path.name}.{why}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z")
    for file, name in ((log_path(path), log_path(aside)), (path, aside)):
        if file.exists():
            try:
                os.link(file, name)
            except OSError:  # the file system does not support hard links
                shutil.copyfile(file, name)
    reached("restore.kept")


def snapshot_path(store: Store, name: str) -> Path:
    return snapshot_directory(store) / f"{name}.duckdb"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()
