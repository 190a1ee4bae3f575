"""Which days of conversations are open, in their order: never read, read before turns came late, or read before an
earlier day was, or before it was known who speaks; and which a model has yet to read.

What a day says depends on the days before it: a later sentence withdraws an earlier one, and what was told before is
not told again. So each day that is read keeps a hash of what stood before it. Another hash means that it is open.
What a person took back is read again only when it is asked for.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Literal

from memory_pipeline.records import ConversationDay, Speaker
from memory_pipeline.store import Transaction
from memory_pipeline.store.conversations import SpokenDay

_UNKNOWN = "unknown_speakers"
State = Literal["open", "late", "stale", "read", "taken back"]


class ConversationOrder:
    """The days of conversations up to the last one that is looked at, as the store has them, and as they become while
    they are read one after the other. `asks`: whether a model is asked; `names`: by project, whose the names before its
    turns are."""

    def __init__(
        self,
        tx: Transaction,
        last: date,
        *,
        asks: bool = False,
        names: Callable[[str], Mapping[str, Speaker]] = lambda project: {},
    ) -> None:
        self._asks, self._names = asks, names
        conversations = tx.conversations
        self.spoken: Sequence[SpokenDay] = conversations.spoken(last)
        self._rows = {(row.project_id, row.night): row for row in conversations.days()}
        self._taken_back = conversations.taken_back()
        self._said: dict[str, dict[date, str]] = {}
        for project in {day.project_id for day in self.spoken}:
            self._said[project] = conversations.digests(project)
        self._bases: dict[str, tuple[list[date], list[str]]] = {}

    def state_of(self, day: SpokenDay) -> State:
        """What is known of a day now."""
        row = self._rows.get((day.project_id, day.night))
        if (day.project_id, day.night) in self._taken_back:
            return "taken back"
        if row is None:
            return "open"
        if row.digest != day.digest:
            return "late"
        is_of_today = row.basis and not row.topics  # an earlier version kept topics, and other hashes
        if (is_of_today and row.basis != self.basis_of(day)) or self._are_known_now(row):
            return "stale"
        return "read"

    def is_due(self, day: SpokenDay) -> bool:
        """Whether a day is to be read though nobody asks for it."""
        return self.state_of(day) in ("open", "late", "stale") or self.waits_for_model(day)

    def waits_for_model(self, day: SpokenDay) -> bool:
        """Whether a day that was read is read again only because no model has answered everything about it, and one is
        asked now."""
        return self._asks and self.state_of(day) == "read" and not _is_answered(self._rows[day.project_id, day.night])

    def taken_back(self) -> list[SpokenDay]:
        """The days that a person took back."""
        return [day for day in self.spoken if self.state_of(day) == "taken back"]

    def basis_of(self, day: SpokenDay) -> str:
        """A hash of what was extracted of the days before a day."""
        if day.project_id not in self._bases:
            self._bases[day.project_id] = _chain(self._said[day.project_id])
        nights, hashes = self._bases[day.project_id]
        said = hashes[bisect_left(nights, day.night)]
        return _hash(said)

    def note_read(self, tx: Transaction, row: ConversationDay) -> None:
        """Take over what one day is now."""
        key = (row.project_id, row.night)
        self._rows[key] = row
        self._taken_back -= {key}
        said = self._said[row.project_id]
        before = said.pop(row.night, None)
        said.update(tx.conversations.digests(row.project_id, row.night))
        if said.get(row.night) != before:
            self._bases.pop(row.project_id, None)

    def _are_known_now(self, row: ConversationDay) -> bool:
        """Whether it is known now who speaks in turns of a day in which nobody knew it."""
        if _UNKNOWN not in row.coverage:
            return False
        unknown = json.loads(row.coverage).get(_UNKNOWN, ())
        return any(name.casefold() in self._names(row.project_id) for name in unknown)


def unanswered(day: ConversationDay) -> int:
    """How many of the questions about a day a model has not answered."""
    return int(json.loads(day.coverage).get("model", {}).get("waiting", 0))


def _is_answered(day: ConversationDay) -> bool:
    """Whether a model has read all of a day that anybody said."""
    coverage = json.loads(day.coverage)
    return unanswered(day) == 0 if "model" in coverage else not any(coverage.get("turns", {}).values())


def _chain(said: dict[date, str]) -> tuple[list[date], list[str]]:
    """The days on which something was said, and a hash of all before each of them; the last one is of all."""
    nights = sorted(said)
    hashes = [_hash("")]
    for night in nights:
        hashes.append(_hash(f"{hashes[-1]}\n{night}\n{said[night]}"))
    return nights, hashes


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
