"""How much of the evidence of questions about long conversations a search finds within so many tokens: BEAM.

    git clone https://github.com/mohammadtavakoli78/BEAM
    python benchmarks/beam.py BEAM [--size 500K] [--half even] [--agent] [--context]

Each turn of the human (with `--agent` also the agent's answers, of some thousand tokens each) is a memory, each chat a
project. Of the questions that name turns as their source, the share of these that a search gives is printed within 150
to 2,000 tokens and in the first ten hits, in all and by kind of question; with `--context` the share that a context
gives, which may have of a long turn only some statements, and so also the share of the words of the right answer (those
that the question has not) that its text has. Weights of ranking were looked at on the
chats with odd numbers (`--half odd`, the default) alone. The repository has no licence, so none of its texts is here.
"""

from __future__ import annotations

import argparse
import ast
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
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.documents import MOST_RESULTS
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store
from memory_pipeline.text.facts import content_words

#: What the makers of the texts left at the end of a turn.
_MARK = re.compile(r"\s*->->.*$")
#: Where a kind of question has its right answer.
_ANSWERS = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "rubric")


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


def questions_of(chat: Path, known: set[str]) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """The kind, the words, the evidence of each question that names turns which are there, and the words of its right
    answer."""
    asked = json.loads((chat / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    for kind, rows in asked.items():
        for row in rows:
            evidence = {f"{chat.name}-{n}" for n in numbers_in(row.get("source_chat_ids", []))} & known
            if evidence:
                right = next((str(row[name]) for name in _ANSWERS if row.get(name)), "")
                yield kind, row["question"], evidence, set(content_words(right)) - set(content_words(row["question"]))


def updates_of(chat: Path, known: set[str]) -> Iterator[tuple[str, set[str], set[str]]]:
    """Of the questions about what changed: the words, the turns with the old value, and those with the new one. Where
    one turn is named for both, none can stand before the other."""
    asked = json.loads((chat / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    for row in asked["knowledge_update"]:
        named = row.get("source_chat_ids", {})
        sides = list((ast.literal_eval(named) if isinstance(named, str) else named).values())
        old_and_new = [{f"{chat.name}-{n}" for n in numbers_in(side)} & known for side in sides[:2]]
        if len(old_and_new) == 2 and all(old_and_new) and old_and_new[0].isdisjoint(old_and_new[1]):
            yield row["question"], old_and_new[0], old_and_new[1]


def is_newest_first(ids: list[str], old: set[str], new: set[str]) -> bool:
    """Whether a turn with the new value stands before each with the old one."""
    firsts = [min((ids.index(turn) for turn in side if turn in ids), default=len(ids)) for side in (new, old)]
    return firsts[0] < firsts[1]


def context_found(memory: ProjectMemory, question: str, evidence: set[str], words: set[str]) -> Iterator[list[float]]:
    """The shares of the evidence and of some words in the context of a question, within each budget."""
    contexts = [memory.context(question, budget) for budget in BUDGETS]
    yield [len({item.id for item in context.items} & evidence) / len(evidence) for context in contexts]
    if words:
        yield [len(words & set(content_words(context.text))) / len(words) for context in contexts]


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--size", choices=("100K", "500K", "1M"), default="100K")
    parser.add_argument("--half", choices=("odd", "even"), default="odd")
    parser.add_argument("--agent", action="store_true")
    parser.add_argument("--context", action="store_true")
    args = parser.parse_args()
    found_there = (args.checkout / "chats" / args.size).glob("*/chat.json")
    chats = sorted((file.parent for file in found_there), key=lambda chat: int(chat.name))
    chats = [chat for chat in chats if int(chat.name) % 2 == (args.half == "odd")]
    shares: dict[str, list[list[float]]] = defaultdict(list)
    newest: list[bool] = []
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
            for kind, question, evidence, words in questions_of(chat, set(tokens)):
                if args.context:
                    found, *said = context_found(memory, question, evidence, words)
                    shares["words"] += said
                    shares[kind].append(found)
                    shares["all"].append(found)
                    continue
                hits = memory.search(question, MOST_RESULTS, include_sources=True).results
                found = evidence_found([(hit.id, tokens[hit.id]) for hit in hits], evidence)
                shares[kind].append(found)
                shares["all"].append(found)
            for question, old, new in updates_of(chat, set(tokens)):
                ids = [hit.id for hit in memory.search(question, MOST_RESULTS).results]
                newest.append(is_newest_first(ids, old, new))
            memory.close()
    ten = "" if args.context else ", in ten"
    print(f"{len(shares['all'])} questions about {len(chats)} chats; share of evidence within tokens{ten}")
    print(f"{'':26}" + "".join(f"{budget:>8}" for budget in BUDGETS) + (f"{'ten':>8}" if ten else ""))
    for kind, values in sorted(shares.items(), key=lambda item: (item[0] != "all", item[0])):
        print(f"{kind:26}" + "".join(f"{share:8.3f}" for share in np.mean(values, axis=0)))
    print(f"newest first: in a search, the new value stands before the old one in {sum(newest)} of {len(newest)}")


if __name__ == "__main__":
    main()
