"""Dagster's run history of a store in SQLite files that stay open: runs, one event log for all runs, schedules.

Dagster's own SQLite storage reopens a file for every statement, so that SQLAlchemy prepares each statement again,
and creates a file for every run: five sixths of the CPU time of a night that finds nothing to do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from inspect import getfile
from pathlib import Path
from typing import Any, Self

import portalocker
from alembic.runtime.migration import MigrationContext
from dagster import (
    AssetKey,
    AssetRecordsFilter,
    DagsterEvent,
    DagsterEventType,
    EventLogRecord,
    EventRecordsResult,
    StringSource,
)
from dagster._core.event_api import EventLogCursor
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.event_log.base import EventLogStorage
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorageMetadata,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.base import RunStorage
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.base import ScheduleStorage
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sql import get_alembic_config, stamp_alembic_rev
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from sqlalchemy import Connection, Engine, MetaData, and_, bindparam, create_engine, inspect
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import NullPool

from memory_pipeline.errors import SettingError
from memory_pipeline.orchestration.guard import guard_webserver
from memory_pipeline.orchestration.home import load_project_settings

#: Seconds to wait for another process that creates the files.
_LONGEST_OPENING_S = 60


def _kept_open(address: str) -> Engine:
    """An engine that keeps its connections open, one for each concurrent thread.

    The files are in WAL mode, in which `synchronous = NORMAL` waits for the disk only at checkpoints: a power
    failure may lose the last lines of a history, but never the file.
    """
    engine = create_engine(
        address, max_overflow=-1, pool_use_lifo=True, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
    )
    sqlalchemy_event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = NORMAL"))
    return engine


def _is_complete(address: str) -> bool:
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


def _complete(address: str, schema: MetaData, storage: type, fill: Sequence[Callable[[], None]]) -> bool:
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


def _is_output_of_check(event: DagsterEvent) -> bool:
    """Whether an event says that a step yielded the result of a check, which Dagster treats as an output of any type.
    The value of an asset or an op is called `result` here, and no output of another name is read by a step."""
    if event.event_type != DagsterEventType.STEP_OUTPUT:
        return False
    told = event.step_output_data
    passed = told.type_check_data is None or told.type_check_data.success
    return passed and told.output_name != "result" and told.mapping_key is None


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
        """Open the runs in `base_dir`, or create what is missing of them."""
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        address = create_db_conn_string(base_dir, "runs")
        opened = cls(address, inst_data)
        if _is_complete(address) or _complete(
            address, RunStorageSqlMetadata, SqliteRunStorage, [opened.migrate, opened.optimize]
        ):
            return opened
        return super().from_local(base_dir, inst_data)

    def optimize_for_webserver(self, *given: Any, **named: Any) -> None:
        """Dagster calls this in its web server alone, before it starts. No setting may keep the UI from starting,
        which is where a person sees what is wrong with it."""
        try:
            hosts = load_project_settings().values.ui.allowed_hosts
        except SettingError:
            hosts = ()
        guard_webserver(hosts)
        super().optimize_for_webserver(*given, **named)


#: Statements made once. Dagster makes those of an event anew each time, which costs more than to run them.
_ADD_EVENT = SqlEventLogStorageTable.insert()
_ADD_ASSET = AssetKeyTable.insert()
_CHANGE_ASSET = AssetKeyTable.update().where(AssetKeyTable.c.asset_key == bindparam("of_asset"))
_ADD_CHECK = AssetCheckExecutionsTable.insert()
_CHANGE_CHECK = AssetCheckExecutionsTable.update().where(
    and_(
        AssetCheckExecutionsTable.c.asset_key == bindparam("of_asset"),
        AssetCheckExecutionsTable.c.check_name == bindparam("of_check"),
        AssetCheckExecutionsTable.c.run_id == bindparam("of_run"),
        AssetCheckExecutionsTable.c.partition.is_not_distinct_from(bindparam("of_partition")),
    )
)


class _Newest:
    """The newest materialization of each asset and partition that this process has stored, as long as nothing else
    was written to the file, by whomever: a step asks for those of the steps before it, and a check for its asset's."""

    def __init__(self) -> None:
        self._records: dict[tuple[AssetKey, str | None], EventLogRecord] = {}
        self._seen: tuple[int, int, int] | None = None

    def look(self, connection: Connection) -> None:
        """Forget everything if the file is not what it was when `stored` was last called."""
        if self._state_of(connection) != self._seen:
            self._records.clear()

    def stored(self, connection: Connection, record: EventLogRecord) -> None:
        """An event was stored by this connection, after `look`, in the transaction that is still open."""
        state = self._state_of(connection)
        if self._seen is None or state[:2] != self._seen[:2]:
            self._records.clear()
        self._seen = state
        found = record.event_log_entry.dagster_event
        if found is not None and found.is_step_materialization and found.asset_key is not None:
            self._records[found.asset_key, found.partition] = record

    def of(self, asset: AssetKey, partition: str) -> EventLogRecord | None:
        """What is known, after `look`."""
        return self._records.get((asset, partition))

    def _state_of(self, connection: Connection) -> tuple[int, int, int]:
        """Who looks, how often others have written as SQLite counts it, and how many rows this connection has."""
        file: Any = connection.connection.dbapi_connection
        (others,) = file.execute("PRAGMA data_version").fetchone()
        return id(file), others, file.total_changes


class _Events(ConsolidatedSqliteEventLogStorage):
    """The events of all runs in one file that stays open."""

    def __init__(self, base_dir: str) -> None:
        """Open the file in `base_dir`, or create what is missing of it."""
        self._newest = _Newest()
        super().__init__(base_dir)
        if not _is_complete(self._conn_string):
            _complete(
                self._conn_string,
                SqlEventLogStorageMetadata,
                ConsolidatedSqliteEventLogStorage,
                [self.reindex_events, self.reindex_assets],
            )

    def _init_db(self) -> None:
        """Dagster creates a missing file here, without the number of its schema; `__init__` creates it instead."""

    def store_event(self, event: EventLogEntry) -> None:
        """Store an event, and what follows from it for its asset or check, in one transaction. That a check yielded its
        result as an output is not stored: the result itself is, as the next event, and nothing reads the output."""
        found = event.dagster_event
        if found is not None and _is_output_of_check(found):
            return
        row = self._event_to_row(event)
        with self._connect() as connection:
            self._newest.look(connection)
            key = connection.execute(_ADD_EVENT, row).inserted_primary_key
            assert key is not None
            if found is not None and found.event_type in ASSET_EVENTS and found.asset_key:
                self._store_asset_event_tags(connection, [event], [key[0]])
                self._store_asset_event(connection, event, key[0])
            if found is not None and found.event_type in ASSET_CHECK_EVENTS:
                self._store_check(connection, event, row["event"], key[0])
            self._newest.stored(connection, EventLogRecord(key[0], event))

    def _store_asset_event(self, conn: Connection, event: EventLogEntry, event_id: int) -> None:
        found = event.get_dagster_event()
        indexed = self._has_asset_key_index_cols_on_connection(conn)
        values = self._get_asset_entry_values(event, event_id, indexed)
        if not values or not found.asset_key:
            return
        asset = found.asset_key.to_string()
        if not conn.execute(_CHANGE_ASSET, {"of_asset": asset, **values}).rowcount:
            conn.execute(_ADD_ASSET, {"asset_key": asset, **values})

    def _store_check(self, connection: Connection, event: EventLogEntry, text: str, event_id: int) -> None:
        """A check that is planned, or the result of one, whether it was planned or not."""
        told: Any = event.get_dagster_event().event_specific_data
        check = {"asset_key": told.asset_key.to_string(), "check_name": told.check_name, "run_id": event.run_id}
        at = {
            "evaluation_event": text,
            "evaluation_event_timestamp": self._event_insert_timestamp(event),  # type: ignore[no-untyped-call]
            "evaluation_event_storage_id": event_id,
        }
        if event.dagster_event_type == DagsterEventType.ASSET_CHECK_EVALUATION:
            status = (
                AssetCheckExecutionRecordStatus.SUCCEEDED if told.passed else AssetCheckExecutionRecordStatus.FAILED
            )
            target = told.target_materialization_data
            values = {
                "execution_status": status.value,
                "materialization_event_storage_id": target.storage_id if target else None,
                "partition": told.partition,
                **at,
            }
            of = {"of_asset": check["asset_key"], "of_check": told.check_name, "of_run": event.run_id}
            was_planned = event.run_id and connection.execute(
                _CHANGE_CHECK, {**of, "of_partition": told.partition, **values}
            )
            if not was_planned or not was_planned.rowcount:
                connection.execute(_ADD_CHECK, {**check, **values})
            return
        status = AssetCheckExecutionRecordStatus.PLANNED
        partitions = told.partitions_subset.get_partition_keys() if told.partitions_subset else [None]
        for partition in partitions:
            connection.execute(_ADD_CHECK, {**check, "execution_status": status.value, "partition": partition, **at})

    def fetch_materializations(
        self,
        records_filter: AssetKey | AssetRecordsFilter,
        limit: int,
        cursor: str | None = None,
        ascending: bool = False,
    ) -> EventRecordsResult:
        """The materializations of an asset; the newest of a partition, which every check asks for, without a look
        into the file where this process has stored it."""
        if isinstance(records_filter, AssetRecordsFilter) and limit == 1 and cursor is None and not ascending:
            asset, partitions = records_filter.asset_key, records_filter.asset_partitions
            if partitions and len(partitions) == 1 and records_filter == AssetRecordsFilter(asset, partitions):
                known = self._newest_of(asset, partitions[0])
                if known is not None:
                    return EventRecordsResult(
                        [known], EventLogCursor.from_storage_id(known.storage_id).to_string(), True
                    )
        return super().fetch_materializations(records_filter, limit, cursor, ascending)

    def get_latest_tags_by_partition(
        self,
        asset_key: AssetKey,
        event_type: DagsterEventType,
        tag_keys: Sequence[str],
        asset_partitions: Sequence[str] | None = None,
        before_cursor: int | None = None,
        after_cursor: int | None = None,
    ) -> Mapping[str, Mapping[str, str]]:
        """Tags of an asset's newest events; those of one materialization without a look into the file where this
        process has stored it."""
        is_newest = before_cursor is None and after_cursor is None
        if is_newest and event_type == DagsterEventType.ASSET_MATERIALIZATION and len(asset_partitions or ()) == 1:
            (partition,) = asset_partitions or ()
            known = self._newest_of(asset_key, partition)
            if known is not None and known.asset_materialization is not None:
                tags = self._tags_for_asset_event(known.event_log_entry)
                return {partition: {key: value for key, value in tags.items() if key in tag_keys}}
        return super().get_latest_tags_by_partition(
            asset_key, event_type, tag_keys, asset_partitions, before_cursor, after_cursor
        )

    def _newest_of(self, asset: AssetKey, partition: str) -> EventLogRecord | None:
        with self._connect() as connection:
            self._newest.look(connection)
        return self._newest.of(asset, partition)

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


class _Schedules(_KeptOpen, SqliteScheduleStorage):
    """Ticks of schedules and sensors, in a file that stays open."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> SqliteScheduleStorage:
        """Open the ticks in `base_dir`, or create what is missing of them."""
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        address = create_db_conn_string(base_dir, "schedules")
        opened = cls(address, inst_data)
        if _is_complete(address) or _complete(
            address, ScheduleStorageSqlMetadata, SqliteScheduleStorage, [opened.migrate, opened.optimize]
        ):
            return opened
        return super().from_local(base_dir, inst_data)


class RunHistory(DagsterStorage, ConfigurableClass):
    """The storage of a Dagster instance, as named in its `dagster.yaml`.

    Except for the events, its files have the locations and schemas of Dagster's own SQLite storage. An existing
    history with one event file per run keeps that layout.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Open the history in `base_dir`, or create what is missing of it."""
        history = Path(base_dir) / "history"
        file_by_run = history / "runs"
        self._inst_data = inst_data
        history.mkdir(parents=True, exist_ok=True)
        # Dagster's processes start at the same time. Two that create the tables of one file would leave it unreadable.
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
        """The configuration that Dagster passed."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """The configuration has one field: the directory."""
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "RunHistory":
        """The constructor that Dagster calls."""
        return cls(inst_data=inst_data, **config_value)

    def register_instance(self, instance: Any) -> None:
        """Dagster calls this to give storages their instance."""
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
