"""SQLite files of Dagster's history that stay open: their engine, and how what is missing of a file is created."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from inspect import getfile

from alembic.runtime.migration import MigrationContext
from dagster._core.storage.sql import get_alembic_config, stamp_alembic_rev
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from sqlalchemy import Connection, Engine, MetaData, create_engine, inspect
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import NullPool


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
