"""What reading conversations costs: a day of many turns, many days, and the rollups of them.

    python benchmarks/talk_days.py [--turns 2000] [--days 1] [--rollups] [--beside DIR]

The turns are those of the planted conversations, over and over with other numbers and places. The store is made first;
then `conversations run --all-open`, the same again after a late turn on the first day, and with `--rollups` a `rollups
run` of all its periods, each as a command of its own. For each: seconds of wall clock and of CPU, and the peak memory.
`--beside` runs another version of the package on a copy of the same store.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from planted_conversations import plant_conversations

from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Source
from memory_pipeline.store import Store

_PROGRAM = "from memory_pipeline.interfaces.cli import main; main()"
_FIRST = datetime(2025, 1, 6, 8, 0, tzinfo=UTC)
_NOW = datetime(2026, 6, 1, tzinfo=UTC)
_PLACES = "Lyon Graz Porto Ghent Turku Cork Lodz Brno Bergen Parma Malmo Trier Seville Nantes Basel Tartu".split()


def said(turns: int, days: int) -> Iterator[Candidate]:
    """The turns of all days."""
    drawn = random.Random(17)
    sources = [(turn.words, turn.speaker) for planted in plant_conversations() for turn in planted.turns]
    for day in range(days):
        for number in range(turns):
            words, speaker = sources[drawn.randrange(len(sources))]
            words = re.sub(r"\b\d{2,4}\b", lambda _: str(drawn.randrange(10, 9_999)), words)
            at = _FIRST + timedelta(days=day, seconds=number * max(1, 40_000 // turns))
            yield turn_at(at, f"{words} That was in {drawn.choice(_PLACES)}.", speaker, f"{day}-{number}", number + 1)


def turn_at(at: datetime, words: str, speaker: str, native_id: str, line: int) -> Candidate:
    """One turn, as a source would hand it in."""
    return Candidate(
        content=words,
        source=Source("jsonl", f"talk-{at:%Y-%m-%d}.jsonl", line),
        created_at=at,
        native_id=native_id,
        memory_type="conversation",
        tags=(speaker,),
    )


def bring(store: Path, turns: Iterable[Candidate]) -> None:
    """Import turns."""
    import_memories(Store(store), iter(turns), project="talk", embedder=Lexical(), now=_NOW)


def measured(package: Path, store: Path, *arguments: str) -> str:
    """Seconds and peak memory of one command of a version of the package."""
    before = time.perf_counter()
    command = [sys.executable, "-c", _PROGRAM, *arguments, "-q", "--store", str(store)]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    running = subprocess.Popen(
        command, cwd=store.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        assert running.stderr is not None
        raise SystemExit(f"{' '.join(arguments)}: {running.stderr.read().decode()}")
    wall = time.perf_counter() - before
    return f"{wall:7.1f} s, CPU {used.ru_utime + used.ru_stime:6.1f} s, {used.ru_maxrss / 1024:5.0f} MB"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--rollups", action="store_true")
    parser.add_argument("--beside", type=Path)
    chosen = parser.parse_args()
    versions = {"here": Path(__file__).resolve().parents[1]}
    if chosen.beside:
        versions["beside"] = chosen.beside.resolve()
    everything = ("conversations", "run", "--all-open")
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory) / "made" / "store.duckdb"
        made.parent.mkdir()
        bring(made, said(chosen.turns, chosen.days))
        print(f"{chosen.days} days of {chosen.turns} turns")
        for name, package in versions.items():
            store = Path(directory) / name / "store.duckdb"
            shutil.copytree(made.parent, store.parent)
            print(f"  {name}: conversations run, all days ", measured(package, store, *everything), flush=True)
            late = turn_at(_FIRST + timedelta(hours=12), "I'm allergic to bees.", "human", "late", 99_999)
            bring(store, [late])
            print(f"  {name}: again, after a late turn    ", measured(package, store, *everything), flush=True)
            if chosen.rollups:
                print(f"  {name}: rollups run, all periods    ", measured(package, store, "rollups", "run"), flush=True)


if __name__ == "__main__":
    main()
