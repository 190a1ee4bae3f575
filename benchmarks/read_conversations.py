"""How much of what is worth keeping a model finds in labelled conversations, and what it keeps besides.

    python benchmarks/read_conversations.py [--answers FILE] [--record FILE] [--none] [--show]

Fourteen conversations of `labels/`, seven of each file, are drawn by seed and read day by day, as a night reads them,
with recorded answers (`answers/conversations.jsonl`: a language model that was given the questions and nothing else, on
2026-11-29). `--record` writes the questions that have no answer; `--none` lets the classifier read, which was trained
on these sentences, so that its figures say little. A sentence is found if a statement quotes it, or has half of its
words. What is kept of a sentence without a label counts as wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_pipeline.config.loading import load_settings
from memory_pipeline.consolidation.conversation_runs import run_conversations
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.records import KeptExtraction, Source
from memory_pipeline.store import Store

HERE = Path(__file__).parent
_FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
_NOW = datetime(2026, 6, 1, tzinfo=UTC)
_SEED, _OF_EACH = 20261126, 7
#: The share of the words of a quote, and of a sentence, by which a statement says it.
_OF_QUOTE, _OF_SENTENCE, _LEAST_SHARED = 0.6, 0.5, 3
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Talk:
    """A labelled conversation: its days, and its sentences by number of the day and of the turn, in order."""

    name: str
    days: list[str]
    turns: dict[tuple[int, int], list[Row]]

    @property
    def kept(self) -> list[Row]:
        """The sentences that are worth keeping."""
        return [row for rows in self.turns.values() for row in rows if is_kept(row)]


def is_kept(row: Row) -> bool:
    """Whether a sentence is labelled as worth keeping."""
    return row["kind"] not in (None, "task")


def drawn_talks() -> list[Talk]:
    """The conversations, drawn by seed; the days of each are numbered from 0."""
    rng, talks = random.Random(_SEED), list[Talk]()
    for file in "ab":
        rows = [json.loads(line) for line in (HERE / "labels" / f"conversations_{file}.jsonl").open(encoding="utf-8")]
        by_name: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_name[str(row["conversation"])].append(row)
        names = sorted(by_name)
        rng.shuffle(names)
        for name in names[:_OF_EACH]:
            days = sorted({str(row["day"]) for row in by_name[name]})
            turns: dict[tuple[int, int], list[Row]] = defaultdict(list)
            for row in by_name[name]:
                turns[days.index(str(row["day"])), row["turn"]].append(row)
            talks.append(Talk(f"c{len(talks):02}", days, dict(sorted(turns.items()))))
    return talks


def candidates(talk: Talk) -> Iterator[Candidate]:
    """The turns of a conversation, one day of it after the other from 2 March 2026 on."""
    for line, ((day, turn), rows) in enumerate(talk.turns.items(), start=1):
        yield Candidate(
            content=" ".join(row["text"] for row in rows),
            source=Source("jsonl", f"{talk.name}.jsonl", line),
            created_at=_FIRST + timedelta(days=day, minutes=2 * turn),
            native_id=f"{talk.name}-{talk.days[day]}-{turn}",
            memory_type="conversation",
            tags=(rows[0]["speaker"],),
        )


def words(text: str) -> set[str]:
    """The beginnings of the words of a text, and its figures."""
    return {word[:5] for word in re.findall(r"[^\W_]{3,}|\d+", text.casefold())}


def said_by(one: KeptExtraction, talk: Talk) -> list[Row]:
    """The sentences worth keeping that an extraction says."""
    _, day, turn = re.split(r"^c\d+-|-(?=\d+$)", one.turn_id)
    quote, text = words(one.quote), words(one.text)
    quoted = [
        row
        for row in talk.turns[talk.days.index(day), int(turn)]
        if len(quote & words(row["text"])) >= _OF_QUOTE * max(1, min(len(quote), len(words(row["text"]))))
    ]
    if kept := [row for row in quoted if is_kept(row)]:
        return kept
    shared = [(row, len(words(row["text"]) & text), len(words(row["text"]))) for row in talk.kept]
    return [row for row, common, among in shared if common >= max(_LEAST_SHARED, _OF_SENTENCE * among)]


def report(talks: Sequence[Talk], store: Store, *, show: bool) -> None:
    """Print what was found."""
    with store.reading() as tx:
        found = {talk.name: tx.conversations.standing(talk.name) for talk in talks}
    kept, wrong, said, standing = 0, list[KeptExtraction](), set[str](), set[str]()
    for talk in talks:
        replaced = {old for one in found[talk.name] for old in one.withdraws}
        for one in found[talk.name]:
            if one.destination == "drop" and one.id not in replaced:
                continue
            rows = said_by(one, talk)
            kept, wrong = kept + 1, wrong if rows else [*wrong, one]
            said |= {row["id"] for row in rows}
            standing |= set() if one.id in replaced else {row["id"] for row in rows}
    wanted = [row for talk in talks for row in talk.kept]
    total = sum(len(rows) for talk in talks for rows in talk.turns.values())
    there = [row for row in wanted if row["id"] in said]
    print(f"sentences worth keeping   found {len(there)} of {len(wanted)} ({len(there) / len(wanted):.2f})")
    print(f"kept                      {kept}, of them {len(wrong)} without a label ({1 - len(wrong) / kept:.2f} right)")
    print(f"sentences without a label {total - len(wanted)}")
    for name in ("lang", "kind", "speaker"):
        among, right = (Counter(row[name] for row in rows) for rows in (wanted, there))
        print(f"by {name:<22} " + ", ".join(f"{key} {right[key]} of {number}" for key, number in among.most_common()))
    # What another conversation said is another project's here, and cannot be replaced.
    own = {row["id"]: talk.name for talk in talks for row in talk.kept}
    old = [one for row in wanted for one in row.get("withdraws", ()) if own.get(one) == own[row["id"]]]
    print(f"replaced                  {len(old)}, quoted and standing still: {sum(one in standing for one in old)}")
    if show:
        for row in (row for row in wanted if row["id"] not in said):
            print(f"  missed  {row['id']} ({row['kind']}, {row['speaker']}): {row['text']}")
        for one in wrong:
            print(f"  kept    {one.turn_id} ({one.kind}): {one.text}")


def main() -> None:
    """Read the conversations, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, default=HERE / "answers" / "conversations.jsonl")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--none", action="store_true")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        given = {"store.path": str(Path(directory) / "store.duckdb")}
        if not args.none:
            given |= {"model.provider": "recorded", "model.answers": str(args.answers)}
            given |= {"model.record": str(args.record)} if args.record else {}
        settings = load_settings(given, environment={}).values
        store, talks = Store(Path(settings.store.path)), drawn_talks()
        for talk in talks:
            import_memories(store, candidates(talk), project=talk.name, embedder=choose_embedder(settings), now=_NOW)
        done = run_conversations(store, settings, None, now=_NOW)
        waiting = sum(day.coverage.get("model", {}).get("waiting", 0) for day in done.days)
        print(f"{len(talks)} conversations of {len(done.days)} days, {waiting} questions without an answer")
        report(talks, store, show=args.show)


if __name__ == "__main__":
    main()
