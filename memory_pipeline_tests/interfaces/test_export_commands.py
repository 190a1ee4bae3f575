"""`export` and `exports`: what is written now, and what the settings name for every night."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_pipeline_tests.interfaces.in_process import command

pytestmark = pytest.mark.usefixtures("in_home")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"content": "the port is 5432", "memory_type": "fact"}\n')
    assert command("import", "jsonl", file).code == 0
    return file


def test_a_directory_is_exported_with_what_came_of_it(rows: Path) -> None:
    done = command("export", "openclaw", "agent")
    assert done.code == 0 and "Exported 1 memory to agent (memory, playbook, series).\n" in done.out
    assert "Files: 1 written, 0 unchanged.\n  created: MEMORY.md (lines +" in done.out
    again = json.loads(command("export", "openclaw", "agent", "--json").out)
    assert (again["written"], again["unchanged"], again["project"]) == ([], 1, "default")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["obsidian", "x", "--all"], "--all is for jsonl and parquet; format obsidian writes one project"),
        (["jsonl", "x", "--all", "--project", "p"], "--all exports every project"),
        (["jsonl", "x", "--budget", "400"], "--budget is for openclaw"),
        (["word", "x"], "no export format is called 'word'"),
        (["obsidian", "rows.jsonl"], "is a file; format obsidian writes a vault of Obsidian"),
        (["openclaw", "data/store.snapshots"], "belongs to the store"),
        (["openclaw", "x", "--project", "q"], "there is no project 'q' in the store; it has default"),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(
    tmp_path: Path, rows: Path, arguments: list[str], words: str
) -> None:
    done = command("export", *arguments)
    assert done.code == 1 and words in done.told and not (tmp_path / "x").exists()


def test_exports_of_the_settings_are_added_listed_and_removed(tmp_path: Path, rows: Path) -> None:
    by_hand = "# mine\n[consolidation]\nthreshold = 200  # more\n"
    (tmp_path / "memory_pipeline.toml").write_text(by_hand)
    done = command("exports", "add", "openclaw", "agent", "--budget", "900")
    assert done.code == 0 and "memory-pipeline export openclaw" in done.out
    assert command("exports", "add", "obsidian", "vault", "--project", "default", "--name", "notes").code == 0
    first, second = json.loads(command("exports", "list", "--json").out)
    assert (first["name"], first["budget"], first["path"]) == ("openclaw", 900, str(tmp_path / "agent"))
    assert (second["name"], second["format"], second["project"]) == ("notes", "obsidian", "default")
    assert "writes '" in command("exports", "add", "openclaw", "agent").told
    assert "there is an export 'notes' already" in command("exports", "add", "jsonl", "y", "--name", "notes").told
    assert "no export format is called" in command("exports", "add", "word", "z").told
    assert "is a file; format openclaw writes a directory" in command("exports", "add", "openclaw", rows).told
    refused = command("exports", "add", "jsonl", rows)
    assert refused.code == 1 and "rows.jsonl' exists" in refused.told and "--force" not in refused.told
    for name in ("openclaw", "notes"):
        assert command("exports", "remove", name).code == 0
    assert (tmp_path / "memory_pipeline.toml").read_text().strip() == by_hand.strip()
    assert "have no export 'notes'; they have none" in command("exports", "remove", "notes").told
    assert "No export yet" in command("exports", "list").out


@pytest.mark.slow
def test_a_night_says_which_export_was_not_written(tmp_path: Path, rows: Path) -> None:
    assert command("exports", "add", "jsonl", "mine.jsonl").code == 0
    assert command("exports", "add", "openclaw", "agent").code == 0
    (tmp_path / "mine.jsonl").write_text("a letter\n")
    done = command("night")
    assert done.code == 0 and "Warning: not every export was written: jsonl: '" in done.err
    assert "Exports written: openclaw (1 memory).\n" in done.err
    assert (tmp_path / "agent" / "MEMORY.md").exists() and (tmp_path / "mine.jsonl").read_text() == "a letter\n"


def test_a_wrong_table_costs_itself_alone(tmp_path: Path, rows: Path) -> None:
    (tmp_path / "memory_pipeline.toml").write_text(
        '[[exports]]\nname = "bad"\nformat = "openclaw"\n\n'
        '[[exports]]\nname = "good"\nformat = "jsonl"\npath = "o.jsonl"\n'
    )
    done = command("exports", "list")
    assert done.code == 0 and "PROBLEM with bad: table 1 of [[exports]]" in done.out and "good" in done.out
    assert "This export is left out until the settings are mended" in done.err
    assert "memory-pipeline exports remove bad" in " ".join(done.err.split())
    assert command("exports", "remove", "bad").code == 0
    assert [one["name"] for one in json.loads(command("exports", "list", "--json").out)] == ["good"]


def test_where_there_are_several_projects_an_export_names_one(tmp_path: Path, rows: Path) -> None:
    assert command("import", "jsonl", rows, "--project", "other").code == 0
    told = command("exports", "add", "openclaw", "agent").told
    assert "the store has several projects; name one with --project: default, other" in told
    assert command("exports", "list", "--json").out.strip() == "[]"
    assert command("exports", "add", "openclaw", "agent", "--project", "other").code == 0
    assert command("exports", "add", "jsonl", "all.jsonl").code == 0
