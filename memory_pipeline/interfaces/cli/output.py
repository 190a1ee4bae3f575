"""Output of the command line: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

from memory_pipeline.documents import Document
from memory_pipeline.errors import OutputError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.reporting.summary import Heading
from memory_pipeline.text.hidden import UNSEEN, visible

#: The narrowest and the widest that lines of memories become on a terminal.
_NARROWEST, _WIDEST = 40, 120
#: The marks around what a command prints into a file of Markdown, and how the names of such files end.
_BLOCK, _MARKDOWN = "<!-- memory-pipeline:output:{} -->", (".md", ".markdown")


def prepare_streams() -> None:
    """Make the standard streams writable, whatever the shell has done with them.

    A closed stream is opened on the null device: otherwise the next opened file, the store, would get its number and
    receive every message. Characters that the terminal's encoding lacks are written as escapes.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def emit(value: object, *, as_json: bool, text: str | Sequence[str]) -> None:
    """Print one JSON document, or the text for a person, whole or as lines; a terminal shows a `Heading` in bold.

    No memory can control a terminal: invisible characters are written as escapes in JSON and omitted from text.
    Raises OutputError if the disk behind standard output is full; a closed pipe is not an error.
    """
    if as_json:
        is_ascii = (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") != "utf8"
        written = json.dumps(value, ensure_ascii=is_ascii, default=_as_json)
        text = UNSEEN.sub(lambda unseen: json.dumps(unseen.group())[1:-1], written)
    else:
        lines = [text] if isinstance(text, str) else text
        text = _fenced("\n".join(map(_printable, lines)))
    try:
        write_line(text)
    except OSError as error:
        raise OutputError(
            f"the result could not be printed: {cause_and_mend(error)}. The command itself was executed"
        ) from error


def terminal_width() -> int | None:
    """The columns of the terminal; None if the output goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def _fenced(text: str) -> str:
    """The text; in a file of Markdown, between marks by which a reader of a workspace knows it for ours and leaves it
    out: else a night would read what the store says back into the store."""
    if not _is_markdown(sys.stdout):
        return text
    return f"{_BLOCK.format('start')}\n{text.replace(_BLOCK.format('end'), '')}\n{_BLOCK.format('end')}"


def _is_markdown(stream: TextIO) -> bool:
    """True if a stream is written into a file of Markdown, or into one whose name cannot be told."""
    try:
        number = stream.fileno()
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return False
        if sys.platform == "darwin":
            import fcntl

            name = os.fsdecode(fcntl.fcntl(number, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        else:
            name = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - of no file system
    except ValueError:  # a stream in memory
        return False
    except OSError:
        return sys.platform not in ("darwin", "linux")
    return name.lower().endswith(_MARKDOWN)


def _printable(line: str) -> str:
    """A line without what controls a terminal, in bold on one that shows colours if it is a heading."""
    if isinstance(line, Heading) and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        return f"\x1b[1m{visible(line)}\x1b[0m"
    return visible(line)


def _as_json(value: object) -> object:
    return value.as_json() if isinstance(value, Document) else str(value)


def write_line(text: str) -> None:
    """Write a line to standard output. Raises OSError if the disk behind it is full; a closed pipe is not an error."""
    try:
        print(text, flush=True)
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def flush(code: int) -> int:
    """The exit code after all output is flushed: 1 instead of 0 if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        code = code if isinstance(error, BrokenPipeError) else code or 1
    with suppress(OSError):
        sys.stderr.flush()
    return code


#: Whether only results and errors are printed.
_quiet = False


def be_quiet(*, quiet: bool) -> None:
    """From now on, print results and errors only, without progress and messages beside them."""
    global _quiet
    _quiet = quiet


def say(text: str, end: str = "\n") -> None:
    """Print a message on standard error, unless only results are wanted."""
    if not _quiet:
        complain(text, end)


def complain(text: str, end: str = "\n") -> None:
    """Print an error on standard error."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Discard whatever is still written to a stream that nobody reads, including at the end of the process."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def progress_printer() -> Callable[[str, int, int], None]:
    """Show progress: on one line that is rewritten in a terminal, otherwise on occasional separate lines."""
    if _quiet:
        return lambda *_: None
    live = sys.stderr.isatty()
    state: dict[str, Any] = {"told": 0.0, "step": ""}

    def show(step: str, done: int, total: int) -> None:
        now = time.monotonic()
        last = done == total
        if step == state["step"] and not last and now - state["told"] < (0.2 if live else 5.0):
            return
        is_new = step != state["step"]
        state.update(told=now, step=step)
        if not live and is_new and not last:
            return  # a quick step is told once, when it is done
        count = f"{done} of {total}" if total else str(done)
        if live:
            bar = f"[{'#' * (24 * done // total):<24}] " if total else ""
            say(f"\r  {step}: {bar}{count}\x1b[K", end="\n" if last else "")
        else:
            say(f"  {step}: {count}")

    return show


def table(rows: Sequence[Mapping[str, object]], columns: Sequence[str] | None = None, none: str = "(none)") -> str:
    """Rows as aligned plain text, with these columns or those of the first row; `none` is the text without any."""
    if not rows:
        return none
    columns = columns or list(rows[0])
    texts = [columns, *([str(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in texts)
