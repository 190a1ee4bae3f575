"""The sensor of the sources: a change starts one run, after a quiet minute, whatever happens to the files meanwhile."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import import_notes
from memory_pipeline.orchestration import source_sensor
from memory_pipeline.orchestration.source_sensor import Changes, Cursor, find_changes
from memory_pipeline.store import Store
from memory_pipeline_tests.build import night_of, settings_for

NOW = datetime.now(UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "agent" / "memory"
    place.mkdir(parents=True)
    write(place / "2026-03-02.md", "- 10:00 the port is 5432\n", ago=600)
    return place.parent


@pytest.fixture
def settings(store: Store, root: Path) -> Settings:
    return settings_for(store, sources=(SourceTable(name="notes", path=str(root)),))


def write(path: Path, text: str, ago: float) -> None:
    path.write_text(text)
    at = (NOW - timedelta(seconds=ago)).timestamp()
    os.utime(path, (at, at))


def changes(store: Store, settings: Settings, cursor: Cursor) -> Changes:
    known = {}
    if store.exists():
        with store.reading() as tx:
            known = {"notes": tx.sources.files("notes")}
    return find_changes(settings, known, cursor)


def starts(settings: Settings, found: Changes, cursor: Cursor) -> bool:
    answer = source_sensor._answer(settings, found, cursor, NOW)
    return hasattr(answer, "run_key")


def test_a_change_starts_one_run(store: Store, settings: Settings, root: Path) -> None:
    cursor = Cursor()
    found = changes(store, settings, cursor)
    assert list(found.files) == ["notes/memory/2026-03-02.md"] and starts(settings, found, cursor)
    cursor = Cursor.read(cursor.written())
    assert not starts(settings, changes(store, settings, cursor), cursor)
    write(root / "memory" / "2026-03-02.md", "- 10:00 the port is 5433\n", ago=300)
    assert starts(settings, changes(store, settings, cursor), cursor)


def test_what_a_night_has_read_starts_nothing(store: Store, settings: Settings, root: Path) -> None:
    night = night_of(store, (NOW - timedelta(days=1)).date(), settings)
    import_notes(night)
    assert changes(store, settings, Cursor()).files == {}
    write(root / "memory" / "2026-03-02.md", "- 10:00 the port is 5432\n", ago=100)
    assert changes(store, settings, Cursor()).files == {}, "the same bytes at another time"


def test_a_file_that_is_being_written_waits(store: Store, settings: Settings, root: Path) -> None:
    write(root / "memory" / "2026-03-03.md", "- 09:00 the di", ago=5)
    cursor = Cursor()
    assert not starts(settings, changes(store, settings, cursor), cursor) and not cursor.started


def test_an_unchanged_file_is_hashed_once(store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = Cursor()
    changes(store, settings, cursor)
    monkeypatch.setattr("memory_pipeline.ingest.sources.digest_of", lambda path: pytest.fail("it was hashed before"))
    assert changes(store, settings, cursor).files


def test_one_tick_hashes_so_much_and_the_next_one_goes_on(
    store: Store, settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "memory" / "2026-03-03.md", "- 09:00 the disk is full\n", ago=600)
    monkeypatch.setattr(source_sensor, "_MOST_BYTES", 30)
    cursor = Cursor()
    assert len(changes(store, settings, cursor).files) == 1
    assert len(changes(store, settings, cursor).files) == 2


def test_missing_sources_and_unreadable_files_start_nothing(
    store: Store, settings: Settings, root: Path, tmp_path: Path
) -> None:
    missing = SourceTable(name="missing", path=str(tmp_path / "nowhere"))
    both = settings.with_values({"sources": (missing, *settings.sources)})
    found = changes(store, both, Cursor())
    assert len(found.files) == 1 and "nowhere" in found.problems[0]
    (root / "memory" / "2026-03-02.md").unlink()
    found = changes(store, both, Cursor())
    assert not found.files and len(found.problems) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hashes": 3}', '{"hashes": {}, "started": 1}'])
def test_an_unreadable_cursor_is_an_empty_one(text: str) -> None:
    assert Cursor.read(text).hashes == {}
