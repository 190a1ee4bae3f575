"""What a day costs on which nothing is new: CPU seconds of a night from the command line, and of a day of a backfill.

CPU seconds, not wall-clock ones: those of other programs on the machine are not in them. `--days N` sets how many days
the backfill has; what it costs to start is taken off by a backfill of a single day. Modules are compiled once, as in an
installed program, also where the environment tells Python to write no byte code.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.demo.generate import LAST_DAY
from memory_pipeline.demo.workspace import import_demo
from memory_pipeline.store import Store

_PROGRAM = [sys.executable, "-c", "from memory_pipeline.interfaces.cli import main; main()"]


def cpu_seconds(*arguments: str) -> float:
    """CPU seconds, of user and system, that one command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*_PROGRAM, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def backfill(store: Path, first: date, days: int) -> float:
    """CPU seconds of a backfill of so many days."""
    last = first + timedelta(days=days - 1)
    return cpu_seconds("backfill", "--from", str(first), "--to", str(last), "--store", str(store))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as directory:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(directory) / "compiled")
        store = Store(Path(directory) / "store.duckdb")
        settings = Settings().with_values({"store.path": str(store.path)})
        import_demo(store, settings)
        run_night(Night(store, settings, NightOptions(LAST_DAY + timedelta(days=1), "first")))
        quiet = LAST_DAY + timedelta(days=2)
        backfill(store.path, quiet, 1)  # makes the history
        night = min(cpu_seconds("night", str(quiet), "--store", str(store.path)) for _ in range(3))
        one, many = backfill(store.path, quiet, 1), backfill(store.path, quiet + timedelta(days=1), days + 1)
        print("CPU seconds where nothing is new, 842 memories")
        print(f"  a night from the command line          {night:6.2f}")
        print(f"  a day of a backfill of {days:3} days        {(many - one) / days:6.2f}")


if __name__ == "__main__":
    main()
