"""A real agent's workspace, where `MEMORY_PIPELINE_SHARED_DATA` names a directory that holds one.

Nothing of it is in this repository; without the variable these tests are left out.
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.ingest.markdown import parse_note
from memory_pipeline.ingest.openclaw_files import blank_managed, text_of
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run

WORKSPACE = Path(os.environ.get("MEMORY_PIPELINE_SHARED_DATA", "")) / "openclaw_workspace"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WORKSPACE.is_dir(), reason="MEMORY_PIPELINE_SHARED_DATA names no workspace"),
]
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_no_line_of_the_workspace_is_lost() -> None:
    for path in sorted(WORKSPACE.rglob("*.md")):
        skipped = Skipped()
        note = parse_note(blank_managed(text_of(path, skipped), skipped))
        covered = {n for e in note.entries for n in range(e.first_line, e.last_line + 1)} | set(note.structure)
        lines = path.read_text(encoding="utf-8").split("\n")
        lost = [n for n, line in enumerate(lines, start=1) if line.strip() and n not in covered]
        assert len(lost) == sum(skipped.counts.values()), (path.name, lost[:5])


def test_its_nights_lose_nothing_and_change_nothing_when_they_are_run_again(store: Store) -> None:
    """The same night at once: nothing changes, the log included. The same days after all of them: an earlier day then
    works on what later ones have left, and may log what it decides about that; no memory changes."""
    settings = Settings().with_values({"store.path": str(store.path)})
    reading = read_format("openclaw", WORKSPACE, UTC, NOW, settings, Skipped())
    summary = import_memories(store, reading, project="agent", embedder=MiniLM(), now=NOW)
    assert summary.imported == summary.read > 1500 and not summary.quarantined
    with store.reading() as tx:
        sources = tx.contents.sources_fingerprint()
    days = [date(2026, 2, 18) + timedelta(days=n) for n in range(46)]
    reports = []
    for number, day in enumerate(days):
        reports.append(run(store, day, settings))
        if number % 5 == 0:
            with store.reading() as tx:
                left = tx.contents.digest(with_log=True)
            run(store, day, settings, run_id=f"at-once-{day}")
            with store.reading() as tx:
                assert tx.contents.digest(with_log=True) == left, day
    assert sum(report.clusters_compressed for report in reports) >= 40
    with store.reading() as tx:
        assert tx.contents.sources_fingerprint() == sources and tx.integrity.check() == []
        once = tx.contents.digest()
        assert all(memory.content for memory in tx.memories.all())
    for day in days:
        run(store, day, settings, run_id=f"again-{day}")
    with store.reading() as tx:
        assert tx.contents.digest() == once and tx.integrity.check(deep=True) == []
