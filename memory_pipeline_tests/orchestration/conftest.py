"""What every test of Dagster gets: an instance of its own, and settings that reach runs through the environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dagster import DagsterInstance, instance_for_test

from memory_pipeline.store import Store


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """A real instance in a directory of its own."""
    with instance_for_test() as made:
        yield made


@pytest.fixture(autouse=True)
def settings_in_environment(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    """The test's store, the embedder that needs no model, and no least number of memories."""
    monkeypatch.setenv("MEMORY_PIPELINE_STORE_PATH", str(store.path))
    monkeypatch.setenv("MEMORY_PIPELINE_EMBEDDING_MODEL", "lexical")
    monkeypatch.setenv("MEMORY_PIPELINE_COMPRESSION_MIN_ACTIVE_MEMORIES", "0")
    monkeypatch.setenv("MEMORY_PIPELINE_CONSOLIDATION_RETRY_DELAY_S", "0")
