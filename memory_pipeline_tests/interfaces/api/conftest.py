"""A server of a store with two projects: a pattern with its sources in one, a note in the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.interfaces.api import gate
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.api.running import Client, running


@pytest.fixture(scope="session")
def served_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of that store, made once."""
    store = Store(tmp_path_factory.mktemp("to_serve") / "store.duckdb")
    fill(store, [*lesson(5), candidate("Piano practice is on Tuesday.", native_id="piano", project_id="home")])
    run(store, date(2026, 3, 3), settings_for(store, consolidation__confidence__min=0.5))
    return store.path.parent


@pytest.fixture(scope="module")
def client(served_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client that may do everything; its server serves all tests of a module."""
    home = shutil.copytree(served_store, tmp_path_factory.mktemp("served"), dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_PIPELINE_HOME", str(home))
        patch.delenv("DAGSTER_HOME", raising=False)
        store = Store(home / "store.duckdb")
        patch.setattr(gate, "MAX_BODY_BYTES", 20_000)
        with running(settings_for(store), store) as made:
            yield made
