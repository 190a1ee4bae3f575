"""Contents of an export: the memories of one project, with their lineage, playbook and series."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from operator import attrgetter

import numpy as np

from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.reading.classifier import LASTING, NOISE, salience_by_id
from memory_pipeline.records import LineageLink, Memory, PlaybookEntry, is_series, only_counts
from memory_pipeline.store import Store
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.redaction import has_mask
from memory_pipeline.text.steering import may_guide
from memory_pipeline.text.superseding import doubt_of, opponents_of, superseded_ids
from memory_pipeline.text.threads import find_threads
from memory_pipeline.text.values import other_values
from memory_pipeline.workspace.playbook_pages import playbook_in
from memory_pipeline.workspace.worth import is_promoted, is_unmarked, ranked

#: What is said with what an agent said in a conversation.
BY_AGENT = "by the agent"
TURNS = "turns of conversations"
GONE = "memories whose words were removed from their source"
COUNTS = "series in which nothing varies"
STEERING = "memories that try to steer their reader"


@dataclass(frozen=True)
class Contents:
    """Everything that is known in one project.

    `memories`: the active ones that may be exported, in order of creation and id; `sources`: archived memories behind
    them, by id; `links`: from each memory to its direct sources; `cases`: by memory of a principle, its patterns;
    `doubts`: what must be said with a memory: that another one contradicts it, where it applies, or the day of its
    last copy; `lasting`, `noise`: unmarked notes that the classifier takes for lasting, and for routine, or that a
    series tells as out of the usual: alone they would stand where its newest reading does not; `vectors`: of the active
    ones, by id, of the built-in model; `superseded`: those that say how things were, each with the newer one that says
    how they are; `later`: by memory, those of a later day that contradict it, the latest first; `newer`: of these those
    that contradict what an agent should know, and others that give a new value of it or say more of it; `above`: by
    memory, those of both that stand before it; `done`: tasks that a later note ticks.
    """

    project: str
    memories: Sequence[Memory]
    sources: Mapping[str, Memory]
    links: Sequence[LineageLink]
    entries: Sequence[PlaybookEntry]
    cases: Mapping[str, Collection[str]]
    left_out: Counter[str] = field(default_factory=Counter)
    doubts: Mapping[str, str] = field(default_factory=dict)
    lasting: Collection[str] = frozenset()
    noise: Collection[str] = frozenset()
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    superseded: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, Collection[str]] = field(default_factory=dict)
    newer: Collection[str] = frozenset()
    above: Mapping[str, Collection[str]] = field(default_factory=dict)
    done: Collection[str] = frozenset()

    @cached_property
    def newest_day(self) -> date | None:
        """The day of the newest memory, by which is told what is over."""
        return max((memory.day for memory in self.memories if not memory.undated), default=None)

    @property
    def notes(self) -> list[Memory]:
        """The memories that are no series."""
        return [memory for memory in self.memories if not is_series(memory)]

    @cached_property
    def routine(self) -> frozenset[str]:
        """The ids of the notes that are lines of a log and no more."""
        return frozenset(memory.id for memory in self.notes if not is_promoted(memory, self.lasting))

    @property
    def series(self) -> list[Memory]:
        """The series memories, by what they say."""
        return sorted(filter(is_series, self.memories), key=lambda memory: (memory.content, memory.id))


def project_named(store: Store, named: str | None) -> str:
    """The project that is named, or the only one. Raises InputError for none, several, or an unknown one."""
    with store.reading() as tx:
        known = tx.memories.projects()
    if named is None and len(known) > 1:
        raise InputError(f"the store has several projects; name one with --project: {', '.join(known)}")
    if named is None and not known:
        raise InputError("the store has no memories yet; import some first")
    if named is not None and named not in known:
        raise InputError(f"there is no project '{named}' in the store; it has {', '.join(known) or 'none'}")
    return known[0] if named is None else named


def contents_of(store: Store, project: str, *, with_sources: bool = False) -> Contents:
    """Everything of a project that may be exported, and what may not be."""
    with store.reading() as tx:
        every = tx.memories.all(project, include_archived=with_sources)
        standing = [memory for memory in every if memory.archived_at is None]
        gone = {entry.memory_id for entry in tx.sources.gone(None)}
        links = tx.lineage.of([memory.id for memory in every]) if with_sources else []
        entries, cases = playbook_in(tx, project)
        disputes = [conflict for conflict in tx.conflicts.open() if conflict.project_id == project]
        likely = tx.conflicts.likely(project)
        scopes = tx.conflicts.scopes_of([memory.id for memory in every])
        of_agent = tx.conversations.said_by_agent(project)
        breaking = {i for memory in tx.series.active() for i in memory.facts.breaking_ids}
        left = tx.readings.left_by_readers(project) | breaking  # of these a night took nothing that lasts
        unmarked = [memory for memory in standing if is_unmarked(memory) and memory.id not in left]
        ids = [memory.id for memory in standing]
        vectors = dict(zip(*tx.vectors.read(ids, MiniLM.name, MiniLM.dimension), strict=True))
        last_told = tx.memories.read_as_last_told(ids)
    reasons = {memory.id: why_not_told(memory, gone) for memory in standing}
    active = [memory for memory in standing if reasons[memory.id] is None]
    active_ids = {memory.id for memory in active}  # what may not stand here itself takes nobody's place
    disputes = [dispute for dispute in disputes if {dispute.a, dispute.b} <= active_ids]
    superseded, opponents = superseded_ids(disputes, last_told), opponents_of(disputes, last_told)
    later = {memory_id: [other.id for other in others if other.later_on] for memory_id, others in opponents.items()}
    sources = _behind(active, every, links) if with_sources else {}
    exported_ids = {*sources, *(memory.id for memory in active)}
    doubts = {
        **dict.fromkeys(of_agent, BY_AGENT),
        **{memory_id: doubt_of(others[0].later_on) for memory_id, others in opponents.items()},
        **{memory_id: f"applies: {'; '.join(conditions)}" for memory_id, conditions in scopes.items()},
    }
    for memory in active:
        # What is masked in two notes need not be the same.
        is_told_again = not memory.undated and not has_mask(memory.content)
        if is_told_again and (day := last_told[memory.id].day) > memory.day:
            doubts[memory.id] = "; ".join(filter(None, (doubts.get(memory.id), f"told again {day}")))
    salience = salience_by_id(unmarked, vectors)
    lasting = {memory_id for memory_id, score in salience.items() if score >= LASTING}
    newer_of, days = _find_later_values([last_told[memory.id] for memory in active], lasting, vectors)
    newer_of = _find_likely({memory.id: last_told[memory.id] for memory in active}, likely, lasting) | newer_of
    newer = set(newer_of.values())
    above = {i: [other] for i, other in newer_of.items() if i not in later.get(other, ())} | {
        i: others for i, others in later.items() if others
    }
    doubted = [memory for memory in active if later.get(memory.id)]
    for memory in sorted(doubted, key=lambda memory: last_told[memory.id].day):  # before those that contradict it
        if memory.id in newer or is_promoted(memory, lasting):
            newer.update(later[memory.id])
    for memory_id in days.keys() - opponents.keys() - scopes.keys():  # of these a person said that both hold
        doubts[memory_id] = "; ".join(filter(None, (doubts.get(memory_id), f"another value on {days[memory_id]}")))
    return Contents(
        project=project,
        memories=active,
        sources=sources,
        links=[link for link in links if link.memory_id in exported_ids and link.source_id in exported_ids],
        entries=entries,
        cases=cases,
        left_out=Counter(reason for reason in reasons.values() if reason),
        lasting=lasting | newer,
        newer=newer,
        noise=breaking | {i for i, score in salience.items() if score < NOISE} - newer.union(*later.values()),
        doubts=doubts,
        vectors=vectors,
        superseded=superseded,
        later=later,
        above=above,
        done={thread.memory.id for thread in find_threads(every, {}) if thread.closed_at},
    )


#: Two notes of at least this cosine may say something of one thing (as in `recall.ranking`); for so many pieces of
#: knowledge, as many as a page has room for, so many of the newest notes are compared.
_ONE_THING, _MOST_KNOWN, _MOST_NOTES, _MOST_COMPARED = 0.55, 500, 5_000, 20
#: They say something of one thing from this cosine on, and in the same words with this part of them: with fewer, a word
#: may be another thing (`a ticket for adults`, `a ticket for children`).
_SAME_THING, _SAME_WORDS = 0.8, 0.8


def _find_later_values(
    active: Sequence[Memory], lasting: Collection[str], vectors: Mapping[str, Vectors]
) -> tuple[dict[str, str], dict[str, date]]:
    """By what is known, the last of the later notes that give another value for it or say more of the same thing (a
    task and its completion): a page that has the old one alone says what holds no more. And the days of those that
    give another value in the same words."""
    usable = [memory for memory in active if memory.id in vectors and not is_series(memory)]
    notes = [memory for memory in usable if not memory.undated]
    notes = sorted(notes, key=lambda note: (note.effective_date, note.id))[-_MOST_NOTES:]
    if not notes:
        return {}, {}
    beside = np.stack([vectors[memory.id] for memory in notes])
    newer_of, days = dict[str, str](), dict[str, date]()
    for memory in ranked([memory for memory in usable if is_promoted(memory, lasting)])[:_MOST_KNOWN]:
        cosines = np.einsum("ij,j->i", beside, vectors[memory.id])
        near = [n for n in np.flatnonzero(cosines >= _ONE_THING) if memory.undated or notes[n].day > memory.day]
        near = near[-_MOST_COMPARED:]
        asked = content_words(memory.content)
        changes = other_values(asked, [memory.content, *(notes[n].content for n in near)], content_words)[0, 1:]
        others = [n for n, is_other in zip(near, changes, strict=True) if is_other]
        later = [n for n in near if n in others or cosines[n] >= _SAME_THING]
        newer_of.update((memory.id, notes[n].id) for n in later[-1:])
        same = [n for n in others if cosines[n] >= _SAME_THING and _share_words(memory, notes[n])]
        if same and not memory.undated:
            days[memory.id] = notes[same[-1]].day
    return newer_of, days


def _find_likely(
    told: Mapping[str, Memory], likely: Iterable[tuple[str, str]], lasting: Collection[str]
) -> dict[str, str]:
    """By what is known, the last of the later notes that likely take it back. `told`: the active ones, as last told."""
    pairs = [sorted((told[a], told[b]), key=attrgetter("day")) for a, b in likely if {a, b} <= told.keys()]
    known = [(older, newer) for older, newer in pairs if older.day < newer.day and is_promoted(older, lasting)]
    return {older.id: newer.id for older, newer in sorted(known, key=lambda pair: pair[1].day)}


def _share_words(one: Memory, other: Memory) -> bool:
    """True if two notes say something in the same words, whatever the figures."""
    mine, theirs = ({word for word in content_words(note.content) if word.isalpha()} for note in (one, other))
    return len(mine & theirs) >= _SAME_WORDS * len(mine | theirs)


def why_not_told(memory: Memory, gone: Collection[str]) -> str | None:
    """Why nothing that is read may say a memory; None if it may. `gone`: those whose words left their source."""
    if memory.memory_type == "conversation":
        return TURNS
    if memory.id in gone:
        return GONE
    if only_counts(memory):
        return COUNTS
    return None if may_guide(memory) else STEERING


def _behind(active: Sequence[Memory], every: Sequence[Memory], links: Sequence[LineageLink]) -> dict[str, Memory]:
    """The archived memories from which active ones were made, directly or through others."""
    archived = {memory.id: memory for memory in every if memory.archived_at is not None}
    made_from: dict[str, list[str]] = defaultdict(list)
    for link in links:
        made_from[link.memory_id].append(link.source_id)
    sources: dict[str, Memory] = {}
    waiting = [memory.id for memory in active if not is_series(memory)]
    while waiting:
        for source in made_from[waiting.pop()]:
            memory = archived.get(source)
            if memory is not None and source not in sources and not why_not_told(memory, ()):
                sources[source] = memory
                waiting.append(source)
    return dict(sorted(sources.items()))
