"""How full the contexts of OpenClaw's sessions are, from the rows that its gateway keeps: `session_entries` in the
database of each agent, or `sessions.json` of earlier versions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.compaction.usage import ContextUsage, moment_of, text_in, whole_number
from memory_pipeline.config.compaction import Compaction
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.agents.openclaw_database import WITHOUT_HUMAN, database_in, forgotten_sessions
from memory_pipeline.ingest.sqlite_files import columns_of, reading, rows

_LARGEST = 50_000_000
#: Tokens of a context are told in one of these.
_NEEDED = {"session_key", "session_id", "entry_json"}


def read_openclaw(path: Path, settings: Compaction) -> list[ContextUsage]:
    """How full the contexts of the sessions of OpenClaw's agents are. `path`: OpenClaw's directory, its `agents`, or
    the directory of one agent. Sessions of cron jobs, heartbeats and subagents are left out.

    Raises InputError for a file that cannot be read.
    """
    found: dict[tuple[str, str], ContextUsage] = {}
    for agent in _agents_in(path):
        for usage in (*_of_file(agent, settings), *_of_database(agent, settings)):  # the database is the newer one
            found[agent.name, usage.session] = usage
    return list(found.values())


def _agents_in(path: Path) -> list[Path]:
    top = path / "agents" if (path / "agents").is_dir() else path
    if (top / "sessions").is_dir() or database_in(top) is not None:
        return [top]
    return sorted(entry for entry in top.glob("*") if entry.is_dir())


def _of_file(agent: Path, settings: Compaction) -> Iterator[ContextUsage]:
    file = agent / "sessions" / "sessions.json"
    if not file.is_file():
        return
    try:
        if file.stat().st_size > _LARGEST:
            raise InputError(f"'{file}' is larger than {_LARGEST} bytes")
        told = json.loads(file.read_bytes().decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return  # it is being written
    for key, entry in told.items() if isinstance(told, Mapping) else ():
        if isinstance(entry, Mapping):
            usage = _usage(str(key), entry, file, settings)
            if usage is not None:
                transcript = agent / "sessions" / f"{Path(usage.session).name}.jsonl"
                yield _with_bytes(usage, transcript)


def _of_database(agent: Path, settings: Compaction) -> Iterator[ContextUsage]:
    database = database_in(agent)
    if database is None:
        return
    with reading(database) as connection:
        if not set(columns_of(connection, "session_entries")) >= _NEEDED:
            return
        forgotten = forgotten_sessions(connection)
        for key, session, text in rows(connection, "select session_key, session_id, entry_json from session_entries"):
            try:
                entry = json.loads(text) if isinstance(text, str) else None
            except (ValueError, RecursionError):
                continue
            if not isinstance(entry, Mapping) or session in forgotten:
                continue
            usage = _usage(str(key), {"sessionId": session, **entry}, database, settings)
            if usage is not None:
                since = _bytes_in(connection, usage.session) if usage.is_stale else 0
                yield replace(usage, transcript=f"{database}#{usage.session}", bytes_since=since)


def _bytes_in(connection: sqlite3.Connection, session: str) -> int:
    """The bytes of a session's events since its last compaction; 0 without a table of events. They are asked for only
    where the count of tokens is an old one."""
    columns = columns_of(connection, "transcript_events")
    if not {"session_id", "seq", "event_json"} <= set(columns):
        return 0
    packed = " + coalesce(length(event_zstd), 0)" if "event_zstd" in columns else ""
    statement = f"""
        select coalesce(sum(coalesce(length(cast(event_json as blob)), 0){packed}), 0)
        from transcript_events
        where session_id = :session and seq > (
            select coalesce(max(seq), -1)
            from transcript_events
            where session_id = :session and event_json like '%"firstKeptEntryId"%' and event_json like '%"compaction"%'
        )
        """
    return int(connection.execute(statement, {"session": session}).fetchone()[0])


def _usage(key: str, entry: Mapping[str, Any], file: Path, settings: Compaction) -> ContextUsage | None:
    session = text_in(entry, "sessionId")
    if not session or entry.get("spawnedBy") or any(part in key for part in WITHOUT_HUMAN):
        return None
    tokens = whole_number(entry.get("totalTokens"))
    model = text_in(entry, "model")
    return ContextUsage(
        session=session,
        agent="openclaw",
        tokens=tokens or 0,
        window=whole_number(entry.get("contextTokens")) or settings.window_of(model, tokens or 0),
        at=moment_of(entry.get("updatedAt")) or datetime.fromtimestamp(file.stat().st_mtime, UTC),
        compactions=whole_number(entry.get("compactionCount")) or 0,
        model=model,
        place=str(file),
        is_stale=tokens is None or entry.get("totalTokensFresh") is False,
    )


def _with_bytes(usage: ContextUsage, transcript: Path) -> ContextUsage:
    """With the bytes of the transcript since its last compaction."""
    if not transcript.is_file():
        return usage
    since, offset = 0, 0
    with transcript.open("rb") as file:
        for line in file:
            offset += len(line)
            if b'"compaction"' in line[:4000] and b'"firstKeptEntryId"' in line:
                since = offset
    return replace(usage, transcript=str(transcript), bytes_since=offset - since)
