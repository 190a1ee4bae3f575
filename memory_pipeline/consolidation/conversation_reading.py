"""Which days of conversations are open, who reads them, and by which names their speakers go."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import answer_book, session_of
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient, Question
from memory_pipeline.models.choose import model_reads
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.conversation_day import ask_about, classifier_vectors
from memory_pipeline.reading.extraction import Found, found_by_classifier
from memory_pipeline.reading.question import Reading
from memory_pipeline.reading.turns import FILES_WITH_NAMES, needs_names, speakers_named
from memory_pipeline.records import COST_CAP, ConversationDay, Extraction, Memory, Speaker, Turn
from memory_pipeline.store import Store, Transaction
from memory_pipeline.store.conversations import SpokenDay

_UNKNOWN = "unknown_speakers"
State = Literal["open", "late", "stale", "read", "taken back"]


@dataclass(frozen=True, slots=True)
class ModelBill:
    """What was asked in a run: calls with every attempt, answers that were known already, and the cost."""

    calls: int
    reused: int
    cost_usd: float

    def since(self, before: ModelBill) -> ModelBill:
        """What was asked after an earlier look."""
        cost = round(self.cost_usd - before.cost_usd, 6)
        return ModelBill(self.calls - before.calls, self.reused - before.reused, cost)


def bill_of(night: Night) -> ModelBill:
    """What the run has asked so far."""
    calls = answer_book(night).calls()
    sent = [call for call in calls if call.mode != "cache"]
    return ModelBill(len(sent), len(calls) - len(sent), round(sum(call.cost_usd for call in sent), 6))


def read_turns(night: Night, turns: Sequence[Turn], known: Sequence[Extraction], problems: list[ModelError]) -> Found:
    """What is worth keeping of a day's turns. `known`: the extractions that stand before them; `problems`: why the
    model cannot be asked any more in this run, which grows.

    An error of the model is noted once a run, and leaves what has no answer yet to the classifier.
    """
    if not turns:
        return Found()
    if not model_reads(night.settings):
        return found_by_classifier(turns, classifier_vectors())

    def note(error: ModelError) -> None:
        problems.append(error)
        if not any(one.stage == "extraction" and one.error == in_words(error) for one in night.errors):
            night.note_error("", "extraction", error)

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        try:
            client = ModelClient(night.settings)
            results = client.ask({"": question}, session_of(night), "conversations", only_kept=bool(problems))
            result = next((result for _, result in results), None)
        except ModelError as error:
            note(error)
            return None
        if isinstance(result, Declined) and result.reason == COST_CAP:
            problems.append(ModelError(COST_CAP))  # no error: the next night goes on
        return result

    asked = ask_about("conversation", turns, known, ask, night.settings, night.embedder)
    if asked.problem:
        note(asked.problem)
    return asked.found.with_others(found_by_classifier(asked.left, classifier_vectors())) if asked.left else asked.found


#: The connector of workspaces that were imported once, and are no source.
_WORKSPACE = "openclaw"


def names_of(
    store: Store, settings: Settings, project_id: str, memories: Iterable[Memory]
) -> Mapping[str, Speaker] | None:
    """By name in lower case, whose it is; None if each of these memories tells by itself who speaks."""
    return names_in(store, settings)(project_id) if needs_names(memories) else None


def names_in(store: Store, settings: Settings) -> Callable[[str], Mapping[str, Speaker]]:
    """The names of each project's human and agent, read once when they are asked for: from the files of its workspace,
    or, if it has none, from what was imported of such files."""

    @cache
    def of(project_id: str) -> Mapping[str, Speaker]:
        from memory_pipeline.ingest.sources import with_known_projects, workspace_of  # which most nights never need

        workspace = workspace_of(with_known_projects(settings, store), project_id)
        rules = settings.conversations
        if workspace is not None:
            return speakers_named(rules.human_names, rules.agent_names, workspace)
        imported: list[tuple[str, str]] = []
        if store.exists():
            with store.reading() as tx:
                imported = tx.sources.contents_of(project_id, _WORKSPACE, FILES_WITH_NAMES)
        return speakers_named(rules.human_names, rules.agent_names, imported=imported)

    return of


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
        # Whether it is known now who speaks in turns of a day in which nobody knew it.
        unknown = json.loads(row.coverage).get(_UNKNOWN, ()) if _UNKNOWN in row.coverage else ()
        are_known = any(name.casefold() in self._names(row.project_id) for name in unknown)
        if (is_of_today and row.basis != self.basis_of(day)) or are_known:
            return "stale"
        return "read"

    def is_due(self, day: SpokenDay) -> bool:
        """Whether a day is to be read though nobody asks for it."""
        return self.state_of(day) in ("open", "late", "stale") or self.waits_for_model(day)

    def waits_for_model(self, day: SpokenDay) -> bool:
        """Whether a day that was read is read again only because no model has answered everything about it, and one is
        asked now."""
        if not self._asks or self.state_of(day) != "read":
            return False
        row = self._rows[day.project_id, day.night]
        coverage = json.loads(row.coverage)
        return unanswered(row) > 0 if "model" in coverage else any(coverage.get("turns", {}).values())

    def taken_back(self) -> list[SpokenDay]:
        """The days that a person took back."""
        return [day for day in self.spoken if self.state_of(day) == "taken back"]

    def basis_of(self, day: SpokenDay) -> str:
        """A hash of what was extracted of the days before a day."""
        if day.project_id not in self._bases:
            said, hashes = self._said[day.project_id], [_hash("")]  # of all before each night; the last one is of all
            for night in sorted(said):
                hashes.append(_hash(f"{hashes[-1]}\n{night}\n{said[night]}"))
            self._bases[day.project_id] = sorted(said), hashes
        nights, hashes = self._bases[day.project_id]
        return _hash(hashes[bisect_left(nights, day.night)])

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


def unanswered(day: ConversationDay) -> int:
    """How many of the questions about a day a model has not answered."""
    return int(json.loads(day.coverage).get("model", {}).get("waiting", 0))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
