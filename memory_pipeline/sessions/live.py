"""The sessions that are live: of the sources of the store, of usage files, and of those that report by the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats.claude_code import ClaudeCodeImporter
from memory_pipeline.ingest.importer import ALL_FILES
from memory_pipeline.records import SessionUsage, TriggerEvent
from memory_pipeline.sessions.documents import TriggerShown
from memory_pipeline.sessions.triggers import judge
from memory_pipeline.sessions.usage import ContextUsage, read_claude, read_openclaw, read_usage_file
from memory_pipeline.store import Store

#: Sessions that have been quiet for longer are left alone.
ACTIVE_FOR = timedelta(hours=12)


@dataclass
class Watched:
    """Live sessions, the fullest first, and what could not be read."""

    usages: list[ContextUsage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def find_sessions(settings: Settings, now: datetime, reported: Iterable[SessionUsage] = ()) -> Watched:
    """How full the contexts of the sessions are that were active within ACTIVE_FOR. `reported`: what sessions reported
    to the API. Of several reports about one session, the newest counts. A source that cannot be read is a problem, and
    no error."""
    watched = Watched()
    since = now - ACTIVE_FOR
    found: list[ContextUsage] = [_of_report(one) for one in reported]
    for name in settings.compaction.usage_files:
        try:
            found += read_usage_file(Path(name).expanduser(), settings.compaction)
        except MemoryPipelineError as error:
            watched.problems.append(str(error))
    for source in settings.sources_of_store:
        try:
            if source.format == "claude-code":
                found += _of_claude(source, settings, since)
            elif source.format == "openclaw-sessions":
                found += read_openclaw(Path(source.path), settings.compaction)
        except MemoryPipelineError as error:
            watched.problems.append(f"{source.name}: {error}")
        except OSError as error:
            watched.problems.append(f"{source.name}: {cause_and_mend(error)}")
    newest: dict[str, ContextUsage] = {}
    for usage in found:
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
        raise InputError(f"several sessions begin with '{name}': {', '.join(one.session for one in fitting)}")
    known = ", ".join(usage.session for usage in watched if usage.transcript) or "none"
    raise InputError(f"'{name}' is no transcript, and no live session with one is called so; live are: {known}")


def _of_report(one: SessionUsage) -> ContextUsage:
    return ContextUsage(
        session=one.session_id,
        agent="api",
        tokens=one.tokens_used,
        window=one.window_tokens,
        at=one.reported_at,
        project=one.project_id,
        place=one.reported_by,
    )


def _of_claude(source: SourceTable, settings: Settings, since: datetime) -> Iterator[ContextUsage]:
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
        bytes_since=newer.bytes_since or older.bytes_since,
    )


def look_at_sessions(settings: Settings, store: Store, now: datetime) -> tuple[list[TriggerShown], list[str]]:
    """What would fire now for each live session, and what could not be read. The time of a session that was never
    compacted is counted from when a sensor first sees it, so it fires nothing here."""
    reported: list[SessionUsage] = []
    if store.exists():
        with store.reading() as tx:
            reported = tx.sessions.reported_since(now - ACTIVE_FOR)
    watched = find_sessions(settings, now, reported)
    events: list[TriggerEvent] = []
    if store.exists():
        with store.reading() as tx:
            events = tx.triggers.of_sessions([usage.session for usage in watched.usages])
    shown = []
    for usage in watched.usages:
        verdict = judge(usage, settings, events, now)
        fields = {name: getattr(usage, name) for name in TriggerShown.model_fields if hasattr(usage, name)}
        fields |= {name: getattr(verdict, name) for name in ("level", "fires", "action", "why")}
        shown.append(TriggerShown.model_validate(fields))
    return shown, watched.problems
