"""A day of one project's conversations, from the memories of its turns to what goes where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby

import numpy as np

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined, Question
from memory_pipeline.models.choose import model_name
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.minilm import MiniLM, is_installed
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import Likeness, Reading
from memory_pipeline.reading.classifier import Embed
from memory_pipeline.reading.extraction import (
    ROUTES,
    Extracted,
    Found,
    Route,
    found_by_classifier,
    found_by_reader,
    item_of,
    settle,
    weigh_by_use,
)
from memory_pipeline.reading.items import Item, Standing, split_into_questions
from memory_pipeline.reading.question import question_about, room_for
from memory_pipeline.reading.turns import ReadTurns
from memory_pipeline.records import Chunk, Destination, Extraction, Turn
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.steering import attempt_by

STEERS = "turns that try to steer their reader"
#: Asks one question; None if nothing may be asked.
Ask = Callable[[Question[ReadingAnswer, Reading]], Reading | Declined | Exception | None]
#: Silence after which people begin something new.
PAUSE = timedelta(minutes=45)
#: The most tokens of a chunk.
CHUNK_TOKENS = 800
#: Turns of a chunk with which a new one is compared.
_WINDOW = 6
#: Fewer content words say nothing about a change of topic: `ok, do it`.
_LEAST_WORDS = 4
_LEAST_TURNS = 2
_MOST_TOPICS = 8

WITHDRAWN = "withdrawn by a later sentence"
STEERING = "reads like an attempt to steer a model"
NOT_KEPT = "of a kind that is not kept from this speaker"
NOWHERE = "its destination is empty in the settings"


@dataclass(frozen=True, slots=True)
class ReadDay:
    """The extractions of a day, and what becomes of them.

    `memories`: how many were read; `routes`: where each extraction goes, by id; `unrouted`: how many go nowhere, by
    reason; `found`: what the reader gave.
    """

    memories: int
    read: ReadTurns
    chunks: tuple[Chunk, ...]
    extracted: Extracted
    routes: Mapping[str, Route]
    unrouted: Mapping[str, int]
    found: Found = field(default_factory=Found)

    def coverage(self) -> dict[str, object]:
        """The counts of everything that was read: what was kept, and what was dropped, and why."""
        extracted = self.extracted
        routed = [
            extraction for extraction in extracted.extractions if self.routes[extraction.id].destination != "drop"
        ]
        counts: dict[str, object] = {
            "memories": self.memories,
            "turns": dict(sorted(extracted.turns.items())),
            "turns_with_something_kept": len({extraction.turn_id for extraction in routed}),
            "chunks": len(self.chunks),
            "sentences": extracted.sentences,
            "extracted": dict(sorted(Counter(extraction.kind for extraction in extracted.extractions).items())),
            "marked": sum(extraction.priority for extraction in extracted.extractions),
            "withdrawn": len(extracted.withdrawn),
            "routed": dict(sorted(Counter(route.destination for route in self.routes.values()).items())),
            "daily_log": sum(route.in_daily_log for route in self.routes.values()),
            "memories_dropped": dict(sorted(self.read.dropped.items())),
            "sentences_dropped": dict(sorted(extracted.dropped.items())),
            "extractions_dropped": dict(sorted(self.unrouted.items())),
            "told_again": [list(pair) for pair in extracted.again],
        }
        if self.read.unknown:
            counts["unknown_speakers"] = list(self.read.unknown)
        if self.found.questions or self.found.refused:
            counts["model"] = {
                "questions": self.found.questions,
                "extracted": extracted.by_model,
                "refused": dict(sorted(self.found.refused.items())),
                "waiting": self.found.waiting,
            }
        return counts


def read_day(
    memories: int,
    read: ReadTurns,
    findings: Found,
    *,
    known: Sequence[Extraction] = (),
    utility: Mapping[str, float] | None = None,
    closed: frozenset[Destination] = frozenset(),
    steers: Callable[[Extraction], bool] = lambda extraction: False,
) -> ReadDay:
    """Decides what becomes of what a reader found in a day's turns.

    `memories`: how many were read; `known` as in `settle`; `utility`: by kind, how useful extractions have been, from
    -1 to 1; `closed`: destinations that the settings leave empty; `steers`: whether what was said reads like an attempt
    to steer a model, and therefore goes nowhere.
    """
    extracted = settle(read.turns, findings, known)
    if utility:
        valued = tuple(
            replace(extraction, significance=weigh_by_use(extraction.significance, utility.get(extraction.kind, 0.0)))
            for extraction in extracted.extractions
        )
        extracted = replace(extracted, extractions=valued)
    withdrawn = extracted.withdrawn
    routes: dict[str, Route] = {}
    unrouted: Counter[str] = Counter()
    for extraction in extracted.extractions:
        route = ROUTES[extraction.kind, extraction.speaker]
        reason = None
        if extraction.id in withdrawn:
            reason = WITHDRAWN
        elif route.destination == "drop":
            reason = NOT_KEPT
        elif steers(extraction):
            reason = STEERING
        elif route.destination in closed:
            reason = NOWHERE
        if reason:
            unrouted[reason] += 1
            route = Route("drop")
        routes[extraction.id] = route
    return ReadDay(memories, read, tuple(chunks_of(read.turns)), extracted, routes, unrouted, findings)


def has_known_route(extraction: Extraction, destination: Destination) -> bool:
    """True if a destination is the one of the decision table, or nowhere."""
    return destination in ("drop", ROUTES[extraction.kind, extraction.speaker].destination)


def chunks_of(turns: Iterable[Turn], max_tokens: int = CHUNK_TOKENS) -> list[Chunk]:
    """The chunks of some turns, in the order of these.

    A chunk ends where its conversation ends, after a pause, where it would exceed the number of tokens, and where a
    human brings up something that shares no content word with the last turns. A turn that alone exceeds the number of
    tokens is a chunk of its own.
    """
    chunks = []
    for _, spoken in groupby(turns, key=lambda turn: (turn.project_id, turn.conversation)):
        chunk: list[Turn] = []
        tokens = 0
        for turn in spoken:
            full = tokens + turn.token_count > max_tokens
            is_apart = chunk and (abs(turn.said_at - chunk[-1].said_at) > PAUSE or turn.day != chunk[-1].day)
            if chunk and (full or is_apart or _is_new_topic(chunk, turn)):
                chunks.append(_chunk(chunk))
                chunk, tokens = [], 0
            chunk.append(turn)
            tokens += turn.token_count
        if chunk:
            chunks.append(_chunk(chunk))
    return chunks


def _is_new_topic(chunk: Sequence[Turn], turn: Turn) -> bool:
    """True if a human brings up something else. An agent answers what was said before it."""
    words = set(content_words(turn.words))
    if turn.speaker != "human" or len(chunk) < _LEAST_TURNS or len(words) < _LEAST_WORDS:
        return False
    return words.isdisjoint(word for earlier in chunk[-_WINDOW:] for word in content_words(earlier.words))


def _chunk(turns: Sequence[Turn]) -> Chunk:
    counts = Counter(word for turn in turns for word in dict.fromkeys(content_words(turn.words)))
    shared = [word for word, times in counts.most_common() if times > 1 and len(word) > 2]
    return Chunk(tuple(turns), tuple(shared[:_MOST_TOPICS]))


@dataclass(frozen=True, slots=True)
class Asked:
    """The findings, the turns that no model has read (the classifier has), and why the model cannot be asked."""

    found: Found
    left: tuple[Turn, ...]
    problem: ModelError | None = None


def ask_about(
    use: str, turns: Sequence[Turn], known: Sequence[Extraction], ask: Ask, settings: Settings, embedder: Embedder
) -> Asked:
    """Asks a model about some turns, and the classifier about those that are left. `use`: `conversation` or `session`;
    `known`: the extractions that stand.

    Turns that try to steer their reader are shown to no model, and are left with those that have no answer.
    """
    safe_turns = [turn for turn in turns if attempt_by(turn.speaker, turn.words) is None]
    by_item = {item_of(turn).id: turn for turn in safe_turns}
    try:
        room = room_for(use, settings)
    except ModelError as error:
        findings = Found(questions=1, waiting=1)
        return Asked(findings.with_others(found_by_classifier(turns, classifier_vectors())), tuple(turns), error)
    parts = list(split_into_questions((item_of(turn) for turn in safe_turns), room.item_tokens))
    findings, left = Found(questions=len(parts)), [turn for turn in turns if turn not in safe_turns]
    if left:
        findings = findings.with_others(Found(refused={STEERS: len(left)}))
    for part in parts:
        mine = [by_item[item.id] for item in part]
        gone = {old for extraction in findings.extractions for old in extraction.withdraws}
        standing = [extraction for extraction in (*known, *findings.extractions) if extraction.id not in gone]
        question = question_about(
            use, part, _find_nearest(embedder, standing, part, room.standing), settings, likeness_by(embedder)
        )
        result = ask(question)
        if isinstance(result, Reading):
            findings = findings.with_others(found_by_reader(mine, result, model_name(settings)))
        else:
            left += mine
            if isinstance(result, Declined) and not result.again:
                findings = findings.with_others(Found(refused={result.reason: 1}))
            else:
                findings = findings.with_others(Found(waiting=1))
    if left:
        findings = findings.with_others(found_by_classifier(left, classifier_vectors()))
    return Asked(findings, tuple(left))


def classifier_vectors() -> Embed | None:
    """The embedder of the classifier, whichever model embeds memories; None if it is not installed."""
    return MiniLM(1).embed if is_installed() else None


def likeness_by(embedder: Embedder) -> Likeness:
    """The cosine of two texts by an embedder."""

    def cosine(a: str, b: str) -> float:
        vectors = embedder.embed([a, b])
        return float(vectors[0] @ vectors[1])

    return cosine


def _find_nearest(embedder: Embedder, known: Sequence[Extraction], items: Sequence[Item], most: int) -> list[Standing]:
    """The `most` standing extractions that are nearest to any of some turns, by day and id."""
    chosen = list(known)
    if len(chosen) > most:
        vectors = embedder.embed([extraction.text for extraction in chosen])
        nearness = np.round((vectors @ embedder.embed([item.words for item in items]).T).max(axis=1), 5)
        chosen = [chosen[place] for place in sorted(np.argsort(-nearness, kind="stable")[:most])]
    return [
        Standing(extraction.id, extraction.text, extraction.day, of_human=extraction.speaker == "human")
        for extraction in sorted(chosen, key=lambda extraction: (extraction.day, extraction.id))
    ]
