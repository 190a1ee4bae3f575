"""What nights make of a brain's memories goes back into it: whole or not at all, once, and never over its own words."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memory_pipeline.embedding.lexical import Lexical
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.ingest import import_memories, read_format
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.stores.brain_sync import BrainSync, sync_brain
from memory_pipeline.records import Memory
from memory_pipeline.review.rollback import RollbackScope, roll_back
from memory_pipeline.store import Store, list_snapshots, snapshot_directory
from memory_pipeline_tests.build import FIRST, NOW, candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.ingest.brains import EARLIER, SCHEMA, Row, brain, change, rows_of

DAY = date(2026, 3, 3)


def lessons(number: int = 4) -> list[Row]:
    """Near-copies of one lesson as rows of a brain."""
    told = lesson(number)
    return [
        (f"stm_{n:012x}", one.content, '["ops"]', 1.5, (FIRST + timedelta(hours=n)).replace(tzinfo=None).isoformat())
        for n, one in enumerate(told)
    ]


def other() -> Row:
    return "stm_other", "Dana prefers CSV for the weekly numbers.", '["people"]', 1.0, "2026-03-01T08:00:00"


def bring(store: Store, path: Path, zone: tzinfo = UTC) -> None:
    reading = read_format("brain", path, zone, NOW, settings_for(store), Skipped())
    import_memories(store, reading, project="p", embedder=Lexical(), now=NOW)


def sync(store: Store, path: Path, *, dry_run: bool = False, wait_s: float = 0.2) -> BrainSync:
    return sync_brain(store, path, UTC, now=datetime.now(UTC), dry_run=dry_run, wait_s=wait_s)


def told(done: BrainSync) -> tuple[int, int, int, int]:
    return done.added, done.archived, done.restored, done.retired


def contents(path: Path) -> list[Row]:
    """Every row of every table that the brain's own programs know."""
    tables = ("stm", "embeddings", "atoms", "compression_log")
    with closing(sqlite3.connect(path)) as connection:
        known = [t for t in tables if connection.execute(f"pragma table_info({t})").fetchall()]
        return [row for table in known for row in connection.execute(f"select * from {table} order by 1").fetchall()]


@pytest.fixture
def path(store: Store, tmp_path: Path) -> Path:
    """A brain that was imported, and of which a night made one abstraction of four memories."""
    found = brain(tmp_path / "brain.db", *lessons(), other())
    bring(store, found)
    assert run(store, DAY, run_id="the-night").memories_archived == 4
    return found


def made(store: Store) -> Memory:
    with store.reading() as tx:
        (found,) = [m for m in tx.memories.all() if m.source.connector == "night"]
    return found


def test_abstractions_archive_fields_and_log_are_written_and_a_second_sync_changes_nothing(
    store: Store, path: Path
) -> None:
    before = path.read_bytes()
    preview = sync(store, path, dry_run=True)
    assert told(preview) == (1, 4, 0, 0) and path.read_bytes() == before
    assert any("Restart the payment gateway" in change for change in preview.changes)
    done = sync(store, path)
    assert told(done) == (1, 4, 0, 0)
    ((key, content, compressed_from, source, at),) = rows_of(
        path, "select id, content, compressed_from, source, created_at from stm where compressed_from is not null"
    )
    abstraction = made(store)
    assert (content, source) == (abstraction.content, "memory_pipeline")
    assert at == abstraction.effective_date.replace(tzinfo=None).isoformat()
    assert json.loads(str(compressed_from))["source_ids"] == [f"stm_{n:012x}" for n in range(4)]
    archived = rows_of(path, "select importance, archived_at from stm where archived_by like 'memory_pipeline:%'")
    assert archived == [(0.5, "2026-03-04T00:00:00")] * 4
    assert rows_of(path, "select importance, archived_by from stm where id = 'stm_other'") == [(1.0, None)]
    assert rows_of(path, "select compressed_memory_id, status, member_count, run_id from compression_log") == [
        (key, "compressed", 4, "the-night")
    ]
    assert rows_of(path, "select count(*) from stm_fts where stm_fts match 'gateway'") == [(1,)]
    after = path.read_bytes()
    again = sync(store, path)
    assert (told(again), again.copy_) == ((0, 0, 0, 0), None) and path.read_bytes() == after


def test_the_copy_is_the_file_as_it_was_and_is_kept_beside_the_snapshots(store: Store, path: Path) -> None:
    before = contents(path)
    copy = sync(store, path).copy_
    assert copy is not None and Path(copy).parent == snapshot_directory(store)
    assert contents(Path(copy)) == before
    assert {snapshot.name for snapshot in list_snapshots(store)}.isdisjoint({Path(copy).stem})


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_the_copy_is_as_private_as_the_file(store: Store, path: Path, mode: int) -> None:
    path.chmod(mode)
    copy = sync(store, path).copy_
    assert copy is not None and stat.S_IMODE(Path(copy).stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == mode


def test_a_vector_of_the_brain_s_model_goes_with_it(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *lessons())
    bring(store, path)
    run(store, DAY)
    abstraction = made(store)
    with store.writing("test") as tx:
        tx.vectors.add([abstraction.id], np.eye(384, dtype=np.float32)[[5]], "all-MiniLM-L6-v2")
    sync(store, path)
    ((kind, model, content, vector),) = rows_of(path, "select source_type, model, content, embedding from embeddings")
    assert (kind, model, content) == ("stm", "all-MiniLM-L6-v2", abstraction.content[:1000])
    assert np.frombuffer(vector, dtype="<f4")[5] == 1.0  # type: ignore[call-overload]


def test_what_was_written_is_not_read_back_and_the_same_brain_gives_the_same_memories(
    store: Store, path: Path, tmp_path: Path
) -> None:
    sync(store, path)
    with store.reading() as tx:
        before = tx.contents.digest()
    bring(store, path)
    with store.reading() as tx:
        assert tx.contents.digest() == before
    fresh = Store(tmp_path / "fresh" / "store.duckdb")
    bring(fresh, path)
    with fresh.reading() as tx:
        found = tx.memories.all()
    assert sorted(memory.importance for memory in found) == [1.0, 1.5, 1.5, 1.5, 1.5]
    assert all(memory.archived_at is None for memory in found)


def test_a_rollback_is_written_back_and_the_abstraction_stays_marked(store: Store, path: Path) -> None:
    before = rows_of(path, "select id, content, importance from stm order by id")
    sync(store, path)
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))
    assert told(sync(store, path)) == (0, 0, 4, 1)
    assert rows_of(path, "select id, content, importance from stm where compressed_from is null order by id") == before
    assert rows_of(path, "select count(*) from stm where archived_by is not null") == [(1,)]
    ((by, weight),) = rows_of(path, "select archived_by, importance from stm where compressed_from is not null")
    assert str(by).startswith("memory_pipeline:rollback:") and weight == 0.5
    assert rows_of(path, "select status, reason from compression_log") == [("failed", "rolled back")]
    assert told(sync(store, path)) == (0, 0, 0, 0)
    run(store, DAY, run_id="again")
    assert told(sync(store, path)) == (0, 4, 1, 0)
    assert rows_of(path, "select status, reason from compression_log") == [("compressed", None)]


def test_what_the_agent_wrote_meanwhile_stays(store: Store, path: Path) -> None:
    change(path, "insert into stm (id, content, importance, created_at) values ('new', 'New words.', 2, '2026-03-09')")
    change(path, "update stm set importance = 2.75 where id = 'stm_000000000001'")
    sync(store, path)
    assert rows_of(path, "select content, importance, archived_by from stm where id = 'new'") == [
        ("New words.", 2, None)
    ]
    change(path, "update stm set importance = 1.25 where id = 'stm_000000000002'")
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))
    sync(store, path)
    found = dict(rows_of(path, "select id, importance from stm where id like 'stm_00000%'"))
    assert [found[f"stm_{n:012x}"] for n in range(4)] == [1.5, 2.75, 1.25, 1.5]


def test_what_the_agent_edited_since_the_import_is_not_archived(store: Store, path: Path) -> None:
    change(path, "update stm set content = 'Something else entirely.' where id = 'stm_000000000001'")
    done = sync(store, path)
    assert told(done) == (0, 0, 0, 0)
    assert done.left["abstractions of memories that are not all in this brain"] == 1
    assert rows_of(path, "select count(*) from stm where content = 'Something else entirely.'") == [(1,)]


def test_what_the_agent_deleted_is_not_put_back(store: Store, path: Path) -> None:
    sync(store, path)
    change(path, "delete from stm where compressed_from is not null")
    change(path, "delete from stm where id = 'stm_000000000003'")
    done = sync(store, path)
    assert told(done) == (0, 0, 0, 0) and rows_of(path, "select count(*) from stm") == [(4,)]


def test_an_abstraction_whose_words_the_agent_changed_is_the_agent_s(store: Store, path: Path) -> None:
    sync(store, path)
    change(path, "update stm set content = 'Restart the gateway twice.' where compressed_from is not null")
    assert told(sync(store, path)) == (0, 0, 0, 0)
    bring(store, path)
    with store.reading() as tx:
        assert "Restart the gateway twice." in {memory.content for memory in tx.memories.all()}
        assert tx.integrity.check(deep=True) == []


def test_memories_from_elsewhere_are_never_written_into_it(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *lessons(2))
    bring(store, path)
    fill(store, lesson(4)[2:], embedder=Lexical())
    fill(store, lesson(4, topic="printer"), embedder=Lexical())
    run(store, DAY)
    before = contents(path)
    done = sync(store, path)
    assert told(done) == (0, 0, 0, 0) and contents(path) == before
    assert done.left == {
        "abstractions of memories that are not all in this brain": 1,
        "archived memories whose replacement is not in this brain": 2,
    }


def test_a_brain_that_only_has_the_same_ids_is_another_one(store: Store, path: Path, tmp_path: Path) -> None:
    rows = [(row[0], f"Quite other words, number {n}.", *row[2:]) for n, row in enumerate(lessons())]
    stranger = brain(tmp_path / "other.db", *rows)
    assert told(sync(store, stranger)) == (0, 0, 0, 0)


def test_exact_copies_are_archived_into_the_one_that_stays(store: Store, tmp_path: Path) -> None:
    row = other()
    path = brain(tmp_path / "brain.db", row, ("stm_copy", *row[1:4], "2026-03-01T09:00:00"))
    bring(store, path)
    run(store, DAY)
    assert told(sync(store, path)) == (0, 1, 0, 0)
    ((key, by),) = rows_of(path, "select id, archived_by from stm where archived_by is not null")
    assert key == "stm_copy" and " into stm_other:1.0" in str(by)
    roll_back(store, settings_for(store), RollbackScope(since=datetime(2026, 1, 1, tzinfo=UTC)))
    assert told(sync(store, path)) == (0, 0, 1, 0)


def test_masked_secrets_are_never_written_over_the_original(store: Store, tmp_path: Path) -> None:
    told_rows = [(r[0], f"{r[1]} Ask dana.miller@example.org.", *r[2:]) for r in lessons()]
    path = brain(tmp_path / "brain.db", *told_rows)
    bring(store, path)
    run(store, DAY)
    assert told(sync(store, path)) == (1, 4, 0, 0)
    assert rows_of(path, "select content from stm where compressed_from is null order by id") == [
        (row[1],) for row in told_rows
    ]
    assert "[REDACTED:email]" in str(rows_of(path, "select content from stm where compressed_from is not null"))


def test_what_another_program_archived_is_left_to_it(store: Store, path: Path) -> None:
    change(path, "alter table stm add column archived_by text")
    change(path, "update stm set archived_by = 'cluster-7', importance = 0.5 where id = 'stm_000000000000'")
    done = sync(store, path)
    assert told(done) == (1, 3, 0, 0) and done.left == {"memories that another program archived": 1}
    assert rows_of(path, "select archived_by from stm where id = 'stm_000000000000'") == [("cluster-7",)]


@pytest.mark.parametrize("key", ["text primary key", "integer primary key"])
def test_the_earlier_schema_and_numbered_ids_are_written_too(store: Store, tmp_path: Path, key: str) -> None:
    schema = EARLIER.replace("text primary key", key)
    rows = [(n + 1 if "integer" in key else f"m{n}", *row[1:]) for n, row in enumerate(lessons())]
    path = brain(tmp_path / "brain.db", *rows, schema=schema)
    bring(store, path)
    run(store, DAY)
    assert told(sync(store, path)) == (1, 4, 0, 0)
    assert told(sync(store, path)) == (0, 0, 0, 0)
    ((key_there, logged),) = rows_of(
        path,
        "select m.id, l.compressed_memory_id from memories m, compression_log l where m.compressed_from is not null",
    )
    assert str(key_there) == str(logged)
    roll_back(store, settings_for(store), RollbackScope(since=datetime(2026, 1, 1, tzinfo=UTC)))
    assert told(sync(store, path)) == (0, 0, 4, 1)


def test_a_brain_that_is_held_is_waited_for_and_the_holder_named(store: Store, path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('begin immediate');"
            " print('held', flush=True); sys.stdin.read()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(StoreBusyError, match=rf"is held by .*process {holder.pid}\), also after 0.2 s"):
            sync(store, path)
    finally:
        holder.communicate()
    assert told(sync(store, path)) == (1, 4, 0, 0)


def test_a_damaged_brain_is_not_written_to(store: Store, path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 : 4096 + 2048] = os.urandom(2048)
    path.write_bytes(data)
    with pytest.raises(InputError):
        sync(store, path)
    assert path.read_bytes() == bytes(data)


def test_a_path_to_nothing_is_told_of(store: Store, path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file at"):
        sync(store, tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize("point", ["sync.copied", "sync.written", "sync.committed"])
def test_a_kill_at_any_point_leaves_the_file_as_it_was_or_complete(store: Store, path: Path, point: str) -> None:
    before = contents(path)
    code = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path;"
        "from memory_pipeline.store import Store; from memory_pipeline.ingest.stores.brain_sync import sync_brain;"
        "sync_brain(Store(Path(sys.argv[1])), Path(sys.argv[2]), UTC, now=datetime.now(UTC))"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code, str(store.path), str(path)], env={**os.environ, "KILL_POINT": point}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    if point == "sync.committed":
        assert told(sync(store, path)) == (0, 0, 0, 0)
    else:
        assert contents(path) == before
        assert told(sync(store, path)) == (1, 4, 0, 0)


def test_series_and_later_versions_follow(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *lessons(4), schema=SCHEMA)
    bring(store, path)
    run(store, DAY)
    sync(store, path)
    late = lesson(5)[4]
    row = ("stm_late", late.content, '["ops"]', 1.5, "2026-03-05T09:00:00")
    change(path, "insert into stm (id, content, categories, importance, created_at) values (?, ?, ?, ?, ?)", row)
    bring(store, path)
    report = run(store, DAY + timedelta(days=4))
    done = sync(store, path)
    with store.reading() as tx:
        active = tx.memories.all(include_archived=False)
        assert tx.integrity.check(deep=True) == []
    standing = rows_of(path, "select content from stm where archived_by is null")
    assert sorted(standing) == sorted((m.content,) for m in active), (report.memories_archived, done)
    assert told(sync(store, path)) == (0, 0, 0, 0)


def test_candidates_of_other_connectors_with_its_ids_are_none_of_it(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *lessons(1))
    fill(store, [candidate("Other words.", native_id="brain:stm_000000000000")], embedder=Lexical())
    assert told(sync(store, path)) == (0, 0, 0, 0)


_PLAIN, _OF_THE_TABLE = "", ", content='stm', content_rowid='rowid'"
_CONTENTLESS = ", content=''"


@pytest.mark.parametrize("kept_by_triggers", [True, False])
@pytest.mark.parametrize("options", [_PLAIN, _OF_THE_TABLE, _CONTENTLESS])
def test_an_index_of_words_has_each_memory_once(store: Store, path: Path, options: str, kept_by_triggers: bool) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"drop table stm_fts; create virtual table stm_fts using fts5(content{options});"
            "insert into stm_fts (rowid, content) select rowid, content from stm;"
        )
        if kept_by_triggers:
            connection.executescript(
                "create trigger stm_ai after insert on stm begin insert into stm_fts (rowid, content)"
                " values (new.rowid, new.content); end;"
            )
    assert told(sync(store, path)) == (1, 4, 0, 0)
    with closing(sqlite3.connect(path)) as connection:
        ((added,),) = connection.execute("select rowid from stm where compressed_from is not null")
        connection.execute("create virtual table words using fts5vocab('stm_fts', 'instance')")
        counted = "select doc, count(*) from words where term = 'gateway' group by doc"
        found = dict(connection.execute(counted).fetchall())
        connection.execute("insert into stm_fts (stm_fts, rank) values ('integrity-check', 1)")
    assert found[added] == made(store).content.lower().count("gateway") > 0


@pytest.mark.parametrize("importance", [-0.5, 1e17, 1e-7, float("inf"), 2**60, 0, None, "high"])
def test_any_importance_comes_back_with_a_rollback(store: Store, path: Path, importance: object) -> None:
    change(path, "update stm set importance = ? where id = 'stm_000000000001'", (importance,))
    before = rows_of(path, "select id, importance from stm order by id")
    assert told(sync(store, path)) == (1, 4, 0, 0)
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))
    assert told(sync(store, path)) == (0, 0, 4, 1)
    kept = "from stm where compressed_from is null"
    assert rows_of(path, f"select id, importance {kept} order by id") == before
    assert rows_of(path, f"select count(*) {kept} and archived_by is not null") == [(0,)]


def test_another_row_with_the_same_id_is_left_alone(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "create table other as select * from stm; drop table stm; alter table other rename to stm;"
            "insert into stm (id, content, importance, created_at)"
            " values ('stm_000000000000', 'What a person wrote under this id.', 2.9, '2026-03-05T10:00:00');"
        )
    assert told(sync(store, path)) == (1, 4, 0, 0)
    theirs = "select importance, archived_by from stm where content like 'What a person%'"
    assert rows_of(path, theirs) == [(2.9, None)]
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))
    assert told(sync(store, path)) == (0, 0, 4, 1) and rows_of(path, theirs) == [(2.9, None)]


def test_a_table_without_rowids_is_written_too(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "create table other (id text primary key, content text, categories text, importance real, created_at text)"
            " without rowid; insert into other select id, content, categories, importance, created_at from stm;"
            "drop table stm; drop table stm_fts; alter table other rename to stm;"
        )
    assert told(sync(store, path)) == (1, 4, 0, 0)
    assert told(sync(store, path)) == (0, 0, 0, 0)


def test_two_stores_do_not_undo_each_other(store: Store, path: Path, tmp_path: Path) -> None:
    sync(store, path)
    before = contents(path)
    anew = Store(tmp_path / "anew" / "store.duckdb")
    bring(anew, path)
    done = sync(anew, path)
    assert told(done) == (0, 0, 0, 0) and done.left == {"memories that another store archived": 4}
    late = ("stm_late", lesson(5)[4].content, '["ops"]', 1.5, "2026-03-01T09:00:00")
    change(path, "insert into stm (id, content, categories, importance, created_at) values (?, ?, ?, ?, ?)", late)
    bring(anew, path)
    run(anew, DAY, run_id="anew")
    done = sync(anew, path)
    assert told(done) == (0, 0, 0, 0) and done.left["abstractions of memories that another store archived"] == 1
    assert told(sync(store, path)) == (0, 0, 0, 0)
    change(path, "delete from stm where id = 'stm_late'")
    assert contents(path) == before


def test_a_store_made_anew_knows_what_its_own_nights_make_again(store: Store, path: Path, tmp_path: Path) -> None:
    sync(store, path)
    anew = Store(tmp_path / "anew" / "store.duckdb")
    bring(anew, path)
    run(anew, DAY, run_id="another-run")
    assert told(sync(anew, path)) == (0, 0, 0, 0)
    roll_back(anew, settings_for(anew), RollbackScope(run_id="another-run"))
    assert told(sync(anew, path)) == (0, 0, 4, 1)


def test_times_are_written_in_the_zone_in_which_they_were_read(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *lessons())
    bring(store, path, ZoneInfo("Asia/Tokyo"))
    run(store, DAY)
    assert sync(store, path).added == 1
    newest = "select created_at from stm where compressed_from is {} null order by created_at desc limit 1"
    assert rows_of(path, newest.format("not")) == rows_of(path, newest.format(""))
