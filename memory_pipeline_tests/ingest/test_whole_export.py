"""An export of everything comes back: as the same store where there was none, beside what is there where there was."""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memory_pipeline.consolidation import contradictions
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.playbook import update_playbook
from memory_pipeline.consolidation.principles import form_principles
from memory_pipeline.consolidation.review.conflicts import Decision, list_conflicts, resolve_conflict
from memory_pipeline.consolidation.review.decisions import find_proposals, reject_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import ImportSummary
from memory_pipeline.ingest.exporting import export_memories, json_line
from memory_pipeline.store import RECORD_NAMES, Store
from memory_pipeline.store.contents import LEFT_BEHIND
from memory_pipeline_tests.build import (
    FIRST,
    candidate,
    draft_with_cause,
    fill,
    lesson,
    memory,
    night_of,
    rules_are_found,
    run,
    settings_for,
    slowly,
    sql_rows,
)
from memory_pipeline_tests.ingest.bring import bring as bring_format
from memory_pipeline_tests.ingest.bring import lines

DAY = date(2026, 3, 5)
#: An export of an earlier program, and the `store_hash` with its log of the store that it was made of.
EARLIER = Path(__file__).parent / "earlier_export.jsonl.xz"
EARLIER_HASH = "5a8960a3dc0391d57cb3da9d500a71f0306892327b1836831595d02e3bf08db2"
PORT = "The staging database of the webshop listens for connections on port {} behind the proxy."
CAUSE = "The nightly deploy of the webshop stalls in stage two because the build cache was cold. {}."
RESTART = "Restart the {} after changing its configuration file, because it reads the settings only once at the start."


def build(store: Store) -> None:
    """A store with a bit of everything that nights and persons leave."""
    details = ("Dana noticed first", "The pager stayed silent", "Nobody was on call", "The queue was full")
    fill(store, [*lesson(5), *(candidate(f"Copied {'  ' * n}words", native_id=f"copy-{n}") for n in range(2))])
    fill(store, [candidate(PORT.format(5430 + n), FIRST + timedelta(days=n), native_id=f"port-{n}") for n in range(2)])
    patterns = [
        candidate(RESTART.format(service), native_id=service, abstraction_level=2, confidence_score=0.9)
        for service in ("gateway", "printer service", "mail relay")
    ]
    causes = [candidate(CAUSE.format(detail), FIRST + timedelta(hours=n)) for n, detail in enumerate(details)]
    fill(store, [*patterns, *causes, *lesson(4, topic="scanner")])
    fill(store, lesson(4, topic="printer"), project="reviewed")
    settings = settings_for(store, compression__review_projects=("reviewed",))
    run(store, DAY, settings)
    (conflict,) = list_conflicts(store, each=True)
    resolve_conflict(store, settings, conflict.id[:8], Decision("newer", "dana", note="moved"))
    with rules_are_found():
        form_principles(night_of(store, DAY, settings, run_id="week"))
    update_playbook(night_of(store, DAY, settings, run_id="week"))
    store.release_lease("week")
    with store.reading() as tx:
        undone = next(one.consolidated_into_id for one in tx.memories.all() if one.id == "scanner-0")
    roll_back(store, settings, RollbackScope(abstraction=undone), cascade=True)
    reject_proposals(store, [str(find_proposals(store, [])[0].id)], "dana", "keep them")
    late = lesson(4, FIRST + timedelta(days=4), topic="printer")
    fill(store, [replace(one, native_id=f"late-{one.native_id}") for one in late])


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store with a bit of everything; copy it before writing."""
    store = Store(tmp_path_factory.mktemp("rich") / "rich.duckdb")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Extractive, "draft", draft_with_cause)
        patched.setattr(contradictions, "looks_for_contradictions", lambda night: True)
        build(store)
    store.settle()
    return store.path


@pytest.fixture
def original(rich: Path, tmp_path: Path) -> Store:
    """A store with a bit of everything."""
    return Store(Path(shutil.copyfile(rich, tmp_path / "original.duckdb")))


def bring(store: Store, path: Path, name: str = "jsonl") -> ImportSummary:
    return bring_format(store, path, name, datetime.now(UTC))


def exported(store: Store, name: str = "jsonl") -> Path:
    path = store.path.with_name(f"all.{name}")
    export_memories(store, name, path, everything=True)
    return path


def knowledge(store: Store) -> str:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.transfer.digest()


def log(store: Store) -> list[dict[str, Any]]:
    """The audit log without what made the vectors, and the import's own entry."""
    with store.reading() as tx:
        return [row for row in tx.transfer.rows("audit_log") if row["table_name"] not in ("embeddings", "store")]


@pytest.mark.parametrize("name", ["jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_an_empty_store_becomes_the_one_that_was_exported(original: Store, tmp_path: Path, name: str) -> None:
    copy = Store(tmp_path / "copy.duckdb")
    summary = bring(copy, exported(original, name), name)
    assert (summary.quarantined, summary.notes) == (0, ["The store was empty and now equals the exported one."])
    assert knowledge(copy) == knowledge(original) and log(copy) == log(original)
    with copy.reading() as tx:
        assert tx.atoms.read() and tx.playbook.read() and list(tx.transfer.rows("rollbacks"))
        assert summary.imported == summary.embedded == len(tx.memories.all(include_rolled_back=True))
    again = bring(copy, exported(original, name), name)
    assert again.imported == 0 and knowledge(copy) == knowledge(original)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "column"), [("memory", "content"), ("audit", "payload")])
def test_a_parquet_file_that_was_altered_is_no_whole_export(
    original: Store, tmp_path: Path, kind: str, column: str
) -> None:
    path = exported(original, "parquet")
    rows = pq.read_table(path).to_pylist()
    changed = next(row for row in rows if row["record"] == kind)
    changed[column] = changed[column].replace("words", "letters").replace("insert", "update")
    pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path)
    summary = bring(Store(tmp_path / "copy.duckdb"), path, "parquet")
    assert any("altered" in note for note in summary.notes)


@pytest.mark.parametrize(
    "odd",
    [{"updated_at": "0001-01-01T00:00:00+14:00"}, {"token_count": "9"},
     *slowly({"updated_at": 5}, {"updated_at": "soon"}, {"updated_at": [1]}, {"token_count": True})],
    ids=str,
)  # fmt: skip
def test_an_odd_value_in_a_whole_export_is_said_and_its_rows_are_read_one_by_one(
    original: Store, tmp_path: Path, odd: dict[str, Any]
) -> None:
    path = exported(original)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    next(line for line in lines if line["record"] == "memory").update(odd)
    data = b"".join(json_line(line) for line in lines[:-1])
    lines[-1]["sha256"] = hashlib.sha256(data).hexdigest()
    path.write_bytes(data + json_line(lines[-1]))
    copy = Store(tmp_path / "copy.duckdb")
    summary = bring(copy, path)
    assert "row by row" in summary.notes[0] and summary.imported == summary.read - summary.quarantined > 0
    knowledge(copy)


@pytest.mark.slow
def test_the_next_night_a_rollback_and_the_history_are_those_of_the_original(original: Store, tmp_path: Path) -> None:
    copy = Store(tmp_path / "copy.duckdb")
    bring(copy, exported(original))
    for store in (original, copy):
        report = run(store, DAY + timedelta(days=8), run_id="next")
        assert report.memories_archived > 0
    with original.reading() as one, copy.reading() as other:
        for memory_id in ("gateway-0", "port-0"):
            assert [(e.run_id, e.action, e.after) for e in one.history.of(memory_id)] == [
                (e.run_id, e.action, e.after) for e in other.history.of(memory_id)
            ]
    nights = [_but_for_clocks(store) for store in (original, copy)]
    assert nights[0] == nights[1]
    for store in (original, copy):
        roll_back(store, settings_for(store), RollbackScope(run_id=f"run-{DAY}"), cascade=True)
        knowledge(store)
    with original.reading() as one, copy.reading() as other:
        assert _states(one.memories.all()) == _states(other.memories.all())


def _but_for_clocks(store: Store) -> dict[str, list[Any]]:
    """Every carried row, without those that tell when by the wall clock a run wrote them."""
    knowledge(store)
    with store.reading() as tx:
        tables = set(tx.transfer.tables()) - {"audit_log", "night_reports", "notices"}
        return {name: list(tx.transfer.rows(name)) for name in tables} | {"memories": _states(tx.memories.all())}


def _states(memories: list[Any]) -> list[Any]:
    return [(m.id, m.content, m.importance, m.archived_by, m.archived_at, m.consolidated_into_id) for m in memories]


def test_every_table_is_carried_or_left_behind_for_a_reason(original: Store) -> None:
    with original.reading() as tx:
        tables = {row[0] for row in sql_rows(tx, "select table_name from duckdb_tables() where not internal")}
        carried = set(tx.transfer.tables())
    assert carried | set(LEFT_BEHIND) == tables and not carried & set(LEFT_BEHIND)
    assert set(RECORD_NAMES) <= carried


def test_every_record_says_what_it_is_and_the_last_one_counts_them(original: Store) -> None:
    first, *records, last = [json.loads(line) for line in exported(original).read_text().splitlines()]
    assert (first["record"], first["format"], first["version"]) == ("export", "memory-pipeline", 1)
    kinds = {record["record"] for record in records}
    assert {"memory", "atom", "finding", "conflict", "decision", "playbook_entry", "proposal", "rollback"} <= kinds
    assert last["record"] == "end" and sum(last["records"].values()) == len(records) + 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda lines: lines[:-5], "truncated"),
        (lambda lines: [line.replace("Copied", "Forged") for line in lines], "altered"),
        (lambda lines: [*lines, lines[-1]], "follows its last"),
    ],
)
def test_an_export_that_was_cut_off_or_altered_is_noticed_and_what_it_holds_is_read(
    original: Store, tmp_path: Path, change: Callable[[list[str]], list[str]], why: str
) -> None:
    path = exported(original)
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))
    copy = Store(tmp_path / "copy.duckdb")
    summary = bring(copy, path)
    assert why in summary.notes[0] and "gateway-0" in _ids(copy)
    knowledge(copy)


def _ids(store: Store) -> set[str]:
    with store.reading() as tx:
        return {one.id for one in tx.memories.all(include_rolled_back=True)}


@pytest.mark.slow
def test_an_export_comes_into_a_store_with_memories_of_its_own(original: Store, tmp_path: Path) -> None:
    path = exported(original)
    other = Store(tmp_path / "other.duckdb")
    fill(other, [candidate("What this store knew before.", native_id="own"), candidate("Mine.", native_id="port-1")])
    summary = bring(other, path)
    assert {"own", "gateway-0"} <= _ids(other)
    assert [one.reason for one in summary.rejected] and "port-1" in summary.rejected[0].reason
    first = knowledge(other)
    with original.reading() as one, other.reading() as two:
        assert {atom.id for atom in one.atoms.read()} == {atom.id for atom in two.atoms.read()}
        assert {entry.id for entry in one.playbook.read()} == {entry.id for entry in two.playbook.read()}
        assert "Mine." in {one.content for one in two.memories.all()}
    again = bring(other, path)
    assert again.imported == 0 and knowledge(other) == first
    assert run(other, DAY + timedelta(days=8)).verdict in ("PASS", "IDLE")
    knowledge(other)


def test_an_export_into_its_own_store_changes_nothing(original: Store) -> None:
    before = knowledge(original)
    assert bring(original, exported(original)).imported == 0
    assert knowledge(original) == before


def test_an_unsound_store_is_exported_and_what_holds_comes_back(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("A good note.", native_id="good")])
    with store.writing("test") as tx:
        poisoned = memory("bad", "A note with poison.", compressed_from='{"note": "\\ud800"}')
        tx.memories.add([poisoned])
    with store.reading() as tx:
        (finding,) = tx.integrity.check()
        assert finding.where == "bad"
    copy = Store(tmp_path / "copy.duckdb")
    summary = bring(copy, exported(store))
    assert "row by row" in summary.notes[0] and _ids(copy) == {"good"}
    assert len(summary.rejected) == 1


def test_an_export_of_a_newer_program_is_refused(original: Store, tmp_path: Path) -> None:
    path = exported(original)
    path.write_text(path.read_text().replace('"version": 1', '"version": 2', 1))
    with pytest.raises(InputError, match="newer program"):
        bring(Store(tmp_path / "copy.duckdb"), path)


def test_an_export_of_an_earlier_program_gives_the_store_that_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "earlier.jsonl"
    path.write_bytes(lzma.decompress(EARLIER.read_bytes()))
    copy = Store(tmp_path / "copy.duckdb")
    assert bring(copy, path).imported == 38
    with copy.reading() as tx:
        assert tx.contents.digest(with_log=True) == EARLIER_HASH and tx.integrity.check(deep=True) == []


def test_a_store_that_is_not_blank_is_never_replaced(original: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other.duckdb")
    bring(other, lines(tmp_path / "bad.jsonl", "{}"))
    with other.reading() as tx:
        assert not tx.transfer.is_blank() and len(tx.journal.quarantine()) == 1
    bring(other, exported(original))
    with other.reading() as tx:
        assert len(tx.journal.quarantine()) >= 1
