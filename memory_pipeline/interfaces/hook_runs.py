"""What a host's hook does: compacts the session that it tells of, and records it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.ingest.formats.openclaw_sessions import EVENTS, database_in, sessions_of
from memory_pipeline.ingest.sqlite_files import reading, shows_table
from memory_pipeline.interfaces.hooked import event_name
from memory_pipeline.orchestration.home import load_project_settings
from memory_pipeline.sessions.acting import compact_and_index, note
from memory_pipeline.sessions.transcripts import read_session_file
from memory_pipeline.workspace.pages import token_counter

#: A host waits for its hook; so the hook does not wait long for a night.
_PATIENCE_S = 1.0
_LONGEST_PATH = 4096
_NAME = re.compile(r"[\w.-]{1,200}")
_AGENT = re.compile(r"agent:([\w.-]{1,100}):")


def run_hook(host: str, told: Mapping[str, Any], store: Path | None = None) -> int:
    """Compact the session of an event. Returns the exit code: 1 if it could not be done, which a message says."""
    settings = load_project_settings({"store.path": str(store)} if store else None).values
    settings = settings.with_values({"store.busy_timeout_s": min(settings.store.busy_timeout_s, _PATIENCE_S)})
    session = read_session_file(transcript_of(host, told), settings)
    if not session.turns:
        return 0
    event = event_name(dict(told))
    why = told.get("trigger") or told.get("reason") or ""
    reason = f"{event} ({why})" if isinstance(why, str) and _NAME.fullmatch(why) else event
    try:
        done = compact_and_index(settings, session, f"{host} hook", token_counter(settings))
    except MemoryPipelineError:
        note(settings, session, "hook", "compact", f"{host} hook", reason, ok=False)
        raise
    ok = done.outcome != "rolled back"
    note(settings, session, "hook", "compact", f"{host} hook", reason, ok=ok)
    if not ok:
        failed = "; ".join(gate.found for gate in done.gates if not gate.passed and gate.severity == "rolls back")
        print(f"memory-pipeline: nothing was written: {failed}", file=sys.stderr)
    return 0 if ok else 1


def transcript_of(host: str, told: Mapping[str, Any]) -> str:
    """Where the words of an event's session are. Raises InputError if that cannot be told."""
    found = _of_claude(told) if host == "claude-code" else _of_openclaw(told)
    for place in found:
        if len(place) <= _LONGEST_PATH and (".sqlite#" in place or _is_file(place)):
            return place
    raise InputError(f"the event '{event_name(dict(told))}' names no session whose words can be found")


def _is_file(place: str) -> bool:
    try:
        return Path(place).is_file()
    except (OSError, ValueError):  # no name of a file
        return False


def _of_claude(told: Mapping[str, Any]) -> Iterator[str]:
    """The transcript that is named; some versions name none, and then it is found by the session."""
    named, session = told.get("transcript_path"), told.get("session_id")
    if isinstance(named, str) and named.strip():
        yield str(Path(named).expanduser())
    if isinstance(session, str) and _NAME.fullmatch(session):
        config = os.environ.get("CLAUDE_CONFIG_DIR")
        base = (Path(config) if config else Path.home() / ".claude") / "projects"
        yield from (str(file) for file in sorted(base.glob(f"*/{session}.jsonl")))


def _of_openclaw(told: Mapping[str, Any]) -> Iterator[str]:
    """The session that an event is about: of `/new` and `/reset`, the one before."""
    context = told.get("context")
    if not isinstance(context, Mapping):
        return
    for entry in (context.get("previousSessionEntry"), context.get("sessionEntry"), context):
        if not isinstance(entry, Mapping):
            continue
        file, session = entry.get("sessionFile"), entry.get("sessionId")
        if isinstance(file, str) and file.endswith(".jsonl"):
            yield str(Path(file).expanduser())
        if isinstance(session, str) and _NAME.fullmatch(session):
            yield from _places_of(session, told.get("sessionKey"))


def _places_of(session: str, key: object) -> Iterator[str]:
    state = os.environ.get("OPENCLAW_STATE_DIR")
    agents = (Path(state) if state else Path.home() / ".openclaw") / "agents"
    named = _AGENT.match(key) if isinstance(key, str) else None
    for agent in [agents / named[1]] if named else sorted(agents.glob("*")):
        database = database_in(agent)
        if database is not None and shows_table(database, EVENTS):
            with reading(database) as connection:
                if any(one.session_id == session for one in sessions_of(connection)):
                    yield f"{database}#{session}"
        yield str(agent / "sessions" / f"{session}.jsonl")
