"""The one place where a command's failure becomes words: one sentence with the mend, told once.

A night, a backfill and kb-compress end with a line on standard output whatever happens, so their
errors are told there; everything else goes to standard error. Only what nobody foresaw shows its traceback.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Sequence

from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.files import cause_and_mend
from memory_pipeline.interfaces.cli.output import flush, say, write_line

#: Commands that end with one of those lines.
_RUNS = ("night", "backfill", "kb-compress")
_STOPPED = "stopped by Ctrl-C; whatever was committed stays, and running the command again goes on from there"


def guarded(command: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; what went wrong has been told by then."""
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
        say(traceback.format_exc().rstrip())
        code = _tell(
            f"an unexpected {type(error).__name__}, which is a fault of this program and not yours; whatever was "
            "committed stays. Please report it with the lines above",
            arguments,
            1,
        )
    return flush(code)


def _code_of(command: Callable[[], object]) -> int:
    """What a command that ends by itself, or by SystemExit, says."""
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
        say(f"Error: {sentence}")
        return code
    try:
        write_line(json.dumps({"error": sentence, "result": line}) if "--json" in arguments else line)
    except OSError:
        say(f"Error: {sentence}")
    return code


def _is_run(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in _RUNS
