"""What the command line prints: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from memory_pipeline.documents import Document
from memory_pipeline.errors import OutputError
from memory_pipeline.files import cause_and_mend
from memory_pipeline.wording.hidden import UNSEEN, visible


def prepare_streams() -> None:
    """Standard streams that can be written to whatever the shell has done with them.

    One that was closed is opened on nothing: the next file to be opened, the store, would else take its number and
    every message with it. Signs that the terminal's encoding lacks are written as escapes.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def emit(value: object, *, as_json: bool, text: str, sort_keys: bool = False) -> None:
    """One JSON document, or the text for a person.

    No memory can steer a terminal: what cannot be seen is written as an escape in JSON, and left out of text.
    Raises OutputError when the disk behind standard output is full; a reader that went away is not an error.
    """
    if as_json:
        is_ascii = not _is_utf8(sys.stdout)
        written = json.dumps(value, ensure_ascii=is_ascii, default=_as_json, sort_keys=sort_keys)
        text = UNSEEN.sub(_escape, written)
    else:
        text = visible(text)
    try:
        write_line(text)
    except OSError as error:
        raise OutputError(
            f"the result could not be printed: {cause_and_mend(error)}. The command itself was carried out"
        ) from error


def _as_json(value: object) -> object:
    return value.as_json() if isinstance(value, Document) else str(value)


def _escape(unseen: re.Match[str]) -> str:
    return json.dumps(unseen.group())[1:-1]


def write_line(text: str) -> None:
    """A line on standard output. Raises OSError for a full disk behind it; a reader that went away is none."""
    try:
        print(text, flush=True)
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def flush(code: int) -> int:
    """The exit code once everything is written out: 1 instead of 0 where that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError:
        _discard(sys.stdout)
        code = code or 1
    with suppress(OSError):
        sys.stderr.flush()
    return code


def say(text: str, end: str = "\n") -> None:
    """Something on the way, for a person."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Nobody reads a stream any more: what is still written to it, at the end of the process too, goes nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"


def progress_printer() -> Callable[[str, int, int], None]:
    """Progress on one line that is rewritten on a terminal, and now and then a line of its own elsewhere."""
    live = sys.stderr.isatty()
    state: dict[str, Any] = {"told": 0.0, "step": ""}

    def tell(step: str, done: int, total: int) -> None:
        now = time.monotonic()
        last = done == total
        if step == state["step"] and not last and now - state["told"] < (0.2 if live else 5.0):
            return
        if not live and not last and step == state["step"] and now - state["told"] < 5.0:
            return
        state.update(told=now, step=step)
        count = f"{done} of {total}" if total else str(done)
        if live:
            end = "\n" if last else ""
            say(f"\r  {step}: {count}\x1b[K", end=end)
        elif last:
            say(f"  {step}: {count}")

    return tell


def table(rows: list[dict[str, object]], columns: list[str]) -> str:
    """Rows as aligned plain text."""
    if not rows:
        return "(none)"
    texts = [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[n]) for line in texts)) for n, column in enumerate(columns)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(columns, widths, strict=True)).rstrip()]
    lines += ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in texts]
    return "\n".join(lines)
