"""The live sessions, and when one is flushed or compacted: at levels of its context, a share of its window, a time.

Sessions are those of the sources of the store, of usage files, and those that report by the API. Of a context between
two compactions, a trigger fires once, and not if one that asks for as much has fired before: what was compacted at 0.7
of the window is not flushed again at 0.8. A run that failed or was lost may be tried again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.night import check_interval
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats.claude_code import ClaudeCodeImporter
from memory_pipeline.ingest.importer import ALL_FILES
from memory_pipeline.records import SessionUsage, TriggerAction, TriggerEvent, TriggerKind, derived_id
from memory_pipeline.sessions.documents import TriggerShown
from memory_pipeline.sessions.usage import (
    ContextUsage,
    Level,
    level_of,
    levels,
    read_claude,
    read_openclaw,
    read_usage_file,
)
from memory_pipeline.store import Store

#: How much each trigger asks for; of one context, what asks for no more than what has fired does not fire.
RANK: dict[TriggerKind, int] = {
    "warning": 1,
    "tokens": 2,
    "time": 2,
    "compaction": 3,
    "hook": 3,
    "command": 3,
    "emergency": 4,
}
ACTIONS: dict[TriggerKind, TriggerAction] = {
    "warning": "flush",
    "tokens": "compact",
    "time": "compact",
    "compaction": "compact",
    "emergency": "flush",
}
#: The triggers of the two sensors.
CONTEXT: frozenset[TriggerKind] = frozenset(("warning", "compaction", "emergency"))
HYBRID: frozenset[TriggerKind] = frozenset(("tokens", "time"))
#: After which a run that failed is tried again, and one of which nothing was heard counts as lost.
_AGAIN, _LOST = timedelta(minutes=10), timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on a session now: the trigger that fires, if one does, and why or why not."""

    usage: ContextUsage
    level: Level
    fires: TriggerKind | None
    why: str

    @property
    def action(self) -> TriggerAction | None:
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
    """Decides if a trigger fires for a session. `events`: what has fired for it; `since`: when the session was first
    seen, from which on its time is counted."""
    level = level_of(usage, settings.compaction)
    mine = [event for event in events if event.session_id == usage.session]
    due = [(kind, why) for kind, why in _due(usage, settings, level, mine, now, since) if kind in kinds]
    if not due:
        return Verdict(usage, level, None, _state(usage))
    kind, why = max(due, key=lambda pair: RANK[pair[0]])
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
    if level != "fine":
        yield level, _state(usage)
    if rules.trigger in ("token", "both") and not usage.is_stale and usage.share >= rules.token_threshold:
        yield "tokens", _state(usage)
    if rules.trigger in ("time", "both"):
        ended = [event.done_at for event in events if event.action == "compact" and event.outcome == "done"]
        last = max(filter(None, ended), default=since)
        interval = check_interval(rules.time_interval)
        if last is not None and now - last >= interval and usage.at > last:
            hours = (now - last) / timedelta(hours=1)
            yield "time", f"{hours:.1f} hours since its last compaction, or since it was first seen"


def _state(usage: ContextUsage) -> str:
    about = "about " if usage.estimated else ""
    stale = ", by a count that its agent calls old" if usage.is_stale else ""
    return f"{about}{usage.tokens:,} of {usage.window:,} tokens ({usage.share:.0%}){stale}"


def _before(
    kind: TriggerKind, usage: ContextUsage, rules: Settings, events: Sequence[TriggerEvent], now: datetime
) -> TriggerEvent | None:
    """The event that did as much for this context already; one that failed or was lost a while ago does not count."""
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
    """True if what fired did the same, or more, when the context was as full as this trigger asks for."""
    did_as_much = event.action == "compact" or ACTIONS[kind] == "flush"
    return did_as_much and any(
        level == kind and event.share >= least for level, least in levels(rules.compaction).items()
    )


def _rank(event: TriggerEvent) -> int:
    """The extent of what was done: a flush by hand is no compaction."""
    by_hand = event.kind in ("hook", "command")
    return RANK["warning"] if by_hand and event.action == "flush" else RANK.get(event.kind, 0)


def event_of(verdict: Verdict, now: datetime, by: str) -> TriggerEvent:
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


#: Sessions that have been quiet for longer are left alone.
ACTIVE_FOR = timedelta(hours=12)


@dataclass
class Watched:
    """Live sessions, the fullest first, and what could not be read."""

    usages: list[ContextUsage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def find_sessions(settings: Settings, now: datetime, reported: Iterable[SessionUsage] = ()) -> Watched:
    """The context usage of the sessions that were active within ACTIVE_FOR; the newest report of each counts.
    `reported`: what sessions reported to the API. A source that cannot be read is a problem, and no error."""
    watched = Watched()
    since = now - ACTIVE_FOR
    usages: list[ContextUsage] = [_read_report(report) for report in reported]
    for name in settings.compaction.usage_files:
        try:
            usages += read_usage_file(Path(name).expanduser(), settings.compaction)
        except MemoryPipelineError as error:
            watched.problems.append(str(error))
    for source in settings.sources_of_store:
        try:
            if source.format == "claude-code":
                usages += _read_claude_sessions(source, settings, since)
            elif source.format == "openclaw-sessions":
                usages += read_openclaw(Path(source.path), settings.compaction)
        except (MemoryPipelineError, OSError) as error:
            why = cause_and_mend(error) if isinstance(error, OSError) else error
            watched.problems.append(f"{source.name}: {why}")
    newest: dict[str, ContextUsage] = {}
    for usage in usages:
        before = newest.get(usage.session)
        newest[usage.session] = usage if before is None else _newer(before, usage)
    live = [usage for usage in newest.values() if usage.at >= since]
    watched.usages = sorted(live, key=lambda usage: (-usage.share, usage.session))
    return watched


def named_session(name: str, watched: Sequence[ContextUsage]) -> str:
    """The transcript of a session: a file, or one of the live sessions by the beginning of its name.

    Raises InputError if there is none, or several.
    """
    if ".sqlite#" in name or Path(name).expanduser().is_file():
        return str(Path(name).expanduser())
    fitting = [usage for usage in watched if usage.session.startswith(name)]
    if len(fitting) == 1 and fitting[0].transcript:
        return fitting[0].transcript
    if len(fitting) > 1:
        raise InputError(f"several sessions begin with '{name}': {', '.join(usage.session for usage in fitting)}")
    known = ", ".join(usage.session for usage in watched if usage.transcript) or "none"
    raise InputError(f"'{name}' is no transcript, and no live session with one is called so; live are: {known}")


def _read_report(report: SessionUsage) -> ContextUsage:
    return ContextUsage(
        session=report.session_id,
        agent="api",
        tokens=report.tokens_used,
        window=report.window_tokens,
        at=report.reported_at,
        project=report.project_id,
    )


def _read_claude_sessions(source: SourceTable, settings: Settings, since: datetime) -> Iterator[ContextUsage]:
    for _, file in ClaudeCodeImporter().files(Path(source.path), ALL_FILES, Skipped()):
        if file.suffix != ".jsonl" or datetime.fromtimestamp(file.stat().st_mtime, UTC) < since:
            continue
        if usage := read_claude(file, settings.compaction):
            yield usage


def _newer(one: ContextUsage, other: ContextUsage) -> ContextUsage:
    """The newer of two reports about a session, with what only the other one knows."""
    older, newer = sorted((one, other), key=lambda usage: usage.at)
    return replace(
        newer,
        transcript=newer.transcript or older.transcript,
        project=newer.project or older.project,
        compactions=max(newer.compactions, older.compactions),
    )


def live_sessions(settings: Settings, store: Store, now: datetime) -> tuple[Watched, list[TriggerEvent]]:
    """The live sessions, also those that reported to the API, and what has fired for them."""
    if not store.exists():
        return find_sessions(settings, now), []
    with store.reading() as tx:
        reported = tx.sessions.reported_since(now - ACTIVE_FOR)
    watched = find_sessions(settings, now, reported)
    with store.reading() as tx:
        return watched, tx.triggers.of_sessions([usage.session for usage in watched.usages])


def judge_sessions(settings: Settings, store: Store, now: datetime) -> tuple[list[TriggerShown], list[str]]:
    """The triggers that would fire now for each live session, and what could not be read. The time of a session that
    was never compacted is counted from when a sensor first sees it, so it fires nothing here."""
    watched, events = live_sessions(settings, store, now)
    triggers = []
    for usage in watched.usages:
        verdict = judge(usage, settings, events, now)
        fields = {name: getattr(verdict, name) for name in ("level", "fires", "action", "why")}
        triggers.append(TriggerShown.of_record(usage, **fields))
    return triggers, watched.problems
