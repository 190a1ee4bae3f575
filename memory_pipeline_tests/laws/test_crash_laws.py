"""Law 1 under fire: whatever kills a night, at any instant, the next one ends where an undisturbed one ends."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from memory_pipeline.store import Store, list_snapshots, restore_snapshot
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import candidate, fill
from memory_pipeline_tests.laws.crashes import night, prepare, state_of

RANDOM_NIGHTS, GROUPS = 60, 10


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, str], list[str]]:
    """A prepared store to copy, the state that a night leaves it in, and the places that the night passes."""
    directory = tmp_path_factory.mktemp("undisturbed")
    store = prepare(directory / "before.duckdb")
    places = directory / "places"
    calm = shutil.copyfile(store.path, directory / "after.duckdb")
    assert night_in_a_process(calm, f"record:{places}").returncode == 0
    return store.path, state_of(Store(calm)), places.read_text().split()


def night_in_a_process(path: Path, kill_point: str) -> CompletedProcess[str]:
    environment = {**os.environ, "KILL_POINT": kill_point, "MEMORY_PIPELINE_HOME": str(path.parent)}
    return processes.run(night, str(path), environment=environment)


def copy_of(before: Path, directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    return Path(shutil.copyfile(before, directory / "store.duckdb"))


def kill_and_recover(before: Path, directory: Path, place: str, expected: tuple[str, str]) -> None:
    path = copy_of(before, directory)
    died = night_in_a_process(path, place)
    assert died.returncode == -signal.SIGKILL, f"'{place}' was never reached: {died.stderr[-500:]}"
    state_of(Store(path))
    night(str(path))
    assert state_of(Store(path)) == expected, place


@pytest.mark.slow
def test_a_night_killed_at_its_milestones_is_completed_by_the_next(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path
) -> None:
    before, expected, places = undisturbed
    assert len(places) > 20 and {place.split("#")[0] for place in places} == {
        "store.commit.before",
        "store.commit.logged",
        "store.commit.after",
        "fold.copied",
        "fold.verified",
        "replace.sealed",
        "replace.done",
        "snapshot.copied",
        "snapshot.named",
        "file.written",
        "shared.written",
        "report.written",
        "notice.written",
    }
    commits = [place for place in places if place.startswith("store.commit")]
    chosen = ["snapshot.named#1", commits[len(commits) // 2], "report.written#2"]
    for number, place in enumerate(chosen):
        kill_and_recover(before, tmp_path / str(number), place, expected)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(GROUPS))
def test_a_night_killed_between_any_two_writes_is_completed_by_the_next(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path, part: int
) -> None:
    before, expected, places = undisturbed
    # After a commit, whether sealed or not, nothing is written before the next one begins: that place stands for both.
    between = [place for place in places if not place.startswith(("store.commit.logged", "store.commit.after"))]
    for number, place in enumerate(between[part::GROUPS]):
        kill_and_recover(before, tmp_path / str(number), place, expected)


def random_kills(before: Path, directory: Path, expected: tuple[str, str], nights: int, seed: int) -> int:
    """Kill nights at random instants, letting each store be finished by the next night; how many died midway."""
    chance, died = random.Random(seed), 0
    begun = time.monotonic()
    assert processes.run(night, str(copy_of(before, directory / "timed"))).returncode == 0
    seconds = time.monotonic() - begun
    for number in range(nights):
        path = copy_of(before, directory / str(number))
        process = processes.begin(night, str(path))
        time.sleep(chance.uniform(0.02, 0.9) * seconds)
        process.kill()
        process.join()
        died += process.exitcode == -signal.SIGKILL
        state_of(Store(path))
        night(str(path))
        assert state_of(Store(path)) == expected, f"seed {seed}, night {number}"
    return died


@pytest.mark.slow
def test_nights_killed_at_random_instants_are_completed_by_the_next(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path
) -> None:
    before, expected, _ = undisturbed
    assert random_kills(before, tmp_path, expected, 5, seed=0) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, GROUPS + 1))
def test_many_nights_killed_at_random_instants(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path, seed: int
) -> None:
    before, expected, _ = undisturbed
    assert random_kills(before, tmp_path, expected, RANDOM_NIGHTS // GROUPS, seed) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("place", ["restore.verified", "restore.kept"])
def test_a_restore_that_is_killed_leaves_a_store_under_its_name(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path, place: str
) -> None:
    before, expected, _ = undisturbed
    path = copy_of(before, tmp_path / "s")
    night(str(path))
    store = Store(path)
    (snapshot,) = list_snapshots(store)
    died = processes.run(restore_snapshot, store, snapshot.name, environment={**os.environ, "KILL_POINT": place})
    assert died.returncode == -signal.SIGKILL
    assert state_of(Store(path)) == expected
    restore_snapshot(Store(path), snapshot.name)
    night(str(path))
    assert state_of(Store(path)) == expected


@pytest.mark.slow
def test_importers_write_beside_a_running_night_without_losing_a_row(
    undisturbed: tuple[Path, tuple[str, str], list[str]], tmp_path: Path
) -> None:
    before, _, _ = undisturbed
    path = copy_of(before, tmp_path / "s")
    process, written = processes.begin(night, str(path)), []
    while process.is_alive() and len(written) < 200:
        written.append(f"agent-{len(written)}")
        fill(Store(path), [candidate(f"an agent writes note {len(written)}", native_id=written[-1])])
    process.join(60)
    assert process.exitcode == 0 and written
    with Store(path).reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
    assert all(memories[memory_id].archived_at is None for memory_id in written)
    assert sum(memory.archived_at is not None for memory in memories.values()) >= 15
    state_of(Store(path))
