"""A dry run is a run on a copy of the store: it says what a night would do, and leaves no trace."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.consolidation.atoms import grow_atoms
from memory_pipeline.consolidation.playbook import update_playbook
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.errors import StoreError
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, night_of, run, settings_for

DAY = date(2026, 3, 4)


def test_a_dry_run_foretells_the_night_figure_by_figure(store: Store) -> None:
    fill(store, [*lesson(4), *lesson(3, topic="printer")])
    foretold = run(store, DAY, dry_run=True, run_id="preview")
    done = run(store, DAY, run_id="night")
    same = (
        "clusters_compressed", "memories_archived", "tokens_before", "tokens_after", "facts_found", "facts_kept",
        "active_memories", "playbook_created", "recall_found", "recall_sampled", "verdict",
    )  # fmt: skip
    assert {name: getattr(foretold, name) for name in same} == {name: getattr(done, name) for name in same}
    assert done.clusters_compressed == 2 and (foretold.dry_run, done.dry_run) == (True, False)


def test_a_dry_run_leaves_nothing_but_its_report(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scratch = tmp_path / "temporary"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    fill(store, lesson(4))
    store.settle()
    files = {path: path.read_bytes() for path in store.path.parent.rglob("*") if path.is_file()}
    run(store, DAY, dry_run=True)
    new = {path.relative_to(store.path.parent) for path in store.path.parent.rglob("*") if path.is_file()}
    assert {path: path.read_bytes() for path in files} == files
    assert {path.parts[0] for path in new - {path.relative_to(store.path.parent) for path in files}} == {"reports"}
    assert list(scratch.iterdir()) == []


def test_a_dry_run_does_not_wait_for_a_night(store: Store) -> None:
    fill(store, lesson(4))
    store.take_lease("a-night", "somebody else")
    assert run(store, DAY, dry_run=True).clusters_compressed == 1
    with store.reading() as tx:
        assert tx.lease.run() == "a-night"


@pytest.mark.parametrize("step", [update_playbook, grow_atoms])
def test_a_step_of_a_dry_run_cannot_write_into_the_store_itself(store: Store, step: object) -> None:
    fill(store, lesson(4))
    before = store.path.read_bytes()
    with pytest.raises(RuntimeError, match="dry run"):
        step(night_of(store, DAY, dry_run=True))  # type: ignore[operator]
    assert store.path.read_bytes() == before


def test_what_the_log_holds_counts_in_a_dry_run_too(store: Store) -> None:
    fill(store, lesson(4))  # left in the log: nothing has settled the store
    assert run(store, DAY, dry_run=True).clusters_compressed == 1
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


def test_there_is_no_dry_run_without_a_store(tmp_path: Path) -> None:
    path = tmp_path / "none.duckdb"
    with pytest.raises(StoreError, match="there is no store"):
        run_night(night_of(Store(path), DAY, settings_for(path), dry_run=True))
    assert not path.exists()
