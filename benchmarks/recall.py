"""How much of the evidence a search finds: questions with the memories that answer them, within so many tokens.

    python benchmarks/recall.py [--memories FILE --questions FILE]

Without files, the questions of the demo workspace, before its nights. `--memories`: JSON lines as `import jsonl` reads
them, each with an `id`; `--questions`: JSON lines with `project`, `question` and `evidence`, a list of ids of memories
that hold the answer. Printed for words, vectors and both: the share of evidence that is among the best memories which
fit into 150, 300, 600, 1,000 and 2,000 tokens, and in the first ten results.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import numpy as np

from memory_pipeline.config.loading import load_settings
from memory_pipeline.demo.workspace import demo_directory, import_demo, load_truth
from memory_pipeline.ingest import import_memories, read_format
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.documents import MOST_RESULTS, Mode
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

BUDGETS = (150, 300, 600, 1000, 2000)


def evidence_found(hits: Sequence[tuple[str, int]], evidence: set[str]) -> list[float]:
    """The share of the evidence within each budget, and in the first ten. `hits`: id and tokens, best first."""
    shares = []
    for budget in BUDGETS:
        left, given = budget, set()
        for memory_id, tokens in hits:
            if tokens <= left:
                left -= tokens
                given.add(memory_id)
        shares.append(len(given & evidence) / len(evidence))
    return [*shares, len({memory_id for memory_id, _ in hits[:10]} & evidence) / len(evidence)]


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=Path)
    parser.add_argument("--questions", type=Path)
    args = parser.parse_args()
    if (args.memories is None) != (args.questions is None):
        parser.error("give both --memories and --questions, or neither")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        settings = load_settings({"store.path": str(path)}, environment={}).values
        store, embedder, now = Store(path), choose_embedder(settings), datetime.now(UTC)
        if args.memories is None:
            import_demo(store, settings)
            questions = load_truth(demo_directory(settings))["questions"]
        else:
            rows = read_format("jsonl", args.memories, zone("UTC"), now, settings, Skipped())
            import_memories(store, rows, project="p", embedder=embedder, now=now)
            questions = [json.loads(line) for line in args.questions.read_text("utf-8").splitlines() if line.strip()]
        projects = {one["project"] for one in questions}
        memories = {
            name: ProjectMemory(store, settings, name, actor="benchmark", embedder=embedder) for name in projects
        }
        with store.reading() as tx:
            tokens = {memory.id: memory.token_count for memory in tx.memories.all()}
        print(f"{len(questions)} questions; share of evidence within so many tokens, and in the first ten")
        print(f"{'':8}" + "".join(f"{budget:>8}" for budget in BUDGETS) + f"{'ten':>8}")
        for mode in get_args(Mode):
            shares = defaultdict(list)
            for one in questions:
                found = memories[one["project"]].search(one["question"], MOST_RESULTS, mode=mode, include_sources=True)
                hits = [(memory.id, tokens[memory.id]) for memory in found.results]
                for place, share in enumerate(evidence_found(hits, set(one["evidence"]))):
                    shares[place].append(share)
            print(f"{mode:8}" + "".join(f"{np.mean(values):8.3f}" for values in shares.values()))


if __name__ == "__main__":
    main()
