"""Law 4 with all schedules on: days as they come equal a backfill of them, with the default model's real vectors.

The days end a week and a month, so that principles and the knowledge base are due among them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation import context, knowledge_base
from memory_pipeline.consolidation.duplicates import archive_duplicates
from memory_pipeline.consolidation.knowledge_base import compress_knowledge_base, knowledge_base_night
from memory_pipeline.consolidation.run import PHASES, run_phase, run_week
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.orchestration.consolidation import scheduled_day
from memory_pipeline.orchestration.partitions import MONTHLY, WEEKLY, newest_period, periods_ending_with
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, night_of, rules_are_found, run, settings_for
from memory_pipeline_tests.laws.test_night_laws import temporary_store, whole_hash

DAYS = [date(2026, 2, 26) + timedelta(days=n) for n in range(6)]
_RULE = "Restart the {} after changing its configuration file, because it reads the settings only once at the start."
_SERVICES = ("gateway", "printer service", "mail relay", "search index", "job queue")
_LESSONS = (
    "Restart the payment gateway after rotating its API key, otherwise the gateway keeps using the old key",
    "After rotating the API key restart the payment gateway, or the gateway goes on using the old key",
    "The nightly backup to the storage box fails silently when its disk is more than ninety percent full",
    "When the disk of the storage box is over ninety percent full the nightly backup fails without a word",
)
_DETAILS = (
    "",
    " Always.",
    " Please note.",
    " Dana saw it too.",
    " It does not happen on staging.",
    " It took 15 minutes.",
    " Version 2.4.1 is hit.",
)


class Remembering(MiniLM):
    """The default model, which embeds a text once: the vectors are the real ones."""

    _known: dict[str, np.ndarray] = {}  # noqa: RUF012 - shared by all tests on purpose

    def embed(self, texts: Any) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, super().embed(new), strict=True))
        return np.stack([self._known[text] for text in texts]) if len(texts) else super().embed([])


@pytest.fixture(autouse=True, scope="module")
def real_vectors() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "choose_embedder", lambda settings: Remembering())
        yield


def history(rng: random.Random, size: int, days: Sequence[date] = DAYS) -> list[Candidate]:
    """Notes of some days: lessons in several words, exact copies, entries of a knowledge base, patterns on one rule."""
    notes: list[Candidate] = []
    for number in range(size):
        text = f"{rng.choice(_LESSONS)}.{rng.choice(_DETAILS)}"
        fields: dict[str, Any] = {"categories": (rng.choice(("deploy", "backup")),)}
        kind = rng.random()
        if kind < 0.15 and notes:
            text = rng.choice(notes).content.upper()
        elif kind < 0.35:
            lesson = rng.choice(_LESSONS)
            text = f"Title: {lesson[:24]}\nRecommendation: {lesson}.\nExamples:\n- S-{number % 4}: seen once"
        elif kind < 0.6:
            text = _RULE.format(rng.choice(_SERVICES)) + rng.choice(("", "\nDetails: seen twice"))
            fields |= {"abstraction_level": 2, "confidence_score": rng.choice((0.8, 0.9)), "pattern_type": "workflow"}
        at = datetime.combine(days[0], time(), UTC) + timedelta(minutes=rng.randrange((len(days) - 2) * 24 * 60))
        notes.append(candidate(text, at, native_id=f"m{number:03}", **fields))
    return notes


@pytest.fixture(scope="module", autouse=True)
def _few_entries_are_enough() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge_base, "LEAST_ENTRIES", 2)
        yield


def values_of(store: Store) -> Settings:
    return settings_for(store, embedding__model="minilm")


def week_of(store: Store, key: str) -> None:
    night = night_of(store, date.fromisoformat(key) + timedelta(days=6), values_of(store), run_id=f"week-{key}")
    with rules_are_found():
        run_week(night)
    store.release_lease(night.options.run_id)


def month_of(store: Store, key: str) -> None:
    last = (date.fromisoformat(key) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    compress_knowledge_base(knowledge_base_night(store, values_of(store), f"month-{key}", day=last))


MADE_BY = {WEEKLY: week_of, MONTHLY: month_of}


def live(notes: list[Candidate], days: Sequence[date] = DAYS) -> tuple[str, tuple[int, ...]]:
    """Every day as it comes, with every schedule and sensor on; the hash, and how much of each kind was made."""
    with temporary_store() as store:
        values = values_of(store)
        for today in (day + timedelta(days=1) for day in days):
            midnight = datetime.combine(today, time(), UTC)
            fill(store, [n for n in notes if n.created_at and n.created_at < midnight], embedder=Remembering())
            asleep = date.fromisoformat(scheduled_day(midnight))
            if midnight.isoweekday() == 7 and (key := newest_period(WEEKLY, asleep, midnight)):
                week_of(store, key)
            if midnight.day == 1 and (key := newest_period(MONTHLY, asleep, midnight)):
                month_of(store, key)
            job = night_of(store, asleep, values, run_id=f"job-{today}", whole_weeks=True)  # 02:00
            for phase in PHASES:
                run_phase(job, phase)
            store.release_lease(job.options.run_id)
            yesterday = today - timedelta(days=1)
            early = night_of(store, yesterday, values, run_id=f"early-{today}")  # 03:00
            archive_duplicates(early)
            store.release_lease(early.options.run_id)
            run(store, yesterday, values)  # 03:30
            for partitions, key in periods_ending_with(yesterday).items():
                MADE_BY[partitions](store, key)
        return whole_hash(store), made_in(store)


def backfilled(notes: list[Candidate], days: Sequence[date] = DAYS, *, nights_first: bool) -> str:
    """All notes first, then the days in order, with what is due by the week and the month in its place or last."""
    with temporary_store() as store:
        fill(store, notes, embedder=Remembering())
        due: list[tuple[Any, str]] = []
        for day in days:
            run(store, day, values_of(store))
            due += periods_ending_with(day).items()
            while due and not nights_first:
                partitions, key = due.pop(0)
                MADE_BY[partitions](store, key)
        for partitions, key in due:
            MADE_BY[partitions](store, key)
        return whole_hash(store)


def made_in(store: Store) -> tuple[int, ...]:
    """How many merged memories, canonical entries, patterns and principles there are, and entries of the playbook."""
    with store.reading() as tx:
        made = [m for m in tx.memories.all() if m.source.connector == "night"]
        assert tx.integrity.check(deep=True) == []
        levels = [m.abstraction_level for m in made]
        canonical = sum(m.is_canonical for m in made)
        return levels.count(1) - canonical, canonical, levels.count(2), levels.count(3), len(tx.playbook.read())


@pytest.mark.slow
def test_days_with_all_schedules_on_equal_a_backfill() -> None:
    notes = history(random.Random(7), 24, DAYS[1:4])
    left, made = live(notes, DAYS[1:4])
    assert made[3] >= 1 and made[4] >= 2, made
    assert backfilled(notes, DAYS[1:4], nights_first=True) == left


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(10, 60))
@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_many_days_with_all_schedules_on_equal_a_backfill(seed: int, size: int) -> None:
    notes = history(random.Random(seed), size)
    left, _ = live(notes)
    assert backfilled(notes, nights_first=False) == left
    assert backfilled(notes, nights_first=True) == left
