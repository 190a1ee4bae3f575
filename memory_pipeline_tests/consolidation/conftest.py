"""What tests of a night get: a workspace, and its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.build import settings_for


@pytest.fixture
def workspace(store: Store) -> Path:
    """The pages of the project, in which a person has written."""
    place = pages_of(store.path, "p")
    place.mkdir(parents=True)
    (place / "USER.md").write_text("# The human\n\n- Likes tea.\n")
    return place


@pytest.fixture
def settings(store: Store) -> Settings:
    """Settings without sources."""
    return settings_for(store, sources=())
