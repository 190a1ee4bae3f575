"""Whether two notes contradict each other, as a model on this machine reads them."""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation.contradictions import LEAST_COSINE, NEAREST, nearest_pairs
from memory_pipeline.models import relations
from memory_pipeline.models.relations import WEIGHTS_SHA256, chance_of_contradiction, is_contradiction

CONTRADICTIONS = [
    ("The staging database listens on port 5432.", "The staging database listens on port 5433."),
    ("The lease of the office ends on 2026-03-12.", "The lease of the office ends on 2026-03-19."),
    ("Customers are allowed to pay later.", "Customers are not allowed to pay later."),
    ("The user lives in Berlin with two cats.", "The user lives in Hamburg with two cats."),
    ("The digest of the forum is sent daily.", "The digest of the forum is sent weekly."),
    ("The user wants reminders by mail.", "The user does not want reminders by mail."),
    ("The gateway timeout is 30 seconds.", "The gateway timeout is 60 seconds, set by Dana."),
]
COMPATIBLE = [
    (
        "The deploy took 14 minutes because the cache was cold.",
        "The deploy took 41 minutes because the cache was cold.",
    ),
    ("Had a call with Priya about the lease.", "Had a call with Tomas about the lease."),
    ("The backup of Monday failed.", "The backup of Tuesday passed."),
    ("There are 42 open tasks in the backlog.", "There are 17 open tasks in the backlog."),
    ("Retry after 5 minutes when the queue is full.", "Retry after five min when the queue is full."),
    ("The cat sleeps on the red sofa.", "Postgres runs on port 5432."),
    ("Der Bus 5 hält vor der Schule.", "Am Freitag fuhr der Bus 5 nicht."),
]


def test_most_contradictions_are_found_and_what_may_both_be_true_is_none() -> None:
    assert sum(is_contradiction(*pair) for pair in CONTRADICTIONS) >= len(CONTRADICTIONS) - 1
    assert not any(is_contradiction(*pair) for pair in COMPATIBLE)


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=20, deadline=None)
def test_any_two_texts_are_judged_the_same_both_ways(one: str, other: str) -> None:
    assert chance_of_contradiction(one, other) == chance_of_contradiction(other, one)
    assert chance_of_contradiction(one, one) == 0


def test_the_weights_are_those_that_are_stated() -> None:
    for name, stated in WEIGHTS_SHA256.items():
        raw = resources.files("memory_pipeline.models").joinpath(name).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == stated


def test_without_the_package_of_the_model_nothing_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "is_installed", lambda: False)
    assert not is_contradiction(*CONTRADICTIONS[0])


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_each_new_note_is_compared_with_the_nearest(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"m{n:02}" for n in range(count)]
    fresh = dict.fromkeys(rng.choice(ids, size=rng.integers(0, count + 1), replace=False).tolist(), 1)
    exact = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    expected = set()
    for row in range(count):
        others = sorted((-exact[row, at], ids[at]) for at in range(count) if at != row)[:NEAREST]
        near = [name for score, name in others if -score >= LEAST_COSINE]
        expected |= {tuple(sorted((ids[row], name))) for name in near} if ids[row] in fresh else set()
    assert nearest_pairs(ids, vectors, fresh).keys() == expected


def test_what_says_the_same_in_the_same_words_counts_once() -> None:
    angles = [0.0, *(0.01 * n for n in range(1, 9))]
    vectors = np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)
    ids = list("abcdefghi")
    said = dict(zip(ids, ("x", "one", "one", "x", "one", "two", "three", "four", "one"), strict=True))
    pairs = nearest_pairs(ids, vectors, {"a": 1}, lambda wanted: {i: said[i] for i in wanted})
    assert {other for pair in pairs for other in pair} == {*"abcdefgi"}, "three others, their copies and its own"


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_a_night_of_many_days_compares_what_a_night_for_each_day_does(days: list[int], seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(days), 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    day_of = {f"m{n:02}": day for n, day in enumerate(days)}
    each: set[tuple[str, str]] = set()
    for day in range(5):
        rows = [row for row, other in enumerate(days) if other <= day]
        ids = [f"m{row:02}" for row in rows]
        each |= nearest_pairs(ids, vectors[rows], {one: day for one in ids if day_of[one] == day}).keys()
    assert nearest_pairs(list(day_of), vectors, day_of).keys() == each
