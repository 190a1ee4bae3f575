"""Where files about a project stand, and that they are never read back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.night import Destinations
from memory_pipeline.config.settings import Settings
from memory_pipeline.files.markers import with_block
from memory_pipeline.ingest.sources import workspace_of
from memory_pipeline.workspace.directory import MEMORY_FILE, daily_log, daily_summary, folder_of
from memory_pipeline_tests.ingest.bring import read

DAY = date(2026, 3, 2)


@pytest.mark.parametrize("name", ["../USER.md", "/etc/USER.md", "C:\\USER.md", "USER", "a/../../b.md", ".md"])
def test_a_destination_stays_among_the_pages(name: str) -> None:
    with pytest.raises(ValidationError):
        Destinations(user=name)


def test_different_projects_have_different_directories(tmp_path: Path) -> None:
    names = ["shop", "Shop", "sh/op", "sh op", "..", "", "../..", "a" * 300, "a" * 301, "Ärger", "店", "con\0"]
    folders = [folder_of(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert (tmp_path / folder).resolve().parent == tmp_path.resolve()
        (tmp_path / folder).mkdir()


def test_what_stands_between_the_marks_of_any_page_is_not_read_back(tmp_path: Path) -> None:
    names = ["USER.md", "RELATIONAL.md", "SOUL.md", MEMORY_FILE, daily_log(DAY), daily_summary(DAY)]
    for name in (*names, "weekly/2026-W10.md", "monthly/2026-03.md", "yearly/2026.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(with_block("", "conversations", f"## Updates from 2026-03-02\n\n- Written to {path.name}.\n"))
    (tmp_path / "MEMORY.md").write_text(f"- The human's own words.\n\n{(tmp_path / 'MEMORY.md').read_text()}")
    found = read(tmp_path, "openclaw", now=datetime(2026, 3, 3, tzinfo=UTC))
    assert found.words == ["The human's own words."] and not found.rejected


def test_a_workspace_that_names_are_read_from_is_that_of_the_project_s_first_source(tmp_path: Path) -> None:
    settings = Settings().with_values(
        {
            "store.path": str(tmp_path / "store.duckdb"),
            "sources": (
                SourceTable(name="a", path=str(tmp_path / "off"), project="shop", enabled=False),
                SourceTable(name="b", path=str(tmp_path / "chats.jsonl"), project="shop", format="jsonl"),
                SourceTable(name="c", path=str(tmp_path / "shop"), project="shop"),
            ),
        }
    )
    assert workspace_of(settings, "shop") == tmp_path / "shop"
    assert workspace_of(settings, "other") is None
