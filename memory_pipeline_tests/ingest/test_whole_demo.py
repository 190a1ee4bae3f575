"""The demo after nights, edits, a review and a rollback is exported and comes back as the same store."""

from __future__ import annotations

import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation import contradictions
from memory_pipeline.consolidation.review.conflicts import Decision, list_conflicts, resolve_conflict
from memory_pipeline.consolidation.review.decisions import approve_proposals, find_proposals, reject_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.demo.generate import LAST_DAY, ZONES
from memory_pipeline.demo.workspace import demo_directory
from memory_pipeline.ingest.candidates import ImportSummary
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.atoms import state_atom
from memory_pipeline.records import Causal
from memory_pipeline.store import Store, Transaction
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.ingest.bring import bring

pytestmark = pytest.mark.slow
NOW = datetime(2026, 4, 20, tzinfo=UTC)


def touched(file: Path, day: datetime) -> None:
    os.utime(file, (day.timestamp(), day.timestamp()))


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Settings]:
    """A store that has read two workspaces of the demo over some nights, with all that people do to it."""
    home = tmp_path_factory.mktemp("lived")
    store = Store(home / "store.duckdb")
    plain = settings_for(store)
    demo = demo_directory(plain)
    reviewed, own, *_ = ZONES
    sources = []
    for project in (reviewed, own):
        root = Path(shutil.copytree(demo / project, home / project))
        for file in root.rglob("*.md"):
            touched(file, datetime.combine(LAST_DAY - timedelta(days=40), datetime.min.time(), UTC))
        sources.append(SourceTable(name=project, path=str(root), project=project, timezone=ZONES[project]))
    settings = settings_for(store, sources=tuple(sources), compression__review_projects=(reviewed,))
    (home / "bad.jsonl").write_text('{"content": "one"}\n{"content": \n{"content": "two", "importance": 99}\n')
    bring(store, home / "bad.jsonl", now=NOW, project="rows")
    first, second = LAST_DAY - timedelta(days=3), LAST_DAY - timedelta(days=2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contradictions, "looks_for_contradictions", lambda night: True)
        run(store, first, settings)
    decided = [proposal.id for proposal in find_proposals(store, [])]
    approve_proposals(store, settings, decided[:1], "dana")
    reject_proposals(store, decided[-1:], "dana", "keep them")
    run(store, second, settings)
    roll_back(store, settings, RollbackScope(run_id=f"run-{second}"), cascade=True)
    log = sorted((home / own / "memory").glob("*.md"))[0]
    text = log.read_text()
    log.write_text(re.sub(r"(?m)^(- .*)\.$", r"\1, as somebody added.", text, count=1))
    assert log.read_text() != text
    touched(log, datetime.combine(second, datetime.min.time(), UTC) + timedelta(hours=30))
    run(store, LAST_DAY - timedelta(days=1), settings)
    if conflicts := list_conflicts(store, each=True):
        resolve_conflict(store, settings, conflicts[0].id, Decision("newer", "dana", note="moved"))
    state_atom(store, Lexical(), own, Causal("build cache", "is cold", "the deploy takes long"), "dana", NOW)
    store.settle()
    return store.path, settings


def everything(tx: Transaction) -> dict[str, object]:
    """The rows of every exported table, the memories, and the log but for what made the vectors and the import."""
    names = [name for name in tx.transfer.tables() if name != "audit_log"]
    rows: dict[str, object] = {name: list(tx.transfer.rows(name)) for name in names}
    log = tx.transfer.rows("audit_log")
    rows["audit_log"] = [row for row in log if row["table_name"] not in ("embeddings", "store")]
    rows["memories"] = sorted(tx.memories.all(include_rolled_back=True), key=lambda memory: memory.id)
    return rows


def copied(original: Store, name: str, copy: Store) -> ImportSummary:
    """Export everything, and import it into a new store."""
    file = copy.path.with_suffix(f".{name}")
    export_memories(original, name, file, everything=True)
    return bring(copy, file, name, NOW)


@pytest.fixture
def original(lived: tuple[Path, Settings], tmp_path: Path) -> Store:
    return Store(Path(shutil.copyfile(lived[0], tmp_path / "original.duckdb")))


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
def test_the_demo_after_all_that_people_do_comes_back_whole(
    lived: tuple[Path, Settings], original: Store, tmp_path: Path, name: str
) -> None:
    copy, third = Store(tmp_path / "copy.duckdb"), Store(tmp_path / "third.duckdb")
    summary = copied(original, name, copy)
    assert (summary.quarantined, summary.notes) == (0, ["The store was empty and now equals the exported one."])
    with original.reading() as one, copy.reading() as other:
        assert other.integrity.check(deep=True) == []
        assert one.transfer.digest() == other.transfer.digest()
        assert one.contents.digest(with_log=True) == other.contents.digest(with_log=True)
        known = everything(one)
        assert known == everything(other)
        assert one.sources.gone() == other.sources.gone() != []
        assert one.series.active() == other.series.active() != []
        held = {table for table, rows in known.items() if rows}
        assert held >= {
            "memories", "conflicts", "compression_log", "atoms", "playbook_entries", "proposals", "rollbacks",
            "night_reports", "quarantine", "source_entries", "source_readings", "audit_log",
        }  # fmt: skip
    copied(copy, name, third)
    with original.reading() as one, third.reading() as other:
        assert one.transfer.digest() == other.transfer.digest()


def test_the_next_night_of_the_copy_is_that_of_the_original(
    lived: tuple[Path, Settings], original: Store, tmp_path: Path
) -> None:
    """Also the vectors of merged memories and series are the same, which are no vectors of their words."""
    copy = Store(tmp_path / "copy.duckdb")
    copied(original, "jsonl", copy)
    digests, vectors = [], []
    for store in (original, copy):
        with store.reading() as tx:
            ids = [memory.id for memory in tx.memories.all()]
            vectors.append(tx.vectors.read(ids, Lexical().name, Lexical().dimension))
        run(store, LAST_DAY, lived[1].with_values({"store.path": str(store.path)}))
        with store.reading() as tx:
            digests.append(tx.contents.digest())
            assert tx.integrity.check(deep=True) == []
    assert vectors[0][0] == vectors[1][0]
    np.testing.assert_allclose(vectors[0][1], vectors[1][1], atol=1e-6)
    assert digests[0] == digests[1]
