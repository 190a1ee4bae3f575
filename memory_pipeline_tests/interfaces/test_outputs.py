"""What commands write: whole, and never over the store, what belongs to it, or what somebody else made."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.markdown import parse_note
from memory_pipeline.ingest.openclaw_files import blank_managed, text_of
from memory_pipeline.interfaces.cli import output
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

pytestmark = pytest.mark.usefixtures("in_home")


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "jsonl", "TARGET"),
        ("export", "parquet", "TARGET", "--all", "--force"),
        ("as-of", "2026-03-02", "export", "jsonl", "TARGET", "--force"),
        ("diff", "2026-03-02", "--html", "TARGET", "--force"),
    ],
)
def test_no_command_writes_over_the_store_or_what_belongs_to_it(
    data: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "soft").symlink_to("data/store.duckdb")
    os.link(data / "store.duckdb", tmp_path / "hard")
    snapshot = min((data / "store.snapshots").glob("*.duckdb")).name
    before = bytes_of(tmp_path)
    targets = [data / "store.duckdb", "data/store.duckdb", "data/../data/STORE.duckdb", "soft", "hard"]
    targets += ["data/store.duckdb.wal", "data/store.dagster/dagster.yaml", f"data/store.snapshots/{snapshot}"]
    for target in targets:
        done = command(*(str(target) if word == "TARGET" else word for word in arguments))
        assert done.code == 1 and ("is the store itself" in done.err or "belongs to the store" in done.err), target
    assert bytes_of(tmp_path) == before


def test_a_store_elsewhere_and_a_snapshot_that_was_moved_are_not_written_over(data: Path, tmp_path: Path) -> None:
    (tmp_path / "other.duckdb").write_bytes((data / "store.duckdb").read_bytes())
    done = command("export", "jsonl", "other.duckdb", "--force")
    assert done.code == 1 and "is a DuckDB database" in done.err


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_an_export_of_everything_is_replaced_by_less_only_with_force(data: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / f"all.{kind}"
    assert command("export", kind, target, "--all").code == 0
    whole = target.read_bytes()
    for words in (("export", kind), ("as-of", "2026-03-02", "export", kind)):
        done = command(*words, target)
        assert done.code == 1 and "is an export of everything in a store" in done.err and "--force" in done.err
        assert target.read_bytes() == whole
    assert command("export", kind, target, "--all").code == 0
    assert command("export", kind, target, "--force").code == 0
    assert command("export", kind, target, "--all").code == 0


def test_a_file_that_we_did_not_make_is_replaced_only_with_force_and_one_of_ours_at_once(
    data: Path, tmp_path: Path
) -> None:
    (tmp_path / "letter.txt").write_text("Dear Dana")
    outputs: list[tuple[str, tuple[str, ...]]] = [
        ("letter.txt", ("export", "jsonl", "letter.txt")),
        ("letter.txt", ("export", "parquet", "letter.txt")),
        ("letter.txt", ("diff", "2026-03-02", "--html", "letter.txt")),
    ]
    for _, words in outputs:
        done = command(*words)
        assert done.code == 1 and "add --force" in done.err and (tmp_path / "letter.txt").read_text() == "Dear Dana"
    for words in (words for _, words in outputs):
        target = tmp_path / f"mine-{words[0]}-{words[1]}"
        mine = [str(target) if word == "letter.txt" else word for word in words]
        assert [command(*mine).code for _ in range(2)] == [0, 0]
        assert target.stat().st_size > 100
    assert command("export", "jsonl", "letter.txt", "--force").code == 0
    assert "Dear Dana" not in (tmp_path / "letter.txt").read_text()


def test_one_kind_of_ours_does_not_replace_another(data: Path) -> None:
    assert command("export", "jsonl", "out").code == 0
    for words in (("export", "parquet", "out"), ("diff", "2026-03-02", "--html", "out")):
        assert "was not written by this command" in command(*words).err


def test_the_file_that_memories_came_from_is_never_written_over(tmp_path: Path) -> None:
    row = json.dumps({"id": "m", "content": "Restart the mail relay after changing its rules."})
    (tmp_path / "notes.jsonl").write_text(row)
    assert command("import", "jsonl", "notes.jsonl").code == 0
    done = command("export", "jsonl", "notes.jsonl", "--force")
    assert done.code == 1 and "came from a file named 'notes.jsonl'" in done.err
    assert (tmp_path / "notes.jsonl").read_text() == row


def test_settings_dagster_and_the_workspace_are_not_written_over(tmp_path: Path, data: Path) -> None:
    (tmp_path / "memory_pipeline.toml").write_text(f'[[sources]]\nname = "agent"\npath = "{tmp_path / "agent"}"\n')
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "MEMORY.md").write_text("- a note")
    (tmp_path / "history").mkdir()
    for target in ("memory_pipeline.toml", "agent/MEMORY.md", "history/x.jsonl"):
        done = command("export", "jsonl", target, "--force", DAGSTER_HOME=str(tmp_path / "history"))
        assert done.code == 1 and "no command overwrites" in done.err, target
    assert (tmp_path / "agent" / "MEMORY.md").read_text() == "- a note"
    assert command("export", "jsonl", "agent/new.jsonl").code == 0


def test_a_long_step_is_told_every_five_seconds_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: clock[0])
    tell = output.progress_printer()
    for second in range(1, 13):
        clock[0] = float(second)
        tell("entries", second * 500, 0)
    tell("entries", 6500, 6500)
    assert capsys.readouterr().err.splitlines() == ["  entries: 3000", "  entries: 5500", "  entries: 6500 of 6500"]


def test_what_a_command_prints_into_a_workspace_is_not_read_back(tmp_path: Path) -> None:
    """Also appended to a note of one's own, whose lines are read."""
    page = tmp_path / "memory" / "2026-03-01.md"
    page.parent.mkdir()
    page.write_text("- 10:00 my own line\n\n")
    text = "## Notes\n- the port is 5432 (2026-03-02) [a]\n<!-- memory-pipeline:output:end -->\n- more"
    with page.open("a") as file, redirect_stdout(file):
        output.emit(None, as_json=False, text=text)
    text = blank_managed(text_of(page, Skipped()), Skipped())
    entries = [entry.text for entry in parse_note(text).entries]
    assert entries == ["10:00 my own line"]
    with (tmp_path / "list.txt").open("w") as file, redirect_stdout(file):
        output.emit(None, as_json=False, text=text)
    assert (tmp_path / "list.txt").read_text() == f"{text}\n", "only files of Markdown are marked"
