"""Reads the sessions of OpenClaw's agents: from the database of each agent, and from the JSONL of earlier versions.

A path may be `~/.openclaw`, its `agents`, the directory of one agent, its `sessions`, or one file. What a user deleted
stays deleted, wherever OpenClaw keeps it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, TextIO

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files import resolve_links
from memory_pipeline.ingest.agents.openclaw_database import (
    EVENTS,
    archived_events_of,
    archives_of,
    count_cold,
    database_in,
    deleted_sessions,
    events_of,
    forgotten_sessions,
    left_out,
    sessions_of,
)
from memory_pipeline.ingest.agents.openclaw_events import read_session
from memory_pipeline.ingest.candidates import UNREADABLE, Reading, Rejected, Skipped
from memory_pipeline.ingest.file_choice import ALL_FILES, FileChoice, readable_name
from memory_pipeline.ingest.foreign import file_time, part_name, project_of_directory
from memory_pipeline.ingest.importer import FilesImporter
from memory_pipeline.ingest.lines import json_records, opened, opened_packed
from memory_pipeline.ingest.sqlite_files import beside, is_sqlite, reading, shows_table
from memory_pipeline.ingest.turns import Transcripts
from memory_pipeline.ingest.values import MAX_LINE_BYTES

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

    def read_chosen(
        self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped, choice: FileChoice
    ) -> Reading:
        """Every turn of the chosen files. Raises InputError if the path has none."""
        files = list(self.files(path, choice, skipped))
        if not files and choice.among is None:
            if _DELETED in skipped.counts:
                raise InputError(f"'{path}' has only sessions that were deleted, which stay deleted")
            raise InputError(
                f"'{path}' has no agent/openclaw-agent.sqlite and no sessions/*.jsonl; give ~/.openclaw/agents, or the "
                "directory of one agent"
            )
        limit = MAX_LINE_BYTES
        for name, file in files:
            transcripts = Transcripts(
                self.name, default_zone, now, settings, skipped, file_time(file, now, default_zone)
            )
            try:
                if is_sqlite(file):
                    yield from _read_database(file, name, limit, transcripts)
                else:
                    yield from _read_file(file, name, limit, transcripts)
            except (InputError, OSError) as error:
                yield Rejected(name, 0, f"{UNREADABLE}: {error}")

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """Every database and every transcript that is chosen and was not deleted."""
        deleted: dict[Path, frozenset[str]] = {}
        for file, agent in _found(path):
            name = readable_name(file.name if file == path else file.relative_to(path).as_posix())
            parts = _TRANSCRIPT.fullmatch(file.name)
            if parts:
                if agent not in deleted:
                    deleted[agent] = _deleted_in(agent)
                if parts["fate"] == "deleted" or deleted[agent] & {parts["session"], _session_in(file)}:
                    skipped.add(_DELETED)
                    continue
            if not resolve_links(file).is_relative_to(resolve_links(path)):
                skipped.add("links out of the directory")
            elif file == path or choice.takes(name):
                yield name, file
            else:
                choice.count_left_out(name, skipped)

    def parts(self, file: Path) -> tuple[Path, ...]:
        """A database and its write-ahead log."""
        return beside(file) if file.suffix == ".sqlite" else (file,)

    def evidence(self, path: Path) -> str | None:
        """A table of events, or the first line of a transcript."""
        for name, file in self.files(path, ALL_FILES, Skipped()):
            if is_sqlite(file):
                if shows_table(file, EVENTS):
                    return f"a table 'transcript_events' of OpenClaw in {name}"
            elif _has_header(file):
                return f"the first line of an OpenClaw session in {name}"
        return None

    def file_of(self, source_file: str) -> str:
        """The database of a session."""
        head, mark, _ = source_file.partition(_MARK)
        return head + mark.rstrip("#") if mark else source_file

    def is_said_for_good(self, file: str) -> bool:
        """OpenClaw resets and prunes its sessions; what was said in them was said."""
        return True

    def default_project(self, path: Path) -> str:
        """The directory's name; `workspace`, as that of OpenClaw's own, for its own directories and for files."""
        is_own = path.name in (".openclaw", "agents", "sessions", "agent") or not path.is_dir()
        return "workspace" if is_own else project_of_directory(path)


def _read_database(file: Path, name: str, limit: int, transcripts: Transcripts) -> Reading:
    with reading(file) as connection:
        if not shows_table(file, EVENTS):
            raise InputError(f"'{file}' has no table 'transcript_events'")
        forgotten, deleted = forgotten_sessions(connection), deleted_sessions(connection)
        for session in left_out(sessions_of(connection), forgotten, transcripts.skipped):
            part = part_name(name, readable_name(session))
            yield from read_session(events_of(connection, session, part, limit), session, part, transcripts)
        for session, generation in archives_of(connection):
            part = part_name(name, readable_name(session))
            if session in deleted:
                transcripts.skipped.add("sessions that were deleted")
                continue
            events = archived_events_of(connection, session, generation, part, limit, _MOST_ARCHIVE_BYTES)
            yield from read_session(events, session, part, transcripts)
        if cold := count_cold(connection):
            transcripts.skipped.add("sessions in cold storage", cold)


def _read_file(file: Path, name: str, limit: int, transcripts: Transcripts) -> Reading:
    told = _TRANSCRIPT.fullmatch(file.name)
    session = told["session"] if told else file.stem
    counted = Skipped()

    def events() -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
        nonlocal counted
        counted = Skipped()
        with _opened(file) as text:
            yield from json_records(text, name, limit, counted)

    yield from read_session(events, session, name, transcripts)
    for why, number in counted.counts.items():  # of the last pass alone
        transcripts.skipped.add(why, number)


def _opened(file: Path) -> AbstractContextManager[TextIO]:
    return opened_packed(file) if file.suffix == ".zst" else opened(file)


def _found(path: Path) -> Iterator[tuple[Path, Path]]:
    """Every database and transcript, with the directory of its agent."""
    if path.is_file():
        yield path, path.parent.parent
        return
    if path.name == "sessions" or (path.name == "agent" and database_in(path.parent)):
        agents = [path.parent]
    else:
        top = path / "agents" if (path / "agents").is_dir() else path
        is_one = (top / "sessions").is_dir() or database_in(top) is not None
        agents = [top] if is_one else sorted(entry for entry in top.glob("*") if entry.is_dir())
    for agent in agents:
        database = database_in(agent)
        if database and path.name != "sessions":
            yield database, agent
        if path.name == "agent":
            continue
        found = agent.glob("sessions/*.jsonl*")
        yield from ((file, agent) for file in sorted(found) if _TRANSCRIPT.fullmatch(file.name) and file.is_file())


def _deleted_in(agent: Path) -> frozenset[str]:
    """The sessions of an agent that the user deleted, by the names of files and by the database."""
    found = set()
    for file in agent.glob("sessions/*.jsonl.deleted*"):
        told = _TRANSCRIPT.fullmatch(file.name)
        if told:
            found.add(told["session"])
    database = database_in(agent)
    if database:
        try:
            with reading(database) as connection:
                found |= deleted_sessions(connection)
        except InputError:
            pass  # it is told when the database itself is read
    return frozenset(found)


def _has_header(file: Path) -> bool:
    """Whether a file begins with the header of a session."""
    header = _header_of(file)
    return header is not None and {"id", "version"} <= header.keys()


def _session_in(file: Path) -> str | None:
    """The session that a file says it is of, whatever its name."""
    told = (_header_of(file) or {}).get("id")
    return told if isinstance(told, str) else None


def _header_of(file: Path) -> Mapping[str, Any] | None:
    """The header of a session with which a file begins."""
    if not file.is_file():
        return None
    try:
        with _opened(file) as text:
            line = json.loads(text.readline(_FIRST_BYTES))
    except (InputError, OSError, ValueError, RecursionError):
        return None
    return line if isinstance(line, Mapping) and line.get("type") == "session" else None
