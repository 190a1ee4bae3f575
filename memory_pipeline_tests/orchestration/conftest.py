"""What every test of Dagster gets: an instance of its own, and settings that reach runs through the environment."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from dagster import DagsterInstance, instance_for_test

from memory_pipeline.orchestration import consolidation
from memory_pipeline.orchestration.home import INSTANCE_CONFIG
from memory_pipeline.store import Store

_STORAGE = {"storage": yaml.safe_load(INSTANCE_CONFIG)["storage"]}


@pytest.fixture(scope="session")
def begun_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an instance whose tables are made, and nothing else: it takes half a second."""
    home = tmp_path_factory.mktemp("begun")
    with instance_for_test(_STORAGE, temp_dir=str(home)):
        return home


@pytest.fixture
def instance(begun_history: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    """A real instance with the project's own storage, in a directory of its own."""
    home = shutil.copytree(begun_history, tmp_path_factory.mktemp("dagster"), dirs_exist_ok=True)
    with instance_for_test(_STORAGE, temp_dir=str(home)) as made:
        yield made


@pytest.fixture(autouse=True)
def settings_in_environment(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    """The test's store, the embedder that needs no model, and no least number of memories."""
    monkeypatch.setenv("MEMORY_PIPELINE_STORE_PATH", str(store.path))
    monkeypatch.setenv("MEMORY_PIPELINE_EMBEDDING_MODEL", "lexical")
    monkeypatch.setenv("MEMORY_PIPELINE_COMPRESSION_MIN_ACTIVE_MEMORIES", "0")
    monkeypatch.setattr(consolidation, "_RETRY_DELAY_S", 0.0)
