"""How long an import of one memory waits while a large night runs in another process.

    python benchmarks/waiting.py [--memories 6000] [--merges 400] [--patterns 60]

The night runs over memories that are made here (large_store.py), by a process of its own. Meanwhile this one imports a
memory at a time, as an agent does that remembers something, and takes the time. Printed: the percentiles of those times
beside those on a store that nobody else uses. Goal: p99 under 1 s.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from large_store import FIRST, candidates

from memory_pipeline.config.loading import load_settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Source
from memory_pipeline.store import Store

_DAY = date(2026, 3, 25)
#: Seconds between two imports, and how many are made on the store that nobody else uses.
_PAUSE_S, _ALONE = 0.05, 100


def run_the_night(path: Path) -> None:
    """The night, in a process of its own."""
    settings = load_settings({"store.path": str(path), "embedding.model": "lexical"}, environment={}).values
    report = run_night(Night(Store(path), settings, NightOptions(_DAY, "waiting")))
    print(f"the night: {report.clusters_compressed} clusters compressed, {report.memories_archived} archived")


def seconds_of_one(store: Store, number: int) -> float:
    """Import one memory that nothing else is like; how long it took."""
    one = Candidate(
        content=f"Remembered while the night was running, entry {number}.",
        source=Source("jsonl", "remembered.jsonl", number),
        created_at=FIRST + timedelta(days=50, seconds=number),
    )
    began = time.perf_counter()
    import_memories(store, iter([one]), project="remembered", embedder=Lexical(), now=FIRST + timedelta(days=60))
    return time.perf_counter() - began


def told(seconds: Sequence[float]) -> str:
    """Percentiles for a person."""
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99])
    return f"p50 {p50:.3f} s, p95 {p95:.3f} s, p99 {p99:.3f} s, max {max(seconds):.3f} s ({len(seconds)} imports)"


def main() -> None:
    """Make the store, run the night, import meanwhile, print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=6000)
    parser.add_argument("--merges", type=int, default=400)
    parser.add_argument("--patterns", type=int, default=60)
    parser.add_argument("--night", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.night:
        run_the_night(args.night)
        return
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory) / "store.duckdb")
        made = candidates(args.memories, args.merges, args.patterns)
        import_memories(store, made, project="p", embedder=Lexical(), now=FIRST + timedelta(days=60))
        alone = [seconds_of_one(store, number) for number in range(_ALONE)]
        print(f"nobody else:           {told(alone)}", flush=True)
        began = time.perf_counter()
        night = subprocess.Popen([sys.executable, __file__, "--night", str(store.path)])
        during: list[float] = []
        while night.poll() is None:
            during.append(seconds_of_one(store, _ALONE + len(during)))
            time.sleep(_PAUSE_S)
        print(f"{args.memories} memories, {time.perf_counter() - began:.1f} s of a night, exit code {night.returncode}")
        print(f"while the night runs:  {told(during)}")


if __name__ == "__main__":
    main()
