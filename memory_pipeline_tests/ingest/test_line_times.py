"""Times at the start of a line, in the ways that people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_pipeline.ingest.dates import begins_with_time, leading_time
from memory_pipeline_tests.ingest.bring import read, write

DAY = date(2026, 2, 8)


@pytest.mark.parametrize(
    "stamp",
    [
        "23:01", "23:01 —", "23:01 -", "23:01:", "23:01,", "23:01.", "23:01 |", "[23:01]", "(23:01)", "<23:01>",
        "`23:01`", "**23:01**", "**23:01:**", "**[23:01]**", "_23:01_", "> 23:01", "- 23:01", "[x] 23:01", "### 23:01",
        "🕐 23:01", "@ 23:01", "at 23:01", "~23:01", "23:01:00", "23:01:00.123", "23:01:00,123", "23：01", "23h01",
        "23:01h", "23:01 Uhr", "23.01 Uhr", "2301h", "2301Z", "2301 UTC", "23:01Z", "23:01 UTC", "(23:01 UTC)",
        "11:01 PM", "11:01pm", "11:01 p.m.", "Sun 23:01", "23:01-23:30", "23:01 - 23:30", "2026-02-08 23:01",
        "2026-02-08T23:01Z", "[2026-02-08 23:01 UTC]", "2026-02-08 | 23:01 |", "**2026-02-08** 23:01",
        "2026/02/08 23:01", "08.02.2026 23:01", "8 Feb 23:01", "Feb 8, 2026 at 23:01",
    ],
)  # fmt: skip
def test_a_time_at_the_start_of_a_line_is_read(stamp: str) -> None:
    assert leading_time(f"{stamp} heartbeat checked", DAY, UTC) == datetime(2026, 2, 8, 23, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stamp", "hour", "minute"),
    [
        ("23:01 CET", 22, 1), ("(23:01 CET)", 22, 1), ("**23:01 cet**", 22, 1), ("23:01 UTC+1", 22, 1),
        ("23:01 (UTC+05:30)", 17, 31), ("23:01 +0200", 21, 1), ("23:01+02:00", 21, 1), ("23:01 Europe/Berlin", 22, 1),
        ("12:05 am", 0, 5), ("12:05 PM", 12, 5), ("11pm", 23, 0), ("9 a.m.", 9, 0),
    ],
)  # fmt: skip
def test_its_zone_and_half_of_the_day_are_read(stamp: str, hour: int, minute: int) -> None:
    assert leading_time(f"{stamp} heartbeat", DAY, UTC) == datetime(2026, 2, 8, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "1:45 hours of downtime", "00:10:20 elapsed", "2h15 to rebuild the index", "10h30 of work", "16:9 screens",
        "10:22:33:44:55 is its address", "+05:30 is the offset", "-05:30 is the offset", "12:30% of it", "$12:30",
        "127.0.0.1:8080 answers", "5432:5433 are the ports", "2301 rows", "12 hours", "1.30 EUR", "25:00 is no time",
        "10:30/10:45 trains", "31.02.2026 23:01 is no day", "The call is at 10:00", "May 5 things", "2026-02-07 notes",
    ],
)  # fmt: skip
def test_what_is_no_time_is_not_read_as_one(line: str) -> None:
    assert leading_time(line, DAY, UTC) is None


def test_a_clock_time_without_any_day_gives_nothing() -> None:
    assert leading_time("23:01 heartbeat", None, UTC) is None
    assert leading_time("8 Feb 23:01 heartbeat", None, UTC) is None


def test_an_hour_at_the_turn_of_a_line_does_not_split_a_sentence() -> None:
    assert begins_with_time("**23:01** checked") and begins_with_time("23h01 checked")
    assert not begins_with_time("2 pm because of the holiday") and not begins_with_time("at 14:00 because of it")


def test_lines_of_a_log_without_dashes_become_entries_at_their_times(tmp_path: Path) -> None:
    text = "23:01 heartbeat checked\n23h05 disk checked\n\n- **11:07 PM** door locked\n"
    write(tmp_path, "memory/2026-02-08.md", text)
    entries = read(tmp_path, "openclaw").candidates
    assert [(entry.created_at, entry.created_at_quality) for entry in entries] == [
        (datetime(2026, 2, 8, 23, minute, tzinfo=UTC), "exact") for minute in (1, 5, 7)
    ]


def test_a_line_of_a_long_term_note_takes_its_day_from_the_heading_above(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Log\n## 2026-02-08 move of the servers\n- 23:01 rack two is done\n")
    (entry,) = read(tmp_path, "openclaw").candidates
    assert entry.created_at == datetime(2026, 2, 8, 23, 1, tzinfo=UTC)
