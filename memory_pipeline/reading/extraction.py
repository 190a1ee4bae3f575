"""Finds what is worth keeping of conversations: the statements of a reader, or else the sentences that a classifier
keeps and those that their speaker marked.

A reader may withdraw what was said before; the classifier withdraws nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, get_args

from memory_pipeline.reading.check import Reading
from memory_pipeline.reading.classifier import Embed, Sentence, classify
from memory_pipeline.reading.items import Item
from memory_pipeline.reading.marks import noted_in, own_sentences
from memory_pipeline.records import (
    Destination,
    Extraction,
    ExtractionKind,
    Speaker,
    Statement,
    StatementKind,
    Turn,
    derived_id,
)
from memory_pipeline.text.days import with_days
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.normalise import content_hash

#: What a statement is among what is kept of conversations. What is about the human is a fact of the human.
KINDS: Mapping[StatementKind, ExtractionKind] = {
    "fact": "context",
    "decision": "decision",
    "lesson": "learning",
    "cause": "context",
    "procedure": "context",
    "rule": "boundary",
    "preference": "preference",
    "trust": "trust",
    "boundary": "boundary",
    "dynamic": "dynamic",
    "emotion": "emotion",
    "correction": "correction",
    "thread": "context",
    "context": "context",
}
#: What a marked note is.
_NOTED: Mapping[str, ExtractionKind] = {
    "decision": "decision",
    "rule": "boundary",
    "dead_end": "learning",
    "fact": "marker",
    "config": "context",
}
TOLD_BEFORE, BEYOND = "told before", "beyond the first 40 of one turn"
#: A turn of which more is kept was pasted: a log, or a list.
_MOST_OF_TURN = 40
_MOST_TOPICS = 4
_SPACE = re.compile(r"[\s*_`]+")


@dataclass(frozen=True, slots=True)
class Found:
    """The findings in some turns: the extractions; those of before that were told again, each with the turn that did;
    and of a model how many questions were asked, how many have no answer yet, and what was refused, by reason.

    `kinds`: what a reader called each extraction, by id; `digests`: what was done, by day (YYYY-MM-DD).
    """

    extractions: tuple[Extraction, ...] = ()
    again: tuple[tuple[str, str], ...] = ()
    questions: int = 0
    waiting: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, StatementKind] = field(default_factory=dict)
    digests: tuple[tuple[str, str], ...] = ()

    def with_others(self, other: Found) -> Found:
        """These and others, in the order of what was said."""
        return Found(
            (*self.extractions, *other.extractions),
            (*self.again, *other.again),
            self.questions + other.questions,
            self.waiting + other.waiting,
            Counter(self.refused) + Counter(other.refused),
            {**self.kinds, **other.kinds},
            (*self.digests, *other.digests),
        )


@dataclass(frozen=True, slots=True)
class Extracted:
    """The result for some turns: the extractions in the order in which they were said, the turns by speaker, and what
    was left out, by reason. `again`: the extractions that were told again, each with the turn that did."""

    extractions: tuple[Extraction, ...]
    turns: Mapping[str, int]
    sentences: int
    dropped: Mapping[str, int]
    again: tuple[tuple[str, str], ...] = ()

    @property
    def withdrawn(self) -> dict[str, str]:
        """By the id of each extraction that is withdrawn, that of the one which corrects it."""
        return {old: new.id for new in self.extractions for old in new.withdraws}

    @property
    def by_model(self) -> int:
        """The number that a model found."""
        return sum(bool(extraction.proposed_by) for extraction in self.extractions)


def item_of(turn: Turn) -> Item:
    """A turn as a reader is given it."""
    return Item(
        id=f"{turn.memory_id}#{turn.offset}",
        words=turn.words,
        day=turn.day,
        tokens=max(turn.token_count, len(turn.words) // 6),
        speaker=turn.speaker,
    )


def found_by_reader(turns: Iterable[Turn], reading: Reading, model: str) -> Found:
    """The findings of a reader in some turns. `model`: its name."""
    by_item = {item_of(turn).id: turn for turn in turns}
    extractions = tuple(_extract_statement(statement, by_item, model) for statement in reading.statements)
    again = tuple((old, by_item[item].memory_id) for item, old in reading.repeats if item in by_item)
    kinds = {
        extraction.id: statement.kind for extraction, statement in zip(extractions, reading.statements, strict=True)
    }
    refused = Counter(_reason(why) for why in reading.refused)
    return Found(extractions, again, refused=refused, kinds=kinds, digests=reading.digests)


def found_by_classifier(turns: Sequence[Turn], embed: Embed | None) -> Found:
    """The sentences that the classifier keeps, and what speakers marked. Without `embed`, marks alone."""
    extractions: list[Extraction] = []
    for turn in turns:
        extractions += _marked(turn)
    if embed is not None:
        sentences, places = [], []
        for turn in turns:
            before = ""
            for own_sentence in own_sentences(turn.words):
                sentences.append(Sentence(own_sentence.quote, before, turn.speaker))
                places.append((turn, own_sentence.start))
                before = own_sentence.quote
        marked = [(extraction.turn_id, extraction.quote) for extraction in extractions]
        for sentence, (turn, start), verdict in zip(sentences, places, classify(sentences, embed), strict=True):
            is_marked = any(turn.memory_id == turn_id and quote in sentence.text for turn_id, quote in marked)
            if verdict.kind is not None and not is_marked:
                text = with_days(" ".join(sentence.text.split()), turn.day)
                extractions.append(_extraction(turn, verdict.kind, text, sentence.text, start))
    return Found(tuple(sorted(extractions, key=_place(turns))))


def settle(turns: Sequence[Turn], findings: Found, known: Sequence[Extraction] = ()) -> Extracted:
    """Decides what is kept of the findings in some turns. `known`: what was said before and stands; what is told again
    in the same words is no new evidence, and is counted."""
    own = {turn.memory_id for turn in turns}
    last = max((turn.day for turn in turns), default=None)
    earlier = [
        extraction
        for extraction in known
        if extraction.turn_id not in own and last is not None and extraction.day <= last
    ]
    known_ids = {_key(extraction): extraction.id for extraction in earlier}
    standing = {extraction.id for extraction in earlier}
    dropped: Counter[str] = Counter()
    of_turn: Counter[str] = Counter()
    again = [pair for pair in findings.again if pair[0] in standing]
    extractions: list[Extraction] = []
    for extraction in findings.extractions:
        before = known_ids.get(_key(extraction))
        extraction = replace(extraction, withdraws=tuple(old for old in extraction.withdraws if old in standing))
        if before is not None and before not in extraction.withdraws:
            dropped[TOLD_BEFORE] += 1
            again.append((before, extraction.turn_id))
            continue
        if of_turn[extraction.turn_id] >= _MOST_OF_TURN:
            dropped[BEYOND] += 1
            continue
        of_turn[extraction.turn_id] += 1
        known_ids[_key(extraction)] = extraction.id
        standing.add(extraction.id)
        extractions.append(extraction)
    sentences = sum(len(own_sentences(turn.words)) for turn in turns)
    spoken = Counter[str](turn.speaker for turn in turns)
    return Extracted(tuple(extractions), spoken, sentences, +dropped, tuple(again))


def _key(extraction: Extraction) -> tuple[str, str, str]:
    return extraction.project_id, extraction.speaker, content_hash(extraction.text)


def _extract_statement(statement: Statement, by_item: Mapping[str, Turn], model: str) -> Extraction:
    """The extraction of a statement, of the first turn of the human's that says it, or else of the first."""
    sources = [(by_item[item], quote) for item, quote in statement.quotes]
    turn, quote = next(((turn, quote) for turn, quote in sources if turn.speaker == "human"), sources[0])
    start, words = locate(quote, turn.words)
    kind = KINDS[statement.kind]
    if statement.about == "human" and statement.kind in ("fact", "context", "correction") and turn.speaker == "human":
        kind = "fact"
    made = _extraction(turn, kind, statement.text, words, start, by=model)
    return replace(made, significance=statement.significance, withdraws=statement.replaces)


def locate(quote: str, words: str) -> tuple[int, str]:
    """The place of a quote in some words, and the quote as it stands there: emphasis and white space may differ, and so
    may letters in case. The whole words if it does not stand there."""
    parts = [re.escape(part) for part in _SPACE.split(quote.strip().strip(".,;:!…")) if part]
    match = re.search(r"[\s*_`]+".join(parts), words, re.IGNORECASE) if parts else None
    return (match.start(), match.group()) if match else (0, words.strip())


def _marked(turn: Turn) -> Iterator[Extraction]:
    for noted in noted_in(turn):
        kind = _NOTED.get(noted.section)
        if kind is None or (turn.speaker == "agent" and kind in ("boundary", "marker") and not noted.is_curated):
            continue
        start, words = locate(noted.text, turn.words)
        made = _extraction(turn, kind, with_days(noted.text, turn.day), words, start, is_marked=True)
        yield replace(made, rationale=noted.rationale)


def _extraction(
    turn: Turn, kind: ExtractionKind, text: str, quote: str, start: int, *, is_marked: bool = False, by: str = ""
) -> Extraction:
    place = turn.offset + start
    topics = [fact.value for fact in find_facts(text) if fact.kind in ("name", "identifier")]
    hashes = (content_hash(text),) if by else ()
    return Extraction(
        id=derived_id("extraction", turn.memory_id, kind, str(place), str(place + len(quote)), *hashes),
        project_id=turn.project_id,
        day=turn.day,
        turn_id=turn.memory_id,
        conversation=turn.conversation,
        line=turn.line,
        speaker=turn.speaker,
        kind=kind,
        text=text,
        quote=quote,
        significance=significance_of(kind, is_marked=is_marked),
        topics=tuple(dict.fromkeys(topics))[:_MOST_TOPICS],
        priority=is_marked,
        proposed_by=by,
    )


def _place(turns: Sequence[Turn]) -> Callable[[Extraction], tuple[int, int]]:
    number = {turn.memory_id: n for n, turn in enumerate(turns)}
    words = {turn.memory_id: turn.words for turn in turns}
    return lambda extraction: (number[extraction.turn_id], words[extraction.turn_id].find(extraction.quote))


def _reason(objection: str) -> str:
    """The reason of an objection, without the statement that it is about and what it quotes."""
    reason = objection.rpartition('": ')[2] if objection.startswith('"') else objection
    return re.sub(r"[\"'][^\"']*[\"']|\d+", "…", reason)[:120]


@dataclass(frozen=True, slots=True)
class Route:
    """The route of the extractions of a kind. `is_inferred`: several sentences show it, and none says it.
    `in_daily_log`: the daily log has it too."""

    destination: Destination
    is_inferred: bool = False
    in_daily_log: bool = False


class _Kind(NamedTuple):
    """The properties of a kind: its significance where no reader said how much it matters, where the words of a human
    and of an agent go, and what becomes of those that go to memory."""

    significance: float
    human: Destination
    agent: Destination
    memory_type: str = ""


#: Only a human's own words reach USER.md.
_KINDS: Mapping[ExtractionKind, _Kind] = {
    "marker": _Kind(0.6, "memory", "drop", "fact"),
    "correction": _Kind(0.7, "memory", "memory", "fact"),
    "trust": _Kind(0.65, "relational", "drop"),
    "boundary": _Kind(0.8, "relational", "drop"),
    "repetition": _Kind(0.4, "user", "drop"),
    "emotion": _Kind(0.45, "user", "drop"),
    "decision": _Kind(0.7, "memory", "memory", "decision"),
    "fact": _Kind(0.6, "user", "drop"),
    "preference": _Kind(0.55, "user", "soul"),
    "dynamic": _Kind(0.6, "relational", "relational"),
    "learning": _Kind(0.6, "memory", "soul", "lesson"),
    "context": _Kind(0.4, "memory", "memory", "fact"),
}
ROUTES: Mapping[tuple[ExtractionKind, Speaker], Route] = {
    (kind, speaker): Route(
        getattr(known, speaker),
        is_inferred=(kind, speaker) == ("repetition", "human"),
        in_daily_log=kind == "decision",
    )
    for kind, known in _KINDS.items()
    for speaker in get_args(Speaker)
}
#: What an extraction becomes that goes to memory, by its kind.
MEMORY_TYPE = {kind: known.memory_type for kind, known in _KINDS.items() if known.memory_type}
#: Added to the significance of an extraction: its importance as a memory, which is never critical.
IMPORTANCE = 0.6


def importance_of(extraction: Extraction) -> float:
    """The importance of the memory that an extraction becomes: 0.6 to 1.6. What somebody says never makes it more."""
    return round(IMPORTANCE + extraction.significance, 3)


#: What a mark of its speaker adds.
MARKED = 0.2


def significance_of(kind: ExtractionKind, *, is_marked: bool = False) -> float:
    """The significance of an extraction of a kind, 0 to 1."""
    return round(min(1.0, _KINDS[kind].significance + (MARKED if is_marked else 0.0)), 3)


def weigh_by_use(significance: float, utility: float) -> float:
    """The significance, given how useful its kind has been, from -1 to 1: it moves by at most what a mark does."""
    return round(min(1.0, max(0.0, significance + MARKED * utility)), 3)
