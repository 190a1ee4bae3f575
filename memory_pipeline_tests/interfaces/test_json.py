"""What commands print with `--json`: only fields that the reference describes, under the heading that names them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from memory_pipeline.documents import Document
from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.brains import brain, noted
from memory_pipeline_tests.interfaces.in_process import command
from memory_pipeline_tests.test_docs import reference_module
from memory_pipeline_tests.test_documents import shown

pytestmark = pytest.mark.usefixtures("in_home")

DOCUMENTS: dict[str, tuple[str, type[Document]]] = reference_module().DOCUMENTS
ROW = json.dumps({"id": "m", "content": "Restart the mail relay after changing its rules.", "created_at": "2026-03-01"})


def documents_of(name: str) -> list[type[Document]]:
    """The documents whose commands the reference names so."""
    return [
        document
        for told, document in DOCUMENTS.values()
        if any(re.match(rf"{re.escape(name)}\b", span) for span in re.findall(r"`([^`]+)`", told))
    ]


def all_commands() -> list[str]:
    """Every command that has `--json`."""
    return [
        name
        for name, one in reference_module()._walk(typer.main.get_command(app), "")
        if any("--json" in parameter.opts for parameter in one.params)
    ]


@pytest.mark.parametrize("name", all_commands())
def test_the_reference_says_what_every_command_prints(name: str) -> None:
    assert documents_of(name)


#: Objects whose keys are data.
OPEN = (
    "masked",
    "dates",
    "projects",
    "skipped",
    "import.masked",
    "import.dates",
    "import.projects",
    "value",
    "memories_by_type",
    "memories_by_level",
)

COMMANDS = [
    "import jsonl rows.jsonl",
    "import jsonl rows.jsonl --project other",
    "night 2026-03-05",
    "night 2026-03-05 --dry-run",
    "backfill --from 2026-03-05 --to 2026-03-06",
    "init workspace",
    "report",
    "check",
    "check --deep",
    "export jsonl out.jsonl",
    "as-of now",
    "as-of now search gateway",
    "as-of now export jsonl then.jsonl",
    "diff 2026-03-02",
    "config show",
    "playbook list",
    "snapshot list",
    "snapshot create",
    "snapshot verify SNAPSHOT",
    "snapshot restore SNAPSHOT",
    "recover",
    "recover --dry-run",
    "conflicts list",
    "proposals list --all",
    "jobs list",
    "kb-compress --dry-run",
    "atoms search",
    "series list",
    "series export csv readings.csv",
    "history MEMORY",
    "rollback --run-id run-2026-03-03",
    "search gateway --sources",
    "context gateway",
    "remember gateways --type lesson",
    "feedback MEMORY",
    "lineage MEMORY",
    "metrics",
    "sync brain brain.db",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_prints_only_fields_that_are_described(data: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "rows.jsonl").write_text(f"{ROW}\n{{}}\n")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "MEMORY.md").write_text("- Restart the mail relay after changing its rules.\n")
    brain(tmp_path / "brain.db", noted(1, "Restart the mail relay after changing its rules."))
    snapshot = min((data / "store.snapshots").glob("*.duckdb")).stem
    with Store(data / "store.duckdb").reading() as tx:
        memory = tx.memories.all()[0].id
    given = {"SNAPSHOT": snapshot, "MEMORY": memory}
    words = [given.get(word, word) for word in line.split()]
    done = command(*words, "--json", MEMORY_PIPELINE_CONSOLIDATION_CONFIDENCE_MIN="0.5")
    assert done.code == 0, done.err
    printed: Any = json.loads(done.out)
    name = next(name for name in sorted(all_commands(), key=len, reverse=True) if line.startswith(name))
    described = [document.described_fields() for document in documents_of(name)]
    fields = {field.removeprefix("[].") for field in shown(printed)} - {""}
    named = {field for document in described for field in document}
    open_ = tuple(f"{field}." for field in OPEN)
    assert {field for field in fields if not field.startswith(open_)} <= named
    if name in ("night", "backfill"):
        assert printed["result"].startswith("COMPRESSION ")
    times = {"playbook list": "updated_at", "history MEMORY": "happened_at", "snapshot list": "taken_at"}
    if line in times:
        told = [row[times[line]] for row in printed]
        assert told and all("T" in one and datetime.fromisoformat(one).tzinfo for one in told)
