"""The order in which contradicting memories are told: the later one first, and nothing else moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.records import Conflict
from memory_pipeline.text.superseding import Opponent, later_of, opponents_of, put_later_first
from memory_pipeline_tests.build import FIRST, memory


@given(st.permutations(range(9)), st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_the_later_one_stands_first_and_the_others_keep_their_order(
    order: list[int], pairs: set[tuple[int, int]]
) -> None:
    later_ones = {one: sorted((b for a, b in pairs if a == one < b), reverse=True) for one in range(12)}
    placed = put_later_first(order, later_ones)
    assert sorted(placed) == sorted(order)
    place = {one: number for number, one in enumerate(placed)}
    assert all(place[b] < place[a] for a in order for b in later_ones[a] if b in place)
    concerned = {b for a in order for b in later_ones[a]}
    unmoved = [one for one in order if one not in concerned]
    assert all(place[one] < place[other] for one, other in pairwise(unmoved))
    assert put_later_first(placed, later_ones) == placed
    for b in concerned & set(order):  # directly before the first that it contradicts, if it stood behind that
        first = min((a for a in order if b in later_ones[a]), key=place.__getitem__)
        if order.index(b) > order.index(first):
            assert all(one in concerned for one in placed[place[b] + 1 : place[first]])


def test_who_is_the_later_side_is_known_by_day_alone() -> None:
    notes = {"a": FIRST, "b": FIRST + timedelta(hours=3), "c": FIRST + timedelta(days=2), "d": FIRST}
    told = {name: memory(name, name, at) for name, at in notes.items()}
    told["d"] = memory("d", "d", FIRST + timedelta(days=9), created_at_quality="mtime")
    conflicts = [Conflict("p", *pair, "contradiction", "", 0.9) for pair in ("ab", "ac", "cd")]
    assert opponents_of(conflicts, told) == {
        "a": (Opponent("c", told["c"].day), Opponent("b")),
        "b": (Opponent("a"),),
        "c": (Opponent("d"),),
        "d": (Opponent("c"),),
    }


@given(st.integers(-60, 59))
def test_the_later_day_counts_and_not_the_later_moment(minutes: int) -> None:
    moment = datetime(2026, 3, 1, 23, tzinfo=UTC)
    first = memory("a", "a", moment + timedelta(minutes=minutes))
    second = memory("b", "b", moment.astimezone(timezone(timedelta(hours=2))), utc_offset=120)
    assert later_of(first, second) is later_of(second, first) is second
