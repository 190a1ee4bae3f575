"""Which memories a night leaves alone because they are recent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, run

SAVED = datetime(2026, 3, 6, 14, tzinfo=UTC)


def copies_left(store: Store, beginning: str) -> int:
    with store.reading() as tx:
        return sum(memory.content.startswith(beginning) for memory in tx.memories.all(include_archived=False))


@pytest.mark.parametrize(("quality", "left"), [("mtime", 1), ("exact", 2), ("import", 2)])
def test_what_its_file_alone_dates_is_not_fresh_because_somebody_saved_the_file(
    store: Store, quality: str, left: int
) -> None:
    notes = [candidate("La clé est chez Dana.", SAVED, native_id=f"n{n}", created_at_quality=quality) for n in range(2)]
    fill(store, [*notes, *(candidate(f"Note {n} ist alt.", native_id=f"old{n}") for n in range(12))])
    run(store, date(2026, 3, 5))
    assert copies_left(store, "La clé") == left


def test_a_night_long_before_its_file_was_saved_leaves_it(store: Store) -> None:
    note = candidate("鑰匙在 Dana 那裡。", SAVED, native_id="a", created_at_quality="mtime")
    fill(store, [note, replace(note, native_id="b"), *(candidate(f"Note {n}.", native_id=f"o{n}") for n in range(12))])
    run(store, date(2026, 3, 4))
    assert copies_left(store, "鑰匙") == 2
