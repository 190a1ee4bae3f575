"""Dagster's run history of a store: its own SQLite storage, with one event log for all runs, in files that stay open.

Dagster reopens a file for every statement, so that SQLAlchemy prepares each statement again, and waits for the disk
each time: a night that finds nothing to do took 1.45 s of CPU and 6.9 s, and takes 0.5 s of CPU and 0.8 s.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import portalocker
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, create_engine, event

from memory_pipeline.errors import SettingError
from memory_pipeline.orchestration.home import load_project_settings

#: Seconds to wait for another process that creates the files.
_LONGEST_OPENING_S = 60


class _KeptOpen:
    """A storage whose file stays open, with a connection for each concurrent thread."""

    _conn_string: str

    @cached_property
    def _engine(self) -> Engine:
        timeout = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
        engine = create_engine(self._conn_string, max_overflow=-1, pool_use_lifo=True, connect_args=timeout)
        # The files are in WAL mode: a power failure may lose the last lines of a history, but never the file.
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = NORMAL"))
        return engine

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction."""
        with self._engine.begin() as connection:
            yield connection

    _connect = connect

    def dispose(self) -> None:
        self._engine.dispose()


class Events(_KeptOpen, ConsolidatedSqliteEventLogStorage):
    """The events of all runs."""

    @cached_property
    def _watcher(self) -> SqlPollingEventWatcher:
        return SqlPollingEventWatcher(self)

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Call `callback` for each new event of a run. New events are in the write-ahead log first, so the parent
        class, which checks the file's modification time, would not see them."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Any) -> None:
        self._watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        if "_watcher" in self.__dict__:
            self._watcher.close()
        super().dispose()


class _Runs(_KeptOpen, SqliteRunStorage):
    """The runs."""

    def optimize_for_webserver(self, *given: Any, **named: Any) -> None:
        """Dagster calls this in its web server alone, before it starts. No setting may keep the UI from starting,
        which is where a person sees what is wrong with it."""
        from memory_pipeline.orchestration.guard import guard_webserver  # only a web server needs Starlette

        try:
            hosts = load_project_settings().values.server.allowed_hosts
        except SettingError:
            hosts = ()
        guard_webserver(hosts)
        super().optimize_for_webserver(*given, **named)


class _Schedules(_KeptOpen, SqliteScheduleStorage):
    """Ticks of schedules and sensors."""


class RunHistory(DagsterSqliteStorage):
    """The storage of a Dagster instance, as named in its `dagster.yaml`; its files have Dagster's own schemas."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Open the history in `base_dir`, or create what is missing of it."""
        self.base_dir, self._inst_data = base_dir, inst_data
        history, schedules = Path(base_dir) / "history", Path(base_dir) / "schedules"
        history.mkdir(parents=True, exist_ok=True)
        # Dagster's processes start at the same time. Two that create the tables of one file would leave it unreadable.
        with portalocker.Lock(history / "opening.lock", timeout=_LONGEST_OPENING_S):
            begun, files = history / "creating", [*history.glob("*.db*"), *schedules.glob("*.db*")]
            if begun.exists():  # its process was killed, and Dagster takes a file with some of its tables for whole
                for file in files:
                    file.unlink()
            elif not files:
                begun.touch()
            self._run_storage = _Runs.from_local(str(history))
            events: Any = Events(str(history))
            self._event_log_storage = events
            self._schedule_storage = _Schedules.from_local(str(schedules))
            begun.unlink(missing_ok=True)
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> "RunHistory":
        """The constructor that Dagster calls."""
        return cls(inst_data=inst_data, **config_value)
