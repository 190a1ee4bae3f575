"""The score cards of the demo, without a model and with the recorded answers of one: their figures, what each promises,
and how they are printed side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from textwrap import wrap

from pydantic import Field

from memory_pipeline.documents import Document

#: Share of the notes that say the same in other words that should be joined, and of the lessons and causes that should
#: end in one memory.
PARAPHRASES_GOAL, LESSONS_GOAL = 0.92, 0.85
#: Share of the readings that their series memory should stand for; the others may seem unusual to it.
READINGS_GOAL = 0.98
#: Share of the active tokens that seven nights should save, in percent.
TOKENS_GOAL = 25
_SHOWN_SOURCES, _WIDTH = 4, 112

#: The kind of an example that is a series.
SERIES = "A series"


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
    conflicts_merged: int = Field(
        description="Contradictions whose sides were joined, unless a reader says both in one memory; should be 0."
    )
    conflicts: int = Field(description="Contradictions in the demo.")
    critical_touched: int = Field(description="Critical memories that were archived or changed; should be 0.")
    critical: int = Field(description="Critical memories in the demo.")
    fresh_touched: int = Field(
        description="Memories less than 24 hours old that were archived or changed; should be 0."
    )
    fresh: int = Field(description="Memories less than 24 hours old in the demo.")
    chain_in_one_cluster: bool = Field(
        description="Whether the chain trap, in which only neighbours are similar, became one cluster; should be false."
    )
    paraphrases_found: int = Field(description="Notes that were joined with the one that says the same in other words.")
    paraphrases: int = Field(description="Pairs of notes that say the same in other words.")
    paraphrase_cosine: float = Field(description="Median cosine of these pairs, by the embedder in use.")
    lessons_distilled: int = Field(
        description="Lessons of which one active memory stands for two thirds of the notes or more."
    )
    lessons: int = Field(description="Lessons in the demo.")
    causal_patterns_distilled: int = Field(
        description="Causal patterns of which one active memory stands for two thirds of the episodes or more."
    )
    causal_patterns: int = Field(description="Causal patterns in the demo.")
    readings_in_series: int = Field(description="Readings that one memory of their series stands for.")
    readings: int = Field(description="Readings in the demo that belong to a series and do not break it.")
    breaks_named: int = Field(
        description="Readings far outside their series that were left active and are named by its memory."
    )
    breaks: int = Field(description="Such readings in the demo.")
    entries_united: int = Field(
        description="Groups of knowledge-base entries with one recommendation that became one canonical entry."
    )
    entry_groups: int = Field(description="Such groups in the demo.")
    principles_found: int = Field(
        description="Rules shared by several lessons that became a principle made from these lessons alone."
    )
    rules: int = Field(description="Such rules in the demo.")
    principles: tuple[str, ...] = Field(description="The active principles, in words.")
    different_joined: int = Field(
        description="Active memories, but for digests of routine, that stand for notes of two planted groups that have "
        "nothing to do with each other; should be 0."
    )
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


class DemoResult(Document):
    """What seven nights made of the demo, without a model and with the recorded answers of one."""

    without_model: ScoreCard = Field(description="The card of the nights without a model.")
    with_model: ScoreCard | None = Field(
        description="The card of the nights with recorded answers; null if the package came without them."
    )
    report: str = Field(description="The page of the last night's report.")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a card. `kept`: whether its promise was kept, or None if it promises nothing; `promise`: what was
    promised, in words; `by_model`: whether only a model keeps it."""

    label: str
    figure: str
    kept: bool | None = None
    promise: str = ""
    by_model: bool = False


def judged(card: ScoreCard, *, with_model: bool) -> ScoreCard:
    """The card with the promises that its figures miss."""
    missed = tuple(row.label for row in _rows(card) if row.kept is False and (with_model or not row.by_model))
    return card.model_copy(update={"missed": missed, "reached": not missed})


def _rows(card: ScoreCard) -> Iterator[_Row]:
    """The lines of the card with their promises."""

    def share(label: str, found: int, planted: int, least: float, *, by_model: bool = False) -> _Row:
        needed = ceil(least * planted)
        return _Row(label, f"{found} of {planted}", found >= needed, f"at least {needed}", by_model)

    def none_of(label: str, found: int, planted: int) -> _Row:
        return _Row(f"{label} (should be 0)", f"{found} of {planted}", found == 0, "0")

    yield share("Exact duplicates found", card.exact_duplicates_found, card.exact_duplicates, 1)
    yield share("Normalised duplicates found", card.normalised_duplicates_found, card.normalised_duplicates, 1)
    yield none_of("Contradictions merged", card.conflicts_merged, card.conflicts)
    yield none_of("Critical memories touched", card.critical_touched, card.critical)
    yield none_of("Fresh memories touched", card.fresh_touched, card.fresh)
    chained = card.chain_in_one_cluster
    yield _Row("Chain trap in one cluster", "yes" if chained else "no", not chained, "no")
    yield share("Paraphrases found", card.paraphrases_found, card.paraphrases, PARAPHRASES_GOAL, by_model=True)
    yield _Row("Median cosine of the paraphrases", f"{card.paraphrase_cosine:.2f}")
    yield share("Lessons distilled", card.lessons_distilled, card.lessons, LESSONS_GOAL, by_model=True)
    caused = card.causal_patterns_distilled
    yield share("Causal patterns distilled", caused, card.causal_patterns, LESSONS_GOAL, by_model=True)
    yield share("Readings in their series", card.readings_in_series, card.readings, READINGS_GOAL)
    yield share("Readings that break a series named", card.breaks_named, card.breaks, 1)
    yield _Row("Knowledge-base entries united", f"{card.entries_united} of {card.entry_groups} groups")
    principles = f"{card.principles_found} of {card.rules}, {len(card.principles)} in all"
    yield _Row("Principles from lessons with one rule", principles)
    mixed = card.different_joined
    yield _Row("Different things joined (should be 0)", str(mixed), mixed == 0, "0")
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


def as_text(result: DemoResult) -> str:
    """The cards as text, side by side, with the examples of the last one below them."""
    plain = list(_rows(result.without_model))
    read = list(_rows(result.with_model)) if result.with_model else []
    width = max(len(row.label) for row in plain)
    column = max(len(row.figure) for row in plain) + 2
    head = f"  {'':<{width}}  {'no model':<{column}}{'a recorded model' if read else ''}"
    lines = ["Score card (against what was planted in the demo)", head.rstrip()]
    for number, row in enumerate(plain):
        lines.append(f"  {row.label:<{width}}  {row.figure:<{column}}{read[number].figure if read else ''}".rstrip())
    lines += [*_judgement("no model", result.without_model, plain, with_model=False)]
    card = result.without_model
    if result.with_model:
        card = result.with_model
        lines += [*_judgement("a recorded model", card, read, with_model=True)]
    if card.principles:
        lines += ["", "Principles:", *(line for text in card.principles for line in _wrapped(text, "  = "))]
    for example in card.examples:
        notes = example.sources[:_SHOWN_SOURCES]
        hidden = len(example.sources) - len(notes)
        beside = " (unusual readings besides stay as they are)" if example.kind == SERIES else ""
        lines += ["", f"{example.kind}, {len(example.sources)} notes{beside}:"]
        lines += [line for note in notes for line in _wrapped(note, "  - ")]
        lines += [f"    ... and {hidden} more"] if hidden else []
        lines += ["became:", *_wrapped(example.memory, "  = ")]
    return "\n".join(lines)


def _judgement(reader: str, card: ScoreCard, rows: Sequence[_Row], *, with_model: bool) -> Iterator[str]:
    """Which promises a card keeps, in words."""
    promised = sum(row.kept is not None and (with_model or not row.by_model) for row in rows)
    yield from _wrapped(f"With {reader}: {promised - len(card.missed)} of {promised} promises kept.", "  ")
    for row in rows:
        if row.label in card.missed:
            yield from _wrapped(f"MISSED: {row.label}: {row.figure}, promised: {row.promise}", "    ")


def _wrapped(text: str, lead: str) -> list[str]:
    return wrap(" ".join(text.split()), _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
