"""Converts records to table rows and back: the columns, their Arrow types and values are derived from the record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, is_dataclass
from datetime import UTC, date, datetime
from typing import Any, Generic, Literal, TypeVar, cast

import duckdb
import pyarrow as pa

from memory_pipeline.errors import InputError
from memory_pipeline.records import Handles
from memory_pipeline.records.columns import MOST_COUNT, Column, columns_of, flat_columns_of

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

#: Statements as DuckDB has parsed them, by their texts, and how many are kept. A night runs the same ones hundreds of
#: times, and parsing takes an eighth of the time of one that reads little.
_parsed: dict[str, duckdb.Statement | str] = {}
_MOST_PARSED = 1024
#: Rows of a large result that are read at once.
_PAGE = 1000


class Sql:
    """Runs the statements of one transaction.

    Called with values, it gives the one that runs a statement with these as `$1`, `$2`, ..., or by their names as
    `$name`; an Arrow table among them is read by its name. Times are aware, and whatever has several values is a list
    in SQL.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, values: Values = (), tables: Mapping[str, pa.Table] | None = None
    ) -> None:
        self._connection, self._values, self._tables = connection, values, tables or {}
        self._has_subject = True

    def __call__(self, *values: Any, **named: Any) -> Sql:
        tables = {name: value for name, value in named.items() if isinstance(value, pa.Table)}
        return Sql(self._connection, values or {name: named[name] for name in named if name not in tables}, tables)

    def about(self, ids: Iterable[str], *values: Any) -> Sql:
        """The same for statements that do something with the rows of these ids, which are `$1`. Without ids there is
        nothing to do, and nothing is run: planning a statement takes longer than all else in a small store."""
        wanted = list(ids)
        sql = self(wanted, *values)
        sql._has_subject = bool(wanted)
        return sql

    def run(self, statement: str) -> None:
        """Run a statement without a result."""
        self.stored_rows(statement)

    def rows(self, statement: str) -> list[Row]:
        """Every row of a result, with aware times."""
        rows = self.stored_rows(statement)
        if not rows:
            return rows
        times = [place for place, column in enumerate(self._connection.description) if column[1] == "TIMESTAMP"]
        return [_aware(row, times) for row in rows] if times else rows

    def stored_rows(self, statement: str) -> list[Row]:
        """`rows`, but with times as they are stored."""
        if not self._has_subject:
            return []
        with self.given(**self._tables):
            return self._connection.execute(self._statement(statement), _stored(self._values)).fetchall()

    def row(self, statement: str) -> Row | None:
        """The first row of a result; None if there is none."""
        rows = self.rows(statement)  # read completely: an unfinished result would prevent the commit
        return rows[0] if rows else None

    def value(self, statement: str) -> Any:
        """The first column of the first row of a result; None if there is none."""
        row = self.row(statement)
        return row[0] if row else None

    def moment(self, statement: str) -> datetime | None:
        """The time that is a result; None if there is none."""
        moment: datetime | None = self.value(statement)
        return moment

    def count(self, statement: str) -> int:
        """The number that is a result."""
        return int(self.value(statement))

    def counts(self, statement: str) -> tuple[Any, ...]:
        """The numbers that are the only row of a result."""
        return tuple(map(int, self.rows(statement)[0]))

    def strings(self, statement: str) -> list[str]:
        """The first column of every row, as text."""
        return [str(row[0]) for row in self.rows(statement)]

    def string_set(self, statement: str) -> set[str]:
        """The first column of every row, as text, each once."""
        return set(self.strings(statement))

    def mapping(self, statement: str) -> dict[Any, Any]:
        """By the first column of every row, the second."""
        return dict(self.rows(statement))

    def stream(self, statement: str) -> Iterator[Row]:
        """The rows of a large result, read some at a time; no other statement may run before it is read or left."""
        result = self._connection.execute(statement)
        try:
            while page := result.fetchmany(_PAGE):
                yield from page
        finally:
            with suppress(duckdb.Error):
                self._connection.abort()  # read the rest: an unfinished result would prevent the commit

    def table(self, statement: str) -> pa.Table:
        with self.given(**self._tables):
            return self._connection.sql(statement, params=_stored(self._values)).to_arrow_table()

    @contextmanager
    def given(self, **tables: pa.Table) -> Iterator[None]:
        """Until the block ends, statements can read these Arrow tables by their names."""
        for name, table in tables.items():
            self._connection.register(name, table)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # an error has ended the transaction, and the registered tables with it
                for name in tables:
                    self._connection.unregister(name)

    def _statement(self, text: str) -> duckdb.Statement | str:
        """A statement, parsed; several in one text stay text."""
        known = _parsed.get(text)
        if known is None:
            statements = self._connection.extract_statements(text)
            if len(_parsed) >= _MOST_PARSED:
                _parsed.clear()
            known = _parsed[text] = statements[0] if len(statements) == 1 else text
        return known


def _stored(values: Values) -> Values:
    """Values as DuckDB takes them: times in UTC, several values as a list."""
    if isinstance(values, Mapping):
        return {name: _as_stored(value) for name, value in values.items()}
    return [_as_stored(value) for value in values]


def _as_stored(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value


def _aware(row: Row, times: Sequence[int]) -> Row:
    values = list(row)
    for place in times:
        values[place] = from_utc(values[place])
    return tuple(values)


class Statements:
    """The statements about one subject, to run in one transaction."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql


Write = Literal["insert", "update", "delete"]
_NEW: tuple[Write, ...] = ("insert",)
_NEW_AND_CHANGED: tuple[Write, ...] = ("insert", "update")
_ANY: tuple[Write, ...] = ("insert", "update", "delete")
_WORDS = "made again from the words"
_IDS_TOLD = 3
Thing = TypeVar("Thing")
_Record = TypeVar("_Record")
_ARROW: dict[type, pa.DataType] = {
    str: pa.string(),
    int: pa.int32(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us"),
    date: pa.date32(),
    tuple: pa.list_(pa.string()),
}
#: By table, the record whose fields its columns are; a table may have more.
RECORDS: dict[str, type] = {}


def _arrow_type(column: Column) -> pa.DataType:
    is_long = column.kind is int and MOST_COUNT < column.high < math.inf
    return pa.int64() if is_long else _ARROW[column.kind]


def from_utc(moment: datetime | None) -> Any:
    """A stored time made aware again."""
    return None if moment is None else moment.replace(tzinfo=UTC)


class RowsOf(Generic[_Record]):
    """The mapping of one record class to a table."""

    _sql: Sql

    def __init__(self, record: type[_Record], table: str) -> None:
        """Fields of a record without a meaning have no column."""
        self._record, self._table = cast(Any, record), table
        RECORDS[table] = record
        flat, own = flat_columns_of(self._record), columns_of(self._record)
        #: The columns, in the order that `read` expects.
        self.names = tuple(column.name for column in flat)
        #: The columns as written in a statement.
        self.columns = ", ".join(self.names)
        #: The columns that `put` may change: those marked so, or all where none is.
        self._changing = tuple(column.name for column in flat if column.changes) or self.names
        self._schema = pa.schema([(column.name, _arrow_type(column)) for column in flat])
        self._times = [column.name for column in own if column.kind is datetime]
        self._lists = [column.name for column in own if column.kind is tuple]
        self._inner = {
            column.name: (column.kind, [(part.name, column.prefix + part.name) for part in columns_of(column.kind)])
            for column in own
            if is_dataclass(column.kind)
        }
        self._fields = [column.name for column in own if column.name not in self._inner]

    def selected_from(self, alias: str) -> str:
        """The columns of a table with an alias."""
        return ", ".join(f"{alias}.{name}" for name in self.names)

    def __call__(self, sql: Sql) -> RowsOf[_Record]:
        """The rows as one transaction sees them."""
        rows = copy(self)
        rows._sql = sql
        return rows

    def select(self, which: str = "") -> list[_Record]:
        """The records of the table, or those `which` a clause leaves, in its order."""
        return self.of(f"select {self.columns} from {self._table} {which}")

    def first(self, which: str) -> _Record | None:
        """The first of the records that `select` returns; None if there is none."""
        return next(iter(self.select(which)), None)

    def of(self, query: str) -> list[_Record]:
        """The records of the rows that a query of these columns returns."""
        return [self.read(row) for row in self._sql.stored_rows(query)]

    def insert(self, records: Sequence[_Record], conflict: str = "", **more: object) -> None:
        """Add records in one statement. `conflict`: what happens to those whose keys are there. `more`: values of
        further columns, the same for all."""
        if records:
            given = "".join(f", ${name} as {name}" for name in more)
            insert = f"insert into {self._table} by name select *{given} from incoming {conflict}"
            self._sql(**more, incoming=self.table(records)).run(insert)

    def put(self, records: Sequence[_Record], *, only_new: bool = False) -> None:
        """Add records, and bring those up to date whose keys are there, or with `only_new` leave them."""
        if records:
            upsert(self._sql, self._table, self.table(records), () if only_new else self._changing)

    def read(self, row: Sequence[Any]) -> _Record:
        values = dict(zip(self.names, row, strict=True))
        for name in self._times:
            values[name] = from_utc(values[name])
        for name in self._lists:
            values[name] = tuple(values[name])
        for name, (kind, parts) in self._inner.items():
            values[name] = kind(**{part: values.pop(column) for part, column in parts})
        record: _Record = self._record(**values)
        return record

    def table(self, records: Sequence[_Record]) -> pa.Table:
        """Records as an Arrow table with these columns; Arrow turns aware times into UTC without a zone."""
        return pa.Table.from_pylist([self._row(record) for record in records], schema=self._schema)

    def _row(self, record: _Record) -> dict[str, Any]:
        row = {name: getattr(record, name) for name in self._fields}
        for name, (_, parts) in self._inner.items():
            inner = getattr(record, name)
            row.update((column, getattr(inner, part)) for part, column in parts)
        return row


def upsert(sql: Sql, table: str, incoming: pa.Table, changing: Sequence[str]) -> None:
    """Add rows, and bring these columns of those up to date whose keys are there. An upsert in one statement would be
    an insert to the triggers of the log. Most rows are either all new or all there: counting those that are there is
    quicker than planning a statement with its triggers that changes nothing."""
    same = " and ".join(f"t.{name} = i.{name}" for name in KEYS[table])
    changes = ", ".join(f"{name} = i.{name}" for name in changing if name not in KEYS[table])
    given = sql(incoming=incoming)
    there = given.count(f"select count(*) from incoming i semi join {table} t on {same}")
    if changes and there:
        given.run(f"update {table} t set {changes} from incoming i where {same}")
    if there < len(incoming):
        new = f"anti join {table} t on {same}" if there else ""
        given.run(f"insert into {table} by name select i.* from incoming i {new}")


def put_values(sql: Sql, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """`upsert` for rows that are no records: by column, the values of each."""
    incoming = pa.Table.from_pylist([{name: _as_stored(value) for name, value in row.items()} for row in rows])
    upsert(sql, table, incoming, incoming.column_names)


def rows_digest(table: str) -> str:
    """SQL for one row of a table's name, how many rows it has, and two numbers that change with any of them, whatever
    their order."""
    name, quoted = table.replace("'", "''"), table.replace('"', '""')
    return (
        f"select '{name}', count(*), coalesce(bit_xor(hash(t)), 0), coalesce(sum(hash(t) % 4294967296), 0) "
        f'from "{quoted}" t'
    )


def only_one(things: Mapping[str, Thing], wanted: str, noun: str, mend: str) -> Thing:
    """The object in `things` whose id is `wanted`, or the only one whose id starts with it, or whose handle it is.
    `mend`: where ids can be found.

    Raises InputError if there is none, and if there are several, with the first ones named.
    """
    if wanted in things:
        return things[wanted]
    matches = [known for known in things if known.startswith(wanted)]
    if not matches and (of_handle := Handles(things).whole_id(wanted)) in things:
        return things[of_handle]
    if not matches:
        raise InputError(f"no {noun} has an id that starts with '{wanted}'; {mend}")
    if len(matches) > 1:
        ids = ", ".join(matches[:_IDS_TOLD]) + (", ..." if len(matches) > _IDS_TOLD else "")
        raise InputError(f"{len(matches)} {noun}s have ids that start with '{wanted}'; give more of the id ({ids})")
    return things[matches[0]]


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    `key`: the columns that identify a row; in the log they are joined with `separator`. `logged`: the writes for which
    the audit log has an entry, with a hash of the row and its `state`: some of its columns, or the whole row.
    `record`: the name of its rows in an export. `left_behind`: why an export of everything omits it. `made_again`: a
    night rebuilds its rows, so that nothing is lost with them.
    """

    name: str
    key: tuple[str, ...]
    separator: str = ""
    logged: tuple[Write, ...] = ()
    state: tuple[str, ...] = ()
    record: str = ""
    left_behind: str = ""
    made_again: bool = False


MEMORIES, LINEAGE, EMBEDDINGS, AUDIT_LOG = "memories", "lineage", "embeddings", "audit_log"
MIGRATIONS = "schema_migrations"

#: Every table. Writes to memories and embeddings are logged in their own ways (migrations.py).
TABLES = (
    Table(MEMORIES, ("id",), left_behind="written as rows of their own form"),
    Table(EMBEDDINGS, ("memory_id", "model"), left_behind=_WORDS, made_again=True),
    Table(LINEAGE, ("memory_id", "source_id"), " <- ", ("insert", "delete"),
          left_behind="stands in the rows of the memories, as `sources`"),
    Table("conflicts", ("a", "b"), " ~ ", _NEW_AND_CHANGED, record="conflict"),
    Table("compression_log", ("id",), logged=_NEW_AND_CHANGED, record="decision"),
    Table("atoms", ("id",), logged=_NEW_AND_CHANGED, record="atom"),
    Table("atom_candidates", ("memory_id",), logged=_NEW_AND_CHANGED, state=("status", "atom_id"), record="finding"),
    Table("atom_embeddings", ("atom_id", "field", "model"), left_behind=_WORDS, made_again=True),
    Table("playbook_entries", ("id",), logged=_NEW_AND_CHANGED, record="playbook_entry"),
    Table("playbook_contributions", ("memory_id",), logged=_NEW_AND_CHANGED, state=("status", "entry_id"),
          record="contribution"),
    Table("playbook_embeddings", ("entry_id", "model"), left_behind=_WORDS, made_again=True),
    Table("proposals", ("id",), logged=_NEW_AND_CHANGED, state=("status", "reason"), record="proposal"),
    Table("rollbacks", ("id",), logged=_NEW, record="rollback"),
    Table("model_answers", ("prompt_hash",), logged=_NEW_AND_CHANGED, state=("model", "stop_reason"),
          record="model_answer"),
    Table("model_calls", ("id",), logged=_NEW, record="model_call"),
    Table("model_batches", ("id",), logged=_NEW_AND_CHANGED, state=("status", "batch_id"), record="model_batch"),
    Table("night_reports", ("run_id",), logged=_NEW_AND_CHANGED, state=("partition_date", "verdict"), record="report"),
    Table("night_errors", ("run_id", "cluster_id"), record="night_error"),
    Table("notices", ("id",), record="notice"),
    Table("quarantine", ("file", "line"), ":", _NEW, state=("reason",), record="quarantine"),
    Table("comparison_cells", ("memory_id", "model", "kind"), record="comparison_cells", made_again=True),
    Table("line_shapes", ("memory_id",), left_behind=_WORDS, made_again=True),
    Table("similarity_edges", ("a", "b", "model"), left_behind="found again by the next night", made_again=True),
    Table("compared", ("memory_id", "model"), left_behind="found again by the next night", made_again=True),
    Table("source_files", ("source", "file"), left_behind="read again by the next night", made_again=True),
    Table("source_pending", ("source", "memory_id"), left_behind="read again by the next night", made_again=True),
    Table("source_readings", ("run_id", "source"), record="source_reading"),
    Table("source_entries", ("source", "memory_id"), ":", ("update",), record="source_entry"),
    Table("conversation_days", ("project_id", "night", "run_id"), ":", _ANY, record="conversation_day",
          state=("digest", "is_written", "gone_at", "gone_by", "basis", "is_taken_back")),
    Table("extraction_feedback", ("id",), logged=_NEW, record="extraction_feedback"),
    Table("relationship_patterns", ("id",), logged=_NEW_AND_CHANGED, record="relationship_pattern"),
    Table("extractions", ("id", "run_id"), ":", _ANY, record="extraction",
          state=("kind", "destination", "memory_id", "gone_at", "gone_by")),
    Table("session_usage", ("project_id", "session_id"), ":", _NEW_AND_CHANGED,
          left_behind="says how full the contexts of live sessions are"),
    Table("trigger_events", ("id",), logged=_NEW_AND_CHANGED, state=("kind", "action", "outcome"),
          record="trigger_event"),
    Table("rollups", ("id",), logged=_ANY, state=("level", "period"), record="rollup",
          made_again=True),
    Table("forgotten", ("memory_id",), logged=_NEW, record="forgotten"),
    Table("forgotten_key", ("key",), record="forgotten_key"),
    Table("stale_pages", ("project_id", "level", "period"), left_behind="made again before", made_again=True),
    Table("lease", ("name",), left_behind="says who works on this file now"),
    Table(MIGRATIONS, ("number",), left_behind="the program's own"),
    Table(AUDIT_LOG, ("sequence",), record="audit"),
)  # fmt: skip
#: By table, the columns that identify a row.
KEYS = {table.name: table.key for table in TABLES}
