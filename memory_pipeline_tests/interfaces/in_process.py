"""The command line in this process, as `main` runs it: an exit code, and what stood on the two streams."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from typer.main import get_command

from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.interfaces.cli.command_line import guarded

SETTINGS = {"MEMORY_PIPELINE_EMBEDDING_MODEL": "lexical", "MEMORY_PIPELINE_COMPRESSION_MIN_ACTIVE_MEMORIES": "0"}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> str:
        """The last line that it wrote, on whichever stream."""
        return (self.out or self.err).strip().splitlines()[-1]


@cache
def _commands() -> Any:
    """The commands, declared once: that takes longer than most of them."""
    return get_command(app)


def command(*arguments: str | Path, **environment: str) -> Done:
    """Run one command; the environment is afterwards what it was before."""
    words = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, SETTINGS | environment), redirect_stdout(out), redirect_stderr(err):
        code = guarded(lambda: _commands()(words, prog_name="memory-pipeline"), words)
    return Done(code, out.getvalue(), err.getvalue())


def bytes_of(*places: Path) -> dict[str, bytes | str | None]:
    """What stands in files, and in all files below directories: contents, where links lead, None for directories."""
    found: dict[str, bytes | str | None] = {}
    for place in places:
        for path in [place, *(sorted(place.rglob("*")) if place.is_dir() and not place.is_symlink() else [])]:
            if path.is_symlink():
                found[str(path)] = str(path.readlink())
            else:
                found[str(path)] = path.read_bytes() if path.is_file() else None
    return found


@contextmanager
def no_room(largest: int = 0) -> Iterator[None]:
    """A disk on which no file can grow beyond `largest` bytes: as on a full one, writing another byte fails."""
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
