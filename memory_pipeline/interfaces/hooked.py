"""The program of a host's hook: `python -m memory_pipeline.interfaces.hooked HOST`, with the event on standard input.

A host waits for it, and may give it little time: at the end of a session, Claude Code gives all hooks a second and a
half, and does not always close their input. So only the standard library is loaded here, the input is read as far as
it is whole, and what may take longer goes on in a process of its own. No failure ever stops the host: the exit code is
0, or 1 with a sentence; 2 would block a compaction. Nothing is printed otherwise: a host may take it for instructions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOSTS = ("claude-code", "openclaw")
_PATIENCE_S, _LONGEST, _CHUNK = 1.0, 1_000_000, 65_536
_LONGEST_ERROR = 1000
#: Events after which the host goes on at once.
_ENDS = ("SessionEnd", "command:new", "command:reset")


def main(arguments: list[str]) -> int:
    """Run the hook of a host. Returns the exit code."""
    host, *options = arguments or [""]
    try:
        event = read_event(sys.stdin.fileno())
    except (AttributeError, ValueError, OSError):  # a host has closed it
        event = None
    if host not in HOSTS or event is None:
        print("memory-pipeline: the hook got no event that can be read", file=sys.stderr)
        return 1
    if "--now" not in options and event_name(event) in _ENDS:
        return _detach(host, options, event)
    try:
        from memory_pipeline.interfaces.hooks import run_hook

        return run_hook(host, event, _read_store(options))
    except KeyboardInterrupt:
        return 1
    except Exception as error:  # a host must never fail because of us
        print(f"memory-pipeline: {str(error)[:_LONGEST_ERROR]}", file=sys.stderr)
        return 1


def event_name(event: dict[str, Any]) -> str:
    """The event of a hook: that of Claude Code, or the type and the action of OpenClaw."""
    name = event.get("hook_event_name")
    return name if isinstance(name, str) else f"{event.get('type')}:{event.get('action')}"


def read_event(source: int) -> dict[str, Any] | None:
    """The JSON object on a descriptor, as soon as it is whole; None if there is none in time."""
    import select

    data, until = b"", time.monotonic() + _PATIENCE_S
    while len(data) <= _LONGEST:
        left = until - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            break
        chunk = os.read(source, _CHUNK)
        data += chunk
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            if not chunk:
                break
            continue
        return event if isinstance(event, dict) else None
    return None


def _detach(host: str, options: list[str], event: dict[str, Any]) -> int:
    """Go on in a process of its own, which outlives the host."""
    command = [sys.executable, "-P", "-m", "memory_pipeline.interfaces.hooked", host, *options, "--now"]
    nowhere = subprocess.DEVNULL
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True, close_fds=True
        )
        assert child.stdin is not None
        child.stdin.write(json.dumps(event).encode())
        child.stdin.close()
    except OSError as error:
        print(f"memory-pipeline: {error}", file=sys.stderr)
        return 1
    child.returncode = 0  # nobody waits for it
    return 0


def _read_store(options: list[str]) -> Path | None:
    index = options.index("--store") + 1 if "--store" in options else len(options)
    return Path(options[index]) if index < len(options) else None


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
