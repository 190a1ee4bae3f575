"""The exception of the first law: what a person has forgotten is gone from every byte, and nothing else has changed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.forgetting.forget import Selection, forget, preview
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import MADE
from memory_pipeline.store import Store, create_snapshot
from memory_pipeline_tests.build import candidate, fill, run, settings_for
from memory_pipeline_tests.forgetting.searching import files_with
from memory_pipeline_tests.laws.test_night_laws import DAYS, SLOW, START, histories, whole_hash


@pytest.mark.slow
@given(histories(), st.data())
@SLOW
def test_what_is_forgotten_is_nowhere_and_nothing_else_changes(notes: list[Candidate], data: st.DataObject) -> None:
    """A note that says more than its near-copies is forgotten after nights; the next one runs as ever."""
    number = data.draw(st.integers(0, len(notes) - 1))
    marked = candidate(
        f"{notes[number].content} Quokkaville-{number}.",
        notes[number].created_at or START,
        native_id="marked",
        project_id=notes[number].project_id,
    )
    with TemporaryDirectory() as directory:
        store = Store(Path(directory) / "data" / "store.duckdb")
        fill(store, [*notes, marked])
        for day in DAYS:
            run(store, day, snapshot=True)
            create_snapshot(store, "night", START + timedelta(days=day.day), 2)
        settings, selection = settings_for(store), Selection(("marked",))
        with store.reading() as tx:
            before = {m.id: m for m in tx.memories.all(include_rolled_back=True)}
        shown = preview(store, settings, selection)
        done = forget(store, settings, selection, code=shown.code, actor="pia")

        assert done.left == () and files_with(store.path.parent, "quokkaville") == []
        with store.reading() as tx:
            assert tx.integrity.check(deep=True) == []
            after = {m.id: m for m in tx.memories.all(include_rolled_back=True)}
        gone = {memory.id for memory in shown.memories}
        assert after.keys() == (before.keys() - gone) | set(done.memories) and len(done.memories) == shown.going
        project = marked.project_id
        for memory_id in before.keys() - gone:
            one, other = before[memory_id], after[memory_id]
            assert (one.content, one.categories, one.created_at) == (other.content, other.categories, other.created_at)
            assert one == other or (
                one.project_id == project and (memory_id in shown.active_again or one.source.connector == MADE)
            )

        run(store, DAYS[-1] + timedelta(days=1), snapshot=True)
        settled = whole_hash(store)
        run(store, DAYS[-1] + timedelta(days=1), run_id="again", snapshot=True)
        assert whole_hash(store) == settled
        assert files_with(store.path.parent, "quokkaville") == []
        with store.reading() as tx:
            assert tx.integrity.check(deep=True) == []
