"""A forgetting that is killed has erased nothing, or is completed by whatever comes next."""

from __future__ import annotations

import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from memory_pipeline.files.places import forgetting_mark
from memory_pipeline.forgetting.forget import complete_forgetting
from memory_pipeline.store import Store, create_snapshot, list_snapshots, verify_snapshot
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import FIRST, candidate, fill, settings_for
from memory_pipeline_tests.forgetting.searching import files_with
from memory_pipeline_tests.forgetting.test_forget import SECRET, WORD, _forget


def forget_word(path: str) -> None:
    """Forget the word, in a process of its own."""
    _forget(Store(path), search=WORD)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two notes with two snapshots, and files beside it."""
    directory = tmp_path_factory.mktemp("before") / "data"
    store = Store(directory / "store.duckdb")
    fill(store, [candidate(SECRET, native_id="own"), candidate("The gateway needs a restart.", native_id="other")])
    for day in (1, 2):
        create_snapshot(store, "manual", FIRST + timedelta(days=day), None, only_if_changed=False)
    reports = directory / "reports"
    reports.mkdir()
    for number in range(5):
        (reports / f"{number}.md").write_text(f"# Notes\n- {SECRET}\n")
    store.settle()
    return directory


def _kill(before: Path, directory: Path, place: str) -> Store:
    store = Store(shutil.copytree(before, directory) / "store.duckdb")
    environment = {**os.environ, "KILL_POINT": place, "MEMORY_PIPELINE_HOME": str(directory)}
    died = processes.run(forget_word, str(store.path), environment=environment)
    assert died.returncode == -signal.SIGKILL, f"'{place}' was never reached: {died.stderr[-500:]}"
    return store


def _completes(store: Store) -> None:
    mark = forgetting_mark(store.path)
    assert WORD not in mark.read_text("utf-8").casefold()
    done = complete_forgetting(store, settings_for(store))
    assert done is not None and done.completed and not done.left and not mark.exists()
    assert files_with(store.path.parent, WORD) == []
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
    for snapshot in list_snapshots(store):
        verify_snapshot(store, snapshot.name)


@pytest.mark.slow
def test_a_killed_one_is_completed(before: Path, tmp_path: Path) -> None:
    _completes(_kill(before, tmp_path / "data", "forget.snapshot.moved#2"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "forget.begun",
        "forget.file",
        "forget.file#5",
        "forget.rewritten",
        "forget.snapshot",
        "forget.snapshot.moved",
        "forget.rewritten#3",
        "forget.store",
        "replace.sealed",
        "replace.done",
        "forget.replaced",
        "forget.renewed",
    ],
)
def test_wherever_it_is_killed_it_is_completed(before: Path, tmp_path: Path, place: str) -> None:
    _completes(_kill(before, tmp_path / "data", place))


@pytest.mark.slow
def test_before_its_intent_is_written_nothing_has_changed(before: Path, tmp_path: Path) -> None:
    store = _kill(before, tmp_path / "data", "store.commit.before")
    assert not forgetting_mark(store.path).exists()
    assert complete_forgetting(store, settings_for(store)) is None
    assert files_with(store.path.parent, WORD) == files_with(before, WORD)
