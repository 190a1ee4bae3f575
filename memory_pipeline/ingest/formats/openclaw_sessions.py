"""Reads the sessions of OpenClaw's agents: from the database of each agent, and from the JSONL of earlier versions.

A path may be `~/.openclaw`, its `agents`, the directory of one agent, its `sessions`, or one file. What a user deleted
stays deleted, wherever OpenClaw keeps it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import zstandard

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Reading, Rejected, RowError, Skipped
from memory_pipeline.ingest.foreign import project_of_directory
from memory_pipeline.ingest.formats.openclaw_events import Events, read_session
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, FilesImporter, OneFile, chosen_files, readable_name
from memory_pipeline.ingest.sqlite_files import columns_of, is_sqlite, quoted, reading, shows_table, unless_longer
from memory_pipeline.ingest.text_files import first_objects, json_object, json_records, opened
from memory_pipeline.ingest.turns import Transcripts
from memory_pipeline.ingest.values import MAX_LINE_BYTES

EVENTS = ("transcript_events", frozenset({"session_id", "seq", "event_json"}))
_PAGE = 200
#: Sessions without a human, by a part of their key.
WITHOUT_HUMAN = (":cron:", ":subagent:", ":heartbeat", ":hook:", ":boot")
#: A transcript, or one that was set aside: `<session>.jsonl`, `<session>.jsonl.reset.<time>.zst`. Traces of calls,
#: `<session>.trajectory.jsonl`, repeat what was said.
_TRANSCRIPT = re.compile(
    r"(?P<session>(?:(?!\.trajectory\.).)+?)\.jsonl(?:\.(?P<fate>reset|bak|deleted)(?:\.[\w.:-]{1,200}?)?)?(?:\.zst)?"
)
_MARK = ".sqlite#"
_DELETED = "files of sessions that were deleted"
#: An archive in the database is read as a whole.
_MOST_ARCHIVE_BYTES = 100_000_000
_FIRST_BYTES = 10_000


class OpenClawSessionsImporter(FilesImporter):
    """Sessions of OpenClaw's agents. Turns have the ids of their messages."""

    name = "openclaw-sessions"
    about = "OpenClaw's conversations: each agent's database in `~/.openclaw/agents`, and JSONL of earlier versions."
    takes = "OpenClaw's directory, that of an agent, or a file of sessions"
    takes_directory = None
    said_for_good = ("",)  # OpenClaw resets and prunes its sessions
    lacks = (
        "no agent/openclaw-agent.sqlite and no sessions/*.jsonl (deleted sessions stay deleted); give "
        "~/.openclaw/agents, or the directory of one agent"
    )

    def read_file(self, file: OneFile) -> Reading:
        """Every turn of a database or of a transcript."""
        read = _read_database if is_sqlite(file.path) else _read_transcript
        return read(file, Transcripts(self.name, file))

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """Every database and every transcript that is chosen and was not deleted."""
        if path.is_file():
            if _without_deleted([path], path.parent.parent, skipped):
                yield readable_name(path.name), path
            return
        files: list[Path] = []
        for agent, database, transcripts in find_agents(path):
            files += [database] if database else []
            files += _without_deleted(transcripts, agent, skipped)
        yield from chosen_files(path, files, choice, skipped)

    def sign_of(self, path: Path) -> str | None:
        """A table of events, or the first line of a transcript."""
        for name, file in self.files(path, ALL_FILES, Skipped()):
            if is_sqlite(file):
                if shows_table(file, *EVENTS):
                    return f"a table 'transcript_events' of OpenClaw in {name}"
            elif {"id", "version"} <= read_header(file).keys():
                return f"the first line of an OpenClaw session in {name}"
        return None

    def file_of(self, source_file: str) -> str:
        head, mark, _ = source_file.partition(_MARK)
        return head + mark.rstrip("#") if mark else source_file

    def default_project(self, path: Path) -> str:
        """The directory's name; `workspace`, as that of OpenClaw's own, for its own directories and for files."""
        is_own = path.name in (".openclaw", "agents", "sessions", "agent") or not path.is_dir()
        return "workspace" if is_own else project_of_directory(path)


def _read_database(file: OneFile, transcripts: Transcripts) -> Reading:
    with reading(file.path) as connection:
        if not EVENTS[1] <= set(columns_of(connection, EVENTS[0])):
            raise InputError(f"'{file.path}' has no table 'transcript_events'")
        deleted = deleted_sessions(connection)
        live = ((session, has_human, "") for session, has_human in list_sessions(connection).items())
        for session, has_human, generation in (*live, *_list_archives(connection)):
            part = f"{file.name}#{readable_name(session)}"
            if session in deleted:
                file.skipped.add("sessions that were deleted")
            elif not has_human:
                file.skipped.add("sessions of cron jobs, heartbeats and subagents")
            else:
                archived = generation and _open_archive(connection, session, generation, part)
                yield from read_session(archived or events_of(connection, session, part), session, part, transcripts)
        if columns_of(connection, "session_transcript_cold_archives"):  # from where OpenClaw takes back what is opened
            (cold,) = connection.execute("select count(*) from session_transcript_cold_archives").fetchone()
            file.skipped.add("sessions in cold storage", cold)


def _read_transcript(file: OneFile, transcripts: Transcripts) -> Reading:
    match = _TRANSCRIPT.fullmatch(file.path.name)
    session = match["session"] if match else file.path.stem
    passes = iter((Skipped(), file.skipped))  # what the last pass leaves out counts
    yield from read_session(lambda: transcript_events(file, next(passes)), session, file.name, transcripts)


def transcript_events(file: OneFile, skipped: Skipped) -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
    """The events of a transcript, a line each."""
    with opened(file.path) as text:
        yield from json_records(text, file.name, MAX_LINE_BYTES, skipped)


def find_agents(path: Path) -> Iterator[tuple[Path, Path | None, list[Path]]]:
    """The directory of each agent, with its database and its transcripts."""
    if path.name == "sessions" or (path.name == "agent" and find_database(path.parent)):
        agents = [path.parent]
    else:
        top = path / "agents" if (path / "agents").is_dir() else path
        is_one = (top / "sessions").is_dir() or find_database(top) is not None
        agents = [top] if is_one else sorted(entry for entry in top.glob("*") if entry.is_dir())
    for agent in agents:
        database = find_database(agent) if path.name != "sessions" else None
        files = sorted(agent.glob("sessions/*.jsonl*")) if path.name != "agent" else []
        yield agent, database, [file for file in files if _TRANSCRIPT.fullmatch(file.name) and file.is_file()]


def _without_deleted(files: list[Path], agent: Path, skipped: Skipped) -> list[Path]:
    """The files of an agent, without transcripts of sessions that the user deleted."""
    names = {file: parts for file in files if (parts := _TRANSCRIPT.fullmatch(file.name))}
    deleted = _find_deleted(agent) if names else frozenset()
    gone = {
        file
        for file, parts in names.items()
        if parts["fate"] == "deleted" or parts["session"] in deleted or str(read_header(file).get("id")) in deleted
    }
    skipped.add(_DELETED, len(gone))
    return [file for file in files if file not in gone]


def _find_deleted(agent: Path) -> frozenset[str]:
    """The sessions of an agent that the user deleted, by the names of files and by the database."""
    names = [_TRANSCRIPT.fullmatch(file.name) for file in agent.glob("sessions/*.jsonl.deleted*")]
    sessions = {match["session"] for match in names if match}
    database = find_database(agent)
    if database:
        with suppress(InputError), reading(database) as connection:  # it is told when the database itself is read
            sessions |= deleted_sessions(connection)
    return frozenset(sessions)


def read_header(file: Path) -> Mapping[str, Any]:
    """The header of a session with which a file begins; empty if it begins otherwise."""
    line = next(first_objects(file, 1, _FIRST_BYTES), {}) if file.is_file() else {}
    return line if line.get("type") == "session" else {}


def list_sessions(connection: sqlite3.Connection) -> dict[str, bool]:
    """Every session with events, in the order of their ids, and whether a human takes part."""
    columns = set(columns_of(connection, "session_windows"))
    windows: dict[object, tuple[object, object]] = {}
    if {"session_id", "session_key"} <= columns:
        spawned = "spawned_by" if "spawned_by" in columns else "null"
        window_rows = connection.execute(f"select session_id, session_key, {spawned} from session_windows")
        windows = {session: (key, by) for session, key, by in window_rows}
    sessions = {}
    for (name,) in connection.execute("select distinct session_id from transcript_events order by session_id"):
        if isinstance(name, str):
            key, by = windows.get(name, (None, None))
            sessions[name] = not by and not any(part in str(key) for part in WITHOUT_HUMAN)
    return sessions


def deleted_sessions(connection: sqlite3.Connection) -> frozenset[str]:
    """The sessions that the user deleted, or had forgotten: their events may still be there."""
    sessions: set[str] = set()
    for table, condition in (
        ("session_transcript_archives", "where reason = 'deleted'"),
        ("memory_session_tombstones", ""),
    ):
        needed = {"session_id", "reason"} if condition else {"session_id"}
        if needed <= set(columns_of(connection, table)):
            sessions.update(str(name) for (name,) in connection.execute(f"select session_id from {table} {condition}"))
    return frozenset(sessions)


def _list_archives(connection: sqlite3.Connection) -> list[tuple[str, bool, str]]:
    """Session and generation of what was archived at a reset, which is of sessions with a human."""
    needed = {"session_id", "generation", "reason", "encoding", "archive_blob", "created_at"}
    if not needed <= set(columns_of(connection, "session_transcript_archives")):
        return []
    wanted = "reason = 'reset' order by session_id, created_at, generation"
    statement = f"select session_id, generation from session_transcript_archives where {wanted}"
    return [(str(session), True, str(generation)) for session, generation in connection.execute(statement)]


def events_of(connection: sqlite3.Connection, session: str, file: str) -> Events:
    """The events of a session in their order. No transaction stays open between two pages."""
    columns = columns_of(connection, "transcript_events")
    packed = unless_longer("event_zstd", MAX_LINE_BYTES) if "event_zstd" in columns else "null"
    moment = quoted("created_at") if "created_at" in columns else "null"
    page = (
        f"select seq, {unless_longer('event_json', MAX_LINE_BYTES)}, {packed}, {moment} from transcript_events "
        f"where session_id = ? and seq > ? order by seq limit {_PAGE}"
    )

    def read() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        after = -1
        while page_rows := connection.execute(page, [session, after]).fetchall():
            for seq, text, data, created in page_rows:
                yield _event(seq, text, data, created, file)
            after = page_rows[-1][0]

    return read


def _open_archive(connection: sqlite3.Connection, session: str, generation: str, file: str) -> Events:
    """The events of a session in an archive: lines of JSON, compressed or not."""

    def read() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        statement = (
            f"select encoding, {unless_longer('archive_blob', _MOST_ARCHIVE_BYTES)} from session_transcript_archives "
            "where session_id = ? and generation = ?"
        )
        for encoding, data in connection.execute(statement, [session, generation]):
            try:
                text = _unpack_text(data, encoding == "zstd", _MOST_ARCHIVE_BYTES)
            except InputError as error:
                yield Rejected(file, 0, f"the archive of the session cannot be read: {error}")
                continue
            for number, line in enumerate(text.split("\n"), start=1):
                if line.strip():
                    yield _event(number, line, None, None, file)

    return read


def _event(
    seq: object, text: object, data: object, created: object, file: str
) -> tuple[int, Mapping[str, Any]] | Rejected:
    number, content = seq if isinstance(seq, int) and 0 <= seq < 2**31 else 0, ""
    try:
        content = text if isinstance(text, str) else _unpack_text(data, True, MAX_LINE_BYTES)
        event = json_object(content, "the event")
    except (InputError, RowError) as error:
        return Rejected.of(file, number, f"the event cannot be read: {error}", content)
    return number, event if event.get("timestamp") or created is None else {**event, "timestamp": created}


def _unpack_text(data: object, is_packed: bool, most_bytes: int) -> str:
    """The text in a value of the database. Raises InputError for none, and for one that is too long."""
    if isinstance(data, bytes) and is_packed:
        try:
            with zstandard.ZstdDecompressor().stream_reader(data) as stream:
                data = stream.read(most_bytes + 1)
        except zstandard.ZstdError as error:
            raise InputError(f"it is not compressed as it should be: {error}") from error
    if not isinstance(data, bytes | str) or len(data) > most_bytes:
        raise InputError(f"it is empty, or longer than {most_bytes} bytes")
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def find_database(agent: Path) -> Path | None:
    """The database of an agent's directory, if it has one."""
    file = agent / "agent" / "openclaw-agent.sqlite"
    return file if file.is_file() else None
