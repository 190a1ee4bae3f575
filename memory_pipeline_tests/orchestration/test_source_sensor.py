"""The sensor of the sources: a change starts one run, after a quiet minute, whatever happens to the files meanwhile."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import import_notes
from memory_pipeline.orchestration.sensors import choose_run, find_changes
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


def starts(settings: Settings, started: str | None = None) -> bool:
    return hasattr(choose_run(find_changes(settings), settings, started, NOW), "run_key")


def test_a_change_starts_one_run(settings: Settings, root: Path) -> None:
    found = find_changes(settings)
    assert list(found.files) == ["notes/memory/2026-03-02.md"] and starts(settings)
    assert not starts(settings, found.state)
    write(root / "memory" / "2026-03-02.md", "- 10:00 the port is 5433\n", ago=300)
    assert starts(settings, found.state)


def test_what_a_night_has_read_starts_nothing(store: Store, settings: Settings, root: Path) -> None:
    night = night_of(store, (NOW - timedelta(days=1)).date(), settings)
    import_notes(night)
    assert find_changes(settings).files == {}
    write(root / "memory" / "2026-03-02.md", "- 10:00 the port is 5432\n", ago=100)
    assert find_changes(settings).files == {}, "the same bytes at another time"


def test_a_file_that_is_being_written_waits(settings: Settings, root: Path) -> None:
    write(root / "memory" / "2026-03-03.md", "- 09:00 the di", ago=5)
    assert not starts(settings)


def test_missing_sources_and_unreadable_files_start_nothing(settings: Settings, root: Path, tmp_path: Path) -> None:
    missing = SourceTable(name="missing", path=str(tmp_path / "nowhere"))
    both = settings.with_values({"sources": (missing, *settings.sources)})
    found = find_changes(both)
    assert len(found.files) == 1 and "nowhere" in found.problems[0]
    (root / "memory" / "2026-03-02.md").unlink()
    found = find_changes(both)
    assert not found.files and len(found.problems) == 2
