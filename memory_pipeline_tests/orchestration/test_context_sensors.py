"""The sensors of live sessions: what fires is kept, starts one run, and is done once."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dagster import DagsterInstance, RunRequest, SkipReason, build_sensor_context, materialize

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import import_notes
from memory_pipeline.orchestration.assets import compactions as context_sensors
from memory_pipeline.orchestration.assets.compactions import NAME, context_tokens, look, session_compactions
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.records import SessionUsage, TriggerEvent
from memory_pipeline.sessions.acting import act_on
from memory_pipeline.sessions.documents import CompactedSession
from memory_pipeline.sessions.triggers import CONTEXT, HYBRID
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import PAGES, pages_of
from memory_pipeline_tests.build import candidate, fill, night_of, settings_for
from memory_pipeline_tests.sessions.a_session import rows, session_file
from memory_pipeline_tests.sessions.sessions import compacted, said

NOW = datetime.now(UTC)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A live session whose last answer says that 186,000 of 200,000 tokens are in use."""
    path = session_file(tmp_path / "claude")
    moment = iter(range(100))
    lines = [row | {"timestamp": (NOW - timedelta(seconds=100 - next(moment))).isoformat()} for row in rows()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def settings(store: Store, transcript: Path) -> Settings:
    fill(store, [candidate("x y z")])
    sources = [{"name": "cc", "format": "claude-code", "path": str(transcript.parent.parent)}]
    checked = Settings.model_validate({"sources": sources}).sources
    return settings_for(store, sources=checked)


def events_of(store: Store) -> list[TriggerEvent]:
    with store.reading() as tx:
        return tx.triggers.newest(100)


def append(transcript: Path, *lines: object) -> None:
    with transcript.open("a") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))


def test_one_context_starts_one_run_whatever_the_ticks_and_the_sensors(store: Store, settings: Settings) -> None:
    first, cursor = look(settings, store, None, NOW, CONTEXT, "context sensor")
    assert isinstance(first, RunRequest)
    (event,) = events_of(store)
    assert (event.kind, event.action, event.outcome) == ("compaction", "compact", "started")
    assert first.run_config["ops"][NAME]["config"]["events"] == [event.id]
    for kept, kinds in ((cursor, CONTEXT), (None, CONTEXT), ("{broken", CONTEXT), (None, HYBRID)):
        again, _ = look(settings, store, kept, NOW + timedelta(seconds=30), kinds, "another tick")
        assert isinstance(again, SkipReason) and "is under way" in str(again.skip_message)
    assert len(events_of(store)) == 1


def test_what_fired_is_done_once_and_recorded(store: Store, settings: Settings, tmp_path: Path) -> None:
    look(settings, store, None, NOW, CONTEXT, "context sensor")
    (event,) = events_of(store)
    (acted,) = act_on(settings, store, [event.id])
    assert acted.outcome == "done" and events_of(store)[0].outcome == "done"
    assert (pages_of(store.path, "app") / "MEMORY.md").is_file()
    assert list(act_on(settings, store, [event.id])) == []
    again, _ = look(settings, store, None, NOW + timedelta(hours=1), CONTEXT, "context sensor")
    assert isinstance(again, SkipReason)


def test_nothing_is_done_after_the_compaction_that_it_was_for(
    store: Store, settings: Settings, transcript: Path
) -> None:
    look(settings, store, None, NOW, CONTEXT, "context sensor")
    append(transcript, compacted(11, after=20_000), said(12, "user", "Never deploy on a Friday."))
    (event,) = events_of(store)
    (acted,) = act_on(settings, store, [event.id])
    assert acted.outcome == "late" and not store.path.with_suffix(PAGES).exists()
    again, _ = look(settings, store, None, NOW + timedelta(minutes=1), CONTEXT, "context sensor")
    assert isinstance(again, SkipReason), "the new context is not full"


def test_a_transcript_that_is_gone_fails_and_is_tried_again_later(
    store: Store, settings: Settings, transcript: Path
) -> None:
    look(settings, store, None, NOW, CONTEXT, "context sensor")
    (event,) = events_of(store)
    words = transcript.read_bytes()
    transcript.unlink()
    (acted,) = act_on(settings, store, [event.id])
    assert acted.outcome == "failed" and "no transcript" in acted.problem
    transcript.write_bytes(words)
    soon, _ = look(settings, store, None, NOW + timedelta(minutes=9), CONTEXT, "context sensor")
    later, _ = look(settings, store, None, NOW + timedelta(minutes=11), CONTEXT, "context sensor")
    assert isinstance(soon, SkipReason) and isinstance(later, RunRequest) and len(events_of(store)) == 1


def test_the_time_of_a_session_counts_from_when_it_was_first_seen(
    store: Store, settings: Settings, transcript: Path
) -> None:
    settings = settings.with_values({"compression.trigger": "time"})
    first, cursor = look(settings, store, None, NOW - timedelta(minutes=150), HYBRID, "hybrid sensor")
    assert isinstance(first, SkipReason)
    later, _ = look(settings, store, cursor, NOW, HYBRID, "hybrid sensor")
    assert isinstance(later, RunRequest) and events_of(store)[0].kind == "time"


def test_a_quiet_session_and_one_of_the_api_without_words_start_nothing(
    store: Store, settings: Settings, transcript: Path
) -> None:
    os.utime(transcript, (NOW.timestamp() - 90_000, NOW.timestamp() - 90_000))
    with store.writing("test") as tx:
        tx.sessions.keep(SessionUsage("app", "other", 199_000, 200_000, NOW, "api"))
    answer, _ = look(settings, store, None, NOW, CONTEXT, "context sensor")
    assert isinstance(answer, SkipReason) and "no transcript of it is known" in str(answer.skip_message)


def test_without_sources_of_sessions_a_tick_reads_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PIPELINE_STORE_PATH", str(store.path))
    monkeypatch.setattr(context_sensors, "look", lambda *_: pytest.fail("it looked"))
    with build_sensor_context() as context:
        answer = context_tokens(context)
    assert isinstance(answer, SkipReason) and "usage file" in str(answer.skip_message)


def test_the_asset_has_the_gates_as_checks(store: Store, settings: Settings) -> None:
    look(settings, store, None, NOW, CONTEXT, "context sensor")
    ids = [event.id for event in events_of(store)]
    changes = {"store.path": str(store.path)}
    with DagsterInstance.ephemeral() as instance:
        result = materialize(
            [session_compactions],
            instance=instance,
            resources={"night": NightResource(settings=changes)},
            run_config={"ops": {NAME: {"config": {"events": ids}}}},
        )
    assert result.success
    checks = {check.check_name: check.passed for check in result.get_asset_check_evaluations()}
    assert set(checks) == {
        "curated_captured",
        "no_open_decisions",
        "no_contradicting_facts",
        "memory_parses",
        "index_refreshed",
        "reduction",
    }
    assert checks["memory_parses"] and checks["curated_captured"]
    (event,) = result.get_asset_materialization_events()
    assert event.materialization.metadata["done"].value == 1 and events_of(store)[0].outcome == "done"


def test_what_was_said_can_be_searched_at_once_and_the_next_reading_brings_nothing_twice(
    store: Store, settings: Settings
) -> None:
    look(settings, store, None, NOW, CONTEXT, "context sensor")
    (acted,) = act_on(settings, store, [event.id for event in events_of(store)])
    assert isinstance(acted.done, CompactedSession)
    (gate,) = [gate for gate in acted.done.gates if gate.name == "index_refreshed"]
    assert gate.passed and gate.found == "10 turns can be searched"
    with store.reading() as tx:
        said = [memory for memory in tx.memories.all() if memory.memory_type == "conversation"]
    assert len(said) == 10 and {memory.project_id for memory in said} == {"app"}
    import_notes(night_of(store, NOW.date(), settings))
    with store.reading() as tx:
        again = [memory for memory in tx.memories.all() if memory.memory_type == "conversation"]
        assert tx.integrity.check(deep=True) == []
    assert sorted(memory.id for memory in again) == sorted(memory.id for memory in said)
