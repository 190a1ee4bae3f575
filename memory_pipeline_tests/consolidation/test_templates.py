"""Many lines that are alike: the work of a night grows with the lines, not with their pairs."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.config.policies import Linkage, PolicyTable
from memory_pipeline.consolidation import similarity
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import Conflict
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, night_of, run, settings_for, slowly, sql_rows

DAY = date(2026, 3, 20)
_NAMES = [
    f"{one}{other}" for one in ("amber", "birch", "cedar", "delta", "ember") for other in ("wick", "ford", "holm")
]


def readings(count: int, *, days: int = 1, first: int = 0) -> list[Candidate]:
    """Lines of one shape with other figures."""
    return [
        candidate(
            f"autonomous preflight: the nightly check of all collections is complete in {300 + n}.{n % 7}5s",
            FIRST + timedelta(days=n % days, seconds=n),
            native_id=f"r{n:04}",
        )
        for n in range(first, first + count)
    ]


def one_word_apart(count: int) -> list[Candidate]:
    """Lines of as many shapes, each with a word of its own."""
    text = "the nightly backup of the {} archive goes to the second storage room behind the office"
    return [
        candidate(text.format(f"{_NAMES[n % 15]}{_NAMES[n // 15]}"), FIRST + timedelta(seconds=n), native_id=f"w{n:03}")
        for n in range(count)
    ]


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows by one entry a pair that the conflict guard looks at."""
    seen: list[str] = []
    guard = similarity.find_conflict

    def counting(a: str, b: str) -> object:
        seen.append(a)
        return guard(a, b)

    monkeypatch.setattr(similarity, "find_conflict", counting)
    return seen


def rows(store: Store, table: str) -> int:
    with store.reading() as tx:
        (count,) = sql_rows(tx, f"select count(*) from {table}")[0]  # type: ignore[misc]
    return int(count)


def hash_of(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(with_log=True)


@pytest.mark.parametrize("days", [1, *slowly(10)])
def test_lines_of_one_shape_are_never_compared(store: Store, monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    seen = looked_at(monkeypatch)
    fill(store, [*readings(240, days=days), *one_word_apart(2)])
    run(store, DAY)
    assert len(seen) == 1 and rows(store, "similarity_edges") == 1


def test_readings_are_no_conflict_however_many(store: Store) -> None:
    fill(store, readings(60))
    run(store, DAY)
    assert rows(store, "conflicts") == 0


@pytest.mark.slow
def test_a_conflict_of_two_lines_is_settled_when_more_show_that_they_are_readings(store: Store) -> None:
    fill(store, readings(2))
    run(store, DAY)
    with store.writing("test") as tx:  # as a night of an earlier version linked them
        assert tx.conflicts.cases() == []
        tx.conflicts.record([Conflict("p", "r0000", "r0001", "number", "300.05s / 301.15s", 0.99)], FIRST)
    fill(store, readings(4, first=2))
    run(store, DAY + timedelta(days=1))
    with store.reading() as tx:
        assert [case.resolution for case in tx.conflicts.cases(settled=True)] == ["series"]


@pytest.mark.slow
def test_a_night_over_readings_changes_nothing_the_second_time(store: Store) -> None:
    fill(store, readings(96, days=6))
    first = run(store, DAY)
    before = hash_of(store)
    second = run(store, DAY, run_id="again")
    assert first.clusters_compressed == 1 and second.clusters_compressed == 0
    assert hash_of(store) == before


@pytest.mark.parametrize("linkage", ["single", "average"])
def test_readings_of_one_day_are_in_no_cluster_with_each_other_under_any_linkage(
    store: Store, linkage: Linkage
) -> None:
    fill(store, [*readings(64), *one_word_apart(3)])
    policies = dict.fromkeys(("merge", "distill"), PolicyTable(linkage=linkage))
    report = run(store, DAY, settings_for(store, compression__policies=policies))
    assert report.memories_archived == 0 and report.errors == ()


@pytest.mark.slow
def test_cached_pairs_within_cells_equal_a_full_recomputation(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 5, where not all pairs are compared."""
    monkeypatch.setattr(similarity, "CROWD_LEAST", 10)
    monkeypatch.setattr(similarity, "CROWD_AT_ONCE", 6)
    lines = one_word_apart(60)
    for turn in range(3):
        fill(store, lines[turn::3])
        night = night_of(store, DAY + timedelta(days=turn), run_id="cells")
        kept = find_similar(night, select_eligible(night, []))
    with store.writing("test") as tx:
        sql_rows(tx, "delete from compared")
        sql_rows(tx, "delete from similarity_edges")
    eligible = select_eligible(night, [])
    assert find_similar(night, eligible).to_pylist() == kept.to_pylist()
    assert 0 < kept.num_rows <= len(lines) * 5 / 2


@pytest.mark.slow
def test_a_crowd_is_compared_in_parts_and_keeps_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "CROWD_LEAST", 10)
    monkeypatch.setattr(similarity, "CROWD_AT_ONCE", 6)
    fill(store, one_word_apart(60))
    seen = looked_at(monkeypatch)
    run(store, DAY)
    assert 0 < len(seen) <= 60 * 5 / 2
    before = hash_of(store), rows(store, "comparison_cells")
    run(store, DAY, run_id="again")
    assert (hash_of(store), rows(store, "comparison_cells")) == before


@pytest.mark.slow
def test_fewer_alike_than_a_crowd_are_compared_all_with_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, one_word_apart(40))
    seen = looked_at(monkeypatch)
    run(store, DAY)
    assert len(seen) > 40 * 5 and rows(store, "comparison_cells") == 0


def test_a_dry_run_keeps_no_cell(store: Store) -> None:
    fill(store, readings(40))
    before = store.path.read_bytes()
    run(store, DAY, dry_run=True)
    assert store.path.read_bytes() == before
