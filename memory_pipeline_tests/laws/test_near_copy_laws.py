"""No near-copies, whatever their small differences, end a night or leave something behind that a check then finds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation import recall_check
from memory_pipeline.consolidation.gates import lost_in_levels
from memory_pipeline.consolidation.merging import find_unmerged, merge_contents
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, PlantedEmbedder, candidate, fill, night_of, settings_for
from memory_pipeline_tests.near_copies import make_text, near_copy

DAY = date(2026, 3, 3)


@pytest.fixture(scope="module", autouse=True)
def _none_is_asked_for() -> Iterator[None]:
    """Texts of invented words are seldom found by their rarest ones; the recall check has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall_check, "MOST_ASKED", 0)
        yield


class ByTopic(PlantedEmbedder):
    """Texts with the same mark of their topic lie closer than the merge threshold, whatever else they say."""

    def embed(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        marks = [next((word for word in text.split() if word.startswith("Topic")), "none") for text in texts]
        near = super().embed([f"{mark} {text}" for mark, text in zip(marks, texts, strict=True)])
        return np.asarray(near, dtype=np.float32)


def copies(rng: random.Random, topic: str, number: int) -> list[str]:
    text = make_text(rng)
    return [f"{topic} {text}", *(f"{topic} {near_copy(rng, text)}" for _ in range(number - 1))]


def live_through(store: Store, seed: int, topics: int, nights: int) -> None:
    """Nights over near-copies that come in a few at a time; each must end well, with nothing for a check to find."""
    rng = random.Random(seed)
    notes = [text for n in range(topics) for text in copies(rng, f"Topic{seed}x{n}", rng.randrange(2, 6))]
    compressed = 0
    for turn in range(nights):
        at = FIRST + timedelta(days=turn)
        fill(
            store,
            [candidate(text, at, native_id=f"{turn}-{n}") for n, text in enumerate(notes[turn::nights])],
            embedder=ByTopic(),
        )
        night = night_of(store, DAY + timedelta(days=turn), settings_for(store))
        night.embedder = ByTopic()
        report = run_night(night)
        assert report.verdict in ("PASS", "IDLE") and report.errors == ()
        compressed += report.clusters_compressed
    assert compressed > topics / 10
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == [] and lost_in_levels(tx) == []


def test_nights_over_near_copies_of_all_kinds_end_well(store: Store) -> None:
    live_through(store, seed=1, topics=8, nights=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_nights_over_thousands_of_near_copies_end_well(store: Store, seed: int) -> None:
    live_through(store, seed=seed, topics=150, nights=3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.text(max_size=60), max_size=2))
def test_a_text_holds_itself_and_the_judge_of_a_merge_breaks_on_none(seed: int, others: list[str]) -> None:
    rng = random.Random(seed)
    contents = [*copies(rng, "Topic", 3), *others]
    assert all(find_unmerged([content], content) == [] for content in contents)
    merged = merge_contents(contents)
    assert set(find_unmerged(contents, merged)) == set(find_unmerged(contents[::-1], merged))
