"""Scores the demo: measures the store before and after the nights, compares it with the truth file, and prints the
cards of the nights without a model and with the recorded answers of one side by side."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from textwrap import wrap

import numpy as np
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night, run_week
from memory_pipeline.demo.workspace import demo_directory, last_nights, load_truth
from memory_pipeline.documents import Document
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.search import SearchIndex, fit_budget
from memory_pipeline.records import DIGEST, ESTABLISHED, LEVEL_PRINCIPLE, LEVEL_RAW, READING, Memory
from memory_pipeline.store import Store, Transaction

#: Tokens of context in which an answer is looked for: one or two notes, a paragraph, and what an agent can spare.
BUDGETS = (50, 200, 1000)
#: Share of the notes that say the same in other words that should be joined, and of the lessons and causes that should
#: end in one memory.
PARAPHRASES_GOAL, LESSONS_GOAL = 0.92, 0.85
#: Share of the readings that their series memory should stand for; the others may seem unusual to it.
READINGS_GOAL = 0.98
#: Share of the active tokens that seven nights should save, in percent.
TOKENS_GOAL = 25
#: The share of the notes of a lesson for which one memory stands; what single notes say besides may stand elsewhere.
_MOST = 2 / 3
#: The end of the week whose principles the demo shows.
LAST_SATURDAY = date(2026, 3, 28)
#: The kind of an example that is a series.
SERIES = "A series"
_SHOWN_SOURCES, _WIDTH = 4, 112


class Line(Document):
    """A figure of a card, with what the demo promises of it."""

    label: str = Field(description="What it is.")
    found: float = Field(description="The figure itself.")
    figure: str = Field(description="The figure as the card shows it, beside what was planted.")
    promise: str = Field(default="", description="What the demo promises of it; empty if nothing.")
    kept: bool | None = Field(default=None, description="Whether the promise was kept; null if there is none.")
    by_model: bool = Field(default=False, description="Whether only nights with a model keep it.")


class Example(Document):
    """The memory that the nights made of some notes, in words."""

    kind: str = Field(description="What the notes are: a lesson, a cause or a series.")
    sources: tuple[str, ...] = Field(description="The notes, oldest first.")
    memory: str = Field(description="The memory that stands for all of them.")


class ScoreCard(Document):
    """The result of the nights on the demo: each figure that the demo promises, and whether it was reached."""

    lines: tuple[Line, ...] = Field(description="The figures.")
    principles: tuple[str, ...] = Field(description="The active principles, in words.")
    examples: tuple[Example, ...] = Field(description="What became of some of the notes, in words.")
    with_model: bool = Field(description="Whether a model read.")
    missed: tuple[str, ...] = Field(description="The promises that were not kept, as the score card names them.")

    def value(self, label: str) -> float:
        return next(line.found for line in self.lines if line.label == label)


class DemoResult(Document):
    """The result of seven nights of the demo, without a model and with the recorded answers of one."""

    without_model: ScoreCard = Field(description="The card of the nights without a model.")
    with_model: ScoreCard | None = Field(
        description="The card of the nights with recorded answers; null if the package came without them."
    )
    report: str = Field(description="The page of the last night's report.")


def make_card(
    lines: Sequence[Line], *, with_model: bool, principles: Sequence[str] = (), examples: Sequence[Example] = ()
) -> ScoreCard:
    """A card of some lines; without a model, what only a model keeps is no miss."""
    missed = [line.label for line in lines if line.kept is False and (with_model or not line.by_model)]
    return ScoreCard(lines=lines, principles=principles, examples=examples, with_model=with_model, missed=missed)


def _line(label: str, value: float, figure: str, promise: str = "", is_kept: bool | None = None, **more: bool) -> Line:
    return Line(label=label, found=value, figure=figure, promise=promise, kept=is_kept, **more)


def _share(label: str, of_each: Sequence[bool], least: float = 1, *, by_model: bool = False) -> Line:
    """A line of what should hold of all that was planted, or of this share of it."""
    count, planted = sum(of_each), len(of_each)
    needed = ceil(least * planted)
    return _line(label, count, f"{count} of {planted}", f"at least {needed}", count >= needed, by_model=by_model)


def _none(label: str, cases: int | Sequence[bool]) -> Line:
    """A line of what should never be, as a number or of each that was planted."""
    number, suffix = (cases, "") if isinstance(cases, int) else (sum(cases), f" of {len(cases)}")
    return _line(label, number, f"{number}{suffix}", "0", number == 0)


@dataclass(frozen=True, slots=True)
class Measure:
    """The store at one moment: active memories and tokens, questions answered by budget, and the sources' hash."""

    active: int
    tokens: int
    answered: Mapping[int, int]
    sources: str


def measure(store: Store, settings: Settings) -> Measure:
    """Measure the store now.

    A question counts as answered within a budget if the context found for it holds the answer in the note that says
    it, or in a memory that stands for this note.
    """
    truth = load_truth(demo_directory(settings))
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
        raw_of = _read_sources(tx, memories)
        facts = tx.contents.facts()
        sources = tx.contents.sources_fingerprint()
        ids, vectors = tx.vectors.read(list(memories), embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    answered = dict.fromkeys(BUDGETS, 0)
    for project in sorted({q["project"] for q in truth["questions"]}):
        in_project = [memory for memory in memories.values() if memory.project_id == project]
        index = SearchIndex(in_project, known, embedder.embed, language=settings.recall.language)
        for question in (q for q in truth["questions"] if q["project"] == project):
            evidence = set(question["evidence"])
            bearers = {memory.id for note in evidence for memory in _chain(memories, note)}
            bearers |= {memory_id for memory_id, raw in raw_of.items() if not evidence.isdisjoint(raw)}
            answer = re.compile(rf"(?<!\w){re.escape(question['answer'])}(?!\w)", re.IGNORECASE)
            hits = index.search(question["question"], limit=100)
            for budget in BUDGETS:
                context = fit_budget(hits, budget, question["question"], embedder.count_tokens)
                answered[budget] += any(m.id in bearers and answer.search(m.content) is not None for m in context)
    return Measure(facts["active"], facts["active_tokens"], answered, sources)


def score_without_model(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    """The score card of what the nights make of a copy of the store without a model."""
    with store.thrown_away() as copy:
        settings = settings.with_values({"store.path": str(copy.path), "model.provider": "none"})
        for day in last_nights():
            run_night(Night(copy, settings, NightOptions(day, f"demo-{day}")))
            if day == LAST_SATURDAY:
                run_week(Night(copy, settings, NightOptions(day, f"week-{day}")))
                copy.release_lease(f"week-{day}")
        return score(copy, settings, before)


def score(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    truth = load_truth(demo_directory(settings))
    after = measure(store, settings)
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
        series = {row.id: set(row.facts.breaking_ids) for row in tx.series.active()}
        principles = [m.id for m in memories.values() if m.abstraction_level == LEVEL_PRINCIPLE and not m.archived_at]
        raw_of = _read_sources(tx, memories)
        reworded = [memory_id for pair in truth["paraphrases"] for memory_id in pair]
        ids, vectors = tx.vectors.read(reworded, embedder.name, embedder.dimension)
        problems = tx.integrity.check(deep=True, facts=True)
    vector_of = dict(zip(ids, vectors, strict=True))
    cosine = float(np.median([vector_of[one] @ vector_of[other] for one, other in truth["paraphrases"]]))
    ends = {memory_id: _chain(memories, memory_id)[-1] for memory_id in memories}
    planted = {kind: [group["members"] for group in truth[kind]] for kind in ("clusters", "causal", "series")}
    lessons, causes, readings = planted.values()
    known = [group["members"] for group in truth["knowledge"]]
    united = [_one_memory(members, ends) is not None for members in known if len(members) > 1]
    named = {memory_id for breaking in series.values() for memory_id in breaking}
    breaks = [memories[i].archived_at is None and i in named for group in truth["series"] for i in group["breaks"]]
    made_of = [raw_of[principle] for principle in principles]
    ruled = [_has_principle(rule["lessons"], made_of) for rule in truth["rules"]]
    touched = {m.id for m in memories.values() if m.archived_at is not None or m.importance_before is not None}
    groups = [*lessons, *causes, *readings, *truth["paraphrases"], *known]
    secrets = sum(secret in memory.content for secret in truth["secrets"] for memory in memories.values())
    # What a reader says of several notes is no cluster.
    chained = (end := _one_memory(truth["chain"], ends)) is not None and end.source.file not in _OF_READER
    identical = before.sources == after.sources
    saved = round(100 * (before.tokens - after.tokens) / before.tokens, 1)
    tokens = f"{before.tokens:,} -> {after.tokens:,} ({-saved}%)"

    def joined(kind: str) -> list[bool]:
        return [ends[one].id == ends[other].id for one, other in truth[kind]]

    def distilled(groups: list[list[str]]) -> list[bool]:
        """For each group, True if one active memory stands for most of its notes."""
        return [any(len(raw.intersection(m)) >= _MOST * len(m) for raw in raw_of.values()) for m in groups]

    lines = [
        _share("Exact duplicates found", joined("exact_duplicates")),
        _share("Normalised duplicates found", joined("normalised_duplicates")),
        _none(
            "Contradictions merged (should be 0)",
            [_hides_newer(memories[one], memories[other], ends) for one, other in truth["contradictions"]],
        ),
        _none("Critical memories touched (should be 0)", [memory_id in touched for memory_id in truth["critical"]]),
        _none("Fresh memories touched (should be 0)", [memory_id in touched for memory_id in truth["fresh"]]),
        _line("Chain trap in one cluster", chained, "yes" if chained else "no", "no", not chained),
        _share("Paraphrases found", joined("paraphrases"), PARAPHRASES_GOAL, by_model=True),
        _line("Median cosine of the paraphrases", round(cosine, 3), f"{cosine:.2f}"),
        _share("Lessons distilled", distilled(lessons), LESSONS_GOAL, by_model=True),
        _share("Causal patterns distilled", distilled(causes), LESSONS_GOAL, by_model=True),
        _share(
            "Readings in their series",
            [is_in for m in readings for is_in in _in_series(m, ends, series)],
            READINGS_GOAL,
        ),
        _share("Readings that break a series named", breaks),
        _line("Knowledge-base entries united", sum(united), f"{sum(united)} of {len(united)} groups"),
        _line(
            "Principles from lessons with one rule",
            sum(ruled),
            f"{sum(ruled)} of {len(ruled)}, {len(principles)} in all",
        ),
        _none("Different things joined (should be 0)", _mixed(groups, ends)),
        _none("Secrets left in the store", secrets),
        _none("Problems and lost facts", len(problems)),
        _line("Active memories", after.active, f"{before.active} -> {after.active}"),
        _line("Active tokens", after.tokens, tokens, f"{-TOKENS_GOAL}% or better", saved >= TOKENS_GOAL),
    ]
    for budget in BUDGETS:
        had, has = before.answered[budget], after.answered[budget]
        figure = f"{had} -> {has} of {len(truth['questions'])}"
        lines.append(_line(f"Questions answered at {budget:,} tokens", has, figure, "no fewer", has >= had))
    lines.append(_line("Sources byte-identical", identical, "yes" if identical else "NO", "yes", identical))
    return make_card(
        lines,
        with_model=has_model(settings),
        principles=sorted(memories[principle].content for principle in principles),
        examples=[*_examples({"A lesson": lessons, "A cause": causes, SERIES: readings}, memories, ends)],
    )


def _chain(memories: Mapping[str, Memory], memory_id: str) -> list[Memory]:
    """A memory and those that replaced it one after the other; the last one is active."""
    chain = [memories[memory_id]]
    while (into := chain[-1].consolidated_into_id) is not None:
        chain.append(memories[into])
    return chain


def _read_sources(tx: Transaction, memories: Mapping[str, Memory]) -> Mapping[str, set[str]]:
    """The notes of each active memory that says something of them: those that it was made of, and those that were
    archived into it. A digest of routine says nothing of them."""
    made = [m.id for m in memories.values() if m.abstraction_level > LEVEL_RAW and not m.archived_at]
    speaking = [memory_id for memory_id in made if memories[memory_id].source.file != DIGEST]
    by_memory = {memory_id: set(raw) for memory_id, raw in tx.lineage.raw_sources_of(speaking).items()}
    for memory in memories.values():
        end = _chain(memories, memory.id)[-1]
        if memory.abstraction_level == LEVEL_RAW and end.id in by_memory:
            by_memory[end.id].add(memory.id)
    return by_memory


#: What a reader says, and what notes establish of it.
_OF_READER = (READING, ESTABLISHED)


def _hides_newer(one: Memory, other: Memory, ends: Mapping[str, Memory]) -> bool:
    """True if one memory stands for both sides of a contradiction, but for a reader's with all words of the newer."""
    end = ends[one.id]
    if end.id != ends[other.id].id:
        return False
    older, newer = sorted((one, other), key=lambda memory: (memory.effective_date, memory.id))
    return end.source.file not in _OF_READER or not _words(newer.content) - _words(older.content) <= _words(end.content)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _one_memory(members: Sequence[str], ends: Mapping[str, Memory]) -> Memory | None:
    """The active abstraction that stands for all of a planted group, if there is one."""
    (end, *others) = {ends[memory_id].id: ends[memory_id] for memory_id in members}.values()
    return end if not others and end.abstraction_level > LEVEL_RAW else None


def _in_series(members: Sequence[str], ends: Mapping[str, Memory], series: Collection[str]) -> list[bool]:
    """For each reading, True if the series memory that stands for most of them stands for it."""
    counts = Counter(end.id for memory_id in members if (end := ends[memory_id]).id in series)
    most = counts.most_common(1)[0][0] if counts else None
    return [ends[memory_id].id == most for memory_id in members]


def _has_principle(lessons: Sequence[Sequence[str]], made_of: Iterable[set[str]]) -> bool:
    """True if some principle was made from three or more of these lessons, and from nothing else."""
    known = {memory_id for members in lessons for memory_id in members}
    return any(raw <= known and sum(not raw.isdisjoint(members) for members in lessons) >= 3 for raw in made_of)


def _mixed(groups: Sequence[Sequence[str]], ends: Mapping[str, Memory]) -> int:
    """The number of memories, but for digests of routine, that stand for notes of more than one planted group."""
    inside: dict[str, set[int]] = defaultdict(set)
    for number, members in enumerate(groups):
        for memory_id in members:
            if ends[memory_id].source.file != DIGEST:
                inside[ends[memory_id].id].add(number)
    return sum(len(numbers) > 1 for numbers in inside.values())


def _examples(
    groups: Mapping[str, Sequence[Sequence[str]]], memories: Mapping[str, Memory], ends: Mapping[str, Memory]
) -> Iterator[Example]:
    """The first planted group of each kind that became one memory."""
    for kind, planted in groups.items():
        for members in planted:
            if (memory := _one_memory(members, ends)) is not None:
                notes = sorted(
                    (memories[memory_id] for memory_id in members), key=lambda note: (note.effective_date, note.id)
                )
                yield Example(kind=kind, sources=tuple(note.content for note in notes), memory=memory.content)
                break


def as_text(result: DemoResult) -> str:
    """The cards as text, side by side, with the examples of the last one below them."""
    plain = result.without_model
    card = result.with_model or plain
    read = card.lines if result.with_model else ()
    width = max(len(line.label) for line in plain.lines)
    column = max(len(line.figure) for line in plain.lines) + 2
    head = f"  {'':<{width}}  {'no model':<{column}}{'a recorded model' if read else ''}"
    lines = ["Score card (against what was planted in the demo)", head.rstrip()]
    for number, line in enumerate(plain.lines):
        beside = read[number].figure if read else ""
        lines.append(f"  {line.label:<{width}}  {line.figure:<{column}}{beside}".rstrip())
    for reader, scored in (("no model", plain), ("a recorded model", result.with_model)):
        lines += _judgement(reader, scored) if scored else []
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


def _judgement(reader: str, card: ScoreCard) -> Iterator[str]:
    """The promises that a card keeps, in words."""
    promised = sum(line.kept is not None and (card.with_model or not line.by_model) for line in card.lines)
    yield from _wrapped(f"With {reader}: {promised - len(card.missed)} of {promised} promises kept.", "  ")
    for line in card.lines:
        if line.label in card.missed:
            yield from _wrapped(f"MISSED: {line.label}: {line.figure}, promised: {line.promise}", "    ")


def _wrapped(text: str, lead: str) -> list[str]:
    return wrap(" ".join(text.split()), _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
