"""A server of a store with two projects: a pattern with its sources in one, a note in the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.interfaces.api import gate
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.api.running import Client, running


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client that may do everything; its server serves all tests of a module."""
    home: Path = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_PIPELINE_HOME", str(home))
        patch.delenv("DAGSTER_HOME", raising=False)
        store = Store(home / "store.duckdb")
        fill(store, [*lesson(5), candidate("Piano practice is on Tuesday.", native_id="piano", project_id="home")])
        run(store, date(2026, 3, 3), settings_for(store, consolidation__confidence__min=0.5))
        patch.setattr(gate, "MAX_BODY_BYTES", 20_000)
        with running(settings_for(store), store) as made:
            yield made
