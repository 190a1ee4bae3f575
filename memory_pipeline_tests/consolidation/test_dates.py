"""Days that are not like others: daylight saving, a leap day, a clock set back, a store that travels."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_pipeline.moments import latest_complete_day
from memory_pipeline.recall.past import read_state
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run

NEW_YORK = ZoneInfo("America/New_York")


@contextmanager
def machine_in(zone: str) -> Iterator[None]:
    """This process on a machine of another time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


def whole(store: Store) -> str:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.contents.digest(with_log=True)


@pytest.mark.slow
@pytest.mark.parametrize("change", [date(2026, 3, 8), date(2026, 11, 1)])
def test_notes_of_a_night_whose_clocks_change_are_taken_up_once_each(store: Store, change: date) -> None:
    """Every half hour of wall-clock time around the change, doubled and missing hours included."""
    start = datetime(change.year, change.month, change.day, tzinfo=NEW_YORK).astimezone(UTC)
    times = [start + timedelta(minutes=30 * n) for n in range(-8, 16)]
    fill(store, [candidate(f"Note  about copies {n % 6}", at, native_id=f"n{n}") for n, at in enumerate(times)])
    for days in range(-1, 4):
        run(store, change + timedelta(days=days))
    with store.reading() as tx:
        found = tx.memories.read([f"n{n}" for n in range(24)])
    assert sum(memory.archived_at is None for memory in found.values()) == 6
    assert [found[f"n{n}"].created_at for n in range(24)] == times
    whole(store)


def test_the_nightly_tick_takes_each_day_once_over_both_changes_of_the_clock() -> None:
    for first in (date(2026, 3, 5), date(2026, 10, 29)):
        ticks = [
            datetime(day.year, day.month, day.day, 3, 30, tzinfo=NEW_YORK)
            for day in (first + timedelta(days=n) for n in range(8))
        ]
        assert [latest_complete_day(tick) for tick in ticks] == [first + timedelta(days=n - 1) for n in range(8)]


@pytest.mark.slow
def test_a_leap_day_is_a_night_like_any_other(store: Store) -> None:
    leap = datetime(2024, 2, 28, 22, 0, tzinfo=UTC)
    fill(store, lesson(4, leap - timedelta(hours=3)))
    fill(store, [candidate("Written on the leap day", leap + timedelta(days=1), native_id="leap")])
    assert run(store, date(2024, 2, 28)).memories_archived == 0, "less than 24 hours old"
    assert run(store, date(2024, 2, 29)).memories_archived == 4
    run(store, date(2024, 3, 1))
    assert "leap" in read_state(store, "2024-02-29").active and "leap" not in read_state(store, "2024-02-28").active


@pytest.mark.slow
def test_a_store_that_moves_between_time_zones_has_the_same_nights(store: Store) -> None:
    hashes = set()
    for name, zones in (("a", ["UTC"] * 3), ("b", ["Pacific/Kiritimati", "America/Adak", "Asia/Kathmandu"])):
        travelling = Store(store.path.with_name(f"{name}.duckdb"))
        for day, zone in enumerate(zones):
            with machine_in(zone):
                if day == 0:
                    fill(travelling, lesson(5, datetime(2026, 3, 1, 23, 30, tzinfo=UTC)))
                run(travelling, date(2026, 3, 2 + day))
        with machine_in(zones[-1]):
            hashes.add(whole(travelling))
            assert len(read_state(travelling, "2026-03-02").active) == 5
    assert len(hashes) == 1


@pytest.mark.slow
def test_a_clock_set_back_an_hour_leaves_history_in_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit log is ordered by its sequence, and a night's own times come from its partition."""
    twin = Store(store.path.with_name("twin.duckdb"))
    for each in (store, twin):
        fill(each, lesson(5))
    run(twin, date(2026, 3, 3))
    before = datetime.now(UTC)

    class Back(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return before - timedelta(hours=1)

    for module in ("consolidation.report", "consolidation.run", "consolidation.context", "store.runs"):
        monkeypatch.setattr(f"memory_pipeline.{module}.datetime", Back)
    report = run(store, date(2026, 3, 3))
    assert report.verdict == "PASS" and report.duration_ms >= 0
    monkeypatch.undo()
    assert whole(store) == whole(twin)
    with store.reading() as tx:
        assert [event.action for event in tx.history.of("gateway-0")] == ["insert", "update", "insert"]
    assert run(store, date(2026, 3, 4)).verdict == "IDLE"
