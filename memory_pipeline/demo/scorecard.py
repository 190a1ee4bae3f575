"""The score card: compares what the nights did to the demo with the truth file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo.workspace import demo_directory, load_truth
from memory_pipeline.documents import Document
from memory_pipeline.embedding import choose_embedder
from memory_pipeline.recall import SearchIndex, fit_budget
from memory_pipeline.records import Memory
from memory_pipeline.store import Store

BUDGET = 1000


@dataclass(frozen=True, slots=True)
class Measure:
    """The store at one moment: active memories and tokens, questions answered, and the sources' hash."""

    active: int
    tokens: int
    answered: int
    questions: int
    sources: str


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
    lessons_distilled: int = Field(description="Lessons of which at least three notes became one memory.")
    lessons: int = Field(description="Lessons in the demo.")
    causal_patterns_distilled: int = Field(
        description="Causal patterns of which at least three episodes became one memory."
    )
    causal_patterns: int = Field(description="Causal patterns in the demo.")
    secrets_left: int = Field(description="Planted secrets that are still in a memory; should be 0.")
    memories_before: int = Field(description="Active memories before the nights.")
    memories_after: int = Field(description="Active memories after the nights.")
    tokens_before: int = Field(description="Tokens of the active memories before the nights.")
    tokens_after: int = Field(description="Tokens of the active memories after the nights.")
    token_reduction_pct: float = Field(description="Saved share of these tokens, in percent.")
    answered_before: int = Field(
        description="Questions whose answer was in the context found for them, before the nights."
    )
    answered_after: int = Field(description="The same after the nights.")
    questions: int = Field(description="Questions in the demo.")
    sources_identical: bool = Field(
        description="Whether content, categories and creation times of all raw memories are unchanged."
    )
    reached: bool = Field(description="Whether every promise was kept.")


class DemoResult(ScoreCard):
    """A score card, with the report of the last night."""

    report: str = Field(description="The page of the last night's report.")


def measure(store: Store, settings: Settings) -> Measure:
    """Measure the store now: a question counts as answered if its answer is in the context found for it."""
    truth = load_truth(demo_directory(settings))
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = tx.memories.all()
        facts = tx.contents.facts()
        active, tokens = facts["active"], facts["active_tokens"]
        sources = tx.contents.sources_fingerprint()
        ids, vectors = tx.vectors.read([m.id for m in memories], embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    answered = 0
    for project in sorted({q["project"] for q in truth["questions"]}):
        mine = [memory for memory in memories if memory.project_id == project]
        index = SearchIndex(mine, known, embedder.embed, settings.compression.archived_weight)
        for question in (q for q in truth["questions"] if q["project"] == project):
            context = fit_budget(index.search(question["question"], limit=100), BUDGET)
            answered += any(question["answer"].lower() in memory.content.lower() for memory in context)
    return Measure(active, tokens, answered, len(truth["questions"]), sources)


def score(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    """The score card of the store as it is now."""
    truth = load_truth(demo_directory(settings))
    after = measure(store, settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
    ends = {memory_id: _end(memories, memory_id) for memory_id in memories}
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
        "chain_in_one_cluster": len({ends[memory_id] for memory_id in truth["chain"]}) == 1,
        "lessons_distilled": sum(_is_distilled(c["members"], memories, ends) for c in truth["clusters"]),
        "lessons": len(truth["clusters"]),
        "causal_patterns_distilled": sum(_is_distilled(c["members"], memories, ends) for c in truth["causal"]),
        "causal_patterns": len(truth["causal"]),
        "secrets_left": sum(s in memory.content for s in truth["secrets"] for memory in memories.values()),
        "memories_before": before.active,
        "memories_after": after.active,
        "tokens_before": before.tokens,
        "tokens_after": after.tokens,
        "token_reduction_pct": round(100 * (before.tokens - after.tokens) / before.tokens, 1),
        "answered_before": before.answered,
        "answered_after": after.answered,
        "questions": before.questions,
        "sources_identical": before.sources == after.sources,
    }
    return ScoreCard(**figures, reached=_reached(figures))


def _reached(figures: dict[str, Any]) -> bool:
    return bool(
        figures["exact_duplicates_found"] == figures["exact_duplicates"]
        and figures["normalised_duplicates_found"] == figures["normalised_duplicates"]
        and figures["conflicts_merged"]
        == figures["critical_touched"]
        == figures["fresh_touched"]
        == figures["secrets_left"]
        == 0
        and not figures["chain_in_one_cluster"]
        and figures["token_reduction_pct"] >= 25
        and figures["answered_after"] >= figures["answered_before"]
        and figures["sources_identical"]
    )


def _end(memories: dict[str, Memory], memory_id: str) -> str:
    """The active memory that replaces this one now."""
    while (into := memories[memory_id].consolidated_into_id) is not None:
        memory_id = into
    return memory_id


def _pairs_joined(pairs: list[list[str]], ends: dict[str, str]) -> int:
    return sum(ends[one] == ends[other] for one, other in pairs)


def _was_touched(memory: Memory) -> bool:
    return memory.archived_at is not None or memory.importance_before is not None


def _is_distilled(members: list[str], memories: dict[str, Memory], ends: dict[str, str]) -> bool:
    """Whether at least three of a planted group became one abstraction."""
    by_end: dict[str, int] = {}
    for one in members:
        if memories[ends[one]].compressed_from is not None:
            by_end[ends[one]] = by_end.get(ends[one], 0) + 1
    return any(count >= 3 for count in by_end.values())


def as_text(card: ScoreCard) -> str:
    """The card as text."""
    rows = (
        ("Exact duplicates found", f"{card.exact_duplicates_found} of {card.exact_duplicates}"),
        ("Normalised duplicates found", f"{card.normalised_duplicates_found} of {card.normalised_duplicates}"),
        ("Contradictions merged (should be 0)", f"{card.conflicts_merged} of {card.conflicts}"),
        ("Critical memories touched (should be 0)", f"{card.critical_touched} of {card.critical}"),
        ("Fresh memories touched (should be 0)", f"{card.fresh_touched} of {card.fresh}"),
        ("Chain trap in one cluster", "yes" if card.chain_in_one_cluster else "no"),
        ("Lessons distilled", f"{card.lessons_distilled} of {card.lessons}"),
        ("Causal patterns distilled", f"{card.causal_patterns_distilled} of {card.causal_patterns}"),
        ("Secrets left in the store", str(card.secrets_left)),
        ("Active memories", f"{card.memories_before} -> {card.memories_after}"),
        ("Active tokens", f"{card.tokens_before:,} -> {card.tokens_after:,} ({-card.token_reduction_pct}%)"),
        (
            "Questions answered at 1,000 tokens",
            f"{card.answered_before} -> {card.answered_after} of {card.questions}",
        ),
        ("Sources byte-identical", "yes" if card.sources_identical else "NO"),
    )
    width = max(len(label) for label, _ in rows)
    lines = [f"  {label.ljust(width)}  {value}" for label, value in rows]
    verdict = "All promises kept." if card.reached else "NOT all promises were kept."
    return "\n".join(["Score card (against data/demo_workspace/truth.json)", *lines, f"  {verdict}"])
