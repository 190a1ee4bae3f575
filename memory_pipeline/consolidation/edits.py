"""Edited and removed words of a source: their memories stay, are marked, and give way to the words that replaced them.

A memory is compared with what stands in its file now. Words that are gone are paired with new words of the same file
that are like them; the old memory is archived into the new one, unless it is critical or pinned. Words that still stand
in another place have only moved: nothing replaces them. Words that come back are active again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory_pipeline.consolidation.context import Night
from memory_pipeline.records import Memory, SourceEntry, derived_id
from memory_pipeline.store import Transaction
from memory_pipeline.text.normalise import one_line

if TYPE_CHECKING:
    from memory_pipeline.ingest.sources import SourceContents

#: What a memory says: its project, and the hash of its content.
Words = tuple[str, str]
#: Old and new words are one entry, edited, if at least this share of their words is the same, in order.
_ALIKE = 0.5
#: With more pairs than this, a file was rewritten rather than edited.
_MOST_PAIRS = 40_000
#: Of a long entry, the first words are compared.
_MOST_WORDS = 200


@dataclass
class Edits:
    """What changed in the files of a source: memories whose words are gone, with those that replaced them; those whose
    words stand in another place instead (`moved`); earlier ones of these whose words were edited there (`twins`, with
    what replaced them); words that are back; and the files whose removals a later night has
    to date, with their times and how many those are."""

    gone: dict[str, str | None] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    twins: dict[str, str] = field(default_factory=dict)
    likeness: dict[str, float] = field(default_factory=dict)
    open_since: dict[str, datetime] = field(default_factory=dict)
    waiting: int = 0

    @property
    def changed(self) -> int:
        """How many entries were edited."""
        return sum(by is not None for by in self.gone.values())


def find_edits(
    known: Sequence[SourceEntry],
    contents: SourceContents,
    memories: Mapping[str, Memory],
    as_of: datetime | None,
    now: datetime,
    elsewhere: Set[Words] = frozenset(),
    moved_before: Mapping[Words, Sequence[str]] = MappingProxyType({}),
) -> Edits:
    """Compare what stands in the files with the memories that came from them.

    `elsewhere`: words that stand in other files of the sources. `moved_before`: by words, the memories that moved in an
    earlier night; what replaces the words replaces these too. A removal is dated by its file's time: a night as of an
    earlier time leaves it. When a file vanished is not known, so only the newest night takes that. Without `as_of`, all
    removals are left.
    """
    edits = Edits()
    was_known = {entry.memory_id for entry in known}
    of_file: dict[str, list[SourceEntry]] = {}
    for entry in known:
        of_file.setdefault(entry.file, []).append(entry)
    renamed = _Renamed()
    everywhere = {memory_id for ids in contents.standing.values() for memory_id in ids}
    stands = elsewhere | contents.words | {words_of(memories[i]) for i in everywhere if i in memories}
    for file in [*contents.standing, *contents.vanished]:
        if file in contents.said:
            continue
        standing = contents.standing.get(file, [])
        mine = of_file.get(file, [])
        gone = [e.memory_id for e in mine if e.gone_at is None and e.memory_id not in everywhere]
        back = [e.memory_id for e in mine if e.gone_at is not None and e.memory_id in standing]
        if not mine:
            renamed.fresh += standing
        if not gone and not back:
            continue
        moved = [i for i in gone if i in memories and words_of(memories[i]) in stands]
        changed = contents.modified(file) or now - timedelta(days=1)
        if as_of is None or changed >= as_of:
            edits.open_since[file] = changed
            edits.waiting += len(gone) - len(moved) + len(back)
            continue
        gone = [i for i in gone if i not in set(moved)]
        fresh = [memory_id for memory_id in standing if memory_id not in was_known] + back
        edits.back += back
        edits.moved += moved
        edits.gone |= dict.fromkeys(gone)
        if file in contents.vanished:
            renamed.gone += gone
            renamed.moved += moved
        for old, new, score in _pairs(gone, fresh, memories):
            edits.gone[old], edits.likeness[old] = new, score
    for old, new, score in renamed.pairs(memories):
        edits.gone[old], edits.likeness[old] = new, score
    for old, by in edits.gone.items():
        if by is None:
            continue
        for twin in moved_before.get(words_of(memories[old]), ()):
            if twin not in edits.gone and twin != by:
                edits.twins[twin], edits.likeness[twin] = by, edits.likeness[old]
    return edits


def words_of(memory: Memory) -> Words:
    """What a memory says, in its project."""
    return memory.project_id, memory.content_hash


@dataclass
class _Renamed:
    """Words of files that vanished, and those of files that no night has read: a file may have another name now."""

    gone: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)

    def pairs(self, memories: Mapping[str, Memory]) -> list[tuple[str, str, float]]:
        """Old and new words that are one entry, edited; words that moved as they were replace nothing."""
        there = {words_of(memories[i]) for i in self.moved}
        fresh = {words_of(memories[i]): i for i in self.fresh if i in memories}
        return _pairs(
            list({words_of(memories[i]): i for i in self.gone if i in memories}.values()),
            [i for told, i in fresh.items() if told not in there],
            memories,
        )


def _pairs(gone: Sequence[str], fresh: Sequence[str], memories: Mapping[str, Memory]) -> list[tuple[str, str, float]]:
    """Old and new words that are one entry, the most alike first; each is in one pair."""
    if len(gone) * len(fresh) > _MOST_PAIRS:
        return []
    words = {
        i: one_line(memories[i].content).casefold().split()[:_MOST_WORDS] for i in (*gone, *fresh) if i in memories
    }
    scored = sorted(
        (-_likeness(old, new, words), order, order_of_new, old, new)
        for order, old in enumerate(gone)
        for order_of_new, new in enumerate(fresh)
        if old in words and new in words and memories[old].project_id == memories[new].project_id
    )
    pairs: list[tuple[str, str, float]] = []
    taken: set[str] = set()
    for score, _, _, old, new in scored:
        if -score >= _ALIKE and not {old, new} & taken:
            pairs.append((old, new, -score))
            taken |= {old, new}
    return pairs


def _likeness(old: str, new: str, words: Mapping[str, list[str]]) -> float:
    if new.startswith(f"{old}@"):
        return 1.0  # the next version of a row with an id of its own
    return SequenceMatcher(None, words[old], words[new], autojunk=False).ratio()


def apply_edits(night: Night, tx: Transaction, source: str, edits: Edits) -> int:
    """Mark and archive what is gone, and take back what is there again; returns how many memories were superseded."""
    run_id, at = night.options.run_id, night.as_of
    if edits.back:
        tx.memories.take_back(edits.back, at=at)
        tx.sources.mark_back(source, edits.back, run_id)
    gone = edits.gone | dict.fromkeys(edits.moved) | edits.twins
    if gone:
        tx.sources.mark_gone(source, gone, at, run_id)
    pairs = {old: new for old, new in gone.items() if new is not None}
    memories = tx.memories.read([*pairs, *pairs.values()])
    stands_for = tx.lineage.replacements_of(list(pairs.values()))
    superseded = 0
    for old, new in pairs.items():
        into = stands_for[new]
        if into == old or not night.may_touch(memories[old].project_id):
            continue
        likeness = round(edits.likeness[old], 4)
        superseded += night.supersede(tx, old, into, derived_id("edit", old, new), similarity=likeness)
    return superseded
