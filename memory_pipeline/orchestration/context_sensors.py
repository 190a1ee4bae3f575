"""The sensors of live sessions: how full their contexts are, and how long ago they were compacted.

What fires is kept in the store before a run is asked for, so that a tick that is repeated, a second sensor or a hook
finds it there: one trigger, one run. The cursor keeps how far each transcript was read, and since when each session is
known.
"""

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from dagster import (
    AssetSelection,
    DefaultSensorStatus,
    RunRequest,
    SensorEvaluationContext,
    SkipReason,
    define_asset_job,
    in_process_executor,
    sensor,
)

from memory_pipeline.config.settings import Settings
from memory_pipeline.orchestration.assets.compactions import NAME, session_compactions
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.records.conversation import TriggerKind
from memory_pipeline.store import Store

_OF_SESSIONS = ("claude-code", "openclaw-sessions")

compaction_job = define_asset_job(
    "compact_sessions",
    selection=AssetSelection.assets(session_compactions),
    executor_def=in_process_executor,
    description="Flushes or compacts the live sessions for which a trigger fired; by hand, compacts all of them.",
)


@sensor(
    job=compaction_job,
    minimum_interval_seconds=30,
    default_status=DefaultSensorStatus.RUNNING,
    description=(
        "Watches how full the contexts of live sessions are, and flushes or compacts them at the levels of the "
        "settings compaction.*, once for each context."
    ),
)
def context_tokens(context: SensorEvaluationContext) -> RunRequest | SkipReason:
    from memory_pipeline.sessions.triggers import CONTEXT

    return _watch(context, CONTEXT, "context sensor")


@sensor(
    job=compaction_job,
    minimum_interval_seconds=60,
    default_status=DefaultSensorStatus.RUNNING,
    description=(
        "Compacts a live session two hours after its last compaction, or when it has used 70% of its window "
        "(compression.trigger, compression.time_interval, compression.token_threshold)."
    ),
)
def time_or_tokens(context: SensorEvaluationContext) -> RunRequest | SkipReason:
    from memory_pipeline.sessions.triggers import HYBRID

    return _watch(context, HYBRID, "hybrid sensor")


def _watch(context: SensorEvaluationContext, kinds: Collection[TriggerKind], name: str) -> RunRequest | SkipReason:
    settings, now = load_project_settings().values, datetime.now(UTC)
    if not _may_have_sessions(settings):
        return SkipReason("no source has sessions, and no usage file is named (compaction.usage_files)")
    store = Store.of(settings)
    if not store.exists():
        return SkipReason("there is no store yet; import something first")
    answer, cursor = look(settings, store, context.cursor, now, kinds, name)
    if cursor != context.cursor:
        context.update_cursor(cursor)
    return answer


def _may_have_sessions(settings: Settings) -> bool:
    return bool(settings.compaction.usage_files) or any(
        source.format in _OF_SESSIONS for source in settings.sources_of_store
    )


def look(
    settings: Settings, store: Store, cursor: str | None, now: datetime, kinds: Collection[TriggerKind], name: str
) -> tuple[RunRequest | SkipReason, str]:
    """A run for what fires now, or why nothing does, and the next cursor."""
    from memory_pipeline.sessions.live import ACTIVE_FOR, find_sessions
    from memory_pipeline.sessions.triggers import event_of, judge
    from memory_pipeline.sessions.usage import Followed

    kept = _read(cursor)
    with store.reading() as tx:
        reported = tx.sessions.reported_since(now - ACTIVE_FOR)
    followed = {path: Followed.of_json(told) for path, told in kept["followed"].items()}
    watched = find_sessions(settings, now, reported, followed)
    seen = {usage.session: kept["seen"].get(usage.session, now.isoformat()) for usage in watched.usages}
    with store.reading() as tx:
        events = tx.triggers.of_sessions([usage.session for usage in watched.usages])
    verdicts = [
        judge(usage, settings, events, now, kinds=kinds, since=datetime.fromisoformat(seen[usage.session]))
        for usage in watched.usages
    ]
    due = [event_of(verdict, now, name) for verdict in verdicts if verdict.fires]
    told = json.dumps(
        {"followed": {path: one.as_json() for path, one in watched.followed.items()}, "seen": seen}, sort_keys=True
    )
    if not due:
        fullest = f"{verdicts[0].usage.session}: {verdicts[0].why}" if verdicts else "no session is live"
        return SkipReason("; ".join([fullest, *watched.problems])), told
    with store.writing(name) as tx:
        for event in due:
            tx.triggers.keep(event)
    ids = [event.id for event in due]
    run_config = night_config(settings) | {"ops": {NAME: {"config": {"events": ids}}}}
    key = f"{'-'.join(ids[:3])}-{now.isoformat()}"
    return RunRequest(run_key=key, run_config=run_config, tags={HOLDER_TAG: name}), told


def _read(cursor: str | None) -> dict[str, dict[str, Any]]:
    """The cursor as it was written; an unreadable one is empty."""
    try:
        told = json.loads(cursor or "{}")
        seen = {str(name): datetime.fromisoformat(at).isoformat() for name, at in dict(told.get("seen", {})).items()}
        return {"followed": dict(told.get("followed", {})), "seen": seen}
    except (ValueError, AttributeError, TypeError):
        return {"followed": {}, "seen": {}}
