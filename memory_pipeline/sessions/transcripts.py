"""Reads what was said in a session since its last compaction, from the file in which its agent keeps it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.ingest.candidates import Candidate, Item, Rejected, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.ingest.formats.openclaw_events import Events, read_session
from memory_pipeline.ingest.formats.openclaw_sessions import events_of
from memory_pipeline.ingest.importer import OneFile
from memory_pipeline.ingest.sqlite_files import reading
from memory_pipeline.ingest.text_files import json_records, opened
from memory_pipeline.ingest.turns import Transcripts
from memory_pipeline.ingest.values import MAX_LINE_BYTES
from memory_pipeline.records import Turn, derived_id
from memory_pipeline.sessions.usage import estimated_tokens
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
    path, _, session = place.partition("#") if _DATABASE in place else (place, "", "")
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no transcript '{file}'; check the path")
    try:
        if session:
            with reading(file) as connection:
                events = events_of(connection, session, file.name)
                return _read_events(events, session, f"{file}#{session}", settings, project)
        first = _first_record(file)
        if first is None and file.stat().st_size:
            raise InputError(
                f"'{file}' is no transcript of a session; name one of Claude Code or OpenClaw (*.jsonl), or "
                "DATABASE.sqlite#SESSION of OpenClaw"
            )
        is_openclaw = first is not None and first["type"] == "session" and "sessionId" not in first
        return (_read_openclaw if is_openclaw else _read_claude)(file, settings, project)
    except OSError as error:
        raise InputError(f"'{file}' cannot be read: {cause_and_mend(error)}") from error


def _read_claude(file: Path, settings: Settings, project: str | None) -> Session:
    with file.open("rb") as lines:
        boundaries = [number for number, line in enumerate(lines, start=1) if _BOUNDARY in line[:2000]]
    since = boundaries[-1] if boundaries else 0
    now, clock = datetime.now(UTC), zone(settings.import_.timezone)
    items = importer_of("claude-code").read(OneFile(file, file.name, clock, now, settings, Skipped(), is_own=True))
    return _session(file.stem, "claude-code", str(file), items, since, len(boundaries), settings, project)


def _first_record(file: Path) -> Mapping[str, Any] | None:
    """The first line that is a record of a session, whichever agent's; None if there is none."""
    with opened(file) as text:
        for item in json_records(text, file.name, 100_000, Skipped()):
            if not isinstance(item, Rejected) and "type" in item[1]:
                return item[1]
    return None


def _read_openclaw(file: Path, settings: Settings, project: str | None) -> Session:
    def events() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        with opened(file) as text:
            yield from json_records(text, file.name, MAX_LINE_BYTES, Skipped())

    return _read_events(events, file.stem, str(file), settings, project)


def _read_events(events: Events, session: str, place: str, settings: Settings, project: str | None) -> Session:
    since = compactions = 0
    for item in events():
        if not isinstance(item, Rejected) and item[1].get("type") == "compaction":
            since, compactions = item[0], compactions + 1
    path = Path(place.partition("#")[0])
    file = OneFile(path, path.name, zone(settings.import_.timezone), datetime.now(UTC), settings, Skipped())
    items = read_session(events, session, session, Transcripts("openclaw-sessions", file))
    return _session(session, "openclaw", place, items, since, compactions, settings, project)


def _session(
    name: str,
    agent: str,
    place: str,
    items: Iterable[Item],
    since: int,
    compactions: int,
    settings: Settings,
    project: str | None,
) -> Session:
    messages = [item for item in items if isinstance(item, Candidate) and item.memory_type == "conversation"]
    messages = [message for message in messages if (message.source.line or 0) > since]
    counts = Counter(message.project_id for message in messages if message.project_id)
    source = source_of(settings, agent, place)
    named = project or (counts.most_common(1)[0][0] if counts else (source and source.project) or _DEFAULT_PROJECT)
    turns, temporary = [], 0
    for message in messages:
        whole = redact(message.content)[0] if settings.import_.redact else message.content
        words, count = blank_temporary(whole)
        temporary += count
        if words.strip():
            turn = _turn(message, named, f"{agent}:{name}", whole)
            turns.append(replace(turn, words=words))
    return Session(name, agent, named, place, tuple(turns), compactions, tuple(messages), temporary)


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
