"""The last step of a night: exports of the newest night only, and nothing of them comes back as a memory."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance

from memory_pipeline.config.exports import ExportTable, SourceTable
from memory_pipeline.definitions import defs
from memory_pipeline.orchestration.home import night_config
from memory_pipeline.store import Store
from memory_pipeline.workspace.exporting import run_exports
from memory_pipeline_tests.build import FIRST, candidate, fill, run, settings_for

pytestmark = pytest.mark.slow
FIRST_DAY = FIRST.date()


def with_exports(store: Store, *exports: ExportTable, **more: Any) -> Any:
    return settings_for(store, exports=exports, **more)


def launch(instance: DagsterInstance, settings: Any, day: Any) -> Any:
    return defs.resolve_job_def("night").execute_in_process(
        instance=instance, partition_key=str(day), run_config=night_config(settings), raise_on_error=False
    )


def workspace(root: Path, days: int) -> Path:
    """A workspace in which a few facts are noted each day."""
    (root / "memory").mkdir(parents=True)
    noted = datetime.combine(FIRST_DAY, datetime.min.time(), UTC).timestamp() + 60
    (root / "MEMORY.md").write_text("# Long-term\n- Dana prefers tea over coffee.\n")
    os.utime(root / "MEMORY.md", (noted, noted))
    for number in range(days):
        day = FIRST_DAY + timedelta(days=number)
        lines = [f"- [CURATE] Server {number} keeps its backups on disk {number + 3}."]
        lines += ["- Lesson: restart the payment gateway after rotating its API key, or it keeps using the old key."]
        file = root / "memory" / f"{day}.md"
        file.write_text(f"# {day}\n" + "\n".join(lines) + "\n")
        stamp = datetime.combine(day, datetime.min.time(), UTC).timestamp() + 3600
        os.utime(file, (stamp, stamp))
    return root


@pytest.mark.parametrize("source", ["claude-code", "basic-memory", "codex"])
@pytest.mark.parametrize("name", ["openclaw", "claude-code", "obsidian"])
def test_no_reader_takes_what_was_exported_for_memories(store: Store, tmp_path: Path, source: str, name: str) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    note = "---\nname: port\ntitle: port\npermalink: port\ndescription: d\nmetadata:\n  type: project\n---\n\n"
    noted = datetime.combine(FIRST_DAY, datetime.min.time(), UTC).timestamp() + 60
    for file in ("port.md", "MEMORY.md"):
        (root / file).write_text(f"{note}- [fact] The {file[:4]} listens on 5432 #port\n")
        os.utime(root / file, (noted, noted))
    fill(store, [candidate(f"The disk number {n} has 40 GB.", memory_type="fact", native_id=f"d{n}") for n in range(3)])
    settings = with_exports(
        store,
        ExportTable(name="e", format=name, path=str(root), project="p"),
        sources=(SourceTable(name="notes", format=source, path=str(root), project="p", timezone="UTC"),),
    )
    known = []
    for number in range(4):
        day = FIRST_DAY + timedelta(days=number)
        run(store, day, settings)
        (done,) = run_exports(store, settings, day)
        assert done.problem is None and done.exported
        with store.reading() as tx:
            known.append(sorted(memory.content for memory in tx.memories.all() if memory.abstraction_level == 0))
    assert known[0] == known[-1] and sum("disk" in content for content in known[-1]) == 3


@pytest.mark.parametrize("name", ["openclaw", "claude-code", "obsidian"])
def test_nothing_that_was_exported_into_a_workspace_comes_back(store: Store, tmp_path: Path, name: str) -> None:
    root = workspace(tmp_path / "agent", 4)
    target = root if name == "openclaw" else root / "memory"
    settings = with_exports(
        store,
        ExportTable(name="e", format=name, path=str(target)),
        sources=(SourceTable(name="agent", path=str(root), project="p", timezone="UTC"),),
        store__snapshots_kept=1,
    )
    tokens, known = [], []
    for number in range(9):
        run(store, FIRST_DAY + timedelta(days=number), settings)
        (done,) = run_exports(store, settings, FIRST_DAY + timedelta(days=number))
        assert done.problem is None
        tokens.append(done.tokens)
        with store.reading() as tx:
            raw = [memory for memory in tx.memories.all() if memory.abstraction_level == 0]
            known.append(len(raw))
    assert known[-1] == known[4] == 9, known
    assert tokens[-1] == tokens[5] and done.status == "unchanged"
    assert all(memory.source.connector == "openclaw" and "memory-pipeline" not in memory.content for memory in raw)


def test_the_asset_writes_for_the_newest_night_only(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("The port is 5432.", memory_type="fact")])
    settings = with_exports(
        store,
        ExportTable(name="agent", format="openclaw", path=str(tmp_path / "agent")),
        ExportTable(name="rows", format="jsonl", path=str(tmp_path / "rows.jsonl")),
        ExportTable(name="off", format="jsonl", path=str(tmp_path / "off.jsonl"), enabled=False),
        ExportTable(name="other", format="jsonl", path=str(tmp_path / "o.jsonl"), store=str(tmp_path / "o.duckdb")),
    )
    with DagsterInstance.ephemeral() as instance:
        result = launch(instance, settings, FIRST_DAY + timedelta(days=3))
        assert result.success
        (made,) = result.asset_materializations_for_node("exports")
        assert made.metadata["files_written"].value == 2 and made.metadata["tokens"].value > 20
        assert not (tmp_path / "off.jsonl").exists() and not (tmp_path / "o.jsonl").exists()
        index = (tmp_path / "agent" / "MEMORY.md").read_text()
        fill(store, [candidate("The disk has 40 GB.", FIRST + timedelta(hours=1), memory_type="fact")])
        again = launch(instance, settings, FIRST_DAY + timedelta(days=2))
        (made,) = again.asset_materializations_for_node("exports")
        assert "agent, rows: a later night has run" in str(made.metadata["skipped"].value)
        assert (tmp_path / "agent" / "MEMORY.md").read_text() == index
        launch(instance, settings, FIRST_DAY + timedelta(days=4))
        assert "The disk has 40 GB." in (tmp_path / "agent" / "MEMORY.md").read_text()


def test_an_export_that_fails_costs_itself_alone(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("The port is 5432.", memory_type="fact")])
    (tmp_path / "mine.jsonl").write_text("a letter\n")
    settings = with_exports(
        store,
        ExportTable(name="bad", format="jsonl", path=str(tmp_path / "mine.jsonl")),
        ExportTable(name="worse", format="word", path=str(tmp_path / "x")),
        ExportTable(name="good", format="openclaw", path=str(tmp_path / "agent")),
    )
    with DagsterInstance.ephemeral() as instance:
        result = launch(instance, settings, FIRST_DAY + timedelta(days=3))
    assert result.success and result.output_for_node("reports").verdict == "IDLE"
    (check,) = [one for one in result.get_asset_check_evaluations() if one.check_name == "exports_written"]
    assert not check.passed and check.metadata["failures"].value == 2
    assert "bad: '" in str(check.metadata["first"].value) and "was not written by this command" in str(check.metadata)
    assert (tmp_path / "mine.jsonl").read_text() == "a letter\n" and (tmp_path / "agent" / "MEMORY.md").exists()


def test_a_dry_run_and_another_days_duplicates_write_nothing(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("The port is 5432.", memory_type="fact")])
    settings = with_exports(store, ExportTable(name="a", format="openclaw", path=str(tmp_path / "agent")))
    with DagsterInstance.ephemeral() as instance:
        defs.resolve_job_def("night_preview").execute_in_process(
            instance=instance, partition_key=str(FIRST_DAY + timedelta(days=2)), run_config=night_config(settings)
        )
    assert not (tmp_path / "agent").exists()
