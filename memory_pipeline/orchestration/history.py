"""Dagster's run history of a store in SQLite files that stay open: runs, one event log for all runs, schedules.

Dagster's own SQLite storage reopens a file for every statement, so that SQLAlchemy prepares each statement again,
and creates a file for every run: five sixths of the CPU time of a night that finds nothing to do.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from inspect import getfile
from pathlib import Path
from typing import Any

import portalocker
from alembic.runtime.migration import MigrationContext
from dagster import DagsterEvent, DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import (
    SqlEventLogStorageMetadata,
)
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sql import get_alembic_config, stamp_alembic_rev
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, MetaData, create_engine, inspect
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import NullPool

from memory_pipeline.errors import SettingError
from memory_pipeline.orchestration.guard import guard_webserver
from memory_pipeline.orchestration.home import load_project_settings


def _is_output_of_check(event: DagsterEvent) -> bool:
    """Whether an event says that a step yielded the result of a check, which Dagster treats as an output of any type.
    The value of an asset or an op is called `result` here, and no output of another name is read by a step."""
    if event.event_type != DagsterEventType.STEP_OUTPUT:
        return False
    told = event.step_output_data
    passed = told.type_check_data is None or told.type_check_data.success
    return passed and told.output_name != "result" and told.mapping_key is None


class Events(ConsolidatedSqliteEventLogStorage):
    """The events of all runs in one file that stays open."""

    def __init__(self, base_dir: str) -> None:
        """Open the file in `base_dir`, or create what is missing of it."""
        super().__init__(base_dir)
        if not is_complete(self._conn_string):
            complete(
                self._conn_string,
                SqlEventLogStorageMetadata,
                ConsolidatedSqliteEventLogStorage,
                [self.reindex_events, self.reindex_assets],
            )

    def _init_db(self) -> None:
        """Dagster creates a missing file here, without the number of its schema; `__init__` creates it instead."""

    def store_event(self, event: EventLogEntry) -> None:
        """Store an event. That a check yielded its result as an output is not stored: the result itself is, as the next
        event, and nothing reads the output."""
        if event.dagster_event is None or not _is_output_of_check(event.dagster_event):
            super().store_event(event)

    @cached_property
    def _engine(self) -> Engine:
        return keep_open(self._conn_string)

    @cached_property
    def _watcher(self) -> SqlPollingEventWatcher:
        return SqlPollingEventWatcher(self)

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Call `callback` for each new event of a run. New events are in the write-ahead log first, so the parent
        class, which checks the file's modification time, would not see them."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Any) -> None:
        """Stop calling it."""
        self._watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        """Stop watching and close the file."""
        if "_watcher" in self.__dict__:
            self._watcher.close()
        self._engine.dispose()


def keep_open(address: str) -> Engine:
    """An engine that keeps its connections open, one for each concurrent thread.

    The files are in WAL mode, in which `synchronous = NORMAL` waits for the disk only at checkpoints: a power
    failure may lose the last lines of a history, but never the file.
    """
    engine = create_engine(
        address, max_overflow=-1, pool_use_lifo=True, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
    )
    sqlalchemy_event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = NORMAL"))
    return engine


def is_complete(address: str) -> bool:
    """Whether a file has the number of its schema, which is written last. Dagster's own check also loads every past
    migration."""
    with create_engine(address, poolclass=NullPool).connect() as connection:
        return bool(MigrationContext.configure(connection).get_current_heads())


def _has_present_columns(engine: Engine, schema: MetaData) -> bool:
    """Whether every table of `schema` that a file has, has all of its columns."""
    found = inspect(engine)
    names = set(schema.tables) & set(found.get_table_names())
    return all(
        {column["name"] for column in found.get_columns(name)} >= {*schema.tables[name].c.keys()} for name in names
    )


def complete(address: str, schema: MetaData, storage: type, fill: Sequence[Callable[[], None]]) -> bool:
    """Create what a file lacks; records that it has stay. `fill` are the steps of `storage`, which is Dagster's class
    for the file, that follow the tables. False for a file of an older Dagster, which only Dagster can change.

    A process that is killed at any instant leaves a file without the schema's number, and the next one does the steps
    that are missing. Dagster's own classes take a file with some of its tables for a finished one.
    """
    engine = create_engine(address, poolclass=NullPool, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    if not _has_present_columns(engine, schema):
        return False
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    schema.create_all(engine)
    for index in (index for table in schema.tables.values() for index in table.indexes):
        index.create(engine, checkfirst=True)
    for step in fill:
        step()
    with engine.connect() as connection:
        stamp_alembic_rev(get_alembic_config(getfile(storage)), connection)
        connection.commit()
    return True


class _KeptOpen:
    """What Dagster's storages of one file have in common here: one engine, whose file stays open."""

    #: The name of the file, its tables, and Dagster's own storage of it.
    _file: str
    _schema: MetaData
    _of_dagster: type

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> Any:
        """Open the file in `base_dir`, or create what is missing of it."""
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        address = create_db_conn_string(base_dir, cls._file)
        opened: Any = cls(address, inst_data)  # type: ignore[call-arg]
        if is_complete(address) or complete(address, cls._schema, cls._of_dagster, [opened.migrate, opened.optimize]):
            return opened
        return super().from_local(base_dir, inst_data)  # type: ignore[misc]

    @cached_property
    def _engine(self) -> Engine:
        return keep_open(self._conn_string)  # type: ignore[attr-defined]

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction."""
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the file."""
        self._engine.dispose()


#: Seconds to wait for another process that creates the files.
_LONGEST_OPENING_S = 60


class _Runs(_KeptOpen, SqliteRunStorage):
    """The runs, in a file that stays open."""

    _file, _schema, _of_dagster = "runs", RunStorageSqlMetadata, SqliteRunStorage

    def optimize_for_webserver(self, *given: Any, **named: Any) -> None:
        """Dagster calls this in its web server alone, before it starts. No setting may keep the UI from starting,
        which is where a person sees what is wrong with it."""
        try:
            hosts = load_project_settings().values.ui.allowed_hosts
        except SettingError:
            hosts = ()
        guard_webserver(hosts)
        super().optimize_for_webserver(*given, **named)


class _Schedules(_KeptOpen, SqliteScheduleStorage):
    """Ticks of schedules and sensors, in a file that stays open."""

    _file, _schema, _of_dagster = "schedules", ScheduleStorageSqlMetadata, SqliteScheduleStorage


class RunHistory(DagsterSqliteStorage):
    """The storage of a Dagster instance, as named in its `dagster.yaml`.

    Except for the events, its files have the locations and schemas of Dagster's own SQLite storage.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Open the history in `base_dir`, or create what is missing of it."""
        self.base_dir, self._inst_data = base_dir, inst_data
        history = Path(base_dir) / "history"
        history.mkdir(parents=True, exist_ok=True)
        # Dagster's processes start at the same time. Two that create the tables of one file would leave it unreadable.
        with portalocker.Lock(history / "opening.lock", timeout=_LONGEST_OPENING_S):
            self._run_storage = _Runs.from_local(str(history))
            events: Any = Events(str(history))
            self._event_log_storage = events
            self._schedule_storage = _Schedules.from_local(str(Path(base_dir) / "schedules"))
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> "RunHistory":
        """The constructor that Dagster calls."""
        return cls(inst_data=inst_data, **config_value)
