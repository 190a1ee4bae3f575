"""Law 5: the fast path equals the plain one. Law 3: results do not depend on order or blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation.clustering import link
from memory_pipeline.consolidation.similarity import TooManyPairsError, find_crowd, similar_pairs
from memory_pipeline.records import connected_groups

THRESHOLD = 0.82


def ids_of(vectors: np.ndarray) -> list[str]:
    return [f"m-{row:02}" for row in range(len(vectors))]


def edges_of(vectors: np.ndarray) -> dict[tuple[str, str], float]:
    ids = ids_of(vectors)
    columns = (column.tolist() for column in similar_pairs(vectors, THRESHOLD))
    return {(ids[i], ids[j]): score for i, j, score in zip(*columns, strict=True)}


def plain_pairs(vectors: np.ndarray, threshold: float) -> set[tuple[int, int]]:
    """All pairs by a plain double loop in float64."""
    wide = vectors.astype(np.float64)
    return {
        (i, j)
        for i in range(len(wide))
        for j in range(i + 1, len(wide))
        if float((wide[i] * wide[j]).sum()) >= threshold
    }


@st.composite
def clouds(draw: st.DrawFn) -> np.ndarray:
    """Unit vectors around a few centres, so that many pairs lie near the threshold."""
    seed, count, spread = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 60)), draw(st.floats(0.05, 0.6))
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((4, 24))
    rows = centres[rng.integers(0, 4, count)] + spread * rng.standard_normal((count, 24)) * 2
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32).reshape(count, 24)


@given(clouds(), st.integers(1, 70))
@settings(max_examples=60, deadline=None)
def test_blocked_pairs_equal_the_plain_double_loop(vectors: np.ndarray, block: int) -> None:
    i, j, scores = similar_pairs(vectors, THRESHOLD, block_size=block)
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == plain_pairs(vectors, THRESHOLD)
    assert (scores >= THRESHOLD).all()
    assert len(i) == len(set(zip(i.tolist(), j.tolist(), strict=True)))


@given(clouds(), st.data())
@settings(max_examples=60, deadline=None)
def test_incremental_pairs_and_known_ones_together_equal_a_full_pass(vectors: np.ndarray, data: st.DataObject) -> None:
    known = data.draw(st.integers(0, len(vectors)))
    before = similar_pairs(vectors[:known], THRESHOLD, block_size=7)
    added = similar_pairs(vectors, THRESHOLD, known=known, block_size=7)
    both = set(zip(before[0].tolist(), before[1].tolist(), strict=True)) | set(
        zip(added[0].tolist(), added[1].tolist(), strict=True)
    )
    assert both == plain_pairs(vectors, THRESHOLD)
    assert len(before[0]) + len(added[0]) == len(both)


@given(clouds(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_scores_are_the_same_to_the_last_bit_in_any_order(vectors: np.ndarray, rng: object) -> None:
    order = list(range(len(vectors)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    i, j, scores = similar_pairs(vectors, THRESHOLD, block_size=16)
    straight = {(a, b): s for a, b, s in zip(i.tolist(), j.tolist(), scores.tolist(), strict=True)}
    i, j, scores = similar_pairs(vectors[order], THRESHOLD, block_size=5)
    shuffled = {
        tuple(sorted((order[a], order[b]))): s for a, b, s in zip(i.tolist(), j.tolist(), scores.tolist(), strict=True)
    }
    assert straight == shuffled


@given(st.integers(1, 40), st.data())
@settings(max_examples=60, deadline=None)
def test_components_are_those_of_a_graph_walk(n: int, data: st.DataObject) -> None:
    edges = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    groups = connected_groups(map(str, range(n)), [(str(a), str(b)) for a, b in edges])
    first = {node: int(group[0]) for group in groups for node in map(int, group)}
    neighbours: dict[int, set[int]] = {node: set() for node in range(n)}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    for node in range(n):
        reached, todo = {node}, [node]
        while todo:
            todo = [other for one in todo for other in neighbours[one] if other not in reached]
            reached.update(todo)
        assert first[node] == min(reached)


@given(clouds())
@settings(max_examples=60, deadline=None)
def test_in_complete_linkage_every_pair_of_a_group_reaches_the_threshold(vectors: np.ndarray) -> None:
    edges = edges_of(vectors)
    groups = link(ids_of(vectors), edges, "complete", THRESHOLD)
    assert sorted(i for group in groups for i in group) == ids_of(vectors)
    for group in groups:
        assert all((a, b) in edges for n, a in enumerate(group) for b in group[n + 1 :])


@given(clouds())
@settings(max_examples=40, deadline=None)
def test_taking_whole_groups_away_leaves_the_other_groups_as_they_were(vectors: np.ndarray) -> None:
    """Why a second night finds nothing: what is left of a night's clusters forms the same groups again."""
    edges = edges_of(vectors)
    groups = link(ids_of(vectors), edges, "complete", THRESHOLD)
    kept = [group for group in groups if len(group) < 3]
    left = sorted(node for group in kept for node in group)
    rest = {pair: s for pair, s in edges.items() if pair[0] in left and pair[1] in left}
    assert link(left, rest, "complete", THRESHOLD) == kept


@given(clouds(), st.integers(1, 70), st.data())
@settings(max_examples=40, deadline=None)
def test_pairs_in_different_cells_are_the_only_ones_left_out(
    vectors: np.ndarray, block: int, data: st.DataObject
) -> None:
    n = len(vectors)
    cells = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)), dtype=np.int64)
    i, j, _ = similar_pairs(vectors, THRESHOLD, block_size=block, cells=cells)
    expected = {
        (a, b) for a, b in plain_pairs(vectors, THRESHOLD) if min(cells[a], cells[b]) < 0 or cells[a] == cells[b]
    }
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected


@given(clouds(), st.integers(0, 6), st.integers(1, 70), st.data())
@settings(max_examples=40, deadline=None)
def test_a_crowd_is_the_core_that_no_order_of_taking_away_changes(
    vectors: np.ndarray, least: int, block: int, data: st.DataObject
) -> None:
    pairs = plain_pairs(vectors, THRESHOLD)
    members = data.draw(st.sets(st.integers(0, max(0, len(vectors) - 1)), max_size=3)) if len(vectors) else set()
    inside = set(range(len(vectors)))
    while True:
        degrees = {one: sum((min(one, b), max(one, b)) in pairs for b in inside) for one in inside}
        weak = sorted(one for one in inside if degrees[one] <= least and one not in members)
        if not weak:
            break
        inside.remove(data.draw(st.sampled_from(weak)))
    mask = np.isin(np.arange(len(vectors)), sorted(members))
    found = find_crowd(vectors, THRESHOLD, least, members=mask, block_size=block)
    assert set(np.flatnonzero(found).tolist()) == inside


@given(clouds(), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_without_a_crowd_there_are_few_pairs(vectors: np.ndarray, least: int) -> None:
    nobody = np.zeros(len(vectors), dtype=bool)
    crowd = find_crowd(vectors, THRESHOLD, least, members=nobody)
    rest = {(a, b) for a, b in plain_pairs(vectors, THRESHOLD) if not (crowd[a] and crowd[b])}
    assert len(rest) <= least * len(vectors)
    number = len(plain_pairs(vectors, THRESHOLD))
    assert len(similar_pairs(vectors, THRESHOLD, most=number)[0]) == number
    if number:
        with pytest.raises(TooManyPairsError):
            similar_pairs(vectors, THRESHOLD, most=number - 1)
