"""The schema: what it says and the records say is one, and stores of earlier programs are brought up to date."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from memory_pipeline.errors import StoreError
from memory_pipeline.records import Memory
from memory_pipeline.records.columns import fixed_in, flat_columns_of
from memory_pipeline.store import Store, migrations
from memory_pipeline.store.migrations import triggers
from memory_pipeline.store.rows import RECORDS, TABLES
from memory_pipeline_tests.build import candidate, fill, lesson, run, sql_rows

#: The digest of all triggers at the newest migration.
TRIGGERS = "a87677f65a80da06b7ecae847c137aa4e6eed8b06995923297b3a5e7092e1668"
NAMES = {
    str: "VARCHAR",
    int: "INTEGER",
    float: "DOUBLE",
    bool: "BOOLEAN",
    datetime: "TIMESTAMP",
    date: "DATE",
    tuple: "VARCHAR[]",
}
#: Columns that a table has beside those of its record.
BESIDE = {
    "compression_log": {"rolled_back_at"},
    "playbook_entries": {"retracted_at"},
    "playbook_contributions": {"run_id", "decided_at"},
    "source_readings": {"run_id"},
    "comparison_cells": {"model"},
}


@pytest.fixture
def earlier(store: Store) -> Store:
    """A store with a night, as the program before the newest migration left it."""
    fill(store, lesson(4))
    run(store, date(2026, 3, 3))
    store.settle()
    with duckdb.connect(str(store.path)) as raw:
        migrations.drop_triggers(raw)
        raw.execute("drop index model_calls_run")
        raw.execute("alter table model_calls drop asked_again")
        raw.execute("create index model_calls_run on model_calls (run_id)")
        raw.execute("delete from schema_migrations where number = 22")
    return Store(store.path)


def schema_of(store: Store) -> dict[str, Any]:
    """Everything that a schema consists of."""
    asked = {
        "tables": "table_name, sql from duckdb_tables()",
        "columns": "table_name, column_name, data_type, is_nullable, column_index, column_default "
        "from duckdb_columns()",
        "constraints": "table_name, constraint_type, constraint_text from duckdb_constraints()",
        "indexes": "table_name, index_name, sql from duckdb_indexes()",
        "triggers": "table_name, trigger_name, sql from duckdb_triggers()",
        "sequences": "sequence_name from duckdb_sequences()",
        "macros": "function_name from duckdb_functions() where not internal",
        "views": "view_name from duckdb_views() where not internal",
    }
    with store.reading() as tx:
        return {
            what: sql_rows(
                tx,
                f"select * exclude (database_name) from (select database_name, {query}) "
                "where database_name = current_database() order by all",
            )
            for what, query in asked.items()
        }


def rows_of(path: Path) -> dict[str, list[str]]:
    """Every row of every table, read past the program."""
    with duckdb.connect(str(path), read_only=True) as raw:
        names = raw.execute("select table_name from duckdb_tables() where not internal").fetchall()
        return {
            name: [row[0] for row in raw.execute(f"select to_json(t)::text from {name} t order by 1").fetchall()]
            for (name,) in names
        }


def test_an_earlier_store_is_migrated_to_the_schema_of_a_new_one(earlier: Store, tmp_path: Path) -> None:
    new = Store(tmp_path / "new.duckdb")
    fill(new, [candidate("x y z")])
    assert schema_of(earlier) == schema_of(new)
    with earlier.reading() as tx, new.reading() as other:
        numbers = "select number, name from schema_migrations order by 1"
        there = sql_rows(tx, numbers)
        assert (
            there
            == sql_rows(other, numbers)
            == [
                (1, "001_tables.sql"),
                (2, "002_series.sql"),
                (3, "003_zones.sql"),
                (4, "004_sources.sql"),
                (5, "005_waiting.sql"),
                (6, "006_sessions.sql"),
                (7, "007_conversations.sql"),
                (8, "008_rollups.sql"),
                (9, "009_triggers.sql"),
                (10, "010_patterns.sql"),
                (11, "011_extraction_feedback.sql"),
                (12, "012_conversation_order.sql"),
                (13, "013_proposed_by.sql"),
                (14, "014_lead_ins.sql"),
                (15, "015_forgotten.sql"),
                (16, "016_stale_pages.sql"),
                (22, "022_asked_again.sql"),
            ]
        )


def test_a_dry_run_on_an_earlier_store_leaves_it_as_it_was(earlier: Store) -> None:
    before = earlier.path.read_bytes()
    assert run(earlier, date(2026, 3, 20), dry_run=True).dry_run
    assert earlier.path.read_bytes() == before


def test_a_migration_changes_no_row_and_no_hash(earlier: Store) -> None:
    before = rows_of(earlier.path)
    with earlier.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []
    earlier.settle()
    after = rows_of(earlier.path)
    assert before.pop("schema_migrations") != after.pop("schema_migrations")
    assert after == before and len(after["memories"]) == 5


@pytest.mark.parametrize("newest", [1, 9, 16])
def test_a_store_of_any_schema_is_migrated_to_that_of_a_new_one(store: Store, tmp_path: Path, newest: int) -> None:
    store.path.parent.mkdir(exist_ok=True)
    with duckdb.connect(str(store.path)) as raw:
        for number, name, sql in migrations.known_migrations():
            if number <= newest:
                raw.execute(sql)
                raw.execute("insert into schema_migrations values ($1, $2, now())", [number, name])
    new = Store(tmp_path / "new.duckdb")
    fill(new, [candidate("x y z")])
    assert schema_of(store) == schema_of(new)


@pytest.mark.slow
def test_a_kill_while_migrating_leaves_the_store_as_it_was(earlier: Store) -> None:
    before = rows_of(earlier.path)
    code = "import sys; from memory_pipeline.store import Store; Store(sys.argv[1]).reading().__enter__()"
    died = subprocess.run(
        [sys.executable, "-c", code, str(earlier.path)],
        env={**os.environ, "KILL_POINT": "store.migration.commit"},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    assert rows_of(earlier.path) == before
    with earlier.reading() as tx:
        assert tx.integrity.check(deep=True) == []


def test_a_migration_that_fails_leaves_the_store_as_it_was(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [candidate("x y z", native_id="m")])
    known = migrations.known_migrations()
    for sql in ("create table extra (id text); create table extra (id text);", "create table extra (id text);"):
        monkeypatch.setattr(migrations, "known_migrations", lambda sql=sql: [*known, (999, "999_extra.sql", sql)])
        if sql.count("extra") == 2:
            with pytest.raises(StoreError), Store(store.path).reading():
                pass
            monkeypatch.setattr(migrations, "known_migrations", lambda: known)
            assert "extra" not in {name for name, _ in schema_of(Store(store.path))["tables"]}
    migrated = schema_of(Store(store.path))
    assert "extra" in {name for name, _ in migrated["tables"]}
    assert len(migrated["triggers"]) == len(list(triggers()))


def test_a_table_has_the_columns_of_its_record(store: Store) -> None:
    fill(store, [candidate("x y z")])
    columns = schema_of(store)["columns"]
    assert len(RECORDS) == 21
    for table, record in RECORDS.items():
        there = {
            name: (kind.replace("BIGINT", "INTEGER"), nullable)
            for where, name, kind, nullable, *_ in columns
            if where == table
        }
        said = {column.name: (NAMES[column.kind], column.optional) for column in flat_columns_of(record)}
        assert {name: what for name, what in there.items() if name not in BESIDE.get(table, ())} == said, table


def test_a_number_has_the_bounds_in_the_table_that_its_record_says(store: Store) -> None:
    fill(store, [candidate("x y z")])
    bounds = {column.name: f"BETWEEN {column.low:g} AND {column.high:g}" for column in flat_columns_of(Memory)}
    checks = [text for table, kind, text in schema_of(store)["constraints"] if (table, kind) == ("memories", "CHECK")]
    assert len(checks) == 3
    for text in checks:
        name = text.removeprefix("CHECK").strip("( ").split()[0]
        assert bounds[name] in text


def test_the_list_of_tables_names_every_table_and_what_names_a_row(store: Store) -> None:
    fill(store, [candidate("x y z")])
    with store.reading() as tx:
        keys = dict(
            sql_rows(
                tx,
                "select table_name, constraint_column_names from duckdb_constraints() "
                "where database_name = current_database() and constraint_type = 'PRIMARY KEY'",
            )
        )
        tables = {name for name, _ in schema_of(store)["tables"]}
    assert {table.name for table in TABLES} == tables
    for table in TABLES:
        assert table.logged == () or set(table.key) <= set(keys[table.name]), table.name
        assert bool(table.record) != bool(table.left_behind), f"{table.name} is in an export, or there is a reason"


def test_other_triggers_need_a_migration() -> None:
    """Stores get new triggers with a migration alone: add one (a comment will do), and then the digest here."""
    assert hashlib.sha256("\n".join(triggers()).encode()).hexdigest() == TRIGGERS


def test_what_may_not_change_in_a_memory_does_not(store: Store) -> None:
    fill(store, [candidate("x y z", native_id="m", tags=("t",), categories=("c",))])
    other = {str: "'another'", tuple: "['another']", datetime: "timestamp '2026-02-02'", bool: "not {0}"}
    for column in fixed_in(Memory):
        value = other.get(column.kind, "1 - coalesce({0}, 0)")
        with pytest.raises(StoreError, match="law 1"), store.writing("test") as tx:
            sql_rows(tx, f"update memories set {column.name} = {value.format(column.name)}")
    with store.reading() as tx:
        assert list(tx.memories.read(["m"])) == ["m"] and tx.integrity.check(deep=True) == []


def test_a_file_that_was_put_back_without_its_log_is_migrated_again(earlier: Store) -> None:
    before = earlier.path.read_bytes()
    for _ in range(3):  # the log has the migration; then the process knows
        with Store(earlier.path).reading() as tx:
            assert tx.integrity.check() == []
    for file in earlier.path.parent.glob(f"{earlier.path.name}*"):
        file.unlink()
    earlier.path.write_bytes(before)
    with Store(earlier.path).reading() as tx:
        assert tx.integrity.check() == []
