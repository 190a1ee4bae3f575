"""Where files about a project stand, and that they are never read back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from memory_pipeline.config.conversations import Destinations
from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.openclaw import read_openclaw
from memory_pipeline.markers import with_block
from memory_pipeline.workspace.places import Places, folder_of, places_of

DAY = date(2026, 3, 2)


def _settings(tmp_path: Path, **values: object) -> Settings:
    return Settings().with_values({"store.path": str(tmp_path / "store.duckdb"), **values})


def test_a_project_has_its_files_in_its_first_workspace(tmp_path: Path) -> None:
    settings = _settings(
        tmp_path,
        sources=(
            SourceTable(name="a", path=str(tmp_path / "off"), project="shop", enabled=False),
            SourceTable(name="b", path=str(tmp_path / "chats.jsonl"), project="shop", format="jsonl"),
            SourceTable(name="c", path=str(tmp_path / "shop"), project="shop"),
            SourceTable(name="d", path=str(tmp_path / "later"), project="shop"),
        ),
    )
    places = places_of(settings, "shop")
    assert places.is_workspace
    assert places.user == tmp_path / "shop" / "USER.md"
    assert places.daily_log(DAY) == tmp_path / "shop" / "DailyLogs" / "2026-03-02.md"


def test_the_workspace_of_the_connectors_serves_its_own_project(tmp_path: Path) -> None:
    settings = _settings(tmp_path, **{"connectors.workspace": str(tmp_path / "shop")})
    assert places_of(settings, "shop").root == tmp_path / "shop"
    assert not places_of(settings, "other").is_workspace


def test_a_project_without_a_workspace_has_a_directory_beside_the_store(tmp_path: Path) -> None:
    places = places_of(_settings(tmp_path), "shop")
    assert places.root == tmp_path / "conversations" / "shop"
    assert not places.is_workspace


def test_what_the_settings_leave_empty_is_not_written(tmp_path: Path) -> None:
    names = Destinations(user="people/human.md", soul="")
    places = places_of(_settings(tmp_path, **{"compression.destinations": names}), "shop")
    assert places.soul is None
    assert places.user == places.root / "people" / "human.md"


@pytest.mark.parametrize("name", ["../USER.md", "/etc/USER.md", "C:\\USER.md", "USER", "a/../../b.md", ".md"])
def test_a_destination_stays_in_the_workspace(name: str) -> None:
    with pytest.raises(ValidationError):
        Destinations(user=name)


def test_different_projects_have_different_directories(tmp_path: Path) -> None:
    names = ["shop", "Shop", "sh/op", "sh op", "..", "", "../..", "a" * 300, "a" * 301, "Ärger", "店", "con\0"]
    folders = [folder_of(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert (tmp_path / folder).resolve().parent == tmp_path.resolve()
        (tmp_path / folder).mkdir()


def test_periods_are_named_by_the_calendar(tmp_path: Path) -> None:
    places = places_of(_settings(tmp_path), "shop")
    names = [place(date(2027, 1, 1)).name for place in (places.weekly, places.monthly, places.yearly)]
    assert names == ["2026-W53.md", "2027-01.md", "2027.md"]


def test_what_stands_between_the_marks_of_any_place_is_not_read_back(tmp_path: Path) -> None:
    places = Places(tmp_path, True, tmp_path / "USER.md", tmp_path / "RELATIONAL.md", tmp_path / "SOUL.md")
    named = [places.user, places.relational, places.soul, places.memory]
    dated = [places.daily_log, places.daily_summary, places.weekly, places.monthly, places.yearly]
    for path in (*named, *(place(DAY) for place in dated)):
        assert path is not None
        path.parent.mkdir(exist_ok=True)
        path.write_text(with_block("", "conversations", f"## Updates from 2026-03-02\n\n- Written to {path.name}.\n"))
    (tmp_path / "MEMORY.md").write_text(f"- The human's own words.\n\n{(tmp_path / 'MEMORY.md').read_text()}")
    read = [*read_openclaw(tmp_path, UTC, datetime(2026, 3, 3, tzinfo=UTC), 1000, Skipped())]
    assert [getattr(one, "content", one) for one in read] == ["The human's own words."]
