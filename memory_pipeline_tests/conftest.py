"""What every test gets: a store of its own, an environment without settings, and no network but loopback."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from alembic.script import ScriptDirectory
from threadpoolctl import threadpool_limits

from memory_pipeline.consolidation import contradictions
from memory_pipeline.files import shared_files
from memory_pipeline.models import calls, limits
from memory_pipeline.models.embedders.minilm import Matrix, Network
from memory_pipeline.orchestration import home
from memory_pipeline.store import Store, engine
from memory_pipeline_tests import build

#: Until everything is collected, nothing of it is garbage.
gc.disable()
#: A process that tests runs nights of many stores, as the command line does.
home.serves_any_store = True
#: Batches of tests are ready when they are asked for.
calls._POLL_S = 0.01
#: Servers of tests are busy for as long as they say, and no longer.
limits._FIRST_PAUSE_S = 0.01
#: Nobody else writes to the files of most tests; those of two writers use `settle_as_in_use`.
_SETTLE_S, shared_files._SETTLE_S = shared_files._SETTLE_S, 0.001
#: Products of matrices and statements here are small, and each worker has a core: more threads would only wait for each
#: other.
threadpool_limits(1, user_api="blas")
engine._SETTINGS["threads"] = "1"
#: A busy machine, or what the first example loads, is no fault of what is tested.
hypothesis.settings.register_profile("tests", deadline=None)
hypothesis.settings.load_profile("tests")
#: Dagster imports its 80 migrations anew for each file of each history.
ScriptDirectory.from_config = cache(ScriptDirectory.from_config)  # type: ignore[method-assign]
#: A text has one vector, to the last bit, and the same texts are read in many tests.
_forward, _vectors = Network.forward, dict[tuple[int, ...], Matrix]()


def _forward_once(self: Network, tokens: list[int]) -> Matrix:
    text = (id(self), *tokens)
    if text not in _vectors:
        if len(_vectors) == 2_000:
            _vectors.clear()  # each has some fifty kilobytes
        _vectors[text] = _forward(self, tokens)
    return _vectors[text]


Network.forward = _forward_once  # type: ignore[method-assign]


#: A file system in memory, and the bytes that must be free there for the stores and snapshots of a run.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30


def pytest_configure() -> None:
    """Temporary directories are in memory where there is room: DuckDB waits for the disk at each commit, which matters
    when the power fails, and not when a process is killed. Whoever names a place in TMPDIR gets that."""
    if "TMPDIR" not in os.environ and _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(_IN_MEMORY)


def pytest_collection_finish() -> None:
    """What is imported and collected stays, and tests leave little: the collector of garbage need not look through it
    again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end all of it goes as it would have gone: DuckDB tells of what it finds left."""
    gc.unfreeze()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in a file of its own."""
    return Store(tmp_path / "store.duckdb", busy_timeout_s=5)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nights look for contradictions, although tests compare words alone; the real model judges what these find."""
    monkeypatch.setattr(contradictions, "looks_for_contradictions", lambda night: True)


#: Where tests are about files and who else opens them, not about what is written.
_ABOUT_FILES = ("forgetting", "store")


@pytest.fixture(autouse=True)
def kept_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """The store of the test stays attached between transactions, as in a night: half of what a small night costs is
    otherwise that each of its transactions attaches the file again."""
    of_files = request.path.relative_to(Path(__file__).parent).parts[0] in _ABOUT_FILES
    if of_files or "store" not in request.fixturenames:
        yield
        return
    with request.getfixturevalue("store").kept_open():
        yield


#: Where tests are about statements, or about stores of all kinds.
_ABOUT_STATEMENTS = ("laws", "store")


@pytest.fixture(autouse=True)
def plans_as_written(request: pytest.FixtureRequest) -> None:
    """In a store of ten memories a statement is planned for longer than it runs, and half of that is DuckDB's
    optimizer. The tests of the store and of laws, the slow ones, and processes of their own have it."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    is_wanted = str(folder in _ABOUT_STATEMENTS or request.node.get_closest_marker("slow") is not None).lower()
    if engine._SETTINGS.get("enable_optimizer") != is_wanted:
        engine._SETTINGS["enable_optimizer"] = is_wanted
        engine._engine().execute(f"set global enable_optimizer = {is_wanted}")


@pytest.fixture
def every_text_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model reads a text each time that it is given one: for tests of the model."""
    monkeypatch.setattr(Network, "forward", _forward)


@pytest.fixture
def settle_as_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program that writes to a file is waited for as long as in use."""
    monkeypatch.setattr(shared_files, "_SETTLE_S", _SETTLE_S)


_ADDRESSED = ("API_KEY", "BASE_URL")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting, key or Dagster home of the machine reaches a test."""
    for name in list(os.environ):
        if (
            name.startswith(("MEMORY_PIPELINE_", "COMPRESSION_", "CONSOLIDATION_"))
            and name != "MEMORY_PIPELINE_SHARED_DATA"
        ):
            monkeypatch.delenv(name)
    for name in ("DAGSTER_HOME", "HELIOS_DB_PATH", *(f"{p}_{k}" for p in ("ANTHROPIC", "OPENAI") for k in _ADDRESSED)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORY_PIPELINE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own_settings"))


@pytest.fixture(scope="session")
def new_store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new store, made once."""
    path = tmp_path_factory.mktemp("new") / "store.duckdb"
    with Store(path).writing("template"):
        pass
    return path


@pytest.fixture(scope="session", autouse=True)
def new_stores_are_copies(new_store_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Making a store takes 0.2 s, most of it for its schema; within a test's own process, a copy of a new one does.

    What a test writes is not waited for on the disk either: it lives in a temporary directory.
    """

    def copy(self: Store, lock: object) -> None:
        shutil.copyfile(new_store_file, self.path)
        self._migrated = True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_create", copy)
        patch.setattr(build, "templates", tmp_path_factory.mktemp("templates"))
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def a_program_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """At its end a program settles the stores that it wrote; those of earlier tests are none of them."""
    monkeypatch.setattr(engine, "_written", set())


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that reaches for another machine fails at once."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests reach loopback only, not {host}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield
