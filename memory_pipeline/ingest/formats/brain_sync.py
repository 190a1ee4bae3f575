"""Writes what the store made of a brain's memories back into the `brain.db`: abstractions, archive fields and log.

Before anything changes, the file is copied and the copy verified; then everything is one transaction of SQLite, so that
a process that dies leaves the file as it was or complete. No word of a row is ever changed, and no row deleted.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import quote

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, OutputError, StoreBusyError
from memory_pipeline.files.writing import cause_and_mend, new_file
from memory_pipeline.ingest.formats.brain import MODEL, made_mark, require_table
from memory_pipeline.ingest.formats.brain_plan import BrainPlan, Marking, NewRow, StoreSide, log_row, plan_brain
from memory_pipeline.ingest.sqlite_files import columns_of, is_busy, is_sqlite, name_holders, quoted, reading
from memory_pipeline.killpoints import reached
from memory_pipeline.records import Memory
from memory_pipeline.store import Store, snapshot_directory

#: What an archived memory weighs.
_ARCHIVED_IMPORTANCE = 0.5
_LOG = """
create table if not exists compression_log (
    id text primary key, cluster_fingerprint text not null, compressed_memory_id text, status text not null,
    reason text, member_count integer not null, compression_ratio real, run_id text, created_at text not null
)
"""
_LOG_INDEXES = ("cluster_fingerprint", "created_at")
_ADDED_COLUMNS = ("compressed_from", "archived_by", "archived_at")


class BrainSync(Document):
    """The changes that were made to a brain, or would be."""

    brain: str = Field(description="The file.")
    dry_run: bool = Field(description="Whether this is a preview; then nothing was written.")
    added: int = Field(description="Abstractions that were added.")
    archived: int = Field(description="Memories that were archived there.")
    restored: int = Field(description="Memories that are active there again, because they are in the store.")
    retired: int = Field(description="Abstractions that were rolled back since and are archived there now.")
    left: dict[str, int] = Field(description="What was left alone, by reason.")
    copy_: str | None = Field(alias="copy", description="The verified copy from before; null if nothing changed.")
    changes: tuple[str, ...] = Field(description="Each change in words, at most fifty.")


def sync_brain(
    store: Store, path: Path, zone: tzinfo, *, now: datetime, dry_run: bool = False, wait_s: float = 30.0, keep: int = 7
) -> BrainSync:
    """Bring a brain up to date; a second call changes nothing.

    `zone`: that of the brain's times that name none, unless they were imported in another. `wait_s`: how long to wait
    while another program holds it. `keep`: how many copies are kept besides the first. Raises InputError if it is no
    brain, StoreBusyError if it stays held, and OutputError if it cannot be copied or written.
    """
    side = StoreSide.of(store)
    with reading(path, wait_s) as connection:
        plan = plan_brain(connection, require_table(connection, path), side)
    copy = None
    if (plan.add or plan.mark) and not dry_run:
        plan, copy = _write(store, path, side, zone, now, wait_s, keep)
    return BrainSync(
        brain=str(path),
        dry_run=dry_run,
        added=len(plan.add),
        archived=plan.count("archive"),
        restored=plan.count("make active again"),
        retired=plan.count("retire"),
        left=dict(sorted(plan.left.items())),
        copy_=str(copy) if copy else None,
        changes=_describe(plan),
    )


_MOST_SHOWN = 50
_begin = partial(shorten, width=80, placeholder="…")


def _describe(plan: BrainPlan) -> tuple[str, ...]:
    lines = [
        f"add {new.memory.id[:8]}, of {len(new.source_ids)} memories: {_begin(new.memory.content)}" for new in plan.add
    ]
    lines += [f"{marking.verb} {marking.row.key}: {_begin(marking.memory.content)}" for marking in plan.mark]
    return tuple(lines[:_MOST_SHOWN])


def _write(
    store: Store, path: Path, side: StoreSide, zone: tzinfo, now: datetime, wait_s: float, keep: int
) -> tuple[BrainPlan, Path | None]:
    """Plan again while nobody else can write, copy, and write all of it."""
    if not is_sqlite(path):
        raise InputError(f"'{path}' is no SQLite file")
    address = f"file:{quote(bytes(path.absolute()))}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=wait_s, isolation_level=None)) as connection:
            connection.execute("begin immediate")
            try:
                table = require_table(connection, path)
                plan = plan_brain(connection, table, side)
                if not plan.add and not plan.mark:
                    connection.execute("rollback")
                    return plan, None
                copy = _make_copy(store, path, table, now, keep)
                reached("sync.copied")
                _Writing(connection, table, side, zone).write(plan, now)
                reached("sync.written")
                connection.execute("commit")
                reached("sync.committed")
                return plan, copy
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
    except sqlite3.Error as error:
        if is_busy(error):
            raise StoreBusyError(
                f"'{path}' is held by {name_holders(path)}, also after {wait_s:g} s of waiting; nothing was written; "
                "try again when that is done"
            ) from error
        raise OutputError(f"'{path}' could not be written, and is as it was: {error}") from error


def _make_copy(store: Store, path: Path, table: str, now: datetime, keep: int) -> Path:
    """A verified copy of the file beside the store's snapshots."""
    directory = snapshot_directory(store)
    stem = f"brain-{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:8]}"
    copy = directory / f"{stem}-{now.astimezone(UTC):%Y%m%dT%H%M%S%f}Z.db"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        partial = directory / f".{copy.name}.partial"
        partial.unlink(missing_ok=True)
        new_file(partial, path).close()  # who may not read the file may not read its copy
        with reading(path) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
            target.execute("pragma journal_mode = delete")
            problems = [row[0] for row in target.execute("pragma integrity_check(1)")]
            count = f"select count(*) from {quoted(table)}"
            same = source.execute(count).fetchone() == target.execute(count).fetchone()
        if problems != ["ok"] or not same:
            partial.unlink(missing_ok=True)
            raise OutputError(f"'{path}' is damaged, so nothing was written to it: {problems[0]}")
        if copy.exists():
            raise OutputError(f"'{copy}' exists already; nothing was written to '{path}'")
        partial.replace(copy)
        for old in sorted(directory.glob(f"{stem}-*.db"))[1:-keep]:
            old.unlink()
    except OSError as error:
        raise OutputError(
            f"'{copy}' could not be written, and '{path}' is as it was: {cause_and_mend(error)}"
        ) from error
    return copy


class _Writing:
    """The changes of one transaction."""

    def __init__(self, connection: sqlite3.Connection, table: str, side: StoreSide, zone: tzinfo) -> None:
        self._connection, self._run, self._table, self._side = connection, connection.execute, table, side
        self._has_numbers = _has_numbers(connection, table)
        self._time = _written_time(connection, table, side.zone_of_brain(zone))

    def write(self, plan: BrainPlan, now: datetime) -> None:
        """Everything of a plan."""
        self._add_columns()
        for new in plan.add:
            key = self._add(new)
            log = log_row(self._side, new.memory)
            row = {**asdict(log), "compressed_memory_id": key, "created_at": self._time(log.created_at)}
            self._insert("compression_log", row)
            self._embed(new.memory, key, now)
        for marking in plan.mark:
            (self._restore if marking.verb == "make active again" else self._archive)(marking)

    def _add_columns(self) -> None:
        present = columns_of(self._connection, self._table)
        for column in _ADDED_COLUMNS:
            if column not in present:
                self._run(f"alter table {quoted(self._table)} add column {column} text")
        self._run(_LOG)
        log = columns_of(self._connection, "compression_log")
        for column in _LOG_INDEXES:
            if column in log:
                self._run(f"create index if not exists compression_log_{column} on compression_log ({column})")

    def _add(self, new: NewRow) -> object:
        """Add an abstraction as a row, and return its id there."""
        memory = new.memory
        moment = self._time(memory.effective_date)
        key = f"mp_{hashlib.sha256(memory.id.encode()).hexdigest()[:12]}"
        row = {
            "id": key,
            "content": memory.content,
            "categories": json.dumps(list(memory.categories), ensure_ascii=False),
            "category": next(iter(memory.categories), None),
            "importance": memory.importance,
            "access_count": 0,
            "created_at": moment,
            "timestamp": moment,
            "source": "memory_pipeline",
            "compressed_from": made_mark(memory.id, memory.content, new.source_ids, memory.compressed_from),
        }
        rowid = self._insert(self._table, row)
        # An index of words into which no trigger writes what is added to the table.
        index = f"{self._table}_fts"
        if "content" in columns_of(self._connection, index) and index not in self._find_trigger_tables():
            self._run(f"insert into {quoted(index)} (rowid, content) values (?, ?)", [rowid, memory.content])
        return rowid if self._has_numbers else key

    def _find_trigger_tables(self) -> set[str]:
        """The tables into which triggers insert when a memory is added, as SQLite tells when it prepares this."""
        tables: set[str] = set()

        def note(action: int, name: str | None, _: str | None, __: str | None, trigger: str | None) -> int:
            if action == sqlite3.SQLITE_INSERT and name and trigger:
                tables.add(name.lower())
            return sqlite3.SQLITE_OK

        self._connection.set_authorizer(note)
        try:
            self._run(f"explain insert into {quoted(self._table)} default values")
        finally:
            self._connection.set_authorizer(None)
        return tables

    def _embed(self, memory: Memory, key: object, now: datetime) -> None:
        """Its vector, if the brain has a table for it and the store has one of the brain's model."""
        vector = self._side.vectors.get(memory.id)
        if vector is None or not columns_of(self._connection, "embeddings"):
            return
        value = vector.astype("<f4").tobytes()
        row = {
            "id": f"emb_{hashlib.sha256(memory.id.encode()).hexdigest()[:12]}",
            "source_type": "stm",
            "source_id": key,
            "memory_id": key,
            "content": memory.content[:1000],
            "embedding": value,
            "vector": value,
            "model": MODEL,
            "created_at": self._time(now),
        }
        self._insert("embeddings", row)

    def _archive(self, marking: Marking) -> None:
        when = marking.memory.rolled_back_at or marking.memory.archived_at
        self._run(
            f"update {quoted(self._table)} set archived_by = ?1, archived_at = ?2, importance = case "
            "when typeof(importance) in ('integer', 'real') then min(importance, ?3) else importance end "
            "where id = ?4",
            [marking.archived_by, None if when is None else self._time(when), _ARCHIVED_IMPORTANCE, marking.row.key],
        )
        if marking.verb == "retire":
            self._run(
                "update compression_log set status = 'failed', reason = 'rolled back' where compressed_memory_id = ?",
                [marking.row.key],
            )

    def _restore(self, marking: Marking) -> None:
        """Make it active again; an importance that its agent has set since stays."""
        self._run(
            f"update {quoted(self._table)} set archived_by = null, archived_at = null, "
            "importance = case when importance = min(?1, ?2) then ?1 else importance end "
            "where id = ?3",
            [marking.importance, _ARCHIVED_IMPORTANCE, marking.row.key],
        )
        self._run(
            "update compression_log set status = 'compressed', reason = null "
            "where compressed_memory_id = ? and reason = 'rolled back'",
            [marking.row.key],
        )

    def _insert(self, table: str, row: Mapping[str, object]) -> int | None:
        """Insert those of the values for which the table has a column. An integer key is made by SQLite."""
        columns = columns_of(self._connection, table)
        is_numbered = _has_numbers(self._connection, table)
        names = [name for name in row if name in columns and not (name == "id" and is_numbered)]
        marks = ", ".join("?" * len(names))
        statement = f"insert into {quoted(table)} ({', '.join(map(quoted, names))}) values ({marks})"
        return self._run(statement, [row[name] for name in names]).lastrowid


def _has_numbers(connection: sqlite3.Connection, table: str) -> bool:
    """True if the ids of a table are numbers, which SQLite makes itself."""
    kinds = {str(column[1]): str(column[2]) for column in connection.execute(f"pragma table_info({quoted(table)})")}
    return "int" in kinds.get("id", "").lower()


def _written_time(connection: sqlite3.Connection, table: str, zone: Callable[[datetime], tzinfo]) -> Any:
    """A function that writes a time as the brain's newest row has it: naive, with an offset, or as a number."""
    present = columns_of(connection, table)
    column = next((name for name in ("created_at", "timestamp") if name in present), "null")
    row = connection.execute(
        f"select {column} from {quoted(table)} where {column} is not null order by {quoted('rowid')} desc limit 1"
    ).fetchone()
    newest = row[0] if row else None
    if isinstance(newest, int | float):
        scale = 1000 if newest > 1e11 else 1
        return lambda moment: type(newest)(moment.timestamp() * scale)
    if isinstance(newest, str) and (newest.endswith("Z") or newest[10:].rfind("+") > 0):
        return lambda moment: (
            moment.astimezone(UTC).isoformat().replace("+00:00", "Z" if newest.endswith("Z") else "+00:00")
        )
    return lambda moment: moment.astimezone(zone(moment)).replace(tzinfo=None).isoformat()
