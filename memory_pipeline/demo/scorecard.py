"""The score card: compares what the nights did to the demo with the truth file, promise by promise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo.workspace import demo_directory, load_truth
from memory_pipeline.documents import Document
from memory_pipeline.embedding import choose_embedder
from memory_pipeline.recall import SearchIndex, fit_budget
from memory_pipeline.records import Memory
from memory_pipeline.store import Store

#: Tokens of context in which an answer is looked for: one or two notes, a paragraph, and what an agent can spare.
BUDGETS = (50, 200, 1000)
#: Share of the notes that say the same in other words that should be joined, and of the lessons and causes that should
#: end in one memory.
PARAPHRASES_GOAL, LESSONS_GOAL = 0.92, 0.85
#: Share of the active tokens that seven nights should save, in percent.
TOKENS_GOAL = 25
_SHOWN_SOURCES, _WIDTH = 4, 112


@dataclass(frozen=True, slots=True)
class Measure:
    """The store at one moment: active memories and tokens, questions answered by token budget, and the sources'
    hash."""

    active: int
    tokens: int
    answered: Mapping[int, int]
    questions: int
    sources: str


class Answered(Document):
    """Questions answered within one token budget."""

    tokens: int = Field(description="Tokens of context that were searched for each question.")
    before: int = Field(description="Questions answered before the nights.")
    after: int = Field(description="Questions answered after the nights.")


class Example(Document):
    """What the nights made of some notes, in words."""

    kind: str = Field(description="What the notes are: a lesson, a cause or a series.")
    sources: tuple[str, ...] = Field(description="The notes, oldest first.")
    memory: str = Field(description="The memory that stands for all of them.")


class ScoreCard(Document):
    """What the nights did to the demo: each figure that the demo promises, and whether it was reached."""

    exact_duplicates_found: int = Field(description="Exact copies in the demo that were joined with their original.")
    exact_duplicates: int = Field(description="Exact copies in the demo.")
    normalised_duplicates_found: int = Field(
        description="Copies with other case, marks or spaces that were joined with their original."
    )
    normalised_duplicates: int = Field(description="Such copies in the demo.")
    conflicts_merged: int = Field(description="Contradictions whose sides were joined; should be 0.")
    conflicts: int = Field(description="Contradictions in the demo.")
    critical_touched: int = Field(description="Critical memories that were archived or changed; should be 0.")
    critical: int = Field(description="Critical memories in the demo.")
    fresh_touched: int = Field(
        description="Memories less than 24 hours old that were archived or changed; should be 0."
    )
    fresh: int = Field(description="Memories less than 24 hours old in the demo.")
    chain_in_one_cluster: bool = Field(
        description="Whether the chain trap, in which only neighbours are similar, became one memory; should be false."
    )
    paraphrases_found: int = Field(description="Notes that were joined with the one that says the same in other words.")
    paraphrases: int = Field(description="Pairs of notes that say the same in other words.")
    paraphrase_cosine: float = Field(description="Median cosine of these pairs, by the embedder in use.")
    lessons_distilled: int = Field(description="Lessons of which one active memory stands for every note.")
    lessons: int = Field(description="Lessons in the demo.")
    causal_patterns_distilled: int = Field(
        description="Causal patterns of which one active memory stands for every episode."
    )
    causal_patterns: int = Field(description="Causal patterns in the demo.")
    secrets_left: int = Field(description="Planted secrets that are still in a memory; should be 0.")
    problems: int = Field(
        description="Problems of the store, among them facts that an abstraction lost, as `check --deep` finds them; "
        "should be 0."
    )
    memories_before: int = Field(description="Active memories before the nights.")
    memories_after: int = Field(description="Active memories after the nights.")
    tokens_before: int = Field(description="Tokens of the active memories before the nights.")
    tokens_after: int = Field(description="Tokens of the active memories after the nights.")
    token_reduction_pct: float = Field(description="Saved share of these tokens, in percent.")
    answered: tuple[Answered, ...] = Field(
        description="Questions whose answer was in the context found for them: in the note that says it, or in a "
        "memory that stands for this note and says it too."
    )
    questions: int = Field(description="Questions in the demo.")
    sources_identical: bool = Field(
        description="Whether content, categories and creation times of all raw memories are unchanged."
    )
    examples: tuple[Example, ...] = Field(description="What became of some of the notes, in words.")
    missed: tuple[str, ...] = Field(description="The promises that were not kept, as the score card names them.")
    reached: bool = Field(description="Whether every promise was kept.")


class DemoResult(ScoreCard):
    """A score card, with the report of the last night."""

    report: str = Field(description="The page of the last night's report.")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the card. `kept`: whether its promise was kept, or None if it promises nothing; `promise`: what was
    promised, in words."""

    label: str
    figure: str
    kept: bool | None = None
    promise: str = ""

    @property
    def text(self) -> str:
        return f"{self.figure}  MISSED, promised: {self.promise}" if self.kept is False else self.figure


def measure(store: Store, settings: Settings) -> Measure:
    """Measure the store now.

    A question counts as answered within a budget if the context found for it holds the answer in the note that says
    it, or in a memory that stands for this note.
    """
    truth = load_truth(demo_directory(settings))
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
        facts = tx.contents.facts()
        sources = tx.contents.sources_fingerprint()
        ids, vectors = tx.vectors.read(list(memories), embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    answered = dict.fromkeys(BUDGETS, 0)
    for project in sorted({q["project"] for q in truth["questions"]}):
        mine = [memory for memory in memories.values() if memory.project_id == project]
        index = SearchIndex(mine, known, embedder.embed, settings.compression.archived_weight)
        for question in (q for q in truth["questions"] if q["project"] == project):
            told = {memory.id for note in question["evidence"] for memory in _chain(memories, note)}
            answer = re.compile(rf"(?<!\w){re.escape(question['answer'])}(?!\w)", re.IGNORECASE)
            hits = index.search(question["question"], limit=100)
            for budget in BUDGETS:
                context = fit_budget(hits, budget)
                answered[budget] += any(m.id in told and answer.search(m.content) is not None for m in context)
    return Measure(facts["active"], facts["active_tokens"], answered, len(truth["questions"]), sources)


def score(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    """The score card of the store as it is now."""
    truth = load_truth(demo_directory(settings))
    after = measure(store, settings)
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
        reworded = [memory_id for pair in truth["paraphrases"] for memory_id in pair]
        ids, vectors = tx.vectors.read(reworded, embedder.name, embedder.dimension)
        problems = tx.integrity.check(deep=True, facts=True)
    vector_of = dict(zip(ids, vectors, strict=True))
    cosines = [float(vector_of[one] @ vector_of[other]) for one, other in truth["paraphrases"]]
    ends = {memory_id: _chain(memories, memory_id)[-1] for memory_id in memories}
    lessons = [group["members"] for group in truth["clusters"]]
    causes = [group["members"] for group in truth["causal"]]
    figures: dict[str, Any] = {
        "exact_duplicates_found": _pairs_joined(truth["exact_duplicates"], ends),
        "exact_duplicates": len(truth["exact_duplicates"]),
        "normalised_duplicates_found": _pairs_joined(truth["normalised_duplicates"], ends),
        "normalised_duplicates": len(truth["normalised_duplicates"]),
        "conflicts_merged": _pairs_joined(truth["contradictions"], ends),
        "conflicts": len(truth["contradictions"]),
        "critical_touched": sum(_was_touched(memories[memory_id]) for memory_id in truth["critical"]),
        "critical": len(truth["critical"]),
        "fresh_touched": sum(_was_touched(memories[memory_id]) for memory_id in truth["fresh"]),
        "fresh": len(truth["fresh"]),
        "chain_in_one_cluster": len({ends[memory_id].id for memory_id in truth["chain"]}) == 1,
        "paraphrases_found": _pairs_joined(truth["paraphrases"], ends),
        "paraphrases": len(truth["paraphrases"]),
        "paraphrase_cosine": round(float(np.median(cosines)), 3),
        "lessons_distilled": sum(_one_memory(members, ends) is not None for members in lessons),
        "lessons": len(lessons),
        "causal_patterns_distilled": sum(_one_memory(members, ends) is not None for members in causes),
        "causal_patterns": len(causes),
        "secrets_left": sum(s in memory.content for s in truth["secrets"] for memory in memories.values()),
        "problems": len(problems),
        "memories_before": before.active,
        "memories_after": after.active,
        "tokens_before": before.tokens,
        "tokens_after": after.tokens,
        "token_reduction_pct": round(100 * (before.tokens - after.tokens) / before.tokens, 1),
        "answered": tuple(Answered(tokens=n, before=before.answered[n], after=after.answered[n]) for n in BUDGETS),
        "questions": before.questions,
        "sources_identical": before.sources == after.sources,
        "examples": tuple(_examples({"A lesson": lessons, "A cause": causes}, memories, ends)),
    }
    unjudged = ScoreCard(**figures, missed=(), reached=False)
    missed = tuple(row.label for row in _rows(unjudged) if row.kept is False)
    return unjudged.model_copy(update={"missed": missed, "reached": not missed})


def _chain(memories: Mapping[str, Memory], memory_id: str) -> list[Memory]:
    """A memory and those that replaced it one after the other; the last one is active."""
    found = [memories[memory_id]]
    while (into := found[-1].consolidated_into_id) is not None:
        found.append(memories[into])
    return found


def _pairs_joined(pairs: Sequence[Sequence[str]], ends: Mapping[str, Memory]) -> int:
    return sum(ends[one].id == ends[other].id for one, other in pairs)


def _was_touched(memory: Memory) -> bool:
    return memory.archived_at is not None or memory.importance_before is not None


def _one_memory(members: Sequence[str], ends: Mapping[str, Memory]) -> Memory | None:
    """The active abstraction that stands for all of a planted group, if there is one."""
    (end, *others) = {ends[one].id: ends[one] for one in members}.values()
    return end if not others and end.compressed_from is not None else None


def _examples(
    groups: Mapping[str, Sequence[Sequence[str]]], memories: Mapping[str, Memory], ends: Mapping[str, Memory]
) -> Iterator[Example]:
    """Of each kind, the first planted group that became one memory."""
    for kind, planted in groups.items():
        for members in planted:
            if (memory := _one_memory(members, ends)) is not None:
                notes = sorted((memories[one] for one in members), key=lambda note: (note.effective_date, note.id))
                yield Example(kind=kind, sources=tuple(note.content for note in notes), memory=memory.content)
                break


def _rows(card: ScoreCard) -> Iterator[_Row]:
    """The lines of the card with their promises."""

    def share(label: str, found: int, planted: int, least: float) -> _Row:
        needed = int(np.ceil(least * planted))
        return _Row(label, f"{found} of {planted}", found >= needed, f"at least {needed}")

    def none_of(label: str, found: int, planted: int) -> _Row:
        return _Row(f"{label} (should be 0)", f"{found} of {planted}", found == 0, "0")

    yield share("Exact duplicates found", card.exact_duplicates_found, card.exact_duplicates, 1)
    yield share("Normalised duplicates found", card.normalised_duplicates_found, card.normalised_duplicates, 1)
    yield none_of("Contradictions merged", card.conflicts_merged, card.conflicts)
    yield none_of("Critical memories touched", card.critical_touched, card.critical)
    yield none_of("Fresh memories touched", card.fresh_touched, card.fresh)
    chained = card.chain_in_one_cluster
    yield _Row("Chain trap in one cluster", "yes" if chained else "no", not chained, "no")
    yield share("Paraphrases found", card.paraphrases_found, card.paraphrases, PARAPHRASES_GOAL)
    yield _Row("Median cosine of the paraphrases", f"{card.paraphrase_cosine:.2f}")
    yield share("Lessons distilled", card.lessons_distilled, card.lessons, LESSONS_GOAL)
    yield share("Causal patterns distilled", card.causal_patterns_distilled, card.causal_patterns, LESSONS_GOAL)
    yield _Row("Secrets left in the store", str(card.secrets_left), card.secrets_left == 0, "0")
    yield _Row("Problems and lost facts", str(card.problems), card.problems == 0, "0")
    yield _Row("Active memories", f"{card.memories_before} -> {card.memories_after}")
    saved = f"{card.tokens_before:,} -> {card.tokens_after:,} ({-card.token_reduction_pct}%)"
    yield _Row("Active tokens", saved, card.token_reduction_pct >= TOKENS_GOAL, f"{-TOKENS_GOAL}% or better")
    for one in card.answered:
        figure = f"{one.before} -> {one.after} of {card.questions}"
        yield _Row(f"Questions answered at {one.tokens:,} tokens", figure, one.after >= one.before, "no fewer")
    identical = card.sources_identical
    yield _Row("Sources byte-identical", "yes" if identical else "NO", identical, "yes")


def as_text(card: ScoreCard) -> str:
    """The card as text, with the examples below it."""
    rows = list(_rows(card))
    width = max(len(row.label) for row in rows)
    lines = [f"  {row.label.ljust(width)}  {row.text}" for row in rows]
    promised = sum(row.kept is not None for row in rows)
    missed = f"{len(card.missed)} of {promised} promises missed: {'; '.join(card.missed)}."
    lines += _wrapped(f"All {promised} promises kept." if card.reached else missed, "  ")
    for example in card.examples:
        notes = example.sources[:_SHOWN_SOURCES]
        hidden = len(example.sources) - len(notes)
        lines += ["", f"{example.kind}, {len(example.sources)} notes:"]
        lines += [line for note in notes for line in _wrapped(note, "  - ")]
        lines += [f"    ... and {hidden} more"] if hidden else []
        lines += ["became:", *_wrapped(example.memory, "  = ")]
    return "\n".join(["Score card (against data/demo_workspace/truth.json)", *lines])


def _wrapped(text: str, lead: str) -> list[str]:
    return wrap(" ".join(text.split()), _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
