"""When a live session is flushed or compacted: at levels of its context, at a share of its window, and after a time.

Of a context between two compactions, a trigger fires once, and not if one that asks for as much has fired before: what
was compacted at 0.7 of the window is not flushed again at 0.8. A run that failed or was lost may be tried again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_pipeline.config.night import check_interval
from memory_pipeline.config.settings import Settings
from memory_pipeline.records import TriggerEvent, derived_id
from memory_pipeline.records.conversation import TriggerAction, TriggerKind
from memory_pipeline.sessions.usage import ContextUsage, Level, level_of

#: How much each trigger asks for; of one context, what asks for no more than what has fired does not fire.
RANK: dict[TriggerKind, int] = {
    "bytes": 0,
    "warning": 1,
    "tokens": 2,
    "time": 2,
    "compaction": 3,
    "hook": 3,
    "command": 3,
    "emergency": 4,
}
ACTIONS: dict[TriggerKind, TriggerAction] = {
    "bytes": "flush",
    "warning": "flush",
    "tokens": "compact",
    "time": "compact",
    "compaction": "compact",
    "emergency": "flush",
}
#: The triggers of the two sensors.
CONTEXT: frozenset[TriggerKind] = frozenset(("bytes", "warning", "compaction", "emergency"))
HYBRID: frozenset[TriggerKind] = frozenset(("tokens", "time"))
#: After which a run that failed is tried again, and one of which nothing was heard counts as lost.
_AGAIN, _LOST = timedelta(minutes=10), timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a session now: the trigger that fires, if one does, and why or why not."""

    usage: ContextUsage
    level: Level
    fires: TriggerKind | None
    why: str

    @property
    def action(self) -> TriggerAction | None:
        """What it starts."""
        return ACTIONS[self.fires] if self.fires else None


def judge(
    usage: ContextUsage,
    settings: Settings,
    events: Iterable[TriggerEvent],
    now: datetime,
    *,
    kinds: Collection[TriggerKind] = CONTEXT | HYBRID,
    since: datetime | None = None,
) -> Verdict:
    """Whether a trigger fires for a session. `events`: what has fired for it; `since`: when the session was first
    seen, from which on its time is counted."""
    level = level_of(usage, settings.compaction)
    mine = [event for event in events if event.session_id == usage.session]
    due = [(kind, why) for kind, why in _due(usage, settings, level, mine, now, since) if kind in kinds]
    if not due:
        return Verdict(usage, level, None, _state(usage))
    kind, why = max(due, key=lambda one: RANK[one[0]])
    if not usage.transcript:
        return Verdict(usage, level, None, f"{why}, but no transcript of it is known; its agent can flush it itself")
    before = _before(kind, usage, settings, mine, now)
    if before is not None:
        did = "is under way" if before.outcome == "started" else before.outcome
        return Verdict(usage, level, None, f"{why}; '{before.kind}' fired at {before.fired_at:%Y-%m-%d %H:%M} ({did})")
    return Verdict(usage, level, kind, why)


def _due(
    usage: ContextUsage,
    settings: Settings,
    level: Level,
    events: Sequence[TriggerEvent],
    now: datetime,
    since: datetime | None,
) -> Iterable[tuple[TriggerKind, str]]:
    rules = settings.compression
    if level == "bytes":
        yield "bytes", f"its transcript grew by {usage.bytes_since:,} bytes without a compaction"
    elif level != "fine":
        yield level, _state(usage)
    if rules.trigger in ("token", "both") and not usage.is_stale and usage.share >= rules.token_threshold:
        yield "tokens", _state(usage)
    if rules.trigger in ("time", "both"):
        last = last_compaction(events, since)
        interval = check_interval(rules.time_interval)
        if last is not None and now - last >= interval and usage.at > last:
            hours = (now - last) / timedelta(hours=1)
            yield "time", f"{hours:.1f} hours since its last compaction, or since it was first seen"


def last_compaction(events: Iterable[TriggerEvent], since: datetime | None) -> datetime | None:
    """When a session was compacted last, or else first seen."""
    done = [
        event.done_at for event in events if event.action == "compact" and event.outcome == "done" and event.done_at
    ]
    return max(done, default=since)


def _state(usage: ContextUsage) -> str:
    about = "about " if usage.estimated else ""
    stale = ", by a count that its agent calls old" if usage.is_stale else ""
    return f"{about}{usage.tokens:,} of {usage.window:,} tokens ({usage.share:.0%}){stale}"


def _before(
    kind: TriggerKind, usage: ContextUsage, rules: Settings, events: Sequence[TriggerEvent], now: datetime
) -> TriggerEvent | None:
    """What has fired for this context already and does as much; what failed or was lost a while ago does not count."""
    for event in reversed(events):
        if event.outcome == "failed" and now - event.fired_at >= _AGAIN:
            continue
        if event.outcome == "started":
            if now - event.fired_at >= _LOST:
                continue
            return event  # one at a time
        if kind == "time" or event.kind == "time":  # counted from the last compaction, not by context
            continue
        if event.compactions == usage.compactions and (_rank(event) >= RANK[kind] or _covers(event, kind, rules)):
            return event
    return None


def _covers(event: TriggerEvent, kind: TriggerKind, rules: Settings) -> bool:
    """Whether what fired did the same, or more, when the context was as full as this trigger asks for."""
    level = {
        "warning": rules.compaction.warning,
        "compaction": rules.compaction.threshold,
        "emergency": rules.compaction.emergency,
    }.get(kind)
    did_as_much = event.action == "compact" or ACTIONS[kind] == "flush"
    return level is not None and did_as_much and event.share >= level


def _rank(event: TriggerEvent) -> int:
    """How much was done: a flush by hand is no compaction."""
    by_hand = event.kind in ("hook", "command")
    return RANK["warning"] if by_hand and event.action == "flush" else RANK[event.kind]


def event_of(verdict: Verdict, now: datetime, by: str) -> TriggerEvent:
    """The event of a trigger that fires."""
    if verdict.fires is None:
        raise ValueError(f"no trigger fires for session '{verdict.usage.session}'")
    return make_event(verdict.usage, verdict.fires, ACTIONS[verdict.fires], now, by, verdict.why)


def make_event(
    usage: ContextUsage, kind: TriggerKind, action: TriggerAction, now: datetime, by: str, reason: str
) -> TriggerEvent:
    """An event about a session. Those of levels have one id for each context; the others one for each time."""
    once = () if kind in CONTEXT or kind == "tokens" else (now.isoformat(),)
    return TriggerEvent(
        id=derived_id("trigger", usage.session, str(usage.compactions), kind, *once),
        project_id=usage.project,
        session_id=usage.session,
        agent=usage.agent,
        transcript=usage.transcript,
        kind=kind,
        action=action,
        compactions=usage.compactions,
        tokens_used=usage.tokens,
        window_tokens=usage.window,
        fired_at=now,
        fired_by=by,
        reason=reason,
    )
