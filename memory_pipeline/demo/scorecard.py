"""The score card: compares what the nights did to the demo with the truth file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo.workspace import demo_directory, load_truth
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


def score(store: Store, settings: Settings, before: Measure) -> dict[str, Any]:
    """The card: each figure that the demo promises, and whether it was reached."""
    truth = load_truth(demo_directory(settings))
    after = measure(store, settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
    ends = {memory_id: _end(memories, memory_id) for memory_id in memories}
    card: dict[str, Any] = {
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
    card["reached"] = _reached(card)
    return card


def _reached(card: dict[str, Any]) -> bool:
    return bool(
        card["exact_duplicates_found"] == card["exact_duplicates"]
        and card["normalised_duplicates_found"] == card["normalised_duplicates"]
        and card["conflicts_merged"] == card["critical_touched"] == card["fresh_touched"] == card["secrets_left"] == 0
        and not card["chain_in_one_cluster"]
        and card["token_reduction_pct"] >= 25
        and card["answered_after"] >= card["answered_before"]
        and card["sources_identical"]
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


def as_text(card: dict[str, Any]) -> str:
    """The card as text."""
    rows = (
        ("Exact duplicates found", f"{card['exact_duplicates_found']} of {card['exact_duplicates']}"),
        ("Normalised duplicates found", f"{card['normalised_duplicates_found']} of {card['normalised_duplicates']}"),
        ("Contradictions merged (should be 0)", f"{card['conflicts_merged']} of {card['conflicts']}"),
        ("Critical memories touched (should be 0)", f"{card['critical_touched']} of {card['critical']}"),
        ("Fresh memories touched (should be 0)", f"{card['fresh_touched']} of {card['fresh']}"),
        ("Chain trap in one cluster", "yes" if card["chain_in_one_cluster"] else "no"),
        ("Lessons distilled", f"{card['lessons_distilled']} of {card['lessons']}"),
        ("Causal patterns distilled", f"{card['causal_patterns_distilled']} of {card['causal_patterns']}"),
        ("Secrets left in the store", str(card["secrets_left"])),
        ("Active memories", f"{card['memories_before']} -> {card['memories_after']}"),
        ("Active tokens", f"{card['tokens_before']:,} -> {card['tokens_after']:,} ({-card['token_reduction_pct']}%)"),
        (
            "Questions answered at 1,000 tokens",
            f"{card['answered_before']} -> {card['answered_after']} of {card['questions']}",
        ),
        ("Sources byte-identical", "yes" if card["sources_identical"] else "NO"),
    )
    width = max(len(label) for label, _ in rows)
    lines = [f"  {label.ljust(width)}  {value}" for label, value in rows]
    verdict = "All promises kept." if card["reached"] else "NOT all promises were kept."
    return "\n".join(["Score card (against data/demo_workspace/truth.json)", *lines, f"  {verdict}"])
