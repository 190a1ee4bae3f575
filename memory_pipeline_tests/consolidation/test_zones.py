"""Days in texts are those of the clock by which a source wrote, whatever UTC says."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import zone as zone_of
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW, run, settings_for

ZONES = ["UTC", "Asia/Tokyo", "Pacific/Auckland", "America/Los_Angeles", "Europe/Lisbon"]
#: Europe changes to summer time between the first and the last.
DAYS = [date(2026, 3, 27) + timedelta(days=number) for number in range(6)]
LETTERS = [4, 6, 9, 5, 7, 8]


def bring(store: Store, path: Path, name: str, zone: str) -> None:
    reading = read_format(name, path, zone_of(zone), NOW, settings_for(store), Skipped())
    assert not import_memories(store, reading, project="p", embedder=Lexical(), now=NOW).rejected


def said_after(store: Store, path: Path, name: str, zone: str) -> list[str]:
    """What is active after an import in a zone and a night."""
    bring(store, path, name, zone)
    run(store, date(2026, 4, 9))
    with store.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []
        return [memory.content for memory in tx.memories.all(include_archived=False)]


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("clock", ["", "[00:30] ", "[23:40] "])
def test_a_series_says_the_days_of_its_files(store: Store, tmp_path: Path, zone: str, clock: str) -> None:
    (tmp_path / "w" / "memory").mkdir(parents=True)
    for day, letters in zip(DAYS, LETTERS, strict=True):
        (tmp_path / "w" / "memory" / f"{day}.md").write_text(f"- {clock}Mail queue check complete: {letters} letters\n")
    (said,) = said_after(store, tmp_path / "w", "openclaw", zone)
    assert "8 letters (1 April 2026, the newest of 6 readings since 27 March)" in said


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_a_pattern_says_the_days_of_its_sources(store: Store, tmp_path: Path, zone: str) -> None:
    rule = "The soak test of the graph counts only if nobody restarts the cluster meanwhile"
    texts = [
        f"{rule}, and Ana writes that on the board tomorrow.",
        f"Reminder: {rule.lower()}.",
        f"{rule} (noted again).",
    ]
    rows = [{"content": text, "date": str(day)} for text, day in zip(texts, DAYS, strict=False)]
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    said = " ".join(said_after(store, path, "jsonl", zone))
    assert "Ana writes that on the board tomorrow (28 March 2026)" in said, said


def test_a_named_zone_is_kept_and_a_machines_time_is_told_in_the_users(store: Store, tmp_path: Path) -> None:
    times = {
        "2026-03-10T02:30:00+09:00": 10,
        "2026-03-09T17:30:00Z": 10,
        "2026-03-09T17:30:00-05:00": 9,
        1773077400: 10,
    }
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"content": f"note {n}", "created_at": at}) for n, at in enumerate(times)))
    bring(store, path, "jsonl", "Asia/Tokyo")
    with store.reading() as tx:
        memories = tx.memories.all()
        assert [memory.day.day for memory in sorted(memories, key=lambda m: m.content)] == list(times.values())
    export_memories(store, "jsonl", tmp_path / "out.jsonl")
    other = Store(tmp_path / "other.duckdb")
    bring(other, tmp_path / "out.jsonl", "jsonl", "America/Los_Angeles")
    with other.reading() as tx:
        assert {(m.id, m.utc_offset) for m in tx.memories.all()} == {(m.id, m.utc_offset) for m in memories}
