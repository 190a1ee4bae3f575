"""How much of the evidence of questions about long conversations a search finds within so many tokens: BEAM, 100K.

    git clone https://github.com/mohammadtavakoli78/BEAM; python benchmarks/beam.py BEAM [--half even] [--agent]

Each turn of the human (with `--agent` also the agent's answers, of some thousand tokens each) is a memory, each chat a
project. Of the questions that name turns as their source, the share of these that a search gives is printed within 150
to 2,000 tokens and in the first ten hits, in all and by kind of question. Weights of ranking were looked at on the
chats with odd numbers (`--half odd`, the default) alone. The repository has no licence, so none of its texts is here.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from recall import BUDGETS, evidence_found

from memory_pipeline.config.loading import load_settings
from memory_pipeline.ingest import import_memories
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.documents import MOST_RESULTS
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store

#: What the makers of the texts left at the end of a turn.
_MARK = re.compile(r"\s*->->.*$")


def turns_of(chat: Path, *, with_agent: bool) -> Iterator[Candidate]:
    """The turns of a chat, in order, on the days that it names."""
    day = datetime(2024, 1, 1, tzinfo=UTC)
    for batch in json.loads((chat / "chat.json").read_text("utf-8")):
        for turn in (turn for turns in batch["turns"] for turn in turns):
            if anchor := turn.get("time_anchor"):
                day = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
            if with_agent or turn["role"] == "user":
                yield Candidate(
                    content=_MARK.sub("", turn["content"]),
                    native_id=f"{chat.name}-{turn['id']}",
                    source=Source("jsonl", f"{chat.name}.jsonl", turn["id"]),
                    created_at=day + timedelta(seconds=turn["id"]),
                )


def numbers_in(value: Any) -> list[int]:
    """All numbers in a value of JSON, in order."""
    if isinstance(value, dict | list):
        return [n for inner in (value.values() if isinstance(value, dict) else value) for n in numbers_in(inner)]
    return [int(value)] if str(value).isdigit() else []


def questions_of(chat: Path, known: set[str]) -> Iterator[tuple[str, str, set[str]]]:
    """The kind, the words and the evidence of each question that names turns which are there."""
    asked = json.loads((chat / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    for kind, rows in asked.items():
        for row in rows:
            evidence = {f"{chat.name}-{n}" for n in numbers_in(row.get("source_chat_ids", []))} & known
            if evidence:
                yield kind, row["question"], evidence


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--half", choices=("odd", "even"), default="odd")
    parser.add_argument("--agent", action="store_true")
    args = parser.parse_args()
    found_there = (args.checkout / "chats" / "100K").glob("*/chat.json")
    chats = sorted((file.parent for file in found_there), key=lambda chat: int(chat.name))
    chats = [chat for chat in chats if int(chat.name) % 2 == (args.half == "odd")]
    shares: dict[str, list[list[float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        settings = load_settings({"store.path": str(path)}, environment={}).values
        store, embedder, now = Store(path), choose_embedder(settings), datetime.now(UTC)
        for chat in chats:
            rows = turns_of(chat, with_agent=args.agent)
            import_memories(store, rows, project=chat.name, embedder=embedder, now=now)
        with store.reading() as tx:
            tokens = {memory.id: memory.token_count for memory in tx.memories.all()}
        for chat in chats:
            memory = ProjectMemory(store, settings, chat.name, actor="benchmark", embedder=embedder)
            for kind, question, evidence in questions_of(chat, set(tokens)):
                hits = memory.search(question, MOST_RESULTS, include_sources=True).results
                found = evidence_found([(hit.id, tokens[hit.id]) for hit in hits], evidence)
                shares[kind].append(found)
                shares["all"].append(found)
            memory.close()
    print(f"{len(shares['all'])} questions about {len(chats)} chats; share of evidence within tokens, in ten")
    print(f"{'':26}" + "".join(f"{budget:>8}" for budget in BUDGETS) + f"{'ten':>8}")
    for kind, values in sorted(shares.items(), key=lambda item: (item[0] != "all", item[0])):
        print(f"{kind:26}" + "".join(f"{share:8.3f}" for share in np.mean(values, axis=0)))


if __name__ == "__main__":
    main()
