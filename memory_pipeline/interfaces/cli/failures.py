"""Turns the failure of a command into one sentence that says how to fix it, printed once.

A night, a backfill and kb-compress always end with a line on standard output, so their errors are printed there; all
other errors go to standard error. Only unexpected errors show a traceback.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Sequence

from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.files import cause_and_mend
from memory_pipeline.interfaces.cli.output import complain, flush, write_line

#: Commands that end with one of those lines.
_RUNS = ("night", "backfill", "kb-compress")
_STOPPED = "stopped by Ctrl-C; whatever was committed stays, and running the command again continues from there"


def guarded(command: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. By then, any error has been printed."""
    try:
        code = _code_of(command)
        if code == 130:
            raise KeyboardInterrupt
    except StoreBusyError as error:
        code = _tell(str(error), arguments, 0 if _is_run(arguments) else 1)
    except MemoryPipelineError as error:
        code = _tell(str(error), arguments, 1)
    except OSError as error:
        place = f"'{os.fsdecode(error.filename)}': " if isinstance(error.filename, str | bytes) else ""
        code = _tell(f"{place}{cause_and_mend(error)}", arguments, 1)
    except KeyboardInterrupt:
        code = _tell(_STOPPED, arguments, 130)
    except Exception as error:
        complain(traceback.format_exc().rstrip())
        code = _tell(
            f"an unexpected {type(error).__name__}, which is a bug in this program and not your fault; whatever was "
            "committed stays. Please report it with the lines above",
            arguments,
            1,
        )
    return flush(code)


def _code_of(command: Callable[[], object]) -> int:
    """The exit code of a command that ends normally or by SystemExit."""
    try:
        command()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        raise
    return 0


def _tell(text: str, arguments: Sequence[str], code: int) -> int:
    sentence = " ".join(text.split())
    line = f"COMPRESSION BLOCKED: {sentence}"
    if not _is_run(arguments):
        complain(f"Error: {sentence}")
        return code
    try:
        write_line(json.dumps({"error": sentence, "result": line}) if "--json" in arguments else line)
    except OSError:
        complain(f"Error: {sentence}")
    return code


def _is_run(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in _RUNS
