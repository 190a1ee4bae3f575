"""Start-up: importing the code location beside Dagster alone, and a night with nothing new from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.demo.generate import LAST_DAY
from memory_pipeline.demo.workspace import import_demo
from memory_pipeline.store import Store

_REPEATS = 5


def seconds_of(*command: str, **environment: str) -> float:
    """Least wall-clock seconds of a command over some repeats."""
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    empty = seconds_of(sys.executable, "-c", "pass")
    dagster = seconds_of(sys.executable, "-c", "import dagster")
    location = seconds_of(sys.executable, "-c", "import memory_pipeline.definitions")
    print(f"best of {_REPEATS}, with {empty:.2f} s of Python itself in each")
    print(f"  import dagster                        {dagster:.2f} s")
    print(f"  import memory_pipeline.definitions    {location:.2f} s  (+{location - dagster:.2f} s)")
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory) / "store.duckdb")
        settings = Settings().with_values({"store.path": str(store.path)})
        import_demo(store, settings)
        run_night(Night(store, settings, NightOptions(LAST_DAY + timedelta(days=1), "first")))
        program = [sys.executable, "-c", "from memory_pipeline.interfaces.cli import main; main()"]
        day = str(LAST_DAY + timedelta(days=2))
        night = seconds_of(*program, "night", day, "--store", str(store.path))
        print(f"  a night with nothing new, 842 memories, from the command line  {night:.2f} s")


if __name__ == "__main__":
    main()
