"""What a night costs in a large store: merges and patterns among many memories that have nothing to do with them.

    python benchmarks/large_store.py [--memories 40000] [--merges 1000] [--patterns 100] [--new 1000]
                                     [--template STORE] [--profile FILE]

The memories are made here, of words drawn by seed, and embedded by the model-free embedder, so that the time is that of
the night itself: finding, judging, writing. Printed: seconds and CPU seconds for each step, of a night over all of
them, of one with nothing new, and of one with `--new` more memories, a tenth of them in pairs of near-copies and a
tenth in groups. With `--template` the store is made once, at that path, and copied from there.
"""

from __future__ import annotations

import argparse
import cProfile
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_pipeline.config.loading import load_settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Source
from memory_pipeline.store import Store

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
_SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve wi xo zu ka le mi no pu".split()


def words(rng: random.Random, count: int) -> str:
    """So many made-up words, which hardly ever come twice."""
    return " ".join("".join(rng.choice(_SYLLABLES) for _ in range(4)) for _ in range(count))


def candidates(
    memories: int,
    merges: int,
    patterns: int,
    seed: int = 1,
    *,
    file: str = "made.jsonl",
    first: datetime = FIRST,
    minutes: int = 28_000,
) -> Iterator[Candidate]:
    """Pairs of near-copies, groups on one subject, and the rest, over twenty days."""
    rng = random.Random(seed)
    texts = []
    for _ in range(merges):
        base = words(rng, 40)
        texts += [f"{base}.", f"{base}. {words(rng, 2)}."]
    for _ in range(patterns):
        base = words(rng, 24)
        texts += [f"{base}. {words(rng, 4)}." for _ in range(4)]
    texts += [f"{words(rng, 25)}." for _ in range(memories - len(texts))]
    rng.shuffle(texts)
    for number, text in enumerate(texts):
        at = first + timedelta(minutes=number * minutes / len(texts))
        yield Candidate(content=text, source=Source("jsonl", file, number), created_at=at)


def main() -> None:
    """Make the store, run the night, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=40_000)
    parser.add_argument("--merges", type=int, default=1000)
    parser.add_argument("--patterns", type=int, default=100)
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--template", type=Path)
    parser.add_argument("--profile", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        settings = load_settings({"store.path": str(path), "embedding.model": "lexical"}, environment={}).values
        store = Store(path)
        template = args.template or path
        if not template.exists():
            bring_in(Store(template), candidates(args.memories, args.merges, args.patterns))
        if template != path:
            shutil.copyfile(template, path)
        run_one(store, settings, date(2026, 3, 25), args.profile)
        run_one(store, settings, date(2026, 3, 26), args.profile)
        at = FIRST + timedelta(days=26)
        bring_in(store, candidates(args.new, args.new // 20, args.new // 40, 2, file="new.jsonl", first=at, minutes=60))
        run_one(store, settings, date(2026, 3, 28), args.profile)


def bring_in(store: Store, made: Iterator[Candidate]) -> None:
    """Import memories, and leave the store as one file."""
    wall, cpu = time.perf_counter(), time.process_time()
    summary = import_memories(store, made, project="p", embedder=Lexical(), now=FIRST + timedelta(days=60))
    store.fold()
    print(
        f"import of {summary.imported}: {time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} s CPU",
        flush=True,
    )


def run_one(store: Store, settings: object, day: date, profile: Path | None) -> None:
    """One night, step by step."""
    told: dict[str, float] = {}
    last = [time.perf_counter()]

    def progress(step: str, done: int, total: int) -> None:
        now = time.perf_counter()
        told[step] = told.get(step, 0.0) + now - last[0]
        last[0] = now

    night = Night(store, settings, NightOptions(day, f"night-{day}"), progress=progress)  # type: ignore[arg-type]
    wall, cpu = time.perf_counter(), time.process_time()
    profiler = cProfile.Profile() if profile else nullcontext()
    with profiler:
        report = run_night(night)
    if isinstance(profiler, cProfile.Profile):
        profiler.dump_stats(f"{profile}-{day}")
    print(
        f"{day}: {time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} s CPU; "
        f"{report.clusters_compressed} clusters compressed, {report.memories_archived} archived; "
        + ", ".join(f"until {step} {seconds:.1f} s" for step, seconds in told.items()),
        flush=True,
    )


if __name__ == "__main__":
    main()
