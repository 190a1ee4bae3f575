"""A disk that is full when a command begins, or once Dagster has begun: one sentence, nothing half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline_tests.interfaces.in_process import bytes_of, command, no_room

pytestmark = pytest.mark.usefixtures("in_home")
DAY = "2026-03-03"


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
        ("playbook", "export", "book/deep"),
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
