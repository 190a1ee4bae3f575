"""When a live session is flushed or compacted: once for each context, never twice for the same reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.records import TriggerEvent
from memory_pipeline.sessions.triggers import CONTEXT, HYBRID, event_of, judge
from memory_pipeline.sessions.usage import ContextUsage
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, sql_rows
from memory_pipeline_tests.ingest.bring import bring

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = Settings()


def usage(share: float, compactions: int = 0, at: datetime = NOW, transcript: str = "s.jsonl") -> ContextUsage:
    tokens = round(200_000 * share)
    return ContextUsage(
        session="s", agent="claude-code", tokens=tokens, window=200_000, at=at, compactions=compactions,
        transcript=transcript,
    )  # fmt: skip


def fired(share: float, events: list[TriggerEvent], now: datetime = NOW, **fields: int) -> str | None:
    """What fires; it is done at once, and added to the events."""
    verdict = judge(usage(share, at=now, **fields), SETTINGS, events, now, since=NOW)
    if verdict.fires:
        events.append(replace(event_of(verdict, now, "test"), outcome="done", done_at=now))
    return verdict.fires


def test_one_context_fires_each_level_once_and_the_next_one_anew() -> None:
    events: list[TriggerEvent] = []
    rises = [fired(share, events) for share in (0.5, 0.7, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99)]
    assert rises == [None, "tokens", None, None, "compaction", None, "emergency", None]
    assert [event.action for event in events] == ["compact", "compact", "flush"]
    again = [fired(share, events, compactions=1) for share in (0.2, 0.8, 0.8, 0.91)]
    assert again == [None, "tokens", None, "compaction"]
    assert len({event.id for event in events}) == len(events)


def test_what_the_other_sensor_did_at_the_same_level_is_not_done_again() -> None:
    done = event_of(judge(usage(0.93), SETTINGS, [], NOW, kinds=HYBRID), NOW, "hybrid sensor")
    done = replace(done, outcome="done", done_at=NOW)
    assert done.kind == "tokens"
    assert judge(usage(0.94), SETTINGS, [done], NOW, kinds=CONTEXT).fires is None
    assert judge(usage(0.98), SETTINGS, [done], NOW, kinds=CONTEXT).fires == "emergency"
    early = replace(done, tokens_used=144_000)
    assert judge(usage(0.94), SETTINGS, [early], NOW, kinds=CONTEXT).fires == "compaction"


def test_with_time_alone_the_levels_of_the_context_still_fire() -> None:
    settings = SETTINGS.with_values({"compression.trigger": "time"})
    shares = {share: judge(usage(share), settings, [], NOW, since=NOW).fires for share in (0.75, 0.8, 0.9, 0.98)}
    assert shares == {0.75: None, 0.8: "warning", 0.9: "compaction", 0.98: "emergency"}


def test_two_hours_after_the_last_compaction_the_next_is_due_if_something_was_said() -> None:
    events: list[TriggerEvent] = []
    assert fired(0.1, events, NOW + timedelta(minutes=119)) is None
    assert fired(0.1, events, NOW + timedelta(minutes=120)) == "time"
    assert fired(0.1, events, NOW + timedelta(minutes=150)) is None
    later = NOW + timedelta(hours=5)
    quiet = judge(usage(0.1, at=NOW + timedelta(minutes=110)), SETTINGS, events, later, since=NOW)
    assert quiet.fires is None
    assert fired(0.1, events, later) == "time"
    settings = SETTINGS.with_values({"compression.trigger": "token"})
    assert judge(usage(0.1, at=later), settings, [], later, since=NOW).fires is None


def test_what_is_under_way_is_waited_for_and_what_failed_or_was_lost_is_tried_again() -> None:
    started = event_of(judge(usage(0.9), SETTINGS, [], NOW), NOW, "test")
    for outcome, minutes, fires in (
        ("started", 29, None), ("started", 30, "emergency"), ("failed", 9, "emergency"), ("done", 60, "emergency"),
    ):  # fmt: skip
        now = NOW + timedelta(minutes=minutes)
        verdict = judge(usage(0.98, at=now), SETTINGS, [replace(started, outcome=outcome)], now)  # type: ignore[arg-type]
        assert verdict.fires == fires, (outcome, minutes)
    for outcome, minutes, fires in (("failed", 9, None), ("failed", 10, "compaction"), ("done", 600, None)):
        now = NOW + timedelta(minutes=minutes)
        verdict = judge(usage(0.92, at=now), SETTINGS, [replace(started, outcome=outcome)], now)  # type: ignore[arg-type]
        assert verdict.fires == fires, (outcome, minutes)


def test_an_old_count_and_a_session_without_words_fire_nothing() -> None:
    assert judge(replace(usage(0.99), is_stale=True), SETTINGS, [], NOW).fires is None
    verdict = judge(usage(0.99, transcript=""), SETTINGS, [], NOW)
    assert verdict.fires is None and "no transcript" in verdict.why


def test_each_sensor_fires_its_own() -> None:
    assert judge(usage(0.95), SETTINGS, [], NOW, kinds=HYBRID).fires == "tokens"
    assert judge(usage(0.95), SETTINGS, [], NOW, kinds=CONTEXT).fires == "compaction"
    assert judge(usage(0.75), SETTINGS, [], NOW, kinds=CONTEXT).fires is None


@pytest.mark.parametrize("interval", ["", "2", "0h", "2 weeks", "-1h", "1h30m"])
def test_an_interval_that_is_none_is_refused(interval: str) -> None:
    with pytest.raises(ValueError, match="90m, 2h or 1d"):
        Settings.model_validate({"compression": {"time_interval": interval}})


def test_what_fired_is_in_the_log_and_in_an_export_of_everything(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("x y z")])
    event = event_of(judge(usage(0.93), SETTINGS, [], NOW), NOW, "context sensor")
    with store.writing("test") as tx:
        tx.triggers.keep(event)
        tx.triggers.end(event.id, "done", NOW)
    export_memories(store, "jsonl", tmp_path / "all.jsonl", everything=True)
    other = Store(tmp_path / "other" / "store.duckdb")
    bring(other, tmp_path / "all.jsonl", "jsonl")
    with store.reading() as tx, other.reading() as copy:
        assert tx.triggers.newest(9) == copy.triggers.newest(9) == [replace(event, outcome="done", done_at=NOW)]
        logged = sql_rows(tx, "select action from audit_log where table_name = 'trigger_events' order by sequence")
    assert [row[0] for row in logged] == ["insert", "update"]
