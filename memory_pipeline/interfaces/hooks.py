"""The hooks of a host, Claude Code or OpenClaw: putting them into its files and taking them out again, and what they do
when they run, which is to compact the session that an event tells of.

Only our own entries change; what a file was before is kept beside it. OpenClaw's hook is a directory of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, MemoryPipelineError, OutputError
from memory_pipeline.files.json_editing import change_file, with_item, with_value, without_items, without_value
from memory_pipeline.files.writing import cause_and_mend, directories, real_path, write_text
from memory_pipeline.ingest.formats.openclaw_sessions import EVENTS, find_database, list_sessions
from memory_pipeline.ingest.sqlite_files import reading, shows_table
from memory_pipeline.interfaces.hooked import HOSTS, event_name
from memory_pipeline.interfaces.mcp.install import CLIENTS, claude_directory, openclaw_state
from memory_pipeline.orchestration.home import home_environment, load_project_settings
from memory_pipeline.sessions.acting import compact_and_index, note
from memory_pipeline.sessions.transcripts import read_session_file
from memory_pipeline.store import Store

_MODULE = "memory_pipeline.interfaces.hooked"
#: The events of Claude Code, with the seconds that a hook may take.
_EVENTS = {"PreCompact": 120, "SessionEnd": 30}
_NAME = "memory-pipeline"
_ENTRY = ("hooks", "internal", "entries", _NAME)
#: The last line of a preview: of taking the hooks out, and of putting them in.
_NOT_WRITTEN = ("Nothing was written.", "Nothing was written; run this command again with --write.")
_WRITTEN_BY = "Written by memory-pipeline; 'memory-pipeline hooks remove openclaw' takes it out."
#: The two files of OpenClaw's hook; in the script, the command and its environment are left open.
_HOOK = Path(__file__).parent / "openclaw_hook"


class InstalledHooks(Document):
    """The hooks of a host."""

    host: str = Field(description="The host.")
    file: str = Field(description="Its file of settings.")
    entry: dict[str, Any] = Field(description="What stands in that file for us, or would.")
    files: tuple[str, ...] = Field(description="Files of our own.")
    outcome: str = Field(description="`installed`, `removed`, `unchanged`, or `previewed`.")
    backup: str | None = Field(description="Where the file as it was is kept; null if there was none.")
    note: str = Field(description="What is left to do; empty if nothing is.")


def settings_file(host: str) -> Path:
    """The file of settings of a host, with links resolved."""
    if host == "openclaw":
        return real_path(CLIENTS["openclaw"].file())
    return real_path(claude_directory() / "settings.json")


def install_hooks(host: str, store: Path, *, write: bool) -> InstalledHooks:
    """Install the hooks of a host, or bring them up to date. Without `write`, nothing is written.

    Raises InputError for a file of settings that cannot be edited, and OutputError if it cannot be written.
    """
    # -P: the host starts it in the directory that its agent works in, whose modules must not be loaded.
    command = [sys.executable, "-P", "-m", _MODULE, _checked(host), "--store", str(store)]
    return (_install_openclaw if host == "openclaw" else _install_claude)(command, home_environment(), write)


def remove_hooks(host: str, *, preview: bool = False) -> InstalledHooks:
    """Take the hooks of a host out again. Errors as in `install_hooks`."""
    file, is_openclaw = settings_file(_checked(host)), host == "openclaw"
    gone = [path for path in _own_files() if is_openclaw and path.is_file() and _is_ours(path)]

    def without_hooks(text: str) -> str:
        if is_openclaw:
            return without_value(text, _ENTRY)
        for event in reversed(_EVENTS):
            text = without_items(text, ("hooks", event), _is_our_item)
        return text

    backup, changed = (None, False)
    if file.exists() and file.read_bytes().removeprefix(b"\xef\xbb\xbf").strip():
        backup, changed = change_file(file, without_hooks, host, write=not preview, option="with --preview")
    if not preview:
        _remove(gone)
    outcome = "previewed" if preview else "removed" if changed or gone else "unchanged"
    return _installed(host, {}, outcome, backup, gone)


def _checked(host: str) -> str:
    if host not in HOSTS:
        raise InputError(f"'{host}' is no host with hooks; use {' or '.join(HOSTS)}")
    return host


def _install_claude(command: Sequence[str], environment: Mapping[str, str], write: bool) -> InstalledHooks:
    words = shlex.join(["env", *(f"{name}={value}" for name, value in environment.items()), *command])
    items = {
        event: {"hooks": [{"type": "command", "command": words, "timeout": seconds}]}
        for event, seconds in _EVENTS.items()
    }

    def with_hooks(text: str) -> str:
        for event, item in items.items():
            text = with_item(text, ("hooks", event), item, _is_our_item)
        return text

    backup, changed = change_file(settings_file("claude-code"), with_hooks, "Claude Code", write=write)
    entry = {"hooks": {event: [item] for event, item in items.items()}}
    outcome = "previewed" if not write else "installed" if changed else "unchanged"
    return _installed("claude-code", entry, outcome, backup, note="Begin a new session; /hooks lists them.")


def _is_our_item(item: object) -> bool:
    """True if an entry under an event of Claude Code is ours, and nobody else's too."""
    hooks = item.get("hooks") if isinstance(item, Mapping) and set(item) == {"hooks"} else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], Mapping):
        return False
    return _is_our_command(str(hooks[0].get("command", "")))


def _is_our_command(command: str) -> bool:
    """True if a command runs this program's hook and nothing else; one that does more is a person's."""
    try:
        words = [word for word in shlex.split(command) if word != "env" and not word.startswith("MEMORY_PIPELINE_")]
    except ValueError:
        return False
    return len(words) == 7 and words[1:4] == ["-P", "-m", _MODULE] and words[4] in HOSTS and words[5] == "--store"


def _install_openclaw(command: Sequence[str], environment: Mapping[str, str], write: bool) -> InstalledHooks:
    page, script = _own_files()
    texts = {path: (_HOOK / path.name).read_text("utf-8") for path in (page, script)}
    texts[script] %= {"command": json.dumps([*command]), "environment": json.dumps(dict(environment))}
    file = settings_file("openclaw")
    note = "Restart the gateway; 'openclaw hooks list' shows it."
    same = all(path.is_file() and path.read_text("utf-8", "replace") == text for path, text in texts.items())
    if write:
        with directories(page.parent):
            for path, text in texts.items():
                write_text(path, text, _is_ours)
    try:
        backup, changed = change_file(
            file, lambda text: with_value(text, _ENTRY, {"enabled": True}), "OpenClaw", write=write
        )
    except InputError:  # it has comments, as JSON5 may: OpenClaw itself can edit it
        backup, changed = None, False
        note = f"Run 'openclaw hooks enable {_NAME}', since '{file}' has comments; then restart the gateway."
    entry = {"hooks": {"internal": {"entries": {_NAME: {"enabled": True}}}}}
    outcome = "previewed" if not write else "installed" if changed or not same else "unchanged"
    return _installed("openclaw", entry, outcome, backup, [page, script], note)


def _own_files() -> tuple[Path, Path]:
    base = openclaw_state() / "hooks" / _NAME
    return base / "HOOK.md", base / "handler.js"


def _is_ours(path: Path) -> bool:
    return _WRITTEN_BY in path.read_text("utf-8", "replace")


def _remove(files: Sequence[Path]) -> None:
    try:
        for file in files:
            file.unlink()
        if files and not any(files[0].parent.iterdir()):
            files[0].parent.rmdir()
    except OSError as error:
        raise OutputError(f"'{files[0].parent}' could not be removed: {cause_and_mend(error)}") from error


def _installed(
    host: str, entry: dict[str, Any], outcome: str, backup: Path | None, files: Sequence[Path] = (), note: str = ""
) -> InstalledHooks:
    return InstalledHooks(
        host=host,
        file=str(settings_file(host)),
        entry=entry,
        files=tuple(str(path) for path in files),
        outcome=outcome,
        backup=str(backup) if backup else None,
        note=note if outcome == "installed" else "",
    )


def hooks_text(done: InstalledHooks) -> list[str]:
    """The outcome, done or previewed, for a person."""
    files = [f"  {path}" for path in done.files]
    if done.outcome == "previewed":
        lines = json.dumps(done.entry, ensure_ascii=False, indent=2).split("\n") if done.entry else []
        return [
            f"In {done.file}:",
            *lines,
            *(["Files of our own:", *files] if files else []),
            _NOT_WRITTEN[bool(done.entry)],
        ]
    backup = f" The file as it was is {done.backup}." if done.backup else ""
    return [f"{done.host}: {done.outcome} in {done.file}.{backup}", *files, *([done.note] if done.note else [])]


#: A host waits for its hook; so the hook does not wait long for a night.
_PATIENCE_S = 1.0
_LONGEST_PATH = 4096
_WORD = re.compile(r"[\w.-]{1,200}")
_AGENT = re.compile(r"agent:([\w.-]{1,100}):")


def run_hook(host: str, event: Mapping[str, Any], store: Path | None = None) -> int:
    """Compact the session of an event. Returns the exit code: 1 if it could not be done, which a message says."""
    before, Store.patience_s = Store.patience_s, _PATIENCE_S
    try:
        return _compact(host, event, load_project_settings({"store.path": str(store)} if store else None).values)
    finally:
        Store.patience_s = before


def _compact(host: str, event: Mapping[str, Any], settings: Settings) -> int:
    session = read_session_file(find_transcript(host, event), settings)
    if not session.turns:
        return 0
    name = event_name(dict(event))
    why = event.get("trigger") or event.get("reason") or ""
    reason = f"{name} ({why})" if isinstance(why, str) and _WORD.fullmatch(why) else name
    try:
        done = compact_and_index(settings, session, f"{host} hook")
    except MemoryPipelineError:
        note(settings, session, "hook", "compact", f"{host} hook", reason, ok=False)
        raise
    ok = done.outcome != "rolled back"
    note(settings, session, "hook", "compact", f"{host} hook", reason, ok=ok)
    if not ok:
        failed = "; ".join(gate.found for gate in done.gates if not gate.passed and gate.severity == "rolls back")
        print(f"memory-pipeline: nothing was written: {failed}", file=sys.stderr)
    return 0 if ok else 1


def find_transcript(host: str, event: Mapping[str, Any]) -> str:
    """The place with the words of an event's session. Raises InputError if it cannot be told."""
    places = _find_claude_transcripts(event) if host == "claude-code" else _find_openclaw_transcripts(event)
    for place in places:
        if len(place) <= _LONGEST_PATH and (".sqlite#" in place or os.path.isfile(place)):  # noqa: PTH113 - never raises
            return place
    raise InputError(f"the event '{event_name(dict(event))}' names no session whose words can be found")


def _find_claude_transcripts(event: Mapping[str, Any]) -> Iterator[str]:
    """The transcript that is named; some versions name none, and then it is found by the session."""
    named, session = event.get("transcript_path"), event.get("session_id")
    if isinstance(named, str) and named.strip():
        yield str(Path(named).expanduser())
    if isinstance(session, str) and _WORD.fullmatch(session):
        yield from map(str, sorted((claude_directory() / "projects").glob(f"*/{session}.jsonl")))


def _find_openclaw_transcripts(event: Mapping[str, Any]) -> Iterator[str]:
    """The session that an event is about: of `/new` and `/reset`, the one before."""
    context = event.get("context")
    if not isinstance(context, Mapping):
        return
    for entry in (context.get("previousSessionEntry"), context.get("sessionEntry"), context):
        if not isinstance(entry, Mapping):
            continue
        file, session = entry.get("sessionFile"), entry.get("sessionId")
        if isinstance(file, str) and file.endswith(".jsonl"):
            yield str(Path(file).expanduser())
        if isinstance(session, str) and _WORD.fullmatch(session):
            yield from _find_session_places(session, event.get("sessionKey"))


def _find_session_places(session: str, key: object) -> Iterator[str]:
    agents = openclaw_state() / "agents"
    named = _AGENT.match(key) if isinstance(key, str) else None
    for agent in [agents / named[1]] if named else sorted(agents.glob("*")):
        database = find_database(agent)
        if database is not None and shows_table(database, *EVENTS):
            with reading(database) as connection:
                if session in list_sessions(connection):
                    yield f"{database}#{session}"
        yield str(agent / "sessions" / f"{session}.jsonl")
