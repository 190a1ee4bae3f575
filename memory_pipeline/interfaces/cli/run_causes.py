"""Why a run in this process failed, in words for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.files import cause_and_mend

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
