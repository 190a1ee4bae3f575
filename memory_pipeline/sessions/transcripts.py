"""Reads what was said in a session since its last compaction, from the file in which its agent keeps it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.ingest.candidates import Candidate, Item, Rejected, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.ingest.formats.openclaw_events import Events, read_session
from memory_pipeline.ingest.formats.openclaw_sessions import events_of, transcript_events
from memory_pipeline.ingest.importer import OneFile
from memory_pipeline.ingest.sqlite_files import reading
from memory_pipeline.ingest.turns import Transcripts
from memory_pipeline.records import Turn, derived_id
from memory_pipeline.text.counts import estimated_tokens
from memory_pipeline.text.redaction import redact
from memory_pipeline.text.whole import blank_temporary

_BOUNDARY = b'"compact_boundary"'
_DATABASE = ".sqlite#"
#: The import formats of agents' sessions, and the project of a session that names none.
_FORMATS = {"claude-code": "claude-code", "openclaw": "openclaw-sessions"}
_DEFAULT_PROJECT = "workspace"


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of a session since its last compaction. `said`: the turns as its importer reads them; `temporary`: how
    many entries its turns lack because they are marked so."""

    name: str
    agent: str
    project: str
    place: str
    turns: tuple[Turn, ...]
    compactions: int = 0
    said: tuple[Candidate, ...] = field(default=(), repr=False, compare=False)
    temporary: int = 0

    @property
    def tokens(self) -> int:
        """About how many tokens its turns have."""
        return sum(turn.token_count for turn in self.turns)


def read_session_file(place: str, settings: Settings, project: str | None = None) -> Session:
    """The session in a file: a transcript of Claude Code or of OpenClaw, or `DATABASE.sqlite#SESSION`.

    Raises InputError for a file that is none.
    """
    named, _, session = place.partition("#") if _DATABASE in place else (place, "", "")
    path, clock = Path(named), zone(settings.import_.timezone)
    file = OneFile(path, path.name, clock, datetime.now(UTC), settings, Skipped(), is_own=True)
    if not path.is_file():
        raise InputError(f"there is no transcript '{path}'; check the path")
    try:
        if session:
            with reading(path) as connection:
                return _read_openclaw(
                    events_of(connection, session, path.name), session, f"{path}#{session}", file, project
                )
        records = (item[1] for item in transcript_events(file, Skipped()) if not isinstance(item, Rejected))
        first = next((record for record in records if "type" in record), None)
        if first is None and path.stat().st_size:
            raise InputError(
                f"'{path}' is no transcript of a session; name one of Claude Code or OpenClaw (*.jsonl), or "
                "DATABASE.sqlite#SESSION of OpenClaw"
            )
        if first is not None and first["type"] == "session" and "sessionId" not in first:
            return _read_openclaw(lambda: transcript_events(file, Skipped()), path.stem, str(path), file, project)
        return _read_claude(file, project)
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error


def _read_claude(file: OneFile, project: str | None) -> Session:
    with file.path.open("rb") as lines:
        boundaries = [number for number, line in enumerate(lines, start=1) if _BOUNDARY in line[:2000]]
    session = Session(file.path.stem, "claude-code", project or "", str(file.path), (), len(boundaries))
    return _with_turns(session, importer_of("claude-code").read(file), max(boundaries, default=0), file.settings)


def _read_openclaw(events: Events, name: str, place: str, file: OneFile, project: str | None) -> Session:
    since = compactions = 0
    for item in events():
        if not isinstance(item, Rejected) and item[1].get("type") == "compaction":
            since, compactions = item[0], compactions + 1
    items = read_session(events, name, name, Transcripts("openclaw-sessions", file))
    return _with_turns(Session(name, "openclaw", project or "", place, (), compactions), items, since, file.settings)


def _with_turns(session: Session, items: Iterable[Item], since: int, settings: Settings) -> Session:
    """The session with its turns after a line, and the project that most of them name if none is given."""
    messages = [item for item in items if isinstance(item, Candidate) and item.memory_type == "conversation"]
    messages = [message for message in messages if (message.source.line or 0) > since]
    counts = Counter(message.project_id for message in messages if message.project_id)
    source = source_of(settings, session.agent, session.place)
    most = next((name for name, _ in counts.most_common(1)), None)
    project = session.project or most or (source and source.project) or _DEFAULT_PROJECT
    turns, temporary = [], 0
    for message in messages:
        whole = redact(message.content)[0] if settings.import_.redact else message.content
        words, count = blank_temporary(whole)
        temporary += count
        if words.strip():
            turn = _turn(message, project, f"{session.agent}:{session.name}", whole)
            turns.append(replace(turn, words=words))
    return replace(session, project=project, turns=tuple(turns), said=tuple(messages), temporary=temporary)


def source_of(settings: Settings, agent: str, place: str) -> SourceTable | None:
    """The source that reads the file of an agent's session."""
    file = Path(place.partition("#")[0])
    for source in settings.sources_of_store:
        if source.format == _FORMATS.get(agent) and file.is_relative_to(Path(source.path)):
            return source
    return None


def _turn(message: Candidate, project: str, conversation: str, words: str) -> Turn:
    moment = message.created_at or datetime.now(UTC)
    line = message.source.line or 0
    return Turn(
        memory_id=message.native_id or derived_id("turn", conversation, str(line), words),
        project_id=project,
        conversation=conversation,
        line=line,
        speaker="human" if "human" in message.tags else "agent",
        said_at=moment.astimezone(timezone(timedelta(minutes=message.utc_offset or 0))),
        words=words,
        token_count=max(1, estimated_tokens(words)),
    )


_SAFE = re.compile(r"[^\w.-]+")


def short_name(session: Session) -> str:
    """A session for people: the beginning of its name."""
    return _SAFE.sub("-", session.name)[:13].rstrip("-.")
