"""Law 3, of files: what a night leaves does not follow the order in which a file lists its rows."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.laws.test_night_laws import DETAILS, TOPICS, temporary_store

NIGHTS = [date(2026, 3, 2) + timedelta(days=n) for n in range(2)]
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
Row = dict[str, Any]


def left_by_nights(store: Store, rows: list[Row]) -> list[tuple[object, ...]]:
    """What is active after two nights over a file with these rows in this order; an id that a row has of its place is
    left out."""
    path = store.path.with_name("rows.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    values = settings_for(store)
    reading = read_format("jsonl", path, UTC, datetime(2026, 6, 1, tzinfo=UTC), values, Skipped())
    import_memories(store, reading, project="p", embedder=Lexical(), now=datetime(2026, 6, 1, tzinfo=UTC))
    for day in NIGHTS:
        run(store, day, values)
    with store.reading() as tx:
        active = tx.memories.all(include_archived=False)
    named = {row["id"] for row in rows if "id" in row}
    return sorted(
        (m.id if m.id in named else "", m.content, m.importance, m.categories, m.memory_type, str(m.created_at))
        for m in active
    )


@st.composite
def files(draw: st.DrawFn) -> list[Row]:
    """Rows of few moments, so that many copies are of one time; some with ids, some without."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    rows: list[Row] = []
    for number in range(draw(st.integers(3, 18))):
        text = rng.choice(TOPICS) + rng.choice(DETAILS)
        row: Row = {
            "content": rng.choice((text, text.upper(), f"**{text}**")),
            "created_at": (START + timedelta(hours=rng.randint(0, 1))).isoformat(),
            "importance": rng.choice((1.0, 1.0, 2.0)),
            "categories": [rng.choice(("deploy", "backup"))],
        }
        if rng.random() < 0.6:
            row["id"] = f"m{number:02}"
        rows.append(row)
    return rows


def follows_no_order(rows: list[Row], rng: random.Random) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)
    with temporary_store() as one, temporary_store() as other:
        assert left_by_nights(one, rows) == left_by_nights(other, shuffled)


@pytest.mark.slow
@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_file_with_its_rows_in_another_order_leaves_the_same_memories(rows: list[Row], rng: random.Random) -> None:
    follows_no_order(rows, rng)


@pytest.mark.slow
@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_many_files_with_their_rows_in_another_order_leave_the_same_memories(
    rows: list[Row], rng: random.Random
) -> None:
    follows_no_order(rows, rng)


@pytest.mark.slow
def test_of_two_copies_of_one_time_the_same_one_stays_wherever_it_stands(tmp_path: Path) -> None:
    rows = [
        {"id": name, "content": text, "created_at": START.isoformat()}
        for name, text in (
            ("b", "Feed labels with their shiny side up."),
            ("a", "FEED labels with their shiny side up."),
        )
    ]
    left = [
        left_by_nights(Store(tmp_path / f"{number}.duckdb"), order) for number, order in enumerate((rows, rows[::-1]))
    ]
    assert left[0] == left[1]
    assert len(left[0]) == 1
