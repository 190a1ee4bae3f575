"""One night at a time: a lease in the store that names its holder, and that a dead holder cannot keep."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_pipeline.errors import StoreBusyError
from memory_pipeline.processes import is_running
from memory_pipeline.store.connection import Store, Transaction
from memory_pipeline.store.memories import from_utc, to_utc

_NAME = "night"


def take_lease(store: Store, run_id: str, holder: str, expiry_s: float) -> None:
    """Take or renew the lease for a run; taking it again within the same run is a heartbeat.

    Raises StoreBusyError, naming holder, host, process and time, when another live run has it. A holder is replaced
    whose process is gone on this machine, or has left its number to a later one, or whose heartbeat is older
    than `expiry_s` on another machine.
    """
    now = datetime.now(UTC)
    with store.writing(holder, run_id) as tx:
        row = _read(tx)
        if row and row[3] != run_id and _is_alive(row, now, expiry_s):
            raise store_in_use(store, _words(row))
        if row and row[3] == run_id and row[2] == os.getpid():
            tx.execute("update lease set heartbeat_at = $2 where name = $1", [_NAME, to_utc(now)])
            return
        tx.execute(
            "insert or replace into lease values ($1, $2, $3, $4, $5, $6, $6)",
            [_NAME, holder, socket.gethostname(), os.getpid(), run_id, to_utc(now)],
        )


def store_in_use(store: Store, holder: str) -> StoreBusyError:
    """The error that says who has the lease: a night, or whatever else takes it."""
    return StoreBusyError(f"'{store.path}' is in use by {holder}; try again when it has ended")


def release_lease(store: Store, run_id: str) -> None:
    """Give the lease back, if this run still has it."""
    with store.writing("lease", run_id) as tx:
        tx.execute("delete from lease where name = $1 and run_id = $2", [_NAME, run_id])


def drop_lease(store: Store) -> None:
    """Take the lease away, whoever has it; for a store that was put in place from elsewhere."""
    with store.writing("lease") as tx:
        tx.execute("delete from lease")


def lease_holder(tx: Transaction, expiry_s: float) -> str | None:
    """Who holds the lease and is still alive, in words, or None."""
    row = _read(tx)
    return _words(row) if row and _is_alive(row, datetime.now(UTC), expiry_s) else None


def leased_run(tx: Transaction, expiry_s: float) -> str | None:
    """The run that holds the lease and is still alive, or None."""
    row = _read(tx)
    return str(row[3]) if row and _is_alive(row, datetime.now(UTC), expiry_s) else None


def _read(tx: Transaction) -> tuple[Any, ...] | None:
    return tx.execute(
        "select holder, host, pid, run_id, acquired_at, heartbeat_at from lease where name = $1", [_NAME]
    ).fetchone()


def _words(row: tuple[Any, ...]) -> str:
    since = from_utc(row[4])
    return f"{row[0]} on {row[1]} (process {row[2]}, run {row[3]}) since {since:%Y-%m-%d %H:%M:%S} UTC"


def _is_alive(row: tuple[Any, ...], now: datetime, expiry_s: float) -> bool:
    """Of another machine, or of a process with this one's number, the heartbeat speaks; else the process itself."""
    host, pid = row[1:3]
    heartbeat_at: datetime = from_utc(row[5])
    if host != socket.gethostname() or pid == os.getpid():
        return now - heartbeat_at < timedelta(seconds=expiry_s)
    return is_running(pid, heartbeat_at)
