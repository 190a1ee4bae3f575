"""A day of one project's conversations, from the memories of its turns to what goes where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import Extracted, extract
from memory_pipeline.conversations.proposals import Proposals
from memory_pipeline.conversations.routing import ROUTES, Route, route_of
from memory_pipeline.conversations.significance import valued_by_use
from memory_pipeline.conversations.topics import topics_of_day
from memory_pipeline.conversations.turns import ReadTurns, turns_of
from memory_pipeline.records import Chunk, Destination, Extraction, Memory, Speaker

WITHDRAWN = "withdrawn by a later sentence"
STEERING = "reads like an attempt to steer a model"
NOT_KEPT = "of a kind that is not kept from this speaker"
NOWHERE = "its destination is empty in the settings"


@dataclass(frozen=True, slots=True)
class ReadDay:
    """What was read on a day, and what becomes of it.

    `memories`: how many were read; `topics`: what the human named, as stems; `routes`: where each extraction goes, by
    id; `unrouted`: how many go nowhere, by reason; `proposed`: what a model proposed, if one was asked.
    """

    memories: int
    read: ReadTurns
    chunks: tuple[Chunk, ...]
    extracted: Extracted
    topics: frozenset[str]
    routes: Mapping[str, Route]
    unrouted: Mapping[str, int]
    proposed: Proposals | None = None

    def going_to(self, destination: Destination) -> list[Extraction]:
        """The extractions with this destination, in order."""
        return [one for one in self.extracted.extractions if self.routes[one.id].destination == destination]

    def coverage(self) -> dict[str, object]:
        """The counts of everything that was read: what was kept, and what was dropped, and why."""
        found = self.extracted
        kept = [one for one in found.extractions if self.routes[one.id].destination != "drop"]
        turns_kept = {one.turn_id for one in kept}
        counts: dict[str, object] = {
            "memories": self.memories,
            "turns": dict(sorted(found.turns.items())),
            "turns_with_something_kept": len(turns_kept),
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
        if self.proposed is not None:
            counts["model"] = self.proposed.coverage(len(found.proposed))
        return counts


def read_day(
    memories: Sequence[Memory],
    *,
    chunk_tokens: int,
    known: Sequence[Extraction] = (),
    topics_before: Mapping[str, Sequence[date]] | None = None,
    utility: Mapping[str, float] | None = None,
    closed: frozenset[Destination] = frozenset(),
    steers: Callable[[Extraction], bool] = lambda one: False,
    proposed: Proposals | None = None,
    names: Mapping[str, Speaker] | None = None,
) -> ReadDay:
    """Read the memories of a day's turns.

    `known` and `topics_before` as in `extract`; `utility`: by kind, how useful extractions have been, from -1 to 1;
    `closed`: destinations that the settings leave empty; `steers`: whether what was said reads like an attempt to steer
    a model, and therefore goes nowhere; `proposed`: what a model proposes beside what the rules find; `names`: by name
    in lower case, whose it is.
    """
    read = turns_of(memories, names)
    chunks = tuple(chunks_of(read.turns, chunk_tokens))
    extracted = extract(chunks, known=known, topics_before=topics_before, proposed=proposed)
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
    return ReadDay(len(memories), read, chunks, extracted, topics_of_day(read.turns), routes, unrouted, proposed)


def is_routed_as_told(extraction: Extraction, destination: Destination) -> bool:
    """Whether a destination is the one of the decision table, or nowhere."""
    return destination in ("drop", ROUTES[extraction.kind, extraction.speaker].destination)
