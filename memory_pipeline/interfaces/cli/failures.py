"""Turns the failure of a command, or of a run in this process, into one sentence that says how to fix it."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.files.writing import cause_and_mend
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


_OS_ERROR = re.compile(r"\[Errno (?P<number>\d+)\] (?P<words>[^:]*)(?:: (?P<file>'.*'))?")


def causes_of(result: Any) -> list[tuple[str, str]]:
    """What its failed steps raised, and what caused that: the name of each error, and its words."""
    return [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]


def was_stopped(causes: Sequence[tuple[str, str]]) -> bool:
    """Whether a person ended the run. Dagster turns this into a failed step, and would then begin the next run."""
    return any(name in ("DagsterExecutionInterruptedError", "KeyboardInterrupt") for name, _ in causes)


def cause_to_tell(causes: Sequence[tuple[str, str]]) -> str:
    """The first cause that says how to fix it; without one, the cause of all the others."""
    fixable = {kind.__name__ for kind in _kinds_of(MemoryPipelineError)}
    told = [text for name, text in causes if name in fixable] or [text for _, text in causes[-1:]]
    return " ".join(told[0].split()) if told else "the run failed before its first step"


def _kinds_of(error: type[Exception]) -> Iterator[type[Exception]]:
    yield error
    for kind in error.__subclasses__():
        yield from _kinds_of(kind)


def _causes(event: Any) -> Iterator[tuple[str, str]]:
    error = event.step_failure_data.error
    while error is not None:
        yield error.cls_name or "", _in_words(error.message.strip().partition(": ")[2] or error.message.strip())
        error = error.cause


def _in_words(text: str) -> str:
    """The meaning and fix of an operating system error that Dagster passes on as text."""
    found = _OS_ERROR.match(text)
    if not found:
        return text
    where = f"{found['file']}: " if found["file"] else ""
    return f"{where}{cause_and_mend(OSError(int(found['number']), found['words']))}"
