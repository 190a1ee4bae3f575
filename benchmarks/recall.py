"""How much of the evidence a search finds, and how many answers a search and a context hold, within so many tokens.

    python benchmarks/recall.py [--memories FILE | --store FILE] [--questions FILE]
    python benchmarks/recall.py --workspaces

`--workspaces`: the questions about the notes in `workspaces/`, of a bakery and of a developer, most of which say what
they are about in their headings alone. Those about the bakery chose what a heading weighs in a search; those about the
developer were not looked at before. Without files, the questions of the demo workspace, before its nights.
`--memories`: JSON lines as `import jsonl` reads them, each with an `id`; `--store`: a store that is there, which is
copied; `--questions`: JSON lines with `project`, `question`, and `evidence` (ids of memories that hold the answer) or
`answer` (a regular expression that finds it), or both. Printed for words, vectors and both: the share of evidence that
is among the best memories which fit into 150, 300, 600, 1,000 and 2,000 tokens, and in the first ten results. Printed
for a search and a context: how many questions they answer within 100, 250, 500, 1,000 and 2,000 tokens, and how many
the first hits of a search. A search is what its command prints into a pipe, best first, while it fits; beside it, for
comparison, the same without anything but the words of each memory.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import numpy as np

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.demo.workspace import demo_directory, import_demo, load_truth
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.interfaces.operations import search_lines
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.recall.documents import MOST_RESULTS, Mode
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

BUDGETS = (150, 300, 600, 1000, 2000)
ANSWER_BUDGETS = (100, 250, 500, 1000, 2000)
FIRST = (1, 3, 10)
WORKSPACES = Path(__file__).parent / "workspaces"


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


def fit(lines: Sequence[str], budget: int, count_tokens: Callable[[str], int]) -> str:
    """The first lines that fit into a budget of tokens together."""
    taken = []
    for line in lines:
        budget -= count_tokens(line)
        if budget < 0:
            break
        taken.append(line)
    return "\n".join(taken)


def texts(memory: ProjectMemory, question: str, count_tokens: Callable[[str], int]) -> Iterator[tuple[str, int, str]]:
    """What a search and a context say of a question: who says it, the budget, and the text."""
    found = memory.search(question, MOST_RESULTS)
    printed = search_lines(found, None) if found.results else []
    for budget in ANSWER_BUDGETS:
        yield "search", budget, fit(printed, budget, count_tokens)
        yield "its words", budget, fit([one.content for one in found.results], budget, count_tokens)
        yield "context", budget, memory.context(question, budget).text


def print_evidence(memories: dict[str, ProjectMemory], questions: Sequence[dict], tokens: dict[str, int]) -> None:
    """The table of evidence."""
    print(f"{len(questions)} questions; share of evidence within so many tokens, and in the first ten")
    print(f"{'':10}" + "".join(f"{budget:>8}" for budget in BUDGETS) + f"{'ten':>8}")
    for mode in get_args(Mode):
        shares = defaultdict(list)
        for one in questions:
            found = memories[one["project"]].search(one["question"], MOST_RESULTS, mode=mode, include_sources=True)
            hits = [(memory.id, tokens[memory.id]) for memory in found.results]
            for place, share in enumerate(evidence_found(hits, set(one["evidence"]))):
                shares[place].append(share)
        print(f"{mode:10}" + "".join(f"{np.mean(values):8.3f}" for values in shares.values()))


def print_answers(
    memories: dict[str, ProjectMemory], questions: Sequence[dict], count_tokens: Callable[[str], int]
) -> None:
    """The table of answers."""
    held: dict[str, Counter[int]] = defaultdict(Counter)
    first: Counter[int] = Counter()
    for one in questions:
        for name, budget, text in texts(memories[one["project"]], one["question"], count_tokens):
            held[name][budget] += re.search(one["answer"], text, re.I) is not None
        hits = memories[one["project"]].search(one["question"], max(FIRST)).results
        for most in FIRST:
            first[most] += any(re.search(one["answer"], hit.content, re.I) for hit in hits[:most])
    print(f"{len(questions)} questions; answered within so many tokens")
    print(f"{'':10}" + "".join(f"{budget:>8}" for budget in ANSWER_BUDGETS))
    for name, counts in held.items():
        print(f"{name:10}" + "".join(f"{counts[budget]:8}" for budget in ANSWER_BUDGETS))
    print("in the first hits of a search: " + ", ".join(f"{first[most]} of {most}" for most in FIRST))


def import_workspaces(store: Store, settings: Settings, embedder: Embedder, now: datetime) -> dict[str, list[dict]]:
    """Import the workspaces, each as a project; the questions about each."""
    questions = {}
    for directory in sorted(path for path in WORKSPACES.iterdir() if path.is_dir()):
        rows = read_format("openclaw", directory, zone("UTC"), now, settings, Skipped())
        import_memories(store, rows, project=directory.name, embedder=embedder, now=now)
        questions[directory.name] = read_lines(directory / "questions.jsonl")
    return questions


def read_lines(path: Path) -> list[dict]:
    """The questions of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--memories", type=Path)
    beside.add_argument("--store", type=Path)
    beside.add_argument("--workspaces", action="store_true")
    parser.add_argument("--questions", type=Path)
    args = parser.parse_args()
    if (args.memories is None and args.store is None) != (args.questions is None):
        parser.error("give --questions together with --memories or --store, or none of them")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        settings = load_settings({"store.path": str(path)}, environment={}).values
        store, embedder, now = Store(path), choose_embedder(settings), datetime.now(UTC)
        groups = {}
        if args.workspaces:
            groups = import_workspaces(store, settings, embedder, now)
            questions = [one for group in groups.values() for one in group]
        elif args.questions is None:
            import_demo(store, settings)
            questions = load_truth(demo_directory(settings))["questions"]
            questions = [{**one, "answer": re.escape(one["answer"])} for one in questions]
        else:
            questions = read_lines(args.questions)
        if args.memories is not None:
            rows = read_format("jsonl", args.memories, zone("UTC"), now, settings, Skipped())
            import_memories(store, rows, project="p", embedder=embedder, now=now)
        if args.store is not None:
            shutil.copyfile(args.store, path)
        memories = {
            name: ProjectMemory(store, settings, name, actor="benchmark", embedder=embedder)
            for name in {one["project"] for one in questions}
        }
        with store.reading() as tx:
            tokens = {memory.id: memory.token_count for memory in tx.memories.all()}
        with_evidence = [one for one in questions if one.get("evidence")]
        if with_evidence:
            print_evidence(memories, with_evidence, tokens)
        for name, group in (groups or {"": questions}).items():
            with_answer = [one for one in group if one.get("answer")]
            if with_answer:
                print(name)
                print_answers(memories, with_answer, embedder.count_tokens)


if __name__ == "__main__":
    main()
