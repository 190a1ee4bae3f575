"""The schema: what it says and the records say is one, and stores of earlier programs are brought up to date."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from memory_pipeline.consolidation.review.decisions import approve_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import StoreError
from memory_pipeline.recall import read_state
from memory_pipeline.records import (
    Distillation,
    Memory,
)
from memory_pipeline.records.columns import fixed_in, flat_columns_of
from memory_pipeline.records.drafts import drafted
from memory_pipeline.store import Store, connection, migrations
from memory_pipeline.store.migrations import triggers
from memory_pipeline.store.rows import AUDIT_LOG, RECORDS, TABLES
from memory_pipeline_tests.build import candidate, fill, run, settings_for, sql_rows

HERE = Path(__file__).parent
#: `store_hash` of the earlier store with its log, as the program that made it gave it.
EARLIER_HASH = "5a8960a3dc0391d57cb3da9d500a71f0306892327b1836831595d02e3bf08db2"
#: The digest of all triggers at the newest migration.
TRIGGERS = "a87677f65a80da06b7ecae847c137aa4e6eed8b06995923297b3a5e7092e1668"
#: Tables that the earlier program did not have.
LATER = (
    "session_usage", "source_files", "source_pending", "source_readings", "source_entries", "extractions",
    "relationship_patterns", "extraction_feedback", "stale_pages",
    "conversation_days", "trigger_events", "rollups", "forgotten", "forgotten_key",
)  # fmt: skip
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
    """A store as a program of before the first release left it: memories active, archived and rolled back, merged and
    distilled, their conflicts, atoms, playbook, proposals, reports and log."""
    store.path.write_bytes(lzma.decompress((HERE / "earlier_store.duckdb.xz").read_bytes()))
    return store


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
        assert tx.contents.digest(with_log=True) == EARLIER_HASH
    earlier.settle()
    after = rows_of(earlier.path)
    assert before.pop("patterns") == []
    assert before.pop("schema_migrations") != after.pop("schema_migrations")
    assert all(after.pop(name) == [] for name in ("line_shapes", *LATER))
    later = re.compile(r',"(?:utc_offset":0|headings":\[\]|lead_in":"")')
    after["memories"] = [later.sub("", row) for row in after["memories"]]
    calls = [row.replace(',"asked_again":false', "") for row in after["model_calls"]]
    after["model_calls"] = calls
    assert after == before
    full = {name for name, rows in after.items() if rows}
    assert {table.name for table in TABLES} - full == {
        "lease", "schema_migrations", "comparison_cells", "line_shapes", *LATER,
    }  # fmt: skip


@pytest.mark.slow
def test_what_an_earlier_program_did_can_be_undone_and_nights_go_on(earlier: Store) -> None:
    with earlier.reading() as tx:
        ((count,),) = sql_rows(tx, "select count(*) from memories where archived_at is not null")
    done = roll_back(earlier, settings_for(earlier), RollbackScope(run_id="run-2026-03-03"), cascade=True)
    assert done.restored
    with earlier.reading() as tx:
        left = sql_rows(tx, "select count(*) from memories where archived_at is not null and rolled_back_at is null")[
            0
        ][0]
        assert left < count
        assert tx.integrity.check(deep=True) == []
    assert run(earlier, date(2026, 4, 2)).verdict == "PASS"
    with earlier.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []


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
        assert tx.integrity.check(deep=True) == [] and tx.contents.digest(with_log=True) == EARLIER_HASH


def test_a_migration_that_fails_leaves_the_store_as_it_was(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [candidate("x y z", native_id="m")])
    known = migrations.known_migrations()
    for sql in ("create table extra (id text); create table extra (id text);", "create table extra (id text);"):
        monkeypatch.setattr(migrations, "known_migrations", lambda sql=sql: [*known, (999, "999_extra.sql", sql)])
        connection._up_to_date.clear()  # as in the process of another program
        if sql.count("extra") == 2:
            with pytest.raises(StoreError), Store(store.path).reading():
                pass
            monkeypatch.setattr(migrations, "known_migrations", lambda: known)
            assert "extra" not in {name for name, _ in schema_of(Store(store.path))["tables"]}
    migrated = schema_of(Store(store.path))
    assert "extra" in {name for name, _ in migrated["tables"]}
    assert len(migrated["triggers"]) == len(list(triggers()))


def test_a_store_from_before_histories_begins_with_the_state_it_has(store: Store) -> None:
    store.path.parent.mkdir(exist_ok=True)
    with duckdb.connect(str(store.path)) as raw:
        raw.execute("create table schema_migrations (number integer primary key, name text, applied_at timestamp)")
        raw.execute((HERE / "first_schema.sql").read_text())
        for number, name in enumerate(("memories", "nights", "knowledge", "audit"), 1):
            raw.execute("insert into schema_migrations values ($1, $2, now())", [number, f"{number:03}_{name}.sql"])
        raw.execute(
            "insert into memories by name select 'old' as id, 'p' as project_id, 'words' as content, 'other' as "
            "memory_type, [] as categories, [] as tags, 1.0 as importance, 0 as abstraction_level, 2 as token_count, "
            "'x' as content_hash, 'y' as shape_hash, timestamp '2026-01-01' as created_at, 'exact' as "
            "created_at_quality, timestamp '2026-01-01' as effective_date, 'jsonl' as source_connector"
        )
    with store.reading() as tx:
        assert tx.memories.read(["old"])["old"].rolled_back_at is None
        assert [event.action for event in tx.history.of("old")] == ["insert", "baseline"]
    assert set(read_state(store, datetime.now(UTC).isoformat()).active) == {"old"}


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


def test_every_entry_of_the_log_names_its_row(earlier: Store) -> None:
    names = ({table.name for table in TABLES if table.logged} | {"memories", "embeddings"}) - {*LATER}
    with earlier.reading() as tx:
        logged = {row[0] for row in sql_rows(tx, f"select distinct table_name from {AUDIT_LOG}")}
        assert logged == names


@pytest.mark.slow
def test_the_proposals_of_an_earlier_store_are_still_read_and_approved(earlier: Store) -> None:
    with earlier.reading() as tx:
        waiting = tx.proposals.list()
    assert {proposal.policy for proposal in waiting} == {"distill", "merge"}
    for proposal in waiting:
        draft = drafted(proposal)
        assert isinstance(draft, Distillation) and draft.id == proposal.id
        assert draft.member_ids == tuple(sorted(draft.member_ids)) and len(draft.similarities) == len(draft.member_ids)
        assert draft.measured.compression_ratio > 1
    done = approve_proposals(earlier, settings_for(earlier), [proposal.id for proposal in waiting], "me")
    assert [result.outcome for result in done] == ["approved", "approved"], done


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
