"""What tests of a night get: a store that stays attached between its transactions, a workspace, and its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.store import Store
from memory_pipeline_tests.build import settings_for


@pytest.fixture(autouse=True)
def kept(kept_store: Store) -> None:
    """The store of the test is kept open until the test ends."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace in which a person has written."""
    place = tmp_path / "shop"
    place.mkdir()
    (place / "USER.md").write_text("# The human\n\n- Likes tea.\n")
    return place


@pytest.fixture
def settings(store: Store, workspace: Path) -> Settings:
    """Settings of which the workspace is the project's."""
    source = SourceTable(name="shop", path=str(workspace), project="p", exclude=("*.md",))
    return settings_for(store, connectors__workspace="", sources=()).with_values({"sources": (source,)})
