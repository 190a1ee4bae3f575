"""Whatever a person types, names or sets: one sentence with the mend, told once, and nothing harmed."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.interfaces.cli import base, command_line
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, run
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

pytestmark = pytest.mark.usefixtures("in_home")
DAY = "2026-03-03"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("as-of", "9999-12-31"), "at the end of the calendar"),
        (("as-of", "0001-01-01"), "at the end of the calendar"),
        (("as-of", "9999-12-31T23:59:59-05:00"), "at the end of the calendar"),
        (("as-of", "2999-01-01"), "is in the future; use 'now'"),
        (("as-of", "2026-03-02", "--project", "nowhere"), "there is no project 'nowhere' in the store; it has p"),
        (("as-of", "2026-03-02", "list", "export"), "did you mean search or export?"),
        (("diff", "now", "--html", "."), "it is a directory"),
        (("diff", "now", "--html", "data/store.duckdb/x"), "belongs to the store"),
        (("rollback", "--since", "0001-01-01T00:00+14:00"), "--since is '0001-01-01T00:00+14:00', at the end"),
        (("rollback", "--since", "9999-12-31T23:00-12:00"), "at the end of the calendar"),
        (("rollback", "--since", ""), "--since is '', which is not a time"),
        (("rollback", "--since", "2999-01-01"), "is in the future"),
        (("conflicts", "list", "--project", "nowhere"), "there is no project 'nowhere'"),
        (("playbook", "list", "--project", "nowhere"), "there is no project 'nowhere'"),
        (("playbook", "list", "--category", "nonsense"), "there is no category 'nonsense' in the playbook; it has"),
        (("import", "jsonl", "x.jsonl", "--tz", "+25:00"), "no time zone is called '+25:00'"),
        (("import", "jsonl", "x.jsonl", "--tz", "+05:75"), "no time zone is called '+05:75'"),
        (("import", "jsonl", "x.jsonl", "--tz", ""), "no time zone is called ''"),
        (("import", "jsonl", "x.jsonl", "--project", " "), "--project is empty"),
        (("import", "jsonl", "~nobody-of-this-name/x.jsonl"), "does not exist"),
        (("import", "jsonl", "a" * 300), "its name is too long"),
        (("night", "9999-12-30"), "there is no night of 9999-12-30"),
        (("history", "2026-13-01"), "is '2026-13-01', which is not a date; write it as YYYY-MM-DD"),
        (("remember", "x", "--importance", "9"), "--importance is 9; use 0 to below 2.5"),
        (("remember", "x", "--importance", "nan"), "--importance is nan; use 0 to below 2.5"),
        (("night", DAY, "--days", "999999999"), "--days is 999999999; use 1 to"),
        (("backfill", "--from", DAY, "--to", "9999-12-30"), "there is no night of 9999-12-30"),
        (("kb-compress", "--days", "999999999"), "--days is 999999999; use 1 to"),
        (("jobs", "start", "--from", "0001-01-01"), "at the end of the calendar"),
        (("check", "--store", "bad\udcff.duckdb"), "which is not UTF-8; rename the file"),
        (("snapshot", "restore", "x", "--to", "bad\udcff.duckdb"), "--to is 'bad\\udcff.duckdb', which is not UTF-8"),
        (("snapshot", "restore", "x", "--to", "data/store.duckdb.wal"), "belongs to the store"),
    ],
)
def test_a_mistake_is_one_sentence_told_once(data: Path, arguments: tuple[str, ...], words: str) -> None:
    before = bytes_of(data / "store.duckdb")
    done = command(*arguments)
    assert done.code == 1 and words in done.told
    assert (done.out + done.err).count(words) == 1 and "Traceback" not in done.err
    assert done.told.startswith("COMPRESSION BLOCKED: " if done.out else "Error: ")
    assert bytes_of(data / "store.duckdb") == before


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ((), "No conflict awaits a decision."),
        (("--project", "p"), "No conflict of project 'p' awaits a decision; 'memory-pipeline conflicts list --all' s"),
        (("--all",), "The store has no conflict."),
        (("--all", "--project", "p"), "The store has no conflict of project 'p'; 'memory-pipeline conflicts list"),
    ],
)
def test_an_empty_list_of_conflicts_says_of_what_it_is_the_list(
    tmp_path: Path, filters: tuple[str, ...], told: str
) -> None:
    fill(Store(tmp_path / "data" / "store.duckdb"), lesson(1))
    done = command("conflicts", "list", *filters)
    assert done.code == 0 and done.told.startswith(told)


def test_of_a_project_that_is_settled_the_list_says_that_none_waits_and_how_to_see_all(data: Path) -> None:
    (found,) = json.loads(command("conflicts", "list", "--json").out)
    assert command("conflicts", "resolve", found["id"], "--keep", "a").code == 0
    done = command("conflicts", "list", "--project", "p")
    assert done.told.startswith("No conflict of project 'p' awaits a decision; 'memory-pipeline conflicts list --all'")
    assert found["id"][:8] in command("conflicts", "list", "--all").out


def test_a_memory_that_is_not_there_leads_to_a_list_of_whole_ids(data: Path) -> None:
    done = command("history", "a")
    assert (
        "there is no memory 'a'; give its handle or whole id ('memory-pipeline as-of now list --archived' shows"
        in done.told
    )
    listed = command("as-of", "now", "list", "--archived")
    assert listed.code == 0 and all(f"gateway-{n}" in listed.out for n in range(5))


@pytest.mark.slow
def test_a_night_that_fails_by_a_strict_verdict_fails_in_a_backfill_too(data: Path) -> None:
    strict = {"MEMORY_PIPELINE_REPORT_STRICT_VERDICT": "true"}
    assert command("night", DAY, **strict).code == 1
    done = command("backfill", "--from", DAY, "--to", DAY, "--json", **strict)
    said = json.loads(done.out)
    (report,) = said["reports"]
    assert done.code == 1 and report["verdict"] == "FAIL" and not report["errors"] and said["failed"] == [DAY]
    assert said["result"].startswith(
        f"COMPRESSION BLOCKED: 1 of 1 nights failed, the first {DAY}; see 'memory-pipeline"
    )
    assert command("report", report["run_id"]).out.startswith(f"Night of {DAY}: FAIL")
    assert command("report", report["run_id"][:8]).out.startswith(f"Night of {DAY}: FAIL")
    assert (
        "no reported run has an id that starts with 'zz'; 'memory-pipeline report' names"
        in command("report", "zz").told
    )


@pytest.mark.slow
def test_a_cluster_that_does_not_exist_is_told(data: Path) -> None:
    unknown = command("night", DAY, "--cluster-id", "nonsense")
    assert unknown.code == 1 and "no cluster of the night of 2026-03-03 has the id or fingerprint" in unknown.told


@pytest.mark.slow
def test_a_cluster_that_exists_is_processed(tmp_path: Path) -> None:
    store = Store(tmp_path / "data" / "store.duckdb")
    fill(store, lesson(5))
    (cluster,) = run(store, date(2026, 3, 3), dry_run=True).largest_clusters
    done = command("night", DAY, "--cluster-id", cluster.cluster_id)
    assert done.code == 0 and done.told.startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived")


@pytest.mark.parametrize("name", ["night", "backfill", "kb-compress", "check"])
def test_an_unexpected_error_shows_its_traceback_and_is_told_as_a_fault(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    done = _guarded(lambda: 1 // 0, [name], monkeypatch)
    assert done.code == 1 and "ZeroDivisionError" in done.err and "Traceback" in done.err
    assert "a bug in this program and not your fault" in done.told
    assert done.out.startswith("COMPRESSION BLOCKED: ") == (name != "check")


def test_ctrl_c_is_told_and_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    assert _guarded(stopped, ["check"], monkeypatch).code == 130
    done = _guarded(stopped, ["night"], monkeypatch)
    assert done.told.startswith("COMPRESSION BLOCKED: stopped by Ctrl-C")


def test_an_error_of_the_disk_names_the_file_and_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device", "/some/file")

    done = _guarded(full, ["check"], monkeypatch)
    assert done.told == "Error: '/some/file': the disk is full; free some space and run again"


def _guarded(body, arguments: list[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    import io
    import sys

    from memory_pipeline_tests.interfaces.in_process import Done

    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = command_line.guarded(body, arguments)
    return Done(code, out.getvalue(), err.getvalue())


def test_a_blocked_run_with_json_is_one_document(data: Path) -> None:
    done = command("night", "2999-01-01", "--json")
    said = json.loads(done.out)
    assert said["result"] == f"COMPRESSION BLOCKED: {said['error']}" and not done.err


def test_a_held_store_is_told_once_and_exits_0(data: Path) -> None:
    store = Store(data / "store.duckdb")
    store.take_lease("other", "the daemon")
    done = command("night", DAY)
    assert done.code == 0 and done.told.startswith(f"COMPRESSION BLOCKED: '{store.path}' is in use by the daemon on")
    assert "is in use" not in done.err
    store.release_lease("other")


def test_a_user_without_a_name_is_named_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert base.current_user() == f"user {os.getuid()}"


def test_an_import_that_reads_no_row_ends_with_an_error_and_a_guess(tmp_path: Path) -> None:
    rows = tmp_path / "notes.csv"
    rows.write_text("content,tags\nthe gateway listens on port 5432,net\n", encoding="utf-8")
    done = command("import", "jsonl", rows)
    assert done.code == 1 and "the line is not a JSON object" in done.out and "Expecting value" not in done.out
    assert done.err.startswith("Error: not one row of ") and "'memory-pipeline import csv" in done.err
    assert command("import", "csv", rows).code == 0
    assert "breaks off at character" in command("import", "jsonl", _file(tmp_path, '{"content": "x')).out
    some = _file(tmp_path, '{"content": "the gateway listens on port 5432"}\nnonsense\n')
    assert command("import", "jsonl", some).code == 0
    assert command("import", "jsonl", _file(tmp_path, "")).code == 0


@pytest.mark.parametrize("wrap", ['{"results": [%s]}', "[%s]"])
def test_a_file_of_another_program_is_told_with_its_format(tmp_path: Path, wrap: str) -> None:
    path = tmp_path / "memories.json"
    path.write_text(wrap % '{"id": "m-1", "memory": "Dana prefers CSV.", "user_id": "dana"}', encoding="utf-8")
    done = command("import", "chatgpt", path)
    assert done.code == 1 and "it looks like mem0, since it has memories" in done.err
    assert f"'memory-pipeline import mem0 {path}'" in done.err
    assert "no conversation of ChatGPT" in done.out or "no mapping of its messages" in done.out


def _file(directory: Path, text: str) -> Path:
    path = directory / "rows.jsonl"
    path.write_text(text, encoding="utf-8")
    return path
