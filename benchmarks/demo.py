"""The demo's promises, and the laws at its size: 45 live nights beside backfills with rows and blocks changed."""

from __future__ import annotations

import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.demo import scoring
from memory_pipeline.demo.generate import FIRST_DAY, TABLES, ZONES
from memory_pipeline.demo.workspace import NOW, demo_directory, import_demo, last_nights
from memory_pipeline.ingest.candidates import Candidate, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store

DAYS = [FIRST_DAY + timedelta(days=number) for number in range(45)]


def settings_of(store: Store, block_size: int = 2048) -> Settings:
    """Default settings for a store."""
    return Settings().with_values({"store.path": str(store.path), "compression.block_size": block_size})


def read_all(settings: Settings) -> list[tuple[str, Candidate]]:
    """Project and candidate of everything in the demo workspace."""
    directory = demo_directory(settings)
    sources = [("openclaw", directory / project, project, name) for project, name in ZONES.items()]
    sources += [("jsonl", directory / f"{project}.jsonl", project, "UTC") for project in TABLES]
    return [
        (project, item)
        for name, path, project, zone_name in sources
        for item in read_format(name, path, zone(zone_name), NOW, settings, Skipped())
        if isinstance(item, Candidate)
    ]


def bring(store: Store, settings: Settings, items: list[tuple[str, Candidate]]) -> None:
    """Import candidates, project by project, in the order given."""
    embedder = choose_embedder(settings)
    for project in dict.fromkeys(project for project, _ in items):
        mine = [item for owner, item in items if owner == project]
        import_memories(store, iter(mine), project=project, embedder=embedder, now=NOW)


def nights(store: Store, settings: Settings, label: str) -> str:
    """Run all 45 nights and return the hash of the store with its log."""
    for day in DAYS:
        run_night(Night(store, settings, NightOptions(day, f"{label}-{day}")))
    return hash_of(store)


def hash_of(store: Store) -> str:
    """Hash of memories, lineage, log and conflicts."""
    with store.reading() as tx:
        return tx.contents.digest(with_log=True)


def main() -> None:
    """Run everything and print what came out."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        shown = Store(root / "shown.duckdb")
        start = time.perf_counter()
        import_demo(shown, settings_of(shown))
        before = scoring.measure(shown, settings_of(shown))
        for day in last_nights():
            run_night(Night(shown, settings_of(shown), NightOptions(day, f"demo-{day}")))
        card = scoring.score(shown, settings_of(shown), before)
        print(scoring.as_text(scoring.DemoResult(without_model=card, with_model=None, report="")))
        print(f"  {time.perf_counter() - start:.1f} s without Dagster\n")

        items = read_all(settings_of(shown))
        live = Store(root / "live.duckdb")
        for day in DAYS:
            end = datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
            bring(live, settings_of(live), [(p, c) for p, c in items if (c.created_at or NOW) < end])
            run_night(Night(live, settings_of(live), NightOptions(day, f"live-{day}")))
        bring(live, settings_of(live), items)  # what is dated by its file came after all the nights
        print(f"live, day by day                          {hash_of(live)[:16]}")

        for label, seed, block in (("one backfill", 0, 2048), ("rows shuffled, blocks of 64", 1, 64)):
            store = Store(root / f"backfill-{seed}.duckdb")
            shuffled = list(items)
            if seed:
                random.Random(seed).shuffle(shuffled)
            bring(store, settings_of(store, block), shuffled)
            with store.reading() as tx:
                sources = tx.contents.sources_fingerprint()
            once = nights(store, settings_of(store, block), "first")
            with store.reading() as tx:
                untouched = tx.contents.sources_fingerprint() == sources
            print(f"{label:<41} {once[:16]}  sources byte-identical: {untouched}")
            if not seed:
                print(f"{'the same backfill a second time':<41} {nights(store, settings_of(store), 'second')[:16]}")


if __name__ == "__main__":
    main()
