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
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.store import Store, list_snapshots, snapshot_directory
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.ingest.brains import EARLIER, SCHEMA, brain, change, rows_of
from memory_pipeline_tests.ingest.synced import DAY, after_a_night, bring, contents, lessons, made, other, sync, told


@pytest.fixture
def path(store: Store, tmp_path: Path) -> Path:
    return after_a_night(store, tmp_path)


def test_what_has_expired_there_is_not_written_back(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", other())
    change(path, "update stm set expires_at = '2026-03-02T00:00:00'")
    bring(store, path)
    before = contents(path)
    done = sync(store, path)
    assert told(done) == (0, 0, 0, 0) and done.left == {"memories that have expired there": 1}
    assert contents(path) == before


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


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(InputError, match="does not exist; check the path"):
        sync(store, tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize("point", ["sync.copied", "sync.written", "sync.committed"])
def test_a_kill_at_any_point_leaves_the_file_as_it_was_or_complete(store: Store, path: Path, point: str) -> None:
    before = contents(path)
    code = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path;"
        "from memory_pipeline.store import Store; from memory_pipeline.ingest.formats.brain_sync import sync_brain;"
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


@pytest.mark.slow
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
