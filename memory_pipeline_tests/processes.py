"""Work in processes of its own, forked from one that has imported the program: without two seconds of imports each.

What such a process is given (environment, working directory, streams), how it may be killed and how it ends is as with
any other. Tests of how the program starts, and of odd streams, start the real one.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NoReturn

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["memory_pipeline_tests.warm"])


def begin(work: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """Start a function of a module in a process of its own, in this one's environment and on its streams."""
    process = _CONTEXT.Process(target=_act, args=(work, arguments, dict(os.environ), str(Path.cwd())), daemon=True)
    process.start()
    return process


def run(
    work: Callable[..., object],
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float = 120,
) -> CompletedProcess[str]:
    """Run a function of a module to its end in a process of its own; its exit code, or minus the signal that killed it,
    and what it wrote. `environment`: the whole of it, by default this process's."""
    environment = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory() as directory:
        streams = [Path(directory) / name for name in ("stdout", "stderr")]
        told = (work, arguments, environment, str(cwd or Path.cwd()), *map(str, streams))
        process = _CONTEXT.Process(target=_act, args=told, daemon=True)
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            process.join()
        out, errors = (stream.read_text("utf-8") if stream.exists() else "" for stream in streams)
    return CompletedProcess([work.__name__, *map(str, arguments)], int(process.exitcode or 0), out, errors)


def program(*words: str, environment: Mapping[str, str], cwd: Path) -> CompletedProcess[str]:
    """Run a command line of `memory-pipeline`."""
    return run(_main, list(words), environment=environment, cwd=cwd)


def _main(words: list[str]) -> NoReturn:
    from memory_pipeline.interfaces.cli import main

    sys.argv = ["memory-pipeline", *words]
    main()
    raise AssertionError("the program ends by itself")


def _act(
    work: Callable[..., object], arguments: tuple[Any, ...], environment: Mapping[str, str], cwd: str, *streams: str
) -> None:
    """In the new process: what the one that it was forked from had is replaced by what it is given."""
    from memory_pipeline import killpoints

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    killpoints._WANTED = os.environ.get("KILL_POINT")
    for number, path in enumerate(streams, 1):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, number)
        os.close(descriptor)
    if streams:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    work(*arguments)
