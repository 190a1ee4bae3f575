"""A store for tests of commands: made once, and copied into the home of each test that asks for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.consolidation import contradictions
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for


@pytest.fixture(scope="session")
def store_made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a store with two nights, a pattern with its guidance, a conflict and a snapshot."""
    home = tmp_path_factory.mktemp("made") / "data"
    store = Store(home / "store.duckdb")
    port = "The staging database of the webshop listens for connections on port {} behind the proxy."
    fill(store, [*lesson(5), *(candidate(port.format(n), native_id=f"port-{n}") for n in (5432, 5433))])
    settings = settings_for(store, consolidation__confidence__min=0.5)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contradictions, "looks_for_contradictions", lambda night: True)
        run(store, date(2026, 3, 3), settings, snapshot=True)
        run(store, date(2026, 3, 4), settings, snapshot=True)
    return home


@pytest.fixture
def data(store_made_once: Path, tmp_path: Path) -> Path:
    """A copy of it in the home of this test."""
    return shutil.copytree(store_made_once, tmp_path / "data")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with no client's own settings; the tests work in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def in_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
