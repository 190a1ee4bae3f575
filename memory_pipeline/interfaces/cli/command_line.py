"""Runs the command line: loads the commands that are asked for, and turns any failure into an exit code and one
sentence that says how to fix it."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.abc import MetaPathFinder
from typing import NoReturn

import pyarrow as pa

from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.interfaces.cli.base import app
from memory_pipeline.interfaces.cli.output import complain, flush, prepare_streams, write_line
from memory_pipeline.processes import end_process
from memory_pipeline.store import settle_stores

#: By module, the commands and groups that it declares.
MODULES = {
    "setup": ("demo", "init", "import"),
    "nights": ("night", "backfill", "report"),
    "everyday": ("audit", "evaluate", "review", "show", "undo"),
    "recall": ("search", "context", "ask", "remember", "feedback", "lineage", "metrics"),
    "sources": ("sources",),
    "exports": ("export", "exports", "sync"),
    "knowledge": ("kb-compress", "playbook", "series", "atoms"),
    "days": ("conversations", "rollups"),
    "compaction": ("flush", "compact", "triggers", "hooks"),
    "review": ("conflicts", "patterns", "quarantine"),
    "history": ("rollback", "history", "as-of", "diff", "proposals"),
    "recovery": ("check", "recover", "forget", "snapshot"),
    "jobs": ("jobs",),
    "settings": ("config", "model", "embed"),
    "serve": ("serve", "mcp", "token", "ui"),
}
#: Commands that end with the closing line of a night.
_RUNS = ("night", "backfill", "kb-compress")
#: Commands that write nothing, not even what saves a later command time.
_ONLY_READING = ("audit",)
_STOPPED = "stopped by Ctrl-C; whatever was committed stays, and running the command again continues from there"


def load(name: str | None = None) -> None:
    """Declare a command and those beside it; without a name, or for one that no command has, all commands."""
    for module in [module for module, names in MODULES.items() if name in names] or MODULES:
        import_module(f"{__package__}.{module}")


def guarded(command: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. By then, any error has been printed."""
    with ExitStack() as stack:  # what is masked in an error needs the catalogue, too
        try:
            if arguments and arguments[0] in _ONLY_READING:
                from memory_pipeline.text.redaction.scanner import catalogue_only_read  # others need not wait for it

                stack.enter_context(catalogue_only_read())
            code = _run_for_code(command)
            if code == 130:
                raise KeyboardInterrupt
        except MemoryPipelineError as error:
            is_skipped = isinstance(error, StoreBusyError) and _is_run(arguments)
            code = _report_error(str(error), arguments, 0 if is_skipped else 1)
        except OSError as error:
            place = f"'{os.fsdecode(error.filename)}': " if isinstance(error.filename, str | bytes) else ""
            code = _report_error(f"{place}{cause_and_mend(error)}", arguments, 1)
        except KeyboardInterrupt:
            code = _report_error(_STOPPED, arguments, 130)
        except Exception as error:
            complain(traceback.format_exc().rstrip())
            code = _report_error(
                f"an unexpected {type(error).__name__}, which is a bug in this program and not your fault; whatever "
                "was committed stays. Please report it with the lines above",
                arguments,
                1,
            )
    return flush(code)


def _run_for_code(command: Callable[[], object]) -> int:
    """The exit code of a command that ends normally or by SystemExit."""
    try:
        command()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        raise
    return 0


def _report_error(text: str, arguments: Sequence[str], code: int) -> int:
    from memory_pipeline.text.redaction import redact  # a key that was written into another setting may be in it

    sentence = redact(" ".join(text.split()), personal=False)[0]
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


def main(run: Callable[[], object] | None = None) -> NoReturn:
    """Run the command line, or something in its place, and end the process with the exit code."""
    prepare_streams()
    _spare_pandas()
    arguments = sys.argv[1:]

    def command() -> None:
        load(next(iter(arguments), None))
        app(arguments, prog_name="memory-pipeline")

    code = guarded(run or command, arguments)
    settle_stores(quietly=code != 0)
    end_process(code)


def _spare_pandas() -> None:
    """Arrow imports pandas, in a third of a second, to recognise its objects; the command line has none."""
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _WithoutPandas())
        try:
            pa.scalar(None)  # Arrow looks for pandas once
        finally:
            del sys.meta_path[0]


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)
