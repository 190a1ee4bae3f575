"""Brains of other shapes, with odd values, and of several stores: a sync keeps them sound."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.store import Store
from memory_pipeline_tests.build import lesson, run, settings_for, slowly
from memory_pipeline_tests.ingest.brains import brain, change, rows_of
from memory_pipeline_tests.ingest.synced import DAY, after_a_night, bring, contents, lessons, made, sync, told


@pytest.fixture
def path(store: Store, tmp_path: Path) -> Path:
    return after_a_night(store, tmp_path)


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


@pytest.mark.parametrize("importance", [float("inf"), "high", *slowly(-0.5, 1e17, 1e-7, 2**60, 0, None)])
def test_any_importance_comes_back_with_a_rollback(store: Store, path: Path, importance: object) -> None:
    change(path, "update stm set importance = ? where id = 'stm_000000000001'", (importance,))
    before = rows_of(path, "select id, importance from stm order by id")
    assert told(sync(store, path)) == (1, 4, 0, 0)
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))
    assert told(sync(store, path)) == (0, 0, 4, 1)
    kept = "from stm where compressed_from is null"
    assert rows_of(path, f"select id, importance {kept} order by id") == before
    assert rows_of(path, f"select count(*) {kept} and archived_by is not null") == [(0,)]


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


@pytest.mark.slow
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
