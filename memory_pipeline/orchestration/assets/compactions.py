"""The compactions of live sessions: the asset, with the gates as asset checks, its job, and the sensors that start it.

What fires is kept in the store before a run is asked for, so that a tick that is repeated, a second sensor or a hook
finds it there: one trigger, one run. The cursor keeps since when each session is known.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg
from pydantic import Field, TypeAdapter, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.location import CONVERSATIONS_GROUP, documented, job_of_assets, watches
from memory_pipeline.orchestration.resources import HOLDER_TAG, NightResource
from memory_pipeline.orchestration.showing import Row, attributes, by_status, preview, schema_of_document, specs_of
from memory_pipeline.records.conversation import TriggerKind
from memory_pipeline.sessions.documents import CompactedSession
from memory_pipeline.store import Store

NAME = "session_compactions"
#: Agents that work every day are compacted at least once a month.
_MONTHLY = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=31))
_GATES = {
    "curated_captured": "Every note marked [CURATE] is among what is kept; else nothing is written.",
    "no_open_decisions": "No question about what is to be decided is the last word on it.",
    "no_contradicting_facts": "What is kept contradicts neither itself nor what stands in MEMORY.md.",
    "memory_parses": "MEMORY.md has our block once, as it was written; else every file has its bytes back.",
    "index_refreshed": "Every turn of a session of a source is in the store and can be searched; else it is imported.",
    "reduction": "What is kept is shorter than what was said by the share that the settings ask for.",
}


class CompactionConfig(dg.Config):
    """The events that started a run."""

    events: list[str] = Field(default=[], description="Ids of trigger events; empty: compact every live session.")


@documented(
    dg.asset,
    name=NAME,
    check_specs=specs_of(_GATES, NAME),
    **attributes(
        CONVERSATIONS_GROUP,
        {"markdown"},
        _MONTHLY,
        schema_of_document(CompactedSession, "What was kept of each session."),
    ),
)
def session_compactions(
    context: dg.AssetExecutionContext, config: CompactionConfig, night: NightResource
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Writes what must not be lost of live sessions to their daily logs and MEMORY.md before their agents forget it.
    The sensors of contexts start it; started by hand, it compacts every live session."""
    from memory_pipeline.sessions.acting import act_on, compact_live

    settings, store = night.effective_settings(), night.store()
    acted = list(act_on(settings, store, config.events) if config.events else compact_live(settings, "dagster"))
    gates = [act.done for act in acted if isinstance(act.done, CompactedSession)]
    rows: list[Row] = [
        {
            "session": act.event.session_id,
            "trigger": act.event.kind,
            "action": act.event.action,
            "window": f"{act.event.share:.0%}",
            "outcome": act.outcome,
            "why": act.problem or act.event.reason,
        }
        for act in acted
    ]
    for act in acted:
        context.log.info(f"{act.event.action} of session {act.event.session_id}: {act.outcome} {act.problem}".rstrip())
        if act.done is not None and act.done.model:
            context.log.info(f"the model, for session {act.event.session_id}: {act.done.model}")
    return dg.MaterializeResult(
        metadata={
            "sessions": len(acted),
            **by_status(acted, ("done", "failed", "late"), "outcome"),
            "kept": sum(session.kept for session in gates),
            "promoted": sum(len(session.promoted) for session in gates),
            "tokens_before": sum(session.tokens_before for session in gates),
            "tokens_after": sum(session.tokens_after for session in gates),
            "model": "; ".join(act.done.model for act in acted if act.done and act.done.model) or "not asked",
            **preview(rows, "No session was live."),
        },
        check_results=[_check(name, gates) for name in _GATES],
    )


def _check(name: str, done: Sequence[CompactedSession]) -> dg.AssetCheckResult:
    results = [(session, gate) for session in done for gate in session.gates if gate.name == name]
    failed = [(session, gate) for session, gate in results if not gate.passed]
    rolls_back = any(gate.severity == "rolls back" for _, gate in failed)
    words = (
        "; ".join(f"{session.session}: {gate.found}" for session, gate in (failed or results))
        or "nothing was compacted"
    )
    return dg.AssetCheckResult(
        check_name=name,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if rolls_back else dg.AssetCheckSeverity.WARN,
        metadata={"sessions": len(results), "found": words},
    )


_OF_SESSIONS = ("claude-code", "openclaw-sessions")
_CURSOR = TypeAdapter(dict[str, dict[str, datetime]])

compaction_job = job_of_assets(
    "compact_sessions",
    "Flushes or compacts the live sessions for which a trigger fired; by hand, compacts all of them.",
    session_compactions,
)


@watches(is_on=False, job=compaction_job, minimum_interval_seconds=30)
def context_tokens(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Watches how full the contexts of live sessions are, and flushes or compacts them at the levels of the settings
    compaction.*, once for each context."""
    from memory_pipeline.sessions.triggers import CONTEXT

    return _watch(context, CONTEXT, "context sensor")


@watches(is_on=False, job=compaction_job, minimum_interval_seconds=60)
def time_or_tokens(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Compacts a live session two hours after its last compaction, or when it has used 70% of its window
    (compression.trigger, compression.time_interval, compression.token_threshold)."""
    from memory_pipeline.sessions.triggers import HYBRID

    return _watch(context, HYBRID, "hybrid sensor")


def _watch(
    context: dg.SensorEvaluationContext, kinds: Collection[TriggerKind], name: str
) -> dg.RunRequest | dg.SkipReason:
    settings, now = load_project_settings().values, datetime.now(UTC)
    have_sessions = any(source.format in _OF_SESSIONS for source in settings.sources_of_store)
    if not have_sessions and not settings.compaction.usage_files:
        return dg.SkipReason("no source has sessions, and no usage file is named (compaction.usage_files)")
    store = Store.of(settings)
    if not store.exists():
        return dg.SkipReason("there is no store yet; import something first")
    answer, cursor = look(settings, store, context.cursor, now, kinds, name)
    if cursor != context.cursor:
        context.update_cursor(cursor)
    return answer


def look(
    settings: Settings, store: Store, cursor: str | None, now: datetime, kinds: Collection[TriggerKind], name: str
) -> tuple[dg.RunRequest | dg.SkipReason, str]:
    """A run for what fires now, or why nothing does, and the next cursor."""
    from memory_pipeline.sessions.triggers import event_of, judge, live_sessions

    known = _read(cursor)
    watched, events = live_sessions(settings, store, now)
    seen = {usage.session: known.get(usage.session, now) for usage in watched.usages}
    verdicts = [judge(usage, settings, events, now, kinds=kinds, since=seen[usage.session]) for usage in watched.usages]
    due = [event_of(verdict, now, name) for verdict in verdicts if verdict.fires]
    next_cursor = _CURSOR.dump_json({"seen": dict(sorted(seen.items()))}).decode()
    if not due:
        fullest = f"{verdicts[0].usage.session}: {verdicts[0].why}" if verdicts else "no session is live"
        return dg.SkipReason("; ".join([fullest, *watched.problems])), next_cursor
    with store.writing(name) as tx:
        for event in due:
            tx.triggers.keep(event)
    ids = [event.id for event in due]
    run_config = night_config(settings) | {"ops": {NAME: {"config": {"events": ids}}}}
    key = f"{'-'.join(ids[:3])}-{now.isoformat()}"
    return dg.RunRequest(run_key=key, run_config=run_config, tags={HOLDER_TAG: name}), next_cursor


def _read(cursor: str | None) -> dict[str, datetime]:
    """The time since which each session is known; an unreadable cursor is empty."""
    try:
        return _CURSOR.validate_json(cursor or "{}").get("seen", {})
    except ValidationError:
        return {}
