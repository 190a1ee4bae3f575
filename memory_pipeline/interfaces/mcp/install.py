"""Puts the MCP server into the file in which a client keeps its servers: Claude Code, Claude Desktop, Cursor, OpenClaw.

Only the entry of the given name changes. The file is replaced at once, and what it was is kept beside it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.files.json_editing import change_file, with_value
from memory_pipeline.files.writing import real_path
from memory_pipeline.orchestration.home import home_environment


@dataclass(frozen=True, slots=True)
class _Client:
    """A client: where its file is, the objects in it that lead to the servers, and what makes it read the file anew."""

    title: str
    file: Callable[[], Path]
    servers: tuple[str, ...]
    then: str
    typed: bool = False


class InstalledServer(Document):
    """The entry of the server in the file of a client."""

    client: str = Field(description="The client.")
    file: str = Field(description="Its file.")
    name: str = Field(description="The name of the server in it.")
    entry: dict[str, Any] = Field(description="The whole object to put into the file, with the entry in its place.")
    command: str | None = Field(description="A command of the client that does the same, if it has one.")
    written: bool = Field(description="Whether the file was written.")
    changed: bool = Field(description="Whether writing changed the file; false if the entry was there already.")
    backup: str | None = Field(description="Where the file as it was is kept; null if there was none.")


def _claude_code() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"


def _claude_desktop() -> Path:
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "Claude" / "claude_desktop_config.json"


def _openclaw() -> Path:
    return Path(os.environ.get("OPENCLAW_CONFIG_PATH") or openclaw_state() / "openclaw.json")


def openclaw_state() -> Path:
    return Path(os.environ.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw")


def claude_directory() -> Path:
    """The directory of Claude Code's settings and sessions."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


CLIENTS = {
    "claude-code": _Client("Claude Code", _claude_code, ("mcpServers",), "Begin a new session; /mcp lists it.", True),
    "claude-desktop": _Client("Claude Desktop", _claude_desktop, ("mcpServers",), "Quit Claude Desktop and start it."),
    "cursor": _Client(
        "Cursor", lambda: Path.home() / ".cursor" / "mcp.json", ("mcpServers",), "Restart Cursor; switch it on in MCPs."
    ),
    "openclaw": _Client("OpenClaw", _openclaw, ("mcp", "servers"), "'openclaw mcp list' shows it."),
}


def own_command(store: Path, project: str | None) -> list[str]:
    """The command that serves a store, with absolute paths: a client starts it anywhere and with few variables."""
    program = Path(sys.executable).with_name("memory-pipeline.exe" if sys.platform == "win32" else "memory-pipeline")
    if not program.exists():
        raise InputError(f"there is no program '{program}'; install the package into this Python and run it again")
    return [str(program), "mcp", "--store", str(store), *(["--project", project] if project else [])]


def install(client: str, name: str, command: Sequence[str], *, write: bool) -> InstalledServer:
    """The entry of a server for a client, written into its file if `write`.

    Raises InputError for a file that is not JSON, and OutputError if it cannot be written.
    """
    chosen = CLIENTS[client]
    file = real_path(chosen.file())
    if not name.strip() or not name.isprintable():
        raise InputError(f"--name is {name!r}; use a word such as memory")
    entry: dict[str, Any] = {"type": "stdio"} if chosen.typed else {}
    entry |= {"command": command[0], "args": list(command[1:]), "env": home_environment()}
    backup, changed = None, False
    if write:
        path = (*chosen.servers, name)
        backup, changed = change_file(file, lambda text: with_value(text, path, entry), chosen.title)
    config: dict[str, Any] = {name: entry}
    for key in reversed(chosen.servers):
        config = {key: config}
    return InstalledServer(
        client=client,
        file=str(file),
        name=name,
        entry=config,
        command=_own_way(client, name, entry),
        written=write,
        changed=changed,
        backup=str(backup) if backup else None,
    )


def installed_text(done: InstalledServer) -> list[str]:
    """The entry and where it belongs, or what was written, for a person."""
    client = CLIENTS[done.client]
    if done.written:
        outcome = f"{client.title} has the server '{done.name}' in {done.file}"
        backup = f"; the file as it was is {done.backup}" if done.backup else ""
        return [f"{outcome}{backup}." if done.changed else f"{outcome} already; nothing was changed.", client.then]
    lines = [*json.dumps(done.entry, ensure_ascii=False, indent=2).split("\n"), ""]
    lines.append(f"Put this into {done.file}, or run this command again with --write.")
    return [*lines, *([f"The same with {client.title}'s own command: {done.command}"] if done.command else [])]


def _own_way(client: str, name: str, entry: dict[str, Any]) -> str | None:
    """A client's own command that adds the entry."""
    if client == "openclaw":
        return shlex.join(["openclaw", "mcp", "set", name, json.dumps(entry, ensure_ascii=False)])
    if client == "claude-code":
        return shlex.join(["claude", "mcp", "add-json", "--scope", "user", name, json.dumps(entry, ensure_ascii=False)])
    return None
