"""Snapshots: verified copies of the store file, one before every night, kept beside it.

A copy is taken while this process alone holds the file with an empty write-ahead log, written under
another name, compared by hash, and only then given its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from memory_pipeline.errors import SnapshotError, StoreBusyError, StoreError
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine
from memory_pipeline.store.connection import Store
from memory_pipeline.store.journal import store_hash
from memory_pipeline.store.lease import lease_holder

_LABEL = re.compile(r"^[a-z0-9][a-z0-9-]{0,40}$")
_CHUNK = 1 << 20
_LEFT_OVER_AFTER_S = 3600


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot: its name, when and why it was taken, its size, and the hashes that verify it."""

    name: str
    taken_at: str
    label: str
    bytes: int
    file_sha256: str
    store_hash: str


def snapshot_directory(store: Store) -> Path:
    """Where the snapshots of a store lie."""
    return store.path.parent / f"{store.path.stem}.snapshots"


def create_snapshot(store: Store, label: str, at: datetime, keep: int) -> Snapshot:
    """Take a verified snapshot named after its time and `label`; drop the oldest beyond `keep`.

    When nothing has changed since the newest snapshot, that one is returned instead of a copy.
    Raises SnapshotError for a label that is no plain name, StoreError when the disk is full.
    """
    if not _LABEL.match(label):
        raise SnapshotError(f"'{label}' is no snapshot label; use small letters, digits and hyphens")
    with store.reading() as tx:
        before = store_hash(tx, with_log=True)
    known = list_snapshots(store)
    if known and known[-1].store_hash == before and _sha256(_file_of(store, known[-1].name)) == known[-1].file_sha256:
        return known[-1]
    directory = snapshot_directory(store)
    directory.mkdir(parents=True, exist_ok=True)
    _sweep(directory)
    name = f"{at:%Y%m%dT%H%M%S%f}Z-{label}"
    partial = directory / f".{name}.partial"
    try:
        held = _copy_quiescent(store, partial)
        reached("snapshot.copied")
        digest = _sha256(partial)
        found = _hash_of_file(partial)
        if found != held:
            raise SnapshotError(f"the copy of '{store.path}' differs from the store; nothing was kept, try again")
        snapshot = Snapshot(name, at.isoformat(), label, partial.stat().st_size, digest, found)
        partial.replace(_file_of(store, name))
        reached("snapshot.named")
        _write_whole(directory / f"{name}.json", json.dumps(asdict(snapshot), indent=1))
    except OSError as error:
        raise StoreError(f"the snapshot of '{store.path}' could not be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    # Should the clock have been set back, the one just taken is not the newest by name, and stays all the same.
    others = [old for old in list_snapshots(store) if old.name != name]
    for old in others[: max(0, len(others) - keep + 1)]:
        _file_of(store, old.name).unlink(missing_ok=True)
        (directory / f"{old.name}.json").unlink(missing_ok=True)
    return snapshot


def list_snapshots(store: Store) -> list[Snapshot]:
    """The snapshots that are complete, oldest first."""
    found = []
    for described in sorted(snapshot_directory(store).glob("*.json")):
        try:
            snapshot = Snapshot(**json.loads(described.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            continue
        if _file_of(store, snapshot.name).exists():
            found.append(snapshot)
    return found


def verify_snapshot(store: Store, name: str) -> Snapshot:
    """Check a snapshot's bytes and contents against what was recorded; return it.

    Raises SnapshotError when it does not exist or differs.
    """
    snapshot = _named(store, name)
    if _sha256(_file_of(store, name)) != snapshot.file_sha256:
        raise SnapshotError(f"snapshot '{name}' is damaged: its bytes are not those that were written; use another one")
    path = _file_of(store, name)
    # Snapshots from before the playbook was part of the hash are as good as ever.
    if all(_hash_of_file(path, playbook=whole) != snapshot.store_hash for whole in (True, False)):
        raise SnapshotError(f"snapshot '{name}' does not hold what was recorded; use another one")
    return snapshot


def restore_snapshot(store: Store, name: str, to: Path | None = None, lease_expiry_s: float = 60.0) -> Path:
    """Put a verified snapshot in the store's place, or at `to`; return where.

    The store that was there is kept beside it as `NAME.before-restore-TIME`. Refused, with the holder's name, while
    another process has the store open or a night runs on it; refused when `to` exists. The lease of the
    night that took the snapshot does not come back with it.
    """
    verify_snapshot(store, name)
    reached("restore.verified")
    if to is not None:
        if to.exists():
            raise SnapshotError(f"'{to}' exists; name a file that does not")
        to.parent.mkdir(parents=True, exist_ok=True)
        partial = _copy_without_lease(store, name, to.with_name(f".{to.name}.partial"))
        partial.replace(to)
        return to
    _refuse_while_a_night_runs(store, lease_expiry_s)
    incoming = _copy_without_lease(store, name, store.path.with_name(f".{store.path.name}.incoming"))
    try:
        try:
            with store.quiescent() if store.path.exists() else nullcontext():
                _put_in_place(incoming, store.path)
        except StoreBusyError:
            raise
        except StoreError:  # too damaged to be opened, by anyone
            _put_in_place(incoming, store.path)
    finally:
        incoming.unlink(missing_ok=True)
    return store.path


def _copy_without_lease(store: Store, name: str, target: Path) -> Path:
    shutil.copyfile(_file_of(store, name), target)
    with Store(target).writing("restore") as tx:
        tx.execute("delete from lease")
    return target


def _refuse_while_a_night_runs(store: Store, lease_expiry_s: float) -> None:
    try:
        with store.reading() as tx:
            holder = lease_holder(tx, lease_expiry_s)
    except StoreBusyError:
        raise
    except StoreError:  # there is none, or it is too damaged to be read
        return
    if holder:
        raise StoreBusyError(f"a night is running on '{store.path}': {holder}; restore when it has ended")


def _put_in_place(incoming: Path, path: Path) -> None:
    if path.exists():
        _keep_aside(path)
    log = path.with_name(f"{path.name}.wal")
    if log.exists():
        log.replace(log.with_name(f"{log.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z"))
    reached("restore.kept")
    incoming.replace(path)


def _sweep(directory: Path) -> None:
    """Remove what killed processes left unfinished: partial files, and copies without a description."""
    described = {path.stem for path in directory.glob("*.json")}
    orphans = [path for path in directory.glob("*.duckdb") if path.stem not in described]
    for leftover in [*directory.glob(".*.partial*"), *orphans]:
        if time.time() - leftover.stat().st_mtime > _LEFT_OVER_AFTER_S:
            leftover.unlink(missing_ok=True)


def _keep_aside(path: Path) -> None:
    """A second name for the store's file, so that at every instant there is a store under the first."""
    aside = path.with_name(f"{path.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z")
    try:
        os.link(path, aside)
    except OSError:  # a file system without hard links
        shutil.copyfile(path, aside)


def _named(store: Store, name: str) -> Snapshot:
    for snapshot in list_snapshots(store):
        if snapshot.name == name:
            return snapshot
    raise SnapshotError(f"there is no snapshot '{name}' of '{store.path}'; 'memory-pipeline snapshot list' shows them")


def snapshot_path(store: Store, name: str) -> Path:
    """The file of a snapshot. Raises SnapshotError when there is none of this name."""
    return _file_of(store, _named(store, name).name)


def _file_of(store: Store, name: str) -> Path:
    return snapshot_directory(store) / f"{name}.duckdb"


def _copy_quiescent(store: Store, target: Path) -> str:
    """Copy the store while nobody else can write; return its hash at that instant."""
    # The source is opened before DuckDB locks it and closed after DuckDB lets go: closing any
    # descriptor of a file drops this process's POSIX locks on it.
    with store.path.open("rb") as source, store.quiescent() as held, target.open("wb") as copy:
        digest = store_hash(held, with_log=True)
        while chunk := source.read(_CHUNK):
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return digest


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _hash_of_file(path: Path, *, playbook: bool = True) -> str:
    try:
        copy = engine.attach(path, read_only=True)
        try:
            return store_hash(copy.connection, with_log=True, playbook=playbook)
        finally:
            copy.close()
    except duckdb.Error as error:
        raise SnapshotError(f"'{path.name}' is not a readable store: {str(error).splitlines()[0]}") from error


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
