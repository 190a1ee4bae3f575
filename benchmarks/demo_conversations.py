"""The labelled conversations of the demo, and how much of what is worth keeping of them is kept."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from memory_pipeline.conversations.topics import topics_of_day

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import extract
from memory_pipeline.demo.conversations import Labelled, Said, Talk, conversations
from memory_pipeline.records import Extraction, Turn

_TOKENS = 800


@dataclass
class Score:
    """Counts by kind, and the sentences behind them, in words. `fell`: near misses of which something was kept."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    near: int = 0
    fell: int = 0
    told: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of what is kept that is right."""
        return self.right.total() / max(1, self.right.total() + self.wrong.total())

    @property
    def recall(self) -> float:
        """The share of what is worth keeping that is kept."""
        return self.right.total() / max(1, self.right.total() + self.lost.total())


def is_in_half(words: str, half: int) -> bool:
    """Whether a sentence belongs to half 0, which may be looked at while rules are changed, or to half 1."""
    return hashlib.sha256(f"17 {words.strip()}".encode()).digest()[0] % 2 == half


def turns_of_talk(talk: Talk) -> list[Turn]:
    """The turns of a conversation of the demo, a minute apart."""
    start = datetime.fromisoformat(talk.day).replace(hour=15, tzinfo=UTC)
    name = f"openclaw:raw/{talk.day}.md"
    return [
        Turn(
            memory_id=f"{talk.project}:{talk.day}:{line}",
            project_id=talk.project,
            conversation=name,
            line=line,
            speaker=said.speaker,
            said_at=start + timedelta(minutes=line),
            words=said.words,
            token_count=max(1, len(said.words) // 4),
        )
        for line, said in enumerate(talk.turns, start=1)
    ]


def score_demo(counts: Callable[[str], bool] = lambda words: True) -> Score:
    """How right what is extracted of the demo's conversations is, day after day; only the sentences that count."""
    score = Score()
    known: dict[str, list[Extraction]] = defaultdict(list)
    topics: dict[str, dict[str, list[date]]] = defaultdict(lambda: defaultdict(list))
    for talk in conversations():
        turns = turns_of_talk(talk)
        before = known[talk.project]
        found = extract(chunks_of(turns, _TOKENS), known=before, topics_before=topics[talk.project]).extractions
        _judge(score, talk, turns, found, counts)
        gone = {old for one in found for old in one.withdraws}
        known[talk.project] = [one for one in (*before, *found) if one.id not in gone]
        for topic in topics_of_day(turns):
            topics[talk.project][topic].append(turns[0].day)
    return score


def _judge(
    score: Score, talk: Talk, turns: list[Turn], found: tuple[Extraction, ...], counts: Callable[[str], bool]
) -> None:
    returned = any(one.kind == "repetition" for one in found)
    for turn, said in zip(turns, talk.turns, strict=True):
        kinds: dict[int, set[str]] = defaultdict(set)
        for one in found:
            if one.turn_id == turn.memory_id and one.kind != "repetition":
                kinds[_part_of(turn, said, one)].add(one.kind)
        for place, part in enumerate(said.parts):
            if counts(part.words):
                _count(score, talk, part, frozenset(kinds[place]), returned=returned)


def _part_of(turn: Turn, said: Said, one: Extraction) -> int:
    """The part of a turn that an extraction is of: a correction may hold two sentences, and is of the one that is
    labelled as it is, else of the last one."""
    first = turn.words.index(one.quote)
    overlapping = []
    start = 0
    for place, part in enumerate(said.parts):
        if start < first + len(one.quote) - 1 and first < start + len(part.words) - 1:
            overlapping.append(place)
        start += len(part.words)
    labelled = [place for place in overlapping if any(one.kind in way for way in said.parts[place].ways)]
    return (labelled or overlapping)[-1]


def _count(score: Score, talk: Talk, part: Labelled, kinds: frozenset[str], *, returned: bool) -> None:
    if returned and any("repetition" in way for way in part.ways):
        kinds |= {"repetition"}
    best = max(part.ways, key=lambda way: (len(way & kinds), -len(way - kinds)), default=frozenset[str]())
    right, wrong, lost = kinds & best, kinds - best - part.may_be, best - kinds
    score.right.update(right)
    score.wrong.update(wrong)
    score.lost.update(lost)
    score.near += bool(part.looks_like)
    score.fell += bool(part.looks_like and wrong)
    if wrong or lost:
        says = part.words.strip()
        score.told.append(f"{talk.project} {talk.day}: wrong {sorted(wrong)} lost {sorted(lost)}: {says!r}")
