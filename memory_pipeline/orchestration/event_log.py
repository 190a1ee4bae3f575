"""The events of all runs of a Dagster instance in one SQLite file that stays open."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from inspect import getfile
from typing import Any

from alembic.runtime.migration import MigrationContext
from dagster import AssetKey, AssetRecordsFilter, DagsterEvent, DagsterEventType, EventLogRecord, EventRecordsResult
from dagster._core.event_api import EventLogCursor
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorageMetadata,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.sql import get_alembic_config, stamp_alembic_rev
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from sqlalchemy import Connection, Engine, MetaData, and_, bindparam, create_engine, inspect
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import NullPool


def _is_output_of_check(event: DagsterEvent) -> bool:
    """Whether an event says that a step yielded the result of a check, which Dagster treats as an output of any type.
    The value of an asset or an op is called `result` here, and no output of another name is read by a step."""
    if event.event_type != DagsterEventType.STEP_OUTPUT:
        return False
    told = event.step_output_data
    passed = told.type_check_data is None or told.type_check_data.success
    return passed and told.output_name != "result" and told.mapping_key is None


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


class Events(ConsolidatedSqliteEventLogStorage):
    """The events of all runs in one file that stays open."""

    def __init__(self, base_dir: str) -> None:
        """Open the file in `base_dir`, or create what is missing of it."""
        self._newest = _Newest()
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


class KeptOpen:
    """What Dagster's storages of one file have in common here: one engine, whose file stays open."""

    _conn_string: str

    @cached_property
    def _engine(self) -> Engine:
        return keep_open(self._conn_string)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction."""
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the file."""
        self._engine.dispose()
