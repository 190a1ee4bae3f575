"""Memories of mem0: `get_all` and history.db of mem0ai 2.2.1, bare lists of earlier ones, pages of the platform."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.ingest import sqlite_files
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.ingest.bring import bring_twice, written

CSV = "11111111-0000-4000-8000-000000000001"
KEY = "11111111-0000-4000-8000-000000000002"
GONE = "11111111-0000-4000-8000-000000000003"


def item(memory_id: str, words: str, **more: object) -> dict[str, object]:
    """A memory as `get_all` gives it."""
    return {
        "id": memory_id,
        "memory": words,
        "hash": "92b9eab80f33cc359fd8c67b73f9e0fc",
        "metadata": None,
        "created_at": "2026-03-01T09:00:00.863079+00:00",
        "updated_at": None,
        "user_id": "dana",
        **more,
    }


def history(path: Path, *events: tuple[str, str | None, str, str]) -> Path:
    """A history.db with events (memory, words, event, time)."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "create table history (id text primary key, memory_id text, old_memory text, new_memory text, event text, "
            "created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text)"
        )
        connection.executemany(
            "insert into history (id, memory_id, new_memory, event, created_at, updated_at, is_deleted) "
            "values (?, ?, ?, ?, '2026-03-01T09:00:00+00:00', ?, ?)",
            [(str(n), i, words, event, at, event == "DELETE") for n, (i, words, event, at) in enumerate(events)],
        )
    return path


def test_get_all_keeps_id_words_owner_and_both_times(store: Store, tmp_path: Path) -> None:
    told = item(KEY, "The gateway keeps the old key.", metadata={"category": "ops"}, updated_at="2026-03-04T10:00:00Z")
    path = written(tmp_path / "export.json", {"results": [item(CSV, "Dana prefers CSV."), told], "relations": [{}, {}]})
    brought = bring_twice(store, path, "mem0")
    assert importer_of("mem0").evidence(path) == "memories with the hashes and owners of mem0"
    found = brought.memories[f"mem0:{KEY}"]
    assert (found.content, found.project_id, found.categories) == ("The gateway keeps the old key.", "dana", ("ops",))
    assert found.created_at == datetime(2026, 3, 1, 9, 0, 0, 863079, tzinfo=UTC)
    assert found.effective_date == datetime(2026, 3, 4, 10, tzinfo=UTC)
    assert brought.skipped == {"relations of the graph": 2} and len(brought.memories) == 2


def test_older_releases_wrote_bare_lists_and_pacific_time(store: Store, tmp_path: Path) -> None:
    told = item(CSV, "Dana prefers CSV.", created_at="2025-03-01T23:30:00.000000-08:00")
    found = bring_twice(store, written(tmp_path / "a.json", [told]), "mem0").memories[f"mem0:{CSV}"]
    assert found.created_at == datetime(2025, 3, 2, 7, 30, tzinfo=UTC) and found.day == date(2025, 3, 1)


def test_a_directory_of_pages_is_read_with_the_history_in_it(store: Store, tmp_path: Path) -> None:
    page = {"count": 3, "next": "https://x/2", "previous": None}
    platform = {"categories": ["food", "work"], "app_id": "a", "expiration_date": "2026-03-05"}
    written(tmp_path / "1.json", {**page, "results": [item(CSV, "Dana prefers CSV."), item(GONE, "Forget me.")]})
    written(
        tmp_path / "2.json", {**page, "results": [item(KEY, "Expired.", **platform), item("x", "Tea.", **platform)]}
    )
    written(tmp_path / "3.json", {**page, "results": [item("y", "No tea.", categories=["food"])]})
    history(tmp_path / "history.db", (GONE, "Forget me.", "ADD", "1"), (GONE, None, "DELETE", "2"))
    brought = bring_twice(store, tmp_path, "mem0")
    assert brought.words == ["Dana prefers CSV.", "Expired.", "No tea.", "Tea."]
    assert brought.skipped == {"memories that were deleted": 1} and brought.summary.expired == 2
    expired = [brought.memories[f"mem0:{one}"] for one in (KEY, "x")]
    assert {(one.archived_by, one.archived_at) for one in expired} == {("expired", datetime(2026, 3, 5, tzinfo=UTC))}
    assert brought.memories["mem0:y"].categories == ("food",)


def test_deleted_memories_stay_deleted_and_one_added_again_is_back(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "export.json", [item(CSV, "Dana prefers CSV."), item(GONE, "Forget me.")])
    history(
        tmp_path / "history.db",
        (GONE, "Forget me.", "ADD", "2026-03-01"),
        (GONE, None, "DELETE", "2026-03-02"),
        (CSV, "Dana prefers CSV.", "ADD", "2026-03-01"),
        (CSV, None, "DELETE", "2026-03-02"),
        (CSV, "Dana prefers CSV.", "ADD", "2026-03-03"),
    )
    assert bring_twice(store, path, "mem0").words == ["Dana prefers CSV."]


def test_a_history_alone_gives_what_its_last_events_left(store: Store, tmp_path: Path) -> None:
    path = history(
        tmp_path / "history.db",
        (KEY, "The key is kept 15 minutes.", "ADD", "2026-03-01T09:00:00+00:00"),
        (GONE, "Forget me.", "ADD", "2026-03-01T09:00:00+00:00"),
        (KEY, "The key is kept 20 minutes.", "UPDATE", "2026-03-02T09:00:00+00:00"),
        (GONE, None, "DELETE", "2026-03-02T09:00:00+00:00"),
    )
    brought = bring_twice(store, path, "mem0")
    assert importer_of("mem0").evidence(path) == "the events of mem0's history"
    assert (brought.words, brought.skipped) == (["The key is kept 20 minutes."], {"memories that were deleted": 1})
    assert brought.memories[f"mem0:{KEY}"].effective_date == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_changed_words_under_the_same_id_are_a_new_version(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "e.json", [item(KEY, "The key is kept 15 minutes.")])
    bring_twice(store, path, "mem0")
    assert (
        bring_twice(store, written(path, [item(KEY, "The key is kept 20 minutes.")]), "mem0").summary.new_versions == 1
    )


def test_a_bad_item_costs_itself_and_a_cut_file_its_rest(store: Store, tmp_path: Path) -> None:
    rows = [
        item("a", "fine"),
        {"id": "b"},
        7,
        item("c", "when?", created_at="soon"),
        item("d", "fine too", user_id="a\nb"),
    ]
    brought = bring_twice(store, written(tmp_path / "e.json", [*rows, item("z", "last")]), "mem0")
    assert brought.words == ["fine", "last"] and brought.summary.quarantined == 4
    text = json.dumps([item("e", "before the cut"), item("f", "after")])
    (tmp_path / "cut.json").write_text(text[:-20])
    cut = bring_twice(store, tmp_path / "cut.json", "mem0")
    assert "before the cut" in cut.words and "the JSON cannot be read after its item" in cut.reasons[0]


def test_a_deletion_reaches_the_store_with_the_next_night(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "mem0"
    place.mkdir()
    written(place / "e.json", [item(CSV, "Dana prefers CSV."), item(KEY, "The gateway keeps the old key.")])
    history(place / "history.db", (CSV, "Dana prefers CSV.", "ADD", "1"))
    settings = settings_for(store, sources=(SourceTable(name="m", format="mem0", path=str(place)),))
    run(store, date(2026, 3, 2), settings)
    with closing(sqlite3.connect(place / "history.db")) as connection, connection:
        connection.execute(
            "insert into history (id, memory_id, event, created_at) values ('9', ?, 'DELETE', '1')", (CSV,)
        )
    then = datetime(2026, 3, 5, tzinfo=UTC).timestamp()
    for file in place.iterdir():
        os.utime(file, (then, then))
    report = run(store, date(2026, 3, 6), settings)
    with store.reading() as tx:
        assert len(tx.memories.all()) == 2
    assert report.sources[0].gone == 1


def test_json_of_another_program_is_none_of_mem0(tmp_path: Path) -> None:
    path = written(tmp_path / "other.json", [{"id": "1", "title": "x", "mapping": {}}])
    assert importer_of("mem0").evidence(path) is None


def test_a_history_that_cannot_be_read_lets_nothing_deleted_come_back(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = sqlite_files._opened
    monkeypatch.setattr(sqlite_files, "_opened", lambda path, patience_s: opened(path, 0.1))
    path = written(tmp_path / "export.json", {"results": [item(GONE, "Forget me."), item(CSV, "Dana prefers CSV.")]})
    beside = history(tmp_path / "history.db", (GONE, "Forget me.", "ADD", "1"), (GONE, None, "DELETE", "2"))
    with closing(sqlite3.connect(beside, isolation_level=None)) as holder:
        holder.execute("begin exclusive")
        for given in (path, tmp_path):
            with pytest.raises(StoreBusyError, match="is held by"):
                bring_twice(store, given, "mem0")
    whole = beside.read_bytes()
    for damaged in (b"x" * 4096, whole[:4096] + b"\xff" * (len(whole) - 4096)):
        beside.write_bytes(damaged)
        for given in (path, tmp_path):
            with pytest.raises(InputError, match="what it says was deleted would come back"):
                bring_twice(store, given, "mem0")
    assert not store.path.exists()


def test_a_history_of_another_program_says_nothing_of_deletions(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "export.json", {"results": [item(CSV, "Dana prefers CSV.")]})
    with closing(sqlite3.connect(tmp_path / "history.db")) as connection:
        connection.execute("create table urls (id integer primary key, url text)")
    assert [memory.content for memory in bring_twice(store, path, "mem0").memories.values()] == ["Dana prefers CSV."]
    (tmp_path / "history.db").write_bytes(b"")
    assert [memory.content for memory in bring_twice(store, path, "mem0").memories.values()] == ["Dana prefers CSV."]
