"""Times that no memory can have: every way in refuses them in the same words, and a store that has them goes on."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.periods.calendar import read_period
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, memory, run, settings_for
from memory_pipeline_tests.interfaces.in_process import command

IMPOSSIBLE = (
    "0001-01-01T00:00:00+00:00",
    "0001-01-01T00:00:00+14:00",
    "0100-06-01T12:00:00+00:00",
    "1999-12-31T23:59:59+00:00",
    "9999-12-31T23:59:59-12:00",
    "2999-01-01T00:00:00+00:00",
)
BLANKS = ("   \n\t", "\u200b\u200b \ufeff", "\u3164", "\u2800", "\u200d\ufe0f", "\u00a0\u2003", "\U000e0041")


@pytest.fixture
def old_store(tmp_path: Path) -> Store:
    """A store from before the gate, with memories of impossible days among others."""
    store = Store(tmp_path / "data" / "store.duckdb")
    fill(store, lesson(5))
    impossible = [datetime(*day, tzinfo=UTC) for day in ((1, 1, 1), (100, 6, 1), (9999, 12, 31, 23))]
    with store.writing("an earlier version") as tx:
        tx.memories.add(
            [
                memory(f"m-{at.year}", f"The archive of year {at.year} lies on the shelf.", at, project_id="p")
                for at in impossible
            ]
        )
    return store


@pytest.mark.parametrize("at", IMPOSSIBLE)
def test_python_and_the_command_line_take_no_impossible_time(store: Store, at: str) -> None:
    fill(store, lesson(1))
    told = ProjectMemory(store, settings_for(store), "p", actor="test")
    with pytest.raises(InputError, match=r"created_at .* is before 2000 or in the future"):
        told.remember("The gateway listens on port 5432.", created_at=datetime.fromisoformat(at))
    done = command("remember", "The gateway listens on port 5432.", "--at", at, "--store", store.path)
    assert done.code == 1 and ("a memory can have" in done.told or "before 2000" in done.told)


@pytest.mark.parametrize("words", BLANKS)
def test_nothing_to_see_is_no_memory(store: Store, tmp_path: Path, words: str) -> None:
    fill(store, lesson(1))
    with pytest.raises(InputError, match="content is empty"):
        ProjectMemory(store, settings_for(store), "p", actor="test").remember(words)
    rows = tmp_path / "rows.csv"
    rows.write_text(f'content\n"{words}"\n"The gateway listens on port 5432."\n')
    done = command("import", "csv", rows, "--store", store.path)
    assert done.code == 0 and "1 imported" in done.err + done.out and "1 quarantined" in done.err + done.out


def test_emoji_and_other_scripts_are_memories(store: Store) -> None:
    fill(store, lesson(1))
    told = ProjectMemory(store, settings_for(store), "p", actor="test")
    for words in ("👍🏽", "\u2764\ufe0f", "\u5bc6\u94a5", "\u0645\u0631\u062d\u0628\u0627", "+1"):
        assert told.remember(words).status == "created"


def test_rollups_leave_impossible_days_out_and_name_them(old_store: Store, caplog: pytest.LogCaptureFixture) -> None:
    done = command("rollups", "run")
    assert done.code == 0, done.err
    (warning,) = [record.message for record in caplog.records if "in no summary" in record.message]
    assert warning.startswith("3 memories of days before 2000 or after 2199") and "'m-1' (0001-01-01)" in warning
    listed = command("rollups", "list").out
    assert "2026-03-01" in listed and "0100" not in listed and "9999" not in listed


@pytest.mark.slow
def test_a_store_with_impossible_days_goes_through_nights_exports_and_searches(
    old_store: Store, tmp_path: Path
) -> None:
    assert run(old_store, date(2026, 3, 3)).verdict != "FAIL"
    assert run(old_store, date(2026, 3, 4)).verdict != "FAIL"
    for format_ in ("openclaw", "claude-code", "obsidian"):
        done = command("export", format_, tmp_path / format_)
        assert done.code == 0, done.err
    for words in (
        ("export", "jsonl", "--all", tmp_path / "all.jsonl"),
        ("search", "archive shelf"),
        ("context", "archive shelf"),
        ("check", "--deep"),
        ("history", "memory", "m-1"),
        ("series", "list"),
        ("flush", "--help"),
    ):
        done = command(*words)
        assert done.code in (0, 2) and "Traceback" not in done.err, (words, done.err)
    other = command("import", "jsonl", tmp_path / "all.jsonl", "--store", tmp_path / "copy.duckdb")
    assert other.code == 0 and "now equals the exported one" in other.out + other.err


@pytest.mark.parametrize("text", ["0001-W01", "0001", "1999", "9999", "9999-12-31", "9999-W53", "9999-12"])
def test_no_summary_is_of_an_impossible_period(text: str) -> None:
    with pytest.raises(InputError, match="is not a period"):
        read_period(text)
