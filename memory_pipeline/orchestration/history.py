"""Dagster's history of a store in SQLite files that stay open: runs, one log of all runs' events, schedules.

Dagster's own SQLite storage opens a file anew for every statement, so that SQLAlchemy prepares each of them again, and
begins a file of its own for every run: five sixths of the CPU of a night that finds nothing to do.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import portalocker
from alembic.runtime.migration import MigrationContext
from dagster import StringSource
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.event_log.base import EventLogStorage
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import AssetKeyTable
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.base import RunStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.base import ScheduleStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.pool import NullPool

#: Seconds after which a process gives up to wait for another one that makes the files.
_LONGEST_OPENING_S = 60


def _kept_open(address: str) -> Engine:
    """An engine that keeps its connections, one for each thread that asks at the same time.

    The files are in WAL mode, in which `synchronous = NORMAL` waits for the disk at checkpoints alone: a power failure
    may cost the last lines of a history, never the file.
    """
    engine = create_engine(address, max_overflow=-1, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = NORMAL"))
    return engine


def _has_begun(address: str) -> bool:
    """Whether Dagster has made its tables in a file. It asks so too, but loads all that ever changed them with it."""
    with create_engine(address, poolclass=NullPool).connect() as connection:
        return bool(MigrationContext.configure(connection).get_current_heads())


class _KeptOpen:
    """What Dagster's storages of one file have in common here: one engine, whose file stays open."""

    _conn_string: str

    @cached_property
    def _engine(self) -> Engine:
        return _kept_open(self._conn_string)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction."""
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the file."""
        self._engine.dispose()


class _Runs(_KeptOpen, SqliteRunStorage):
    """The runs, in a file that stays open."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> Self:
        """Open the runs in `base_dir`, or begin them."""
        address = create_db_conn_string(base_dir, "runs")
        if Path(base_dir).is_dir() and _has_begun(address):
            return cls(address, inst_data)
        return super().from_local(base_dir, inst_data)


class _Events(ConsolidatedSqliteEventLogStorage):
    """The events of all runs in one file that stays open."""

    def __init__(self, base_dir: str) -> None:
        """Open the file in `base_dir`, or make it."""
        self._tables: set[str] = set()
        self._asset_columns: set[str] = set()
        super().__init__(base_dir)

    @cached_property
    def _engine(self) -> Engine:
        return _kept_open(self._conn_string)

    @cached_property
    def _watcher(self) -> SqlPollingEventWatcher:
        return SqlPollingEventWatcher(self)

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def has_table(self, table_name: str) -> bool:
        """Whether there is such a table; Dagster asks before every check, and the answer stays once it is yes."""
        if table_name not in self._tables:
            with self._connect() as connection:
                self._tables.update(inspect(connection).get_table_names())
        return table_name in self._tables

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        if column_name not in self._asset_columns:
            self._asset_columns.update(column["name"] for column in inspect(conn).get_columns(AssetKeyTable.name))
        return column_name in self._asset_columns

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Tell `callback` of a run's new events. They stand in the write-ahead log first, where a look at the file's
        time, as in the parent class, does not see them."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Any) -> None:
        """Tell it no more."""
        self._watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        """End the watching and close the file."""
        if "_watcher" in self.__dict__:
            self._watcher.close()
        self._engine.dispose()


class _Schedules(_KeptOpen, SqliteScheduleStorage):
    """Ticks of schedules and sensors, in a file that stays open."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> SqliteScheduleStorage:
        """Open the ticks in `base_dir`, or begin them."""
        address = create_db_conn_string(base_dir, "schedules")
        if Path(base_dir).is_dir() and _has_begun(address):
            return cls(address, inst_data)
        return super().from_local(base_dir, inst_data)


class RunHistory(DagsterStorage, ConfigurableClass):
    """The storage of a Dagster instance, named in its `dagster.yaml`.

    Its files have the places and the schemas of Dagster's own SQLite storage, but for the events. A history that has
    begun with a file of events for each run goes on so.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Open the history in `base_dir`, or begin it."""
        history = Path(base_dir) / "history"
        file_by_run = history / "runs"
        self._inst_data = inst_data
        history.mkdir(parents=True, exist_ok=True)
        # Dagster's processes start at the same time. Two that make the tables of one file leave it unreadable.
        with portalocker.Lock(history / "opening.lock", timeout=_LONGEST_OPENING_S):
            self._open(history, file_by_run, Path(base_dir) / "schedules")
        super().__init__()  # type: ignore[no-untyped-call]

    def _open(self, history: Path, file_by_run: Path, schedules: Path) -> None:
        self._runs = _Runs.from_local(str(history))
        begun_by_run = (file_by_run / "index.db").exists()
        self._events = SqliteEventLogStorage(str(file_by_run)) if begun_by_run else _Events(str(history))
        self._schedules = _Schedules.from_local(str(schedules))

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        """Where this was configured."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """One field: the directory."""
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "RunHistory":
        """As Dagster opens it."""
        return cls(inst_data=inst_data, **config_value)

    def register_instance(self, instance: Any) -> None:
        """Dagster's way to let storages know their instance."""
        super().register_instance(instance)
        for part in (self._runs, self._events, self._schedules):
            if not part.has_instance:
                part.register_instance(instance)

    @property
    def event_log_storage(self) -> EventLogStorage:
        """The events."""
        return self._events

    @property
    def run_storage(self) -> RunStorage:
        """The runs."""
        return self._runs

    @property
    def schedule_storage(self) -> ScheduleStorage:
        """The schedules and sensors."""
        return self._schedules
