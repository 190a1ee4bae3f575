"""The database of an OpenClaw agent: its sessions and their events, read page by page while its gateway writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.agents.openclaw_events import Events
from memory_pipeline.ingest.candidates import Rejected, Skipped
from memory_pipeline.ingest.lines import unpacked
from memory_pipeline.ingest.sqlite_files import columns_of, quoted, rows, unless_longer

EVENTS = ("transcript_events", frozenset({"session_id", "seq", "event_json"}))
_PAGE = 200
#: Sessions without a human, by a part of their key.
WITHOUT_HUMAN = (":cron:", ":subagent:", ":heartbeat", ":hook:", ":boot")


class Session(NamedTuple):
    """A session: its id, and whether a human takes part."""

    session_id: str
    has_human: bool


def sessions_of(connection: sqlite3.Connection) -> list[Session]:
    """Every session with events, in the order of their ids."""
    columns = set(columns_of(connection, "session_windows"))
    told: dict[str, tuple[object, object]] = {}
    if {"session_id", "session_key"} <= columns:
        spawned = "spawned_by" if "spawned_by" in columns else "null"
        for session, key, by in rows(connection, f"select session_id, session_key, {spawned} from session_windows"):
            told[str(session)] = (key, by)
    found = rows(connection, "select distinct session_id from transcript_events order by session_id")
    return [Session(name, _has_human(*told.get(name, (None, None)))) for (name,) in found if isinstance(name, str)]


def _has_human(key: object, spawned_by: object) -> bool:
    return not spawned_by and not (isinstance(key, str) and any(part in key for part in WITHOUT_HUMAN))


def deleted_sessions(connection: sqlite3.Connection) -> frozenset[str]:
    """The sessions that the user deleted, or had forgotten."""
    found: set[str] = set()
    if {"session_id", "reason"} <= set(columns_of(connection, "session_transcript_archives")):
        statement = "select session_id from session_transcript_archives where reason = 'deleted'"
        found.update(str(session) for (session,) in rows(connection, statement))
    return frozenset(found | forgotten_sessions(connection))


def forgotten_sessions(connection: sqlite3.Connection) -> frozenset[str]:
    """The sessions that the user had forgotten, whose events may still be there."""
    if "session_id" not in columns_of(connection, "memory_session_tombstones"):
        return frozenset()
    return frozenset(str(s) for (s,) in rows(connection, "select session_id from memory_session_tombstones"))


def archives_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Session and generation of what was archived at a reset."""
    needed = {"session_id", "generation", "reason", "encoding", "archive_blob", "created_at"}
    if not needed <= set(columns_of(connection, "session_transcript_archives")):
        return []
    wanted = "reason = 'reset' order by session_id, created_at, generation"
    statement = f"select session_id, generation from session_transcript_archives where {wanted}"
    return [(str(session), str(generation)) for session, generation in rows(connection, statement)]


def count_cold(connection: sqlite3.Connection) -> int:
    """How many sessions lie in cold storage, from where OpenClaw takes them back when they are opened."""
    if not columns_of(connection, "session_transcript_cold_archives"):
        return 0
    return int(connection.execute("select count(*) from session_transcript_cold_archives").fetchone()[0])


def events_of(connection: sqlite3.Connection, session: str, file: str, limit: int) -> Events:
    """The events of a session in their order. No transaction stays open between two pages."""
    columns = columns_of(connection, "transcript_events")
    packed = unless_longer("event_zstd", limit) if "event_zstd" in columns else "null"
    moment = quoted("created_at") if "created_at" in columns else "null"
    page = (
        f"select seq, {unless_longer('event_json', limit)}, {packed}, {moment} from transcript_events "
        f"where session_id = ? and seq > ? order by seq limit {_PAGE}"
    )

    def read() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        after = -1
        while found := connection.execute(page, [session, after]).fetchall():
            for seq, text, data, created in found:
                yield _event(seq, text, data, created, file, limit)
            after = found[-1][0]

    return read


def archived_events_of(
    connection: sqlite3.Connection, session: str, generation: str, file: str, limit: int, most_bytes: int
) -> Events:
    """The events of a session in an archive: lines of JSON, compressed or not."""

    def read() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        statement = (
            f"select encoding, {unless_longer('archive_blob', most_bytes)} from session_transcript_archives "
            "where session_id = ? and generation = ?"
        )
        for encoding, data in rows(connection, statement, [session, generation]):
            try:
                text = _text_of(data, encoding == "zstd", most_bytes)
            except InputError as error:
                yield Rejected(file, 0, f"the archive of the session cannot be read: {error}")
                continue
            if text is None:
                yield Rejected(file, 0, f"the archive of the session is longer than {most_bytes} bytes")
                continue
            for number, line in enumerate(text.split("\n"), start=1):
                if line.strip():
                    yield _event(number, line, None, None, file, limit)

    return read


def left_out(sessions: list[Session], forgotten: frozenset[str], skipped: Skipped) -> list[str]:
    """The sessions that are read; the others are counted."""
    told = []
    for session in sessions:
        if session.session_id in forgotten:
            skipped.add("sessions that were deleted")
        elif not session.has_human:
            skipped.add("sessions of cron jobs, heartbeats and subagents")
        else:
            told.append(session.session_id)
    return told


def _event(
    seq: object, text: object, data: object, created: object, file: str, limit: int
) -> tuple[int, Mapping[str, Any]] | Rejected:
    number = seq if isinstance(seq, int) and 0 <= seq < 2**31 else 0
    try:
        told = text if isinstance(text, str) else _text_of(data, True, limit)
    except InputError as error:
        return Rejected(file, number, f"the event cannot be read: {error}")
    if told is None or len(told) > limit:
        return Rejected(file, number, f"the event is empty, or longer than {limit} bytes")
    try:
        event = json.loads(told)
    except (ValueError, RecursionError) as error:
        return Rejected.of(
            file, number, f"the event is not a JSON object that can be read ({type(error).__name__})", told
        )
    if not isinstance(event, Mapping) or not event:
        return Rejected.of(file, number, "the event is not a JSON object with content", told)
    return number, event if event.get("timestamp") or created is None else {**event, "timestamp": created}


def _text_of(data: object, is_packed: bool, most_bytes: int) -> str | None:
    if not isinstance(data, bytes | str):
        return None
    if isinstance(data, str):
        return data
    return unpacked(data, most_bytes) if is_packed else data.decode("utf-8", "surrogateescape")


def database_in(agent: Path) -> Path | None:
    """The database of an agent's directory, if it has one."""
    file = agent / "agent" / "openclaw-agent.sqlite"
    return file if file.is_file() else None
