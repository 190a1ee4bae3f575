"""One night at a time: a lease in the store that names its holder and expires when the holder dies."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta

from memory_pipeline.processes import is_running
from memory_pipeline.store.rows import from_utc, to_utc
from memory_pipeline.store.sql import Row, Sql

_NAME = "night"


class Lease:
    """The holder of the lease."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def take(self, run_id: str, holder: str, expiry_s: float) -> str | None:
        """Take or renew the lease for a run. If another live run has it, return a description of that run.

        Taking it again within the same run is a heartbeat. A holder is replaced if its process on this machine is
        gone, if its process number was reused, or if its heartbeat on another machine is older than `expiry_s`.
        """
        now = datetime.now(UTC)
        row = self._read()
        if row and row[3] != run_id and _is_alive(row, now, expiry_s):
            return _words(row)
        if row and row[3] == run_id and row[2] == os.getpid():
            self._sql.run("update lease set heartbeat_at = $2 where name = $1", [_NAME, to_utc(now)])
        else:
            self._sql.run(
                "insert or replace into lease values ($1, $2, $3, $4, $5, $6, $6)",
                [_NAME, holder, socket.gethostname(), os.getpid(), run_id, to_utc(now)],
            )
        return None

    def release(self, run_id: str) -> None:
        """Release the lease, if this run still has it."""
        self._sql.run("delete from lease where name = $1 and run_id = $2", [_NAME, run_id])

    def drop(self) -> None:
        """Remove the lease, whoever has it; for a store that was copied from elsewhere."""
        self._sql.run("delete from lease")

    def is_taken(self) -> bool:
        """Whether anybody has the lease, alive or not."""
        return self._read() is not None

    def holder(self, expiry_s: float) -> str | None:
        """A description of the live holder of the lease, or None."""
        row = self._read()
        return _words(row) if row and _is_alive(row, datetime.now(UTC), expiry_s) else None

    def run(self, expiry_s: float) -> str | None:
        """The live run that holds the lease, or None."""
        row = self._read()
        return str(row[3]) if row and _is_alive(row, datetime.now(UTC), expiry_s) else None

    def _read(self) -> Row | None:
        return self._sql.row(
            "select holder, host, pid, run_id, acquired_at, heartbeat_at from lease where name = $1", [_NAME]
        )


def _words(row: Row) -> str:
    since = from_utc(row[4])
    return f"{row[0]} on {row[1]} (process {row[2]}, run {row[3]}) since {since:%Y-%m-%d %H:%M:%S} UTC"


def _is_alive(row: Row, now: datetime, expiry_s: float) -> bool:
    """For another machine, or if the process number is this one's, the heartbeat decides; otherwise the process
    itself."""
    host, pid = row[1:3]
    heartbeat_at: datetime = from_utc(row[5])
    if host != socket.gethostname() or pid == os.getpid():
        return now - heartbeat_at < timedelta(seconds=expiry_s)
    return is_running(pid, heartbeat_at)
