"""Scores the demo: measures the store before and after the nights, and compares it with the truth file."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night, run_week
from memory_pipeline.demo.scorecard import SERIES, Answered, Example, ScoreCard, judged
from memory_pipeline.demo.workspace import demo_directory, last_nights, load_truth
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall import SearchIndex, fit_budget
from memory_pipeline.records import DIGEST, ESTABLISHED, LEVEL_PRINCIPLE, LEVEL_RAW, READING, Memory
from memory_pipeline.store import Store, Transaction

#: Tokens of context in which an answer is looked for: one or two notes, a paragraph, and what an agent can spare.
BUDGETS = (50, 200, 1000)
#: The share of the notes of a lesson for which one memory stands; what single notes say besides may stand elsewhere.
_MOST = 2 / 3
#: The end of the week whose principles the demo shows.
LAST_SATURDAY = date(2026, 3, 28)


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
    cosines = [float(vector_of[one] @ vector_of[other]) for one, other in truth["paraphrases"]]
    ends = {memory_id: _chain(memories, memory_id)[-1] for memory_id in memories}
    lessons = [group["members"] for group in truth["clusters"]]
    causes = [group["members"] for group in truth["causal"]]
    lines = [group["members"] for group in truth["series"]]
    breaks = [one for group in truth["series"] for one in group["breaks"]]
    named = {one for breaking in series.values() for one in breaking}
    entries = [group["members"] for group in truth["knowledge"] if len(group["members"]) > 1]
    groups = [*lessons, *causes, *lines, *truth["paraphrases"], *(group["members"] for group in truth["knowledge"])]
    figures: dict[str, Any] = {
        "exact_duplicates_found": _pairs_joined(truth["exact_duplicates"], ends),
        "exact_duplicates": len(truth["exact_duplicates"]),
        "normalised_duplicates_found": _pairs_joined(truth["normalised_duplicates"], ends),
        "normalised_duplicates": len(truth["normalised_duplicates"]),
        "conflicts_merged": sum(
            _hides_newer(memories[one], memories[other], ends) for one, other in truth["contradictions"]
        ),
        "conflicts": len(truth["contradictions"]),
        "critical_touched": sum(_was_touched(memories[memory_id]) for memory_id in truth["critical"]),
        "critical": len(truth["critical"]),
        "fresh_touched": sum(_was_touched(memories[memory_id]) for memory_id in truth["fresh"]),
        "fresh": len(truth["fresh"]),
        "chain_in_one_cluster": _is_one_cluster(truth["chain"], ends),
        "paraphrases_found": _pairs_joined(truth["paraphrases"], ends),
        "paraphrases": len(truth["paraphrases"]),
        "paraphrase_cosine": round(float(np.median(cosines)), 3),
        "lessons_distilled": sum(_is_told_once(members, raw_of) for members in lessons),
        "lessons": len(lessons),
        "causal_patterns_distilled": sum(_is_told_once(members, raw_of) for members in causes),
        "causal_patterns": len(causes),
        "readings_in_series": sum(_in_series(members, ends, series) for members in lines),
        "readings": sum(map(len, lines)),
        "breaks_named": sum(memories[one].archived_at is None and one in named for one in breaks),
        "breaks": len(breaks),
        "entries_united": sum(_one_memory(members, ends) is not None for members in entries),
        "entry_groups": len(entries),
        "principles_found": sum(
            _has_principle(rule["lessons"], {one: raw_of[one] for one in principles}) for rule in truth["rules"]
        ),
        "rules": len(truth["rules"]),
        "principles": tuple(sorted(memories[one].content for one in principles)),
        "different_joined": _mixed(groups, ends),
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
        "examples": tuple(_examples({"A lesson": lessons, "A cause": causes, SERIES: lines}, memories, ends)),
    }
    return judged(ScoreCard(**figures, missed=(), reached=False), with_model=has_model(settings))


def _chain(memories: Mapping[str, Memory], memory_id: str) -> list[Memory]:
    """A memory and those that replaced it one after the other; the last one is active."""
    found = [memories[memory_id]]
    while (into := found[-1].consolidated_into_id) is not None:
        found.append(memories[into])
    return found


def _pairs_joined(pairs: Sequence[Sequence[str]], ends: Mapping[str, Memory]) -> int:
    return sum(ends[one].id == ends[other].id for one, other in pairs)


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


def _was_touched(memory: Memory) -> bool:
    return memory.archived_at is not None or memory.importance_before is not None


def _one_memory(members: Sequence[str], ends: Mapping[str, Memory]) -> Memory | None:
    """The active abstraction that stands for all of a planted group, if there is one."""
    (end, *others) = {ends[one].id: ends[one] for one in members}.values()
    return end if not others and end.abstraction_level > LEVEL_RAW else None


def _in_series(members: Sequence[str], ends: Mapping[str, Memory], series: Collection[str]) -> int:
    """How many of a series' readings the same series memory stands for."""
    counts = Counter(end.id for one in members if (end := ends[one]).id in series)
    return max(counts.values(), default=0)


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
