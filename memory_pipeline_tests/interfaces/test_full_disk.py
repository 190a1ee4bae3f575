"""A disk that is full when a command begins, or once Dagster has begun: one sentence, nothing half written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from memory_pipeline_tests.interfaces.in_process import bytes_of, command, no_room

pytestmark = pytest.mark.usefixtures("in_home")
DAY = "2026-03-03"


@pytest.mark.slow
def test_an_empty_dagster_yaml_of_a_full_disk_is_written_anew(data: Path) -> None:
    config = data / "store.dagster" / "dagster.yaml"
    config.parent.mkdir()
    config.write_text("")
    assert command("jobs", "list").code == 0
    assert "telemetry:\n  enabled: false" in config.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "jsonl", "out.jsonl"),
        ("export", "parquet", "out.parquet"),
        ("as-of", "2026-03-02", "export", "jsonl", "out.jsonl"),
        ("diff", "2026-03-02", "--html", "out.html"),
        ("night", DAY),
        ("jobs", "start"),
        ("jobs", "list"),
        ("kb-compress",),
    ],
)
def test_a_full_disk_is_one_sentence_and_nothing_is_left_behind(
    data: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    before = bytes_of(tmp_path)
    with no_room():
        done = command(*arguments)
    assert done.code == 1 and "the disk is full" in done.told and "Traceback" not in done.err
    after = bytes_of(tmp_path)
    made = {name for name in after.keys() - before.keys() if not name.endswith((".dagster", "/history", "/schedules"))}
    assert not made and {name: after[name] for name in before} == before


def test_a_disk_that_is_full_once_dagster_has_begun_is_one_sentence(data: Path) -> None:
    assert command("jobs", "list").code == 0
    with no_room():
        done = command("night", DAY)
    assert done.code == 1 and done.told.startswith("COMPRESSION BLOCKED: Dagster's history")
    assert "the disk is full or broken" in done.told and "Traceback" not in done.err
    assert command("check", "--deep").told.startswith("SOUND")


@pytest.mark.parametrize(
    "command_", [("night", DAY, "--dry-run"), pytest.param(("kb-compress", "--dry-run"), marks=pytest.mark.slow)]
)
def test_a_dry_run_without_room_for_its_copy_says_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_: tuple[str, ...]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert command("jobs", "list").code == 0
    store = data / "store.duckdb"
    before = bytes_of(store)
    with no_room(store.stat().st_size - 1):
        done = command(*command_)
    assert done.code == 1 and done.told.startswith("COMPRESSION BLOCKED: ") and not done.err
    assert f"cannot be written to '{temporary}': the disk is full" in done.out and "variable TMPDIR" in done.out
    assert bytes_of(store) == before and list(temporary.iterdir()) == []


def test_a_dry_run_that_fails_is_one_sentence(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("the line broke")

    monkeypatch.setattr("memory_pipeline.consolidation.run.run_steps", broken)
    done = command("night", DAY, "--dry-run")
    assert (done.code, done.told) == (1, "COMPRESSION BLOCKED: the line broke") and "bug" not in done.out + done.err
