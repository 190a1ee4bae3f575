"""A night that ended between two of its steps and runs again gives the store of a night that was not interrupted."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.consolidation.run import run_steps
from memory_pipeline.recall.past import read_state
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, night_of, run

DAY = date(2026, 3, 3)
BACKUP = (
    "The nightly backup of the photo archive starts at two and copies every new album to the shelf. It pauses while "
    "somebody watches a film, because the disk is loud. A lamp beside the door turns green when the copy is whole. Old "
    "albums are left alone unless their names change. "
)


def filled(store: Store) -> None:
    """Three near-copies of which the first and the last are too far apart to be one; what the first two become is near
    enough to the third again, which makes a pattern. And a lesson."""
    words = (f"{BACKUP}Grandmother prefers prints.", BACKUP.strip(), f"{BACKUP}Visitors borrow cables.")
    notes = [candidate(text, FIRST + timedelta(hours=n), native_id=f"note-{n}") for n, text in enumerate(words)]
    fill(store, [*notes, *lesson(5)])


@pytest.mark.parametrize(
    "last",
    [
        "merges",
        *(pytest.param(step, marks=pytest.mark.slow) for step in ("canonical_entries", "distillations", "archives")),
    ],
)
def test_a_night_that_ended_after_a_step_is_completed_to_the_same_store(store: Store, last: str) -> None:
    filled(store)
    twin = Store(store.path.with_name("twin.duckdb"))
    filled(twin)
    assert run(twin, DAY).clusters_compressed == 3
    night = night_of(store, DAY, run_id="interrupted")
    with night.store.kept_open():
        for values in run_steps(night):
            if last in values:
                break
    store.release_lease("interrupted")
    run(store, DAY, run_id="again")
    with store.reading() as tx, twin.reading() as other:
        assert tx.integrity.check(deep=True) == []
        assert tx.contents.digest(active_only=True) == other.contents.digest(active_only=True)
    here, there = (read_state(each, f"night:{DAY}") for each in (store, twin))
    assert {m.id for m in here.memories} == {m.id for m in there.memories}
