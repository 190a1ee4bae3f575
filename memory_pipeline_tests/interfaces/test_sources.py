"""`sources`: what the settings file names, written without touching what a person wrote there."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.store import Store
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

pytestmark = pytest.mark.usefixtures("in_home")

BY_HAND = """\
# Written by hand.
[consolidation]
threshold = 200   # the default is 100

[import]  # how times are read
timezone = "Europe/Lisbon"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "agent"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2026-03-02.md").write_text("- 10:00 the port is 5432\n- 11:00 mail to dana@example.org\n")
    return root


def shown(*arguments: str | Path) -> object:
    done = command(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_adding_and_removing_keeps_what_a_person_wrote(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text(BY_HAND)
    assert command("sources", "add", "agent", "--tz", "Europe/Lisbon", "--exclude", "drafts/").code == 0
    (tmp_path / "rows.jsonl").write_text('{"content": "x"}\n')
    assert command("sources", "add", "rows.jsonl", "--name", "mine", "--project", "webshop").code == 0
    assert file.read_text().startswith(BY_HAND)
    first, second = shown("sources", "list")  # type: ignore[misc]
    assert (first["name"], first["timezone"], first["exclude"], first["files"]) == (
        "agent",
        "Europe/Lisbon",
        ["drafts/"],
        1,
    )
    assert (second["name"], second["format"], second["project"]) == ("mine", "jsonl", "webshop")
    assert command("sources", "remove", "agent").code == command("sources", "remove", "mine").code == 0
    assert file.read_text().strip() == BY_HAND.strip() and shown("sources", "list") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "nowhere"], "does not exist"),
        (["add", "agent", "--tz", "Mars/Base"], "no time zone is called 'Mars/Base'"),
        (["add", "agent", "--name", "a b"], "use letters, digits"),
        (["add", "agent", "--format", "nonsense"], "no format is called"),
        (["add", "."], "is a directory that no format knows"),
        (["remove", "other"], "have no source 'other'"),
        (["check", "other"], "have no source 'other'"),
        (["check"], "no source feeds this store"),
    ],
)
def test_a_mistake_is_one_sentence_and_changes_nothing(
    tmp_path: Path, workspace: Path, arguments: list[str], words: str
) -> None:
    done = command("sources", *arguments)
    assert done.code == 1 and words in done.told
    assert not (tmp_path / "memory_pipeline.toml").exists()


def test_a_source_is_added_once_and_names_differ(workspace: Path, tmp_path: Path) -> None:
    assert command("sources", "add", "agent").code == 0
    assert "is source 'agent' already" in command("sources", "add", workspace).told
    (tmp_path / "x.csv").write_text("content\nx\n")
    assert "there is a source 'AGENT' already" in command("sources", "add", "x.csv", "--name", "AGENT").told


def test_sources_of_the_environment_are_changed_there(workspace: Path) -> None:
    told = json.dumps([{"name": "env", "path": str(workspace)}])
    done = command("sources", "add", "agent", "--name", "b", "--project", "p", MEMORY_PIPELINE_SOURCES=told)
    assert done.code == 1
    assert "MEMORY_PIPELINE_SOURCES" in command("sources", "remove", "env", MEMORY_PIPELINE_SOURCES=told).told


def test_a_check_says_what_would_be_imported_and_writes_nothing(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    (workspace / "memory" / "2036-01-01.md").write_text("- not yet\n")
    before = bytes_of(tmp_path)
    (found,) = shown("sources", "check")  # type: ignore[misc]
    assert bytes_of(tmp_path) == before
    assert (found["import"]["imported"], found["import"]["quarantined"], found["import"]["masked"]) == (
        2,
        1,
        {"email": 1},
    )
    assert found["error"] is None and "future" in found["import"]["rejected"][0]["reason"]


@pytest.mark.slow
def test_a_night_reads_the_sources_into_a_new_store(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    (night,) = [shown("night", "2026-03-02")]
    assert night["entries_new"] == 2 and night["sources"][0]["status"] == "read"  # type: ignore[index]
    assert Store(tmp_path / "data" / "store.duckdb").exists()
    assert shown("report", "2026-03-02")["run_id"] == night["run_id"], "a night is named by its day"  # type: ignore[index]
    again = shown("night", "2026-03-02")
    assert again["entries_new"] == 0 and again["sources"][0]["status"] == "unchanged"  # type: ignore[index]


@pytest.mark.slow
def test_words_that_are_gone_are_shown_as_of_a_day(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    file = workspace / "memory" / "2026-03-02.md"
    for day, text in ((2, "- 10:00 the port is 5432\n"), (4, "- 10:00 the port is 5433\n")):
        file.write_text(text)
        at = datetime(2026, 3, day, 12, tzinfo=UTC).timestamp()
        os.utime(file, (at, at))
        shown("night", f"2026-03-{day:02d}")
    (gone,) = shown("sources", "gone")  # type: ignore[misc]
    assert gone["content"].endswith("5432") and gone["superseded_by"] and gone["gone_at"].startswith("2026-03-05")
    assert shown("sources", "gone", "2026-03-03") == [] and len(shown("sources", "gone", "2026-03-04")) == 1  # type: ignore[arg-type]
    assert "the port is 5432" in command("sources", "gone").out


@pytest.mark.slow
def test_init_makes_the_workspace_a_source_that_nights_know(tmp_path: Path, workspace: Path) -> None:
    assert command("init", "agent", "--project", "webshop").code == 0
    (source,) = shown("sources", "list")  # type: ignore[misc]
    assert (source["name"], source["project"]) == ("agent", "webshop") and source["last_read"]
    assert shown("night", "2026-03-02")["entries_new"] == 0  # type: ignore[index]
    assert command("init", "agent").code == 0 and len(shown("sources", "list")) == 1  # type: ignore[arg-type]


@pytest.mark.slow
def test_init_into_another_store_feeds_that_store_alone(tmp_path: Path, workspace: Path) -> None:
    assert command("init", "agent", "--store", "other.duckdb").code == 0
    (source,) = shown("sources", "list")  # type: ignore[misc]
    assert source["store"] == str(tmp_path / "other.duckdb") and not source["feeds_store"]
    (workspace / "memory" / "2026-03-03.md").write_text("- 09:00 the disk is full\n")
    night = shown("night", "2026-03-03", "--store", "other.duckdb")
    assert night["entries_new"] == 1  # type: ignore[index]


@pytest.mark.slow
def test_a_workspace_that_moves_is_known_again(tmp_path: Path, workspace: Path) -> None:
    assert command("sources", "add", workspace, "--name", "notes").code == 0
    settings = tmp_path / "memory_pipeline.toml"
    assert 'project = "agent"' in settings.read_text()
    assert command("night", "2026-03-04").code == 0
    workspace.rename(tmp_path / "moved")
    settings.write_text(settings.read_text().replace(str(workspace), str(tmp_path / "moved")))
    assert command("night", "2026-03-05").code == 0
    assert "2 active" in command("check").out


@pytest.mark.slow
def test_edits_that_wait_for_a_night_are_told_by_a_check(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    assert command("night").code == 0
    file = workspace / "memory" / "2026-03-02.md"
    file.write_text("- 10:00 the port is 5433\n- 11:00 mail to dana@example.org\n")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    (found,) = shown("sources", "check")  # type: ignore[misc]
    assert (found["edits_waiting"], found["import"]["imported"], found["waits_for"]) == (1, 1, today)
    assert f"1 edit and 1 new entry wait for the night of {today}" in command("sources", "check").out


BROKEN = """
[[sources]]
name = "good"
path = "agent"

[[sources]]
name = "bad"
path = "agent"
timezone = "Mars/Base"

[[sources]]
pth = "agent"
"""


def test_a_wrong_table_costs_itself_and_can_be_removed(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text(BROKEN)
    assert "no time zone is called 'Mars/Base'" in command("config", "show").err
    listed = {row["name"]: row["problem"] for row in shown("sources", "list")}  # type: ignore[attr-defined]
    assert listed["good"] is None and "Mars/Base" in listed["bad"] and "has no name" in listed["table-3"]
    checked = command("sources", "check")
    assert checked.code == 1 and "good" in checked.out and "bad" in checked.out and "PROBLEM" in checked.out
    assert command("sources", "check", "good").code == 0
    assert command("sources", "remove", "table-3").code == 0
    assert command("sources", "remove", "bad").code == 0
    assert file.read_text().strip() == BROKEN.split("\n\n")[0].strip()
    assert not command("sources", "list").err


@pytest.mark.parametrize("text", ['[sources]\nname = "x"\npath = "agent"\n', "sources = 5\n", 'sources = ["agent"]\n'])
def test_sources_that_are_no_tables_can_be_removed(tmp_path: Path, workspace: Path, text: str) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text("# mine\n" + text)
    assert "[[sources]]" in command("config", "show").err
    (row,) = shown("sources", "list")  # type: ignore[misc]
    assert command("sources", "remove", row["name"]).code == 0
    assert file.read_text().strip() == "# mine"


@pytest.mark.slow
def test_a_night_leaves_out_a_wrong_table_and_says_so(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "memory_pipeline.toml").write_text(BROKEN)
    done = command("night", "2026-03-02", "--json")
    night = json.loads(done.out)
    assert done.code == 0 and "Warning" in done.err
    assert {s["source"]: s["status"] for s in night["sources"]} == {
        "bad": "failed",
        "table-3": "failed",
        "good": "read",
    }
    assert night["entries_new"] == 2 and len(night["errors"]) == 2


TWICE = """\
# The first one.
[[sources]]
name = "w6"
path = "agent"

# mine
[[sources]]
name = "w6"
path = "other"
# a remark at its end

# about times
[import]
timezone = "Europe/Lisbon"
"""


def test_of_two_tables_of_one_name_the_one_that_the_warning_names_is_removed(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text(TWICE)
    assert "sources remove table-2" in command("sources", "list").err
    assert [row["name"] for row in shown("sources", "list")] == ["w6", "table-2"]  # type: ignore[attr-defined]
    assert command("sources", "remove", "table-2").code == 0
    left = file.read_text()
    assert 'path = "agent"' in left and "other" not in left
    for comment in ("# The first one.", "# mine", "# about times"):
        assert comment in left
    assert not command("sources", "list").err


def test_the_table_that_works_is_removed_by_its_name(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text(TWICE.replace('path = "agent"', 'path = "agent"\ntimezone = "Mars/Base"').replace("other", "agent"))
    assert [row["name"] for row in shown("sources", "list")] == ["w6", "table-1"]  # type: ignore[attr-defined]
    assert command("sources", "remove", "w6").code == 0
    assert "Mars/Base" in file.read_text() and file.read_text().count("[[sources]]") == 1
    assert "# mine" in file.read_text() and "# about times" in file.read_text()


def test_the_list_says_what_is_wrong_with_each_source(tmp_path: Path, workspace: Path) -> None:
    text = '[[sources]]\nname = "a"\npath = "nowhere"\n\n[[sources]]\nname = "b"\npath = 3\nzone = "UTC"\n'
    (tmp_path / "memory_pipeline.toml").write_text(text)
    rows = {row["name"]: row["problem"] for row in shown("sources", "list")}  # type: ignore[attr-defined]
    assert "does not exist" in rows["a"] and "write a text in quotes" in rows["b"] and "'zone'" in rows["b"]
    out = command("sources", "list").out
    assert "PROBLEM with a" in out and "None" not in out


def test_an_export_of_ours_is_no_source(tmp_path: Path, workspace: Path) -> None:
    assert command("init", "agent").code == 0
    assert command("export", "jsonl", "out.jsonl").code == 0
    done = command("sources", "add", "out.jsonl")
    assert done.code == 1 and "not read back" in done.told
    done = command("export", "jsonl", "-")
    assert done.code == 1 and "name it" in done.told and not (tmp_path / "-").exists()


@pytest.mark.slow
def test_sources_of_some_of_the_same_files_read_them_once(tmp_path: Path, workspace: Path) -> None:
    inner = workspace / "memory" / "sub"
    (inner / "memory").mkdir(parents=True)
    (inner / "memory" / "2026-03-03.md").write_text("- 12:00 the fan is loud\n")
    assert command("sources", "add", "agent").code == 0
    assert command("sources", "add", inner, "--project", "other").code == 0
    assert command("sources", "remove", "sub").code == 0
    done = command("sources", "add", inner, "--project", "agent")
    assert done.code == 1 and "is read by source 'agent' already" in done.told
    assert command("sources", "remove", "agent").code == 0
    assert command("sources", "add", inner, "--project", "agent").code == 0
    assert command("sources", "add", "agent").code == 0
    assert shown("night")["entries_new"] == 3  # type: ignore[index]


@pytest.mark.slow
def test_what_waits_is_told_night_by_night(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    today, yesterday = datetime.now(UTC).date(), datetime.now(UTC).date() - timedelta(days=1)
    (workspace / "MEMORY.md").write_text("- a line of today\n")
    (found,) = shown("sources", "check")  # type: ignore[misc]
    told = (found["import"]["imported"], found["next_entries"], found["next_night"], found["waits_for"])
    assert told == (3, 2, str(yesterday), str(today))
    out = command("sources", "check").out
    assert f"The night of {yesterday} takes 2 new entries; 1 new entry waits for the night of {today}" in out
    assert command("night", f"{yesterday - timedelta(days=1)}").code == 0
    log = workspace / "memory" / "2026-03-02.md"
    log.write_text("- 10:00 the port is 5433\n")
    (found,) = shown("sources", "check")  # type: ignore[misc]
    assert (found["edits_waiting"], found["next_edits"], found["next_night"]) == (2, 1, str(yesterday))
    assert (
        "takes 1 edit and 1 new entry; 1 edit and 1 new entry wait for the night of" in command("sources", "check").out
    )


@pytest.mark.slow
def test_a_file_that_is_gone_waits_and_one_that_moved_is_no_edit(tmp_path: Path, workspace: Path) -> None:
    command("sources", "add", "agent")
    (workspace / "memory" / "2026-03-03.md").write_text("- 12:00 the fan is loud\n")
    assert command("night").code == 0
    (workspace / "memory" / "2026-03-03.md").unlink()
    (found,) = shown("sources", "check")  # type: ignore[misc]
    assert found["edits_waiting"] == 1
    moved = workspace / "memory" / "old" / "2026-03-02.md"
    moved.parent.mkdir()
    (workspace / "memory" / "2026-03-02.md").rename(moved)
    (found,) = shown("sources", "check")  # type: ignore[misc]
    assert found["edits_waiting"] == 1
