"""Scores the demo: measures the store before and after the nights, compares it with the truth file, and prints the
cards of the nights without a model and with the recorded answers of one side by side."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
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
from memory_pipeline.recall import SearchIndex, fit_budget
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
    """What the nights made of some notes, in words."""

    kind: str = Field(description="What the notes are: a lesson, a cause or a series.")
    sources: tuple[str, ...] = Field(description="The notes, oldest first.")
    memory: str = Field(description="The memory that stands for all of them.")


class ScoreCard(Document):
    """What the nights did to the demo: each figure that the demo promises, and whether it was reached."""

    lines: tuple[Line, ...] = Field(description="The figures.")
    principles: tuple[str, ...] = Field(description="The active principles, in words.")
    examples: tuple[Example, ...] = Field(description="What became of some of the notes, in words.")
    with_model: bool = Field(description="Whether a model read.")
    missed: tuple[str, ...] = Field(description="The promises that were not kept, as the score card names them.")

    def found(self, label: str) -> float:
        """The figure of a line."""
        return next(line.found for line in self.lines if line.label == label)


class DemoResult(Document):
    """What seven nights made of the demo, without a model and with the recorded answers of one."""

    without_model: ScoreCard = Field(description="The card of the nights without a model.")
    with_model: ScoreCard | None = Field(
        description="The card of the nights with recorded answers; null if the package came without them."
    )
    report: str = Field(description="The page of the last night's report.")


def card_of(
    lines: Sequence[Line], *, with_model: bool, principles: Sequence[str] = (), examples: Sequence[Example] = ()
) -> ScoreCard:
    """A card of some lines; without a model, what only a model keeps is no miss."""
    missed = tuple(line.label for line in lines if line.kept is False and (with_model or not line.by_model))
    return ScoreCard(
        lines=tuple(lines),
        principles=tuple(principles),
        examples=tuple(examples),
        with_model=with_model,
        missed=missed,
    )


def _line(label: str, found: float, figure: str, promise: str = "", kept: bool | None = None) -> Line:
    return Line(label=label, found=found, figure=figure, promise=promise, kept=kept)


def _share(label: str, of_each: Sequence[bool], least: float = 1, *, by_model: bool = False) -> Line:
    """A line of what should hold of all that was planted, or of this share of it."""
    found, planted = sum(of_each), len(of_each)
    needed = ceil(least * planted)
    made = _line(label, found, f"{found} of {planted}", f"at least {needed}", found >= needed)
    return made.model_copy(update={"by_model": by_model})


def _none(label: str, found: int | Sequence[bool]) -> Line:
    """A line of what should never be, as a number or of each that was planted."""
    number, of = (found, "") if isinstance(found, int) else (sum(found), f" of {len(found)}")
    return _line(label, number, f"{number}{of}", "0", number == 0)


@dataclass(frozen=True, slots=True)
class Measure:
    """The store at one moment: active memories and tokens, questions answered by token budget, and the sources'
    hash."""

    active: int
    tokens: int
    answered: Mapping[int, int]
    questions: int
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
        raw_of = _sources_of(tx, memories)
        facts = tx.contents.facts()
        sources = tx.contents.sources_fingerprint()
        ids, vectors = tx.vectors.read(list(memories), embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    answered = dict.fromkeys(BUDGETS, 0)
    for project in sorted({q["project"] for q in truth["questions"]}):
        mine = [memory for memory in memories.values() if memory.project_id == project]
        index = SearchIndex(mine, known, embedder.embed, language=settings.recall.language)
        for question in (q for q in truth["questions"] if q["project"] == project):
            evidence = set(question["evidence"])
            told = {memory.id for note in evidence for memory in _chain(memories, note)}
            told |= {one for one, raw in raw_of.items() if not evidence.isdisjoint(raw)}
            answer = re.compile(rf"(?<!\w){re.escape(question['answer'])}(?!\w)", re.IGNORECASE)
            hits = index.search(question["question"], limit=100)
            for budget in BUDGETS:
                context = fit_budget(hits, budget, question["question"], embedder.count_tokens)
                answered[budget] += any(m.id in told and answer.search(m.content) is not None for m in context)
    return Measure(facts["active"], facts["active_tokens"], answered, len(truth["questions"]), sources)


def score_without_model(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    """The score card of what the nights make of a copy of the store without a model."""
    with TemporaryDirectory() as directory:
        for file in store.path.parent.glob(f"{store.path.name}*"):
            if file.is_file():
                shutil.copy(file, directory)
        copy = Store(Path(directory) / store.path.name)
        settings = settings.with_values({"store.path": str(copy.path), "model.provider": "none"})
        for day in last_nights():
            run_night(Night(copy, settings, NightOptions(day, f"demo-{day}")))
            if day == LAST_SATURDAY:
                run_week(Night(copy, settings, NightOptions(day, f"week-{day}")))
                copy.release_lease(f"week-{day}")
        return score(copy, settings, before)


def score(store: Store, settings: Settings, before: Measure) -> ScoreCard:
    """The score card of the store as it is now."""
    truth = load_truth(demo_directory(settings))
    after = measure(store, settings)
    embedder = choose_embedder(settings)
    with store.reading() as tx:
        memories = {memory.id: memory for memory in tx.memories.all()}
        series = {one.id: set(one.facts.breaking_ids) for one in tx.series.active()}
        principles = [m.id for m in memories.values() if m.abstraction_level == LEVEL_PRINCIPLE and not m.archived_at]
        raw_of = _sources_of(tx, memories)
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
    named = {one for breaking in series.values() for one in breaking}
    breaks = [memories[i].archived_at is None and i in named for group in truth["series"] for i in group["breaks"]]
    ruled = [_has_principle(rule["lessons"], {one: raw_of[one] for one in principles}) for rule in truth["rules"]]
    touched = {one.id for one in memories.values() if one.archived_at is not None or one.importance_before is not None}
    groups = [*lessons, *causes, *readings, *truth["paraphrases"], *known]
    secrets = sum(secret in memory.content for secret in truth["secrets"] for memory in memories.values())
    chained, identical = _is_one_cluster(truth["chain"], ends), before.sources == after.sources
    saved = round(100 * (before.tokens - after.tokens) / before.tokens, 1)
    tokens = f"{before.tokens:,} -> {after.tokens:,} ({-saved}%)"

    def joined(kind: str) -> list[bool]:
        return [ends[one].id == ends[other].id for one, other in truth[kind]]

    lines = [
        _share("Exact duplicates found", joined("exact_duplicates")),
        _share("Normalised duplicates found", joined("normalised_duplicates")),
        _none(
            "Contradictions merged (should be 0)",
            [_hides_newer(memories[one], memories[other], ends) for one, other in truth["contradictions"]],
        ),
        _none("Critical memories touched (should be 0)", [one in touched for one in truth["critical"]]),
        _none("Fresh memories touched (should be 0)", [one in touched for one in truth["fresh"]]),
        _line("Chain trap in one cluster", chained, "yes" if chained else "no", "no", not chained),
        _share("Paraphrases found", joined("paraphrases"), PARAPHRASES_GOAL, by_model=True),
        _line("Median cosine of the paraphrases", round(cosine, 3), f"{cosine:.2f}"),
        _share("Lessons distilled", [_is_told_once(one, raw_of) for one in lessons], LESSONS_GOAL, by_model=True),
        _share(
            "Causal patterns distilled", [_is_told_once(one, raw_of) for one in causes], LESSONS_GOAL, by_model=True
        ),
        _share(
            "Readings in their series", [one for m in readings for one in _in_series(m, ends, series)], READINGS_GOAL
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
        figure = f"{had} -> {has} of {before.questions}"
        lines.append(_line(f"Questions answered at {budget:,} tokens", has, figure, "no fewer", has >= had))
    lines.append(_line("Sources byte-identical", identical, "yes" if identical else "NO", "yes", identical))
    return card_of(
        lines,
        with_model=has_model(settings),
        principles=sorted(memories[one].content for one in principles),
        examples=[*_examples({"A lesson": lessons, "A cause": causes, SERIES: readings}, memories, ends)],
    )


def _chain(memories: Mapping[str, Memory], memory_id: str) -> list[Memory]:
    """A memory and those that replaced it one after the other; the last one is active."""
    found = [memories[memory_id]]
    while (into := found[-1].consolidated_into_id) is not None:
        found.append(memories[into])
    return found


def _sources_of(tx: Transaction, memories: Mapping[str, Memory]) -> Mapping[str, set[str]]:
    """By active memory that says something of its notes, these notes: those that it was made of, and those that were
    archived into it. A digest of routine says nothing of them."""
    made = [m.id for m in memories.values() if m.abstraction_level > LEVEL_RAW and not m.archived_at]
    of = [one for one in made if memories[one].source.file != DIGEST]
    found = {one: set(raw) for one, raw in tx.lineage.raw_sources_of(of).items()}
    for memory in memories.values():
        end = _chain(memories, memory.id)[-1]
        if memory.abstraction_level == LEVEL_RAW and end.id in found:
            found[end.id].add(memory.id)
    return found


#: What a reader says, and what notes establish of it.
_OF_READER = (READING, ESTABLISHED)


def _hides_newer(one: Memory, other: Memory, ends: Mapping[str, Memory]) -> bool:
    """Whether one memory stands for both sides of a contradiction, unless it is a reader's that has each word in which
    the newer side differs from the older."""
    end = ends[one.id]
    if end.id != ends[other.id].id:
        return False
    older, newer = sorted((one, other), key=lambda memory: (memory.effective_date, memory.id))
    return end.source.file not in _OF_READER or not _words(newer.content) - _words(older.content) <= _words(end.content)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _is_one_cluster(members: Sequence[str], ends: Mapping[str, Memory]) -> bool:
    """Whether a cluster has all of these notes. What a reader says of several notes is no cluster."""
    end, *others = {ends[one].id: ends[one] for one in members}.values()
    return not others and end.source.file not in _OF_READER


def _is_told_once(members: Sequence[str], raw_of: Mapping[str, Collection[str]]) -> bool:
    """Whether one active memory stands for most of the notes of a planted group."""
    return any(len(set(members) & set(raw)) >= _MOST * len(members) for raw in raw_of.values())


def _one_memory(members: Sequence[str], ends: Mapping[str, Memory]) -> Memory | None:
    """The active abstraction that stands for all of a planted group, if there is one."""
    (end, *others) = {ends[one].id: ends[one] for one in members}.values()
    return end if not others and end.abstraction_level > LEVEL_RAW else None


def _in_series(members: Sequence[str], ends: Mapping[str, Memory], series: Collection[str]) -> list[bool]:
    """Of each reading whether the series memory that stands for most of them stands for it."""
    counts = Counter(end.id for one in members if (end := ends[one]).id in series)
    most = counts.most_common(1)[0][0] if counts else None
    return [ends[one].id == most for one in members]


def _has_principle(lessons: Sequence[Sequence[str]], raw_of: Mapping[str, Collection[str]]) -> bool:
    """Whether some principle was made from three or more of these lessons, and from nothing else."""
    own = {one for members in lessons for one in members}
    return any(
        set(raw) <= own and sum(not set(raw).isdisjoint(members) for members in lessons) >= 3 for raw in raw_of.values()
    )


def _mixed(groups: Sequence[Sequence[str]], ends: Mapping[str, Memory]) -> int:
    """How many memories, but for digests of routine, stand for notes of more than one planted group."""
    inside: dict[str, set[int]] = defaultdict(set)
    for number, members in enumerate(groups):
        for one in members:
            if ends[one].source.file != DIGEST:
                inside[ends[one].id].add(number)
    return sum(len(numbers) > 1 for numbers in inside.values())


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
    for reader, one in (("no model", plain), ("a recorded model", result.with_model)):
        lines += _judgement(reader, one) if one else []
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
    """Which promises a card keeps, in words."""
    promised = sum(line.kept is not None and (card.with_model or not line.by_model) for line in card.lines)
    yield from _wrapped(f"With {reader}: {promised - len(card.missed)} of {promised} promises kept.", "  ")
    for line in card.lines:
        if line.label in card.missed:
            yield from _wrapped(f"MISSED: {line.label}: {line.figure}, promised: {line.promise}", "    ")


def _wrapped(text: str, lead: str) -> list[str]:
    return wrap(" ".join(text.split()), _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
