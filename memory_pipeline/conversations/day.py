"""A day of one project's conversations, from the memories of its turns to what goes where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby

from memory_pipeline.conversations.extraction import Extracted, Found, settle
from memory_pipeline.conversations.routing import ROUTES, Route, route_of, valued_by_use
from memory_pipeline.conversations.turns import ReadTurns
from memory_pipeline.records import Chunk, Destination, Extraction, Turn
from memory_pipeline.wording.facts import content_words

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
_ALIKE = 0.35

Likeness = Callable[[Turn, Turn], float]
WITHDRAWN = "withdrawn by a later sentence"
STEERING = "reads like an attempt to steer a model"
NOT_KEPT = "of a kind that is not kept from this speaker"
NOWHERE = "its destination is empty in the settings"


@dataclass(frozen=True, slots=True)
class ReadDay:
    """What was read on a day, and what becomes of it.

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

    def going_to(self, destination: Destination) -> list[Extraction]:
        """The extractions with this destination, in order."""
        return [one for one in self.extracted.extractions if self.routes[one.id].destination == destination]

    def coverage(self) -> dict[str, object]:
        """The counts of everything that was read: what was kept, and what was dropped, and why."""
        found = self.extracted
        kept = [one for one in found.extractions if self.routes[one.id].destination != "drop"]
        counts: dict[str, object] = {
            "memories": self.memories,
            "turns": dict(sorted(found.turns.items())),
            "turns_with_something_kept": len({one.turn_id for one in kept}),
            "chunks": len(self.chunks),
            "sentences": found.sentences,
            "extracted": dict(sorted(Counter(one.kind for one in found.extractions).items())),
            "marked": sum(one.priority for one in found.extractions),
            "withdrawn": len(found.withdrawn),
            "routed": dict(sorted(Counter(route.destination for route in self.routes.values()).items())),
            "daily_log": sum(route.in_daily_log for route in self.routes.values()),
            "memories_dropped": dict(sorted(self.read.dropped.items())),
            "sentences_dropped": dict(sorted(found.dropped.items())),
            "extractions_dropped": dict(sorted(self.unrouted.items())),
            "told_again": [list(pair) for pair in found.again],
        }
        if self.read.unknown:
            counts["unknown_speakers"] = list(self.read.unknown)
        if self.found.questions or self.found.refused:
            counts["model"] = {
                "questions": self.found.questions,
                "extracted": found.by_model,
                "refused": dict(sorted(self.found.refused.items())),
                "waiting": self.found.waiting,
            }
        return counts


def read_day(
    memories: int,
    read: ReadTurns,
    found: Found,
    *,
    known: Sequence[Extraction] = (),
    utility: Mapping[str, float] | None = None,
    closed: frozenset[Destination] = frozenset(),
    steers: Callable[[Extraction], bool] = lambda one: False,
) -> ReadDay:
    """What becomes of what a reader found in a day's turns.

    `memories`: how many were read; `known` as in `settle`; `utility`: by kind, how useful extractions have been, from
    -1 to 1; `closed`: destinations that the settings leave empty; `steers`: whether what was said reads like an attempt
    to steer a model, and therefore goes nowhere.
    """
    extracted = settle(read.turns, found, known)
    if utility:
        valued = tuple(
            replace(one, significance=valued_by_use(one.significance, utility.get(one.kind, 0.0)))
            for one in extracted.extractions
        )
        extracted = replace(extracted, extractions=valued)
    withdrawn = extracted.withdrawn
    routes: dict[str, Route] = {}
    unrouted: Counter[str] = Counter()
    for one in extracted.extractions:
        route = route_of(one)
        reason = None
        if one.id in withdrawn:
            reason = WITHDRAWN
        elif route.destination == "drop":
            reason = NOT_KEPT
        elif steers(one):
            reason = STEERING
        elif route.destination in closed:
            reason = NOWHERE
        if reason:
            unrouted[reason] += 1
            route = Route("drop")
        routes[one.id] = route
    chunks = tuple(chunks_of(read.turns))
    return ReadDay(memories, read, chunks, extracted, routes, unrouted, found)


def is_routed_as_told(extraction: Extraction, destination: Destination) -> bool:
    """Whether a destination is the one of the decision table, or nowhere."""
    return destination in ("drop", ROUTES[extraction.kind, extraction.speaker].destination)


def chunks_of(turns: Iterable[Turn], max_tokens: int = CHUNK_TOKENS, likeness: Likeness | None = None) -> list[Chunk]:
    """The chunks of some turns, in the order of these.

    A chunk ends where its conversation ends, after a pause, where it would exceed the number of tokens, and where a
    human brings up something that shares no content word with the last turns. `likeness`: the cosine of two turns, if
    their vectors are at hand; then such a turn stays where one of the last turns is like it. A turn that alone
    exceeds the number of tokens is a chunk of its own.

    Raises ValueError if `max_tokens` is less than 1.
    """
    if max_tokens < 1:
        raise ValueError(f"chunks of {max_tokens} tokens cannot be; the least is 1")
    chunks = []
    for _, spoken in groupby(turns, key=lambda turn: (turn.project_id, turn.conversation)):
        chunk: list[Turn] = []
        tokens = 0
        for turn in spoken:
            full = tokens + turn.token_count > max_tokens
            if chunk and (full or _is_apart(chunk, turn) or _is_new_topic(chunk, turn, likeness)):
                chunks.append(_chunk(chunk))
                chunk, tokens = [], 0
            chunk.append(turn)
            tokens += turn.token_count
        if chunk:
            chunks.append(_chunk(chunk))
    return chunks


def _is_apart(chunk: Sequence[Turn], turn: Turn) -> bool:
    return abs(turn.said_at - chunk[-1].said_at) > PAUSE or turn.day != chunk[-1].day


def _is_new_topic(chunk: Sequence[Turn], turn: Turn, likeness: Likeness | None) -> bool:
    """Whether a human brings up something else. An agent answers what was said before it."""
    words = set(content_words(turn.words))
    if turn.speaker != "human" or len(chunk) < _LEAST_TURNS or len(words) < _LEAST_WORDS:
        return False
    last = chunk[-_WINDOW:]
    if any(words & set(content_words(other.words)) for other in last):
        return False
    return likeness is None or all(likeness(turn, other) < _ALIKE for other in last)


def _chunk(turns: Sequence[Turn]) -> Chunk:
    counts = Counter(word for turn in turns for word in dict.fromkeys(content_words(turn.words)))
    shared = [word for word, times in counts.most_common() if times > 1 and len(word) > 2]
    return Chunk(tuple(turns), tuple(shared[:_MOST_TOPICS]))
