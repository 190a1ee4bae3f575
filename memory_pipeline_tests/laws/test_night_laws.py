"""The laws of a night, as properties over small random histories."""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import MADE
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, run, settings_for

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = [date(2026, 3, 1) + timedelta(days=n) for n in range(5)]
SLOW = settings(max_examples=1, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

TOPICS = (
    "Restart the payment gateway after rotating its API key, otherwise the gateway keeps using the old key",
    "The nightly backup to the storage box fails silently when its disk is more than ninety percent full",
    "Resize the product images before the upload because the content network refuses files that are too large",
)
DETAILS = (
    "", " The limit is 8 MB.", " It took 15 minutes.", " Dana saw it too.", " The log is in /var/log/x.log.",
    " It does not happen on staging.", " Version 2.4.1 is affected.",
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> list[Candidate]:
    """Memories of four days in two projects: near-copies, the same in another order, entries of a knowledge base,
    exact copies, contradictions, critical ones, and lines that machinery writes again and again."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    notes: list[Candidate] = []
    for number in range(draw(st.integers(6, 26))):
        topic, detail = rng.choice(TOPICS), rng.choice(DETAILS)
        text = f"{detail.strip()} {topic}." if detail and rng.random() < 0.3 else f"{topic}.{detail}"
        if rng.random() < 0.1:
            text = text.replace("after", "before").replace("more", "less")
        if rng.random() < 0.15 and notes:
            text = rng.choice(notes).content.upper()
        if rng.random() < 0.15:
            text = f"Title: {topic[:20]}\nRecommendation: {topic}.\nExamples:\n- S-{number}: {detail or 'once'}"
        if rng.random() < 0.4:
            text = _line_of_machinery(rng)
        notes.append(
            candidate(
                text,
                START + timedelta(hours=rng.randint(0, 24 * 4 - 1), minutes=number),
                native_id=f"m{number:03}",
                project_id=rng.choice(("a", "b")),
                importance=2.9 if rng.random() < 0.1 else 1.0,
                pinned=rng.random() < 0.05,
                categories=(rng.choice(("deploy", "backup")),),
            )
        )
    return notes


def _line_of_machinery(rng: random.Random) -> str:
    """A line of one of three templates: a figure, an id, or a figure and a word."""
    figure = rng.choice((rng.randint(20, 40), rng.randint(20, 40), 900))
    return rng.choice(
        (
            f"**nightly**: HOOK: check of all collections complete in {figure}.{rng.randint(0, 9)}s",
            f"**nightly**: HOOK: outcome recorded as run_2026030{rng.randint(1, 5)}_{rng.randint(1000, 9999)}",
            f"**nightly**: HOOK: files={figure}, task={rng.choice(('success', 'success', 'failed', 'lost'))}",
        )
    )


@contextmanager
def temporary_store() -> Iterator[Store]:
    """A store that hypothesis may use many times in one test."""
    with tempfile.TemporaryDirectory() as directory:
        yield Store(Path(directory) / "store.duckdb")


def whole_hash(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(with_log=True)


def backfilled(notes: list[Candidate], block_size: int = 2048) -> str:
    """The store's hash when everything is imported first and the nights are run in order."""
    with temporary_store() as store:
        fill(store, notes)
        for day in DAYS:
            run(store, day, settings_for(store, compression__block_size=block_size))
        return whole_hash(store)


@given(histories())
@SLOW
def test_nothing_is_lost_and_no_source_changes(notes: list[Candidate]) -> None:
    """Law 1, and law 8: every memory is still there, its words untouched, and no link leaves its project."""
    with temporary_store() as store:
        fill(store, notes)
        with store.reading() as tx:
            before = {m.id: (m.content, m.categories, m.created_at) for m in tx.memories.all()}
            fingerprint = tx.contents.sources_fingerprint()
        for day in DAYS:
            run(store, day)
        with store.reading() as tx:
            after = tx.memories.all()
            by_id = {m.id: m for m in after}
            assert tx.contents.sources_fingerprint() == fingerprint
            assert {i: (by_id[i].content, by_id[i].categories, by_id[i].created_at) for i in before} == before
            for link in tx.lineage.of(by_id):
                assert by_id[link.memory_id].project_id == by_id[link.source_id].project_id
            assert tx.integrity.check() == []
        for m in after:
            if m.archived_at is not None:
                assert (m.importance_before or 0) < 2.5 and not m.pinned
                assert m.consolidated_into_id in by_id


@pytest.mark.slow
@given(histories())
@SLOW
def test_running_a_night_twice_changes_nothing_the_second_time(notes: list[Candidate]) -> None:
    """Same input, same night: twice is once."""
    with temporary_store() as store:
        fill(store, notes)
        for day in DAYS:
            run(store, day, run_id=f"first-{day}")
            once = whole_hash(store)
            run(store, day, run_id=f"second-{day}")
            assert whole_hash(store) == once
        for day in DAYS:
            run(store, day, run_id=f"third-{day}")
        assert whole_hash(store) == once


@given(histories(), st.randoms(use_true_random=False), st.integers(16, 64))
@SLOW
def test_live_nights_equal_one_backfill_in_any_row_order_and_block_size(
    notes: list[Candidate], rng: random.Random, block_size: int
) -> None:
    """Laws 3 and 4: the same store whether days come one by one or all at once, shuffled."""
    with temporary_store() as store:
        for day in DAYS:
            end = datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
            fill(store, [note for note in notes if note.created_at is not None and note.created_at < end])
            run(store, day)
        live = whole_hash(store)
    shuffled = list(notes)
    rng.shuffle(shuffled)
    assert backfilled(shuffled, block_size) == live


@pytest.mark.slow
@given(histories(), st.permutations(range(len(DAYS))))
@SLOW
def test_nights_in_any_order_leave_a_sound_store(notes: list[Candidate], order: list[int]) -> None:
    """Law 4: a night never touches what another night has archived."""
    with temporary_store() as store:
        fill(store, notes)
        for place in order:
            with store.reading() as tx:
                archived = {m.id: (m.archived_by, m.archived_at) for m in tx.memories.all() if m.archived_at}
            run(store, DAYS[place], run_id=f"r{place}")
            with store.reading() as tx:
                now = {m.id: (m.archived_by, m.archived_at) for m in tx.memories.all()}
                assert {i: now[i] for i in archived} == archived
                assert tx.integrity.check() == []


@given(histories())
@SLOW
def test_a_dry_run_leaves_the_store_byte_for_byte_the_same(notes: list[Candidate]) -> None:
    """Law 6, and the dry run foretells the real night."""
    with temporary_store() as store:
        fill(store, notes)
        digest = hashlib.sha256(store.path.read_bytes()).hexdigest()
        foretold = run(store, DAYS[-1], dry_run=True)
        assert hashlib.sha256(store.path.read_bytes()).hexdigest() == digest
        real = run(store, DAYS[-1])
        assert foretold.clusters_compressed == real.clusters_compressed
        assert foretold.memories_archived == real.memories_archived
        assert foretold.tokens_after == real.tokens_after


@pytest.mark.slow
@given(histories())
@SLOW
def test_what_is_archived_can_still_be_found(notes: list[Candidate]) -> None:
    """Law 7: itself, or what stands for it, among the first ten."""
    with temporary_store() as store:
        fill(store, notes)
        for day in DAYS:
            report = run(store, day)
            assert report.recall_found == report.recall_sampled


@pytest.mark.slow
@given(histories())
@SLOW
def test_reported_figures_are_those_of_the_rows(notes: list[Candidate]) -> None:
    """Law 9: the report's counts and tokens can be recomputed from the store."""
    with temporary_store() as store:
        fill(store, notes)
        for day in DAYS:
            report = run(store, day)
            as_of = datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
            with store.reading() as tx:
                memories = tx.memories.all()
            active = [m for m in memories if m.archived_at is None]
            assert report.tokens_after == sum(m.token_count for m in active)
            assert report.memories_archived == sum(m.archived_at == as_of for m in memories)
            assert report.abstractions_created == sum(
                m.source.connector == MADE and m.created_at == as_of for m in memories
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "given_to_it"),
    [
        (test_nothing_is_lost_and_no_source_changes, [histories()]),
        (test_running_a_night_twice_changes_nothing_the_second_time, [histories()]),
        (
            test_live_nights_equal_one_backfill_in_any_row_order_and_block_size,
            [histories(), st.randoms(use_true_random=False), st.integers(16, 64)],
        ),
        (test_nights_in_any_order_leave_a_sound_store, [histories(), st.permutations(range(len(DAYS)))]),
        (test_a_dry_run_leaves_the_store_byte_for_byte_the_same, [histories()]),
        (test_what_is_archived_can_still_be_found, [histories()]),
        (test_reported_figures_are_those_of_the_rows, [histories()]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_laws_hold_in_many_more_histories(law: Any, given_to_it: list[Any]) -> None:
    """Each law above once more, with other histories than the default run's, the same in every run."""

    @given(st.tuples(*given_to_it))
    @settings(SLOW, max_examples=6, derandomize=True)
    def again(arguments: tuple[Any, ...]) -> None:
        law.hypothesis.inner_test(*arguments)

    again()
