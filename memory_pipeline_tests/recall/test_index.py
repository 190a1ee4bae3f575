"""The index of a project: derived from the store, always what the store says, and made again when it is not whole."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import StoreBusyError, StoreError
from memory_pipeline.ingest.importing import remember
from memory_pipeline.interfaces.operations import SearchRequest
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall import index as index_module
from memory_pipeline.recall import search as search_module
from memory_pipeline.recall.documents import Filters
from memory_pipeline.recall.index import ProjectIndex
from memory_pipeline.recall.neighbours import SIGNS_FROM, Matrix, signs_of
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.recall.ranking import DEPTH
from memory_pipeline.recall.words import Scores, WordIndex
from memory_pipeline.records import Source
from memory_pipeline.store import Store, create_snapshot, restore_snapshot
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, memory, run, settings_for

QUERIES = ("restart the payment gateway", "old key stays cached", "labels for the printer", "lost two test orders")
DAY = date(2026, 3, 3)


def notes() -> list:  # type: ignore[type-arg]
    return [*lesson(4), *lesson(3, topic="printer"), candidate("Dana: the gateway is slow.", native_id="other")]


def memory_of(store: Store, **settings: object) -> ProjectMemory:
    return ProjectMemory(store, settings_for(store, **settings), "p", actor="test", embedder=Lexical())


def index_of(store: Store) -> ProjectIndex:
    return ProjectIndex(store, settings_for(store), "p", Lexical())


def found_by(index: ProjectIndex) -> list[list[tuple[float, str, str | None, bool]]]:
    """What the queries find, with and without the sources; sums of single precision differ in their last digits."""
    answers = []
    for query in QUERIES:
        for sources_too in (False, True):
            matches, _ = index.search(query, limit=20, filters=Filters(), sources_too=sources_too)
            found = [(-round(m.score, 5), m.memory.id, m.superseded_by, m.memory.archived_at is None) for m in matches]
            answers.append(sorted(found, key=str))
    return answers


def made_anew(store: Store) -> ProjectIndex:
    shutil.rmtree(home_of(store), ignore_errors=True)
    return index_of(store)


def home_of(store: Store) -> Path:
    return store.path.parent / f"{store.path.stem}.index"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store.duckdb")
    fill(store, notes())
    return store


@pytest.mark.slow
def test_an_index_that_follows_the_store_says_what_a_new_one_says(store: Store) -> None:
    index = index_of(store)
    found_by(index)
    report = run(store, DAY)
    assert report.memories_archived
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: remember(
            store, candidate("The key of the gateway lies in the vault."), "p", Lexical(), actor="a",
            now=datetime.now(UTC), mask=True,
        ),
        lambda: fill(store, [candidate(f"Turn {n}: labels.", native_id=f"t{n}") for n in range(5)], embedder=Lexical()),
        lambda: roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id)),
    ]  # fmt: skip
    for step in steps:
        step()
        followed = found_by(index)
        assert followed == found_by(index_of(store))
        assert followed == found_by(made_anew(store))


def test_another_process_that_adds_rows_is_followed_without_reading_all_again(store: Store) -> None:
    one, other = index_of(store), index_of(store)
    found_by(one)
    found_by(other)
    fill(store, [candidate("A third key was lost by Dana.", native_id="third")], embedder=Lexical())
    assert found_by(other) == found_by(one)
    fill(store, [candidate("A fourth key was lost by Dana.", native_id="fourth")], embedder=Lexical())
    assert found_by(one) == found_by(other)
    assert [m.memory.id for m in one.search("fourth key", limit=1, filters=Filters())[0]] == ["fourth"]


@pytest.mark.slow
def test_an_index_that_grows_a_memory_at_a_time_says_what_a_new_one_says(store: Store) -> None:
    index = index_of(store)
    found_by(index)
    for n in range(12):
        said = candidate(f"{('Ada', 'Ben')[n % 2]}: key {n} of the gateway stays cached.", native_id=f"turn-{n}")
        source = Source("jsonl", f"talk-{n % 3 // 2}.jsonl", n)
        fill(store, [replace(said, source=source, memory_type="conversation")], embedder=Lexical())
        with store.writing("test") as tx:
            tx.memories.count_uses({"turn-0": 1}, {"other": 1})
        assert found_by(index) == found_by(index_of(store))
        grown, new = index.fresh().catalogue, index_of(store).fresh().catalogue
        assert (grown.ids, grown.before.tolist(), grown.after.tolist()) == (
            new.ids, new.before.tolist(), new.after.tolist()
        )  # fmt: skip
        assert grown.memories(range(len(grown.ids))) == new.memories(range(len(new.ids)))
    pieces = grown.table.to_batches()
    assert len(pieces) <= 2 and sum(piece.num_rows for piece in pieces) <= len(grown.ids) * 9 / 8


def test_a_restored_snapshot_is_another_store(store: Store) -> None:
    index = index_of(store)
    snapshot = create_snapshot(store, "before", datetime.now(UTC), keep=None)
    fill(store, [candidate("The ferret eats at noon.", native_id="ferret")], embedder=Lexical())
    assert index.find(["ferret"])
    restore_snapshot(store, snapshot.name)
    assert not index.find(["ferret"])
    assert found_by(index) == found_by(made_anew(store))


FILES = ("manifest.json", "ids.json", "meta.json", ".store", ".idx", ".term", ".fast")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "cut off", "removed"])
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_made_again(store: Store, name: str, damage: str) -> None:
    wanted = found_by(index_of(store))
    (file, *_) = [file for file in home_of(store).rglob("*") if file.name.endswith(name) and file.stat().st_size]
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    if damage == "flipped":
        content[middle] ^= 0x55
        file.write_bytes(content)
    elif damage == "cut off":
        file.write_bytes(content[:middle])
    else:
        file.unlink()
    assert found_by(index_of(store)) == wanted
    assert found_by(index_of(store)) == wanted


def test_a_manifest_that_is_still_json_is_not_believed(store: Store) -> None:
    wanted = found_by(index_of(store))
    (file,) = home_of(store).rglob("manifest.json")
    file.write_text(file.read_text().replace('"places"', '"plcaes"'))
    assert found_by(index_of(store)) == wanted


def _search_until_killed(path: Path) -> None:
    found_by(index_of(Store(path)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", ["index.words.before", "index.words.after", "index.manifest.before", "index.manifest.after"]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_kill_costs_nothing(store: Store, place: str, is_first: bool) -> None:
    if not is_first:
        found_by(index_of(store))
        fill(store, [candidate("The ferret of the gateway eats at noon.", native_id="ferret")], embedder=Lexical())
    killed = processes.run(_search_until_killed, store.path, environment={**os.environ, "KILL_POINT": place})
    assert killed.returncode == -signal.SIGKILL
    followed = found_by(index_of(store))
    assert followed == found_by(made_anew(store))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["index.words.after", "index.manifest.before", "index.manifest.after"])
def test_a_process_that_has_the_index_open_adds_nothing_to_a_write_that_was_broken_off(
    store: Store, place: str
) -> None:
    index = index_of(store)
    found_by(index)
    late = candidate("The ferret of the gateway eats at noon.", FIRST + timedelta(days=9), native_id="late")
    fill(store, [late], embedder=Lexical())
    killed = processes.run(_search_until_killed, store.path, environment={**os.environ, "KILL_POINT": place})
    assert killed.returncode == -signal.SIGKILL
    early = candidate("The yacht of the gateway is green.", FIRST - timedelta(days=9), native_id="early")
    fill(store, [early], embedder=Lexical())
    followed, opened = found_by(index), found_by(index_of(store))
    assert followed == opened == found_by(made_anew(store))


def test_damage_is_seen_after_later_changes_too(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    index = index_of(store)
    found_by(index)
    (segment, *_) = home_of(store).rglob("*.term")
    content = bytearray(segment.read_bytes())
    content[len(content) // 4] ^= 0x55
    segment.write_bytes(content)
    fill(store, [candidate("The ferret eats at noon.", native_id="ferret")], embedder=Lexical())
    index.fresh()
    assert not caplog.text
    assert found_by(index_of(store)) == found_by(made_anew(store))
    assert "is made again" in caplog.text


def test_rows_of_a_write_that_was_broken_off_are_not_there_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    index = index_of(store)
    found_by(index)
    fill(store, [candidate("The ferret eats at noon.", native_id="ferret")], embedder=Lexical())

    def broken_off(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WordIndex, "add", broken_off)
        with pytest.raises(KeyboardInterrupt):
            index.fresh()
    assert found_by(index) == found_by(index_of(store)) == found_by(made_anew(store))
    assert not caplog.text  # no index was damaged and made again


def test_a_directory_that_cannot_be_written_costs_only_time(store: Store) -> None:
    wanted = found_by(index_of(store))
    shutil.rmtree(home_of(store))
    home_of(store).write_text("a file in its place")
    assert found_by(index_of(store)) == wanted


def test_an_index_that_is_damaged_under_a_server_is_made_again(store: Store) -> None:
    index = index_of(store)
    wanted = found_by(index)
    for file in (home_of(store)).rglob("words/*"):
        content = file.read_bytes()
        with file.open("r+b") as opened:
            opened.write(bytes(byte ^ 0x5A for byte in content))
    assert found_by(index) == wanted


def _search_before_and_after_files_are_cut_off(path: Path) -> None:
    index = index_of(Store(path))
    wanted = found_by(index)
    for file in home_of(Store(path)).rglob("words/*"):
        os.truncate(file, 0)
    assert found_by(index) == wanted


@pytest.mark.slow
def test_a_server_outlives_index_files_that_are_cut_off_in_their_place(store: Store) -> None:
    done = processes.run(_search_before_and_after_files_are_cut_off, store.path)
    assert done.returncode == 0, done.stderr


def test_an_index_that_is_damaged_before_words_are_added_is_made_again_in_its_place(store: Store) -> None:
    index = index_of(store)
    found_by(index)
    for segment in home_of(store).rglob("*.store"):
        segment.write_bytes(b"no longer")
    fill(store, [candidate("The ferret of the gateway eats at noon.", native_id="ferret")], embedder=Lexical())
    assert found_by(index) == found_by(index_of(store))
    assert index._files._directory.parent == home_of(store)


def test_where_no_index_can_be_written_the_error_says_what_to_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(index_module.IndexFiles, "write", full)
    with pytest.raises(StoreError, match="free some space"):
        index_of(store).fresh()


@pytest.mark.slow
def test_while_another_holds_the_store_a_known_state_answers(store: Store) -> None:
    index = index_of(store)
    wanted = found_by(index)
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with store.held(shared=False):
            held.set()
            go_on.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(30)
        os.utime(store.path)
        assert found_by(index) == wanted
        with pytest.raises(StoreBusyError):
            ProjectIndex(Store(store.path, busy_timeout_s=0.1), settings_for(store), "p", Lexical()).fresh()
    finally:
        go_on.set()
        holder.join()


def test_what_this_process_remembered_is_waited_for(store: Store) -> None:
    mine = memory_of(store)
    mine.search("gateway")
    told = mine.remember("The ferret eats at noon.")
    assert mine.search("when does the ferret eat").results[0].id == told.id


def test_a_memory_that_is_embedded_later_is_found_by_its_vector(store: Store) -> None:
    index = index_of(store)
    found_by(index)
    with store.writing("test") as tx:
        tx.memories.add([memory("late", "Hedgehogs hibernate under leaves.")])
    assert index.search("hedgehogs", limit=1, filters=Filters(), mode="dense")[0] == []
    with store.writing("test") as tx:
        tx.vectors.add(["late"], Lexical().embed(["Hedgehogs hibernate under leaves."]), Lexical.name)
    found, _ = index.search("hedgehogs hibernate", limit=1, filters=Filters(), mode="dense")
    assert [match.memory.id for match in found] == ["late"]


def test_an_archived_source_stands_beside_its_abstraction_only_when_asked_for(store: Store) -> None:
    run(store, DAY)
    mine = memory_of(store)
    alone = mine.search("restart the payment gateway", limit=50).results
    assert not any(one.archived and one.consolidated_into_id in {other.id for other in alone} for one in alone)
    both = mine.search("restart the payment gateway", limit=50, include_sources=True).results
    (best, *_) = both
    assert best.abstraction_level == 2
    assert best.source_memory_count == len(best.source_memories or ()) == 4
    places = {one.id: place for place, one in enumerate(both)}
    assert all(places[one.consolidated_into_id] < places[one.id] for one in both if one.consolidated_into_id in places)
    old = mine.search("restart the payment gateway", archived=True).results
    assert {one.id for one in old} >= {f"gateway-{n}" for n in range(4)}


def test_signs_choose_what_the_exact_product_chooses() -> None:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((200, 384)).astype(np.float32)
    vectors = np.repeat(centres, SIGNS_FROM // 200, axis=0)
    vectors += 0.8 * rng.standard_normal(vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    fast, plain = Matrix(vectors, signs_of(vectors)), Matrix(vectors)
    hits = 0
    for asked in vectors[:20] + 0.05 * rng.standard_normal((20, 384)).astype(np.float32):
        asked /= np.linalg.norm(asked)
        nearest = plain.nearest(asked, 10)
        hits += len(set(nearest.tolist()) & set(fast.nearest(asked, 10).tolist()))
    assert hits >= 196


def test_a_matrix_that_grows_is_the_one_of_all_rows() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((SIGNS_FROM + 6_000, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first = vectors[: SIGNS_FROM - 1].copy()
    first[7:9] = 0
    grown = Matrix.of(np.concatenate([first, np.zeros((4_000, 64), dtype=np.float32)]), len(first))
    one_of_two = vectors[7:9] * np.array([[1], [0]], dtype=np.float32)
    for late, until in ((one_of_two, SIGNS_FROM), (vectors[8:9], SIGNS_FROM + 3_000), (vectors[:0], len(vectors))):
        before, rows = grown, len(grown)
        grown = before.extended(late, vectors[rows:until])
        assert (len(before), len(grown)) == (rows, until)
        assert before.nearest(vectors[-1], 50).max() < rows
    assert not len(grown.without_vector)
    assert (grown.rows(np.arange(len(grown))) == vectors).all()
    whole = Matrix.of(vectors, len(vectors))
    for asked in vectors[-5:]:
        assert grown.nearest(asked, 50).tolist() == whole.nearest(asked, 50).tolist()


def test_filters_admit_rows_of_a_large_project(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_DEPTH_WITH_FILTER", 5)
    mine = memory_of(store)
    assert [one.id for one in mine.search("gateway", since="2026-03-01", memory_types=["other"], limit=1).results]
    assert mine.search("gateway", until="2026-02-01").results == ()


def test_a_search_as_of_a_day_finds_what_was_active_then(store: Store) -> None:
    run(store, DAY)
    mine = memory_of(store)
    then = mine.search("restart the payment gateway", as_of="2026-03-02").results
    assert {one.id for one in then if not one.archived} >= {f"gateway-{n}" for n in range(4)}
    assert not any(one.abstraction_level == 2 for one in then)
    assert mine.search("restart the payment gateway", as_of="2026-03-02", categories=["none"]).results == ()


@pytest.mark.slow
def test_of_equal_hits_the_newest_comes_first_however_the_index_grew(tmp_path: Path) -> None:
    days = {"b": 2, "a": 2, "d": 1, "c": 3, "e": 0}
    told = [candidate("Restarted the gateway", FIRST + timedelta(days=days[one]), native_id=one) for one in days]
    for order in ([told], [[one] for one in told], [[one] for one in reversed(told)]):
        store = Store(tmp_path / f"{len(order)}-{order[0][0].native_id}" / "store.duckdb")
        mine = memory_of(store)
        for some in order:
            fill(store, some)
            mine.generation()
        for when in (None, "now"):
            assert [one.id for one in mine.search("restarted gateway", as_of=when).results] == ["c", "a", "b", "d", "e"]


def test_a_filter_of_a_past_search_holds_before_the_best_are_taken(store: Store) -> None:
    told = [candidate(f"The gateway key was rotated {n} times", FIRST, native_id=f"n{n}") for n in range(101)]
    chosen = candidate(
        "Of the harvest of this summer, a long tale in which a gateway is named once", FIRST - timedelta(days=2),
        memory_type="decision", categories=("farm",), native_id="chosen",
    )  # fmt: skip
    fill(store, [*told, chosen])
    mine = memory_of(store)
    for narrowing in ({"memory_types": ["decision"]}, {"categories": ["farm"]}, {"until": "2026-02-27"}):
        for when in (None, "now", "2026-03-02"):
            assert [one.id for one in mine.search("gateway key", as_of=when, **narrowing).results] == ["chosen"]


def test_an_empty_filter_of_the_api_costs_no_more_than_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, notes())
    index = index_of(store)
    index.search(QUERIES[0], limit=5, filters=Filters())
    depths: list[int] = []
    search = WordIndex.search

    def recorded(words: WordIndex, query: str, depth: int) -> Scores:
        depths.append(depth)
        return search(words, query, depth)

    monkeypatch.setattr(WordIndex, "search", recorded)
    index.search(QUERIES[0], limit=5, filters=SearchRequest(query="all").chosen)
    index.search(QUERIES[0], limit=5, filters=SearchRequest(query="all", levels=(0,)).chosen)
    assert depths[0] == DEPTH < depths[1]
    catalogue = index.fresh().catalogue
    assert (catalogue.admitted(SearchRequest(query="all").chosen) == catalogue.admitted(Filters())).all()
