"""What a night does with templated lines: time, memory, pairs looked at and rows kept, by the number of lines.

    python benchmarks/templates.py [--lines 400 800 1600 6400] [--kind readings] [--beside DIRECTORY]

Kinds: `readings` (two shapes, other figures in each line, on one day), `series` (the same over ten days), `one-word`
(lines that differ in one word), `paraphrases` (lines that say the same in other words, which may all be joined).
Each run is a process of its own. `--beside` runs the package of another directory on the same lines, by turns, for
what was before. CPU seconds and memory are those of the night alone, without import and embedding.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

KINDS = ("readings", "series", "one-word", "paraphrases")
START = datetime(2026, 3, 1, tzinfo=UTC)


def lines_of(kind: str, count: int) -> list[tuple[str, datetime]]:
    """Lines and when they were written, the same ones every time."""
    rng = random.Random(f"{kind} {count}")
    if kind in ("readings", "series"):
        days = 10 if kind == "series" else 1
        return [
            (
                f"Pre-flight complete in {rng.uniform(10, 9000):.2f}s"
                if n % 2
                else f"**Brain**: {rng.randint(2000, 400_000)} memories | **Phi**: {rng.random():.4f}",
                START + timedelta(days=n % days, seconds=n),
            )
            for n in range(count)
        ]
    if kind == "one-word":
        names = {"".join(rng.choices("bcdfgklmnprstvz", k=2)) + rng.choice("aeiou") + "x" * k for k in range(count)}
        words = sorted(
            names | {f"name{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(count)}
        )
        return [
            (
                f"The nightly backup of the {words[n]} archive goes to the second storage room",
                START + timedelta(seconds=n),
            )
            for n in range(count)
        ]
    parts = (
        ("Restart", "Always restart", "Remember to restart", "You should restart", "Please restart"),
        ("the gateway", "the gateway service", "the gateway process", "our gateway"),
        ("after", "once you have made", "following", "whenever there is"),
        ("a change", "any change", "each change", "every change", "a modification", "an edit"),
        ("of the settings", "of its settings", "in the settings", "to the settings", "to its settings"),
        ("so that it reads them", "or it keeps the old ones", "because it reads them at its start", "to load them"),
    )
    chosen = {" ".join(rng.choice(part) for part in parts) for _ in range(count * 8)}
    return [(text, START + timedelta(seconds=n)) for n, text in enumerate(sorted(chosen)[:count])]


def measure(kind: str, count: int, model: str) -> dict[str, float]:
    """One night over the lines, in this process."""
    from memory_pipeline.config.settings import Settings
    from memory_pipeline.consolidation import similarity
    from memory_pipeline.consolidation.context import Night
    from memory_pipeline.consolidation.plan import NightOptions
    from memory_pipeline.consolidation.run import run_night
    from memory_pipeline.ingest.candidates import Candidate
    from memory_pipeline.ingest.importing import import_memories
    from memory_pipeline.models.embedders import choose_embedder
    from memory_pipeline.records import Source
    from memory_pipeline.store import Store

    looked_at = 0
    guard = similarity.find_conflict

    def counting(a: str, b: str) -> object:
        nonlocal looked_at
        looked_at += 1
        return guard(a, b)

    similarity.find_conflict = counting  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as directory:
        values = {
            "store.path": f"{directory}/store.duckdb",
            "embedding.model": model,
        }
        settings = Settings().with_values(values)
        store = Store.of(settings)
        items = [
            Candidate(content=text, source=Source("jsonl", "lines", n), created_at=at)
            for n, (text, at) in enumerate(lines_of(kind, count))
        ]
        import_memories(store, items, project="p", embedder=choose_embedder(settings), now=START)
        began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        report = run_night(Night(store, settings, NightOptions(date(2026, 3, 14), "templates")))
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with store.reading() as tx:
            pairs = sum(1 for _ in tx.transfer.rows("similarity_edges"))
            conflicts = len(tx.conflicts.cases(settled=True))
    return {
        "lines": len(items),
        "cpu_s": round(seconds, 2),
        "peak_mb": round(peak / 1024),
        "more_mb": round((peak - before) / 1024),
        "looked_at": looked_at,
        "pairs": pairs,
        "conflicts": conflicts,
        "clusters": report.clusters_found,
        "archived": report.memories_archived,
    }


def measure_apart(root: Path, kind: str, count: int, model: str, limit: float) -> dict[str, float] | None:
    """The same in a process of its own with the package of `root`, or None when it took longer than `limit` seconds."""
    command = [sys.executable, __file__, "--one", kind, "--lines", str(count), "--model", model]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    try:
        done = subprocess.run(
            command, env=environment, cwd=root, capture_output=True, text=True, timeout=limit, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure each number of lines and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[400, 800, 1600, 6400])
    parser.add_argument("--kind", choices=KINDS, default="readings")
    parser.add_argument("--beside", type=Path, help="a directory with another version of the package")
    parser.add_argument("--model", default="minilm", help="the embedding model: minilm, or the quick one, lexical")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a run is given up")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.lines[0], given.model)))
        return
    roots = {"this": Path(__file__).resolve().parents[1]}
    if given.beside:
        roots["other"] = given.beside.resolve()
    for count in given.lines:
        for name, root in roots.items():
            found = measure_apart(root, given.kind, count, given.model, given.limit)
            figures = "  ".join(f"{key} {value:g}" for key, value in found.items()) if found else "took too long"
            print(f"{given.kind} {count:>5} {name:>5}  {figures}", flush=True)


if __name__ == "__main__":
    main()
