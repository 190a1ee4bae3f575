"""What a search and a context put first where a later note changed what an earlier one says, without a model.

    python benchmarks/changes.py [--before-nights]

Two made-up logs of 45 days (`changes/`), each with 45 changes in words of their own, few of which name the earlier
value, and 30 pairs that only look like changes. The logs are imported and every night runs; `--before-nights` leaves
these out. The probability from which a later note stands first was chosen on the theatre; the farmhouse was not looked
at before. Printed of 45 questions about what holds now: how many find the later note and both within ten hits; in how
many the later one stands first; the same within contexts of some tokens, and how many hold the earlier one alone or
first; and how many pairs the nights linked as likely changes, and how many of these are planted.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_pipeline.config.loading import load_settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

LOGS = Path(__file__).parent / "changes"
BUDGETS = (150, 500, 1000)


def plain(text: str) -> str:
    """A text as quotes are compared: its words."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def place_of(quote: str, texts: Sequence[str]) -> int | None:
    """The number of the first text that holds a quote."""
    return next((place for place, text in enumerate(texts) if plain(quote) in plain(text)), None)


def is_first(later: int | None, earlier: int | None) -> bool:
    """True if the later note was found, and no earlier one before it."""
    return later is not None and (earlier is None or later < earlier)


def print_changes(memory: ProjectMemory, changes: Sequence[dict]) -> None:
    """The tables of a search and of contexts."""
    hits = [[hit.content for hit in memory.search(one["question"]).results] for one in changes]
    places = [
        (place_of(one["later"], texts), place_of(one["earlier"], texts))
        for one, texts in zip(changes, hits, strict=True)
    ]
    found = [later is not None for later, _ in places]
    both = [later is not None and earlier is not None for later, earlier in places]
    first = [is_first(*pair) for pair in places]
    print(f"search: later found {sum(found)}, both {sum(both)}, later first {sum(first)} of {len(changes)}")
    for budget in BUDGETS:
        lines = [memory.context(one["question"], budget).text.split("\n") for one in changes]
        places = [
            (place_of(one["later"], texts), place_of(one["earlier"], texts))
            for one, texts in zip(changes, lines, strict=True)
        ]
        found, first = ([later is not None for later, _ in places], [is_first(*pair) for pair in places])
        stale = sum(is_first(earlier, later) for later, earlier in places)
        print(f"context of {budget}: later found {sum(found)}, first {sum(first)}; earlier first or alone {stale}")


def print_links(store: Store, pairs: Iterable[dict]) -> None:
    """How many pairs nights linked, and how many of these were planted."""
    with store.reading() as tx:
        linked = [*((c.a, c.b) for c in tx.conflicts.open()), *tx.conflicts.likely("log")]
        memories = tx.memories.read({side for pair in linked for side in pair})
    texts = {frozenset(plain(memories[side].content) for side in pair) for pair in linked}
    planted = {True: 0, False: 0}
    for pair in pairs:
        quotes = [plain(pair["earlier"]), plain(pair["later"])]
        planted[pair["changed"]] += any(all(any(quote in text for text in both) for quote in quotes) for both in texts)
    print(f"linked: {len(linked)} pairs, {planted[True]} of them changes, {planted[False]} look-alikes")


def main() -> None:
    """Import, run the nights, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before-nights", action="store_true")
    args = parser.parse_args()
    for log in sorted(path for path in LOGS.iterdir() if path.is_dir()):
        with tempfile.TemporaryDirectory() as directory:
            settings = load_settings({"store.path": str(Path(directory) / "store.duckdb")}, environment={}).values
            store, embedder, now = Store.of(settings), choose_embedder(settings), datetime.now(UTC)
            rows = read_format("openclaw", log, zone("UTC"), now, settings, Skipped())
            import_memories(store, rows, project="log", embedder=embedder, now=now)
            days = sorted(date.fromisoformat(file.stem) for file in (log / "memory").glob("*.md"))
            for n in range(0 if args.before_nights else (days[-1] - days[0]).days + 2):
                run_night(Night(store, settings, NightOptions(days[0] + timedelta(n), f"night-{n}")))
            print(log.name)
            pairs = [json.loads(line) for line in (log / "pairs.jsonl").read_text("utf-8").splitlines()]
            with ProjectMemory(store, settings, "log", actor="benchmark", embedder=embedder) as memory:
                print_changes(memory, [pair for pair in pairs if pair["changed"]])
            print_links(store, pairs)


if __name__ == "__main__":
    main()
