"""Series that an earlier version of the program wrote, in other words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import LineageLink, LogRow, Source, fingerprint_of
from memory_pipeline.store import Store
from memory_pipeline.store.memories import Replacement
from memory_pipeline.text.normalise import content_hash, line_shape, shape_hash
from memory_pipeline_tests.build import fill, run, settings_for
from memory_pipeline_tests.consolidation.test_series import active, active_hash, lines, problems, series_in

TEXT = "Oven check: top {} C, bottom {} C"
HEATS = [(180, 170), (185, 171), (179, 168), (190, 172), (183, 169)]
MAIN = "Oven check on 5 March 2026: top 183 C (usually 179 to 190); 5 readings since 1 March, 08:30."


@pytest.fixture
def earlier(store: Store) -> tuple[Store, str]:
    """A store with a series of the form before, and its id."""
    readings = lines(TEXT, *HEATS)
    fill(store, readings)
    at = datetime(2026, 3, 8, tzinfo=UTC)
    with store.writing("night", run_id="earlier") as tx:
        raw = sorted(tx.memories.all(), key=lambda memory: memory.id)
        ids = [memory.id for memory in raw]
        facts = {
            "shapes": [line_shape(raw[0].content)],
            "words": "series-19",
            "readings": 5,
            "seen": 5,
            "breaking_ids": [],
        }
        tokens = sum(memory.token_count for memory in raw)
        made_from = {"source_ids": ids, "series": facts, "cluster_size": 5, "distilled_at": at.isoformat()}
        main = replace(
            raw[-1],
            id="main",
            content=MAIN,
            content_hash=content_hash(MAIN),
            shape_hash=shape_hash(MAIN),
            token_count=20,
            created_at=at,
            source=Source("night", "series"),
            abstraction_level=1,
            compressed_from=json.dumps(made_from),
        )
        tx.memories.add([main])
        tx.vectors.add(["main"], Lexical().embed([MAIN]), Lexical().name)
        tx.memories.archive([Replacement(i, "cluster", "main") for i in ids], archived_at=at, critical_floor=2.5)
        tx.lineage.add([LineageLink("main", i, "series", 1.0) for i in ids])
        ratio = round(tokens / 20, 4)
        tx.journal.log(
            [LogRow("log", fingerprint_of(ids), "series", "main", "compressed", None, 5, ratio, "earlier", at)]
        )
    return store, "main"


def test_such_a_store_is_sound(earlier: tuple[Store, str]) -> None:
    store, _ = earlier
    assert active(store) == {MAIN} and problems(store) == []


def test_the_next_night_puts_one_in_its_place_and_can_be_undone(earlier: tuple[Store, str]) -> None:
    store, series_id = earlier
    before = active_hash(store)
    run(store, date(2026, 3, 8), run_id="next")
    (series,) = series_in(store)
    assert active(store) == {series.content} and series.content.startswith(
        "Oven check: top 183 C, bottom 169 C (5 March"
    )
    with store.reading() as tx:
        assert tx.memories.read([series_id])[series_id].consolidated_into_id == series.id
    assert run(store, date(2026, 3, 9), run_id="once more").clusters_compressed == 0
    roll_back(store, settings_for(store), RollbackScope(run_id="next"))
    assert active_hash(store) == before


def test_readings_that_come_later_belong_to_the_new_memory(earlier: tuple[Store, str]) -> None:
    store, _ = earlier
    fill(store, lines(TEXT, (181, 170), start=8))
    run(store, date(2026, 3, 12), run_id="next")
    (series,) = series_in(store)
    assert "the newest of 6 readings since 1 March" in series.content
