"""Conversations in a night: what was said on its day is read, and what is worth keeping goes where it belongs.

A day is read as a whole and written in one transaction; its files follow, and are made again of what the store holds
until they are written. A day that is read again is replaced, and no other. What a night finds open before its own day
is read too.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Literal

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.killpoints import reached
from memory_pipeline.models import Declined, ModelClient, Question
from memory_pipeline.models.choose import model_reads
from memory_pipeline.moments import end_of
from memory_pipeline.periods.running import renew_stale
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import Reading
from memory_pipeline.reading.conversation_day import ReadDay, ask_about, classifier_vectors, read_day
from memory_pipeline.reading.extraction import MEMORY_TYPE, Found, found_by_classifier, importance_of
from memory_pipeline.reading.turns import FILES_WITH_NAMES, needs_names, speakers_named, turns_of
from memory_pipeline.records import (
    CALL_LIMIT,
    COST_CAP,
    EXTRACTED,
    ConversationDay,
    Destination,
    Extraction,
    KeptExtraction,
    LineageLink,
    Memory,
    Source,
    Speaker,
    Turn,
    derived_id,
)
from memory_pipeline.store import Store, Transaction
from memory_pipeline.store.conversations import SpokenDay
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.steering import attempt_by
from memory_pipeline.workspace.conversation_pages import WrittenFiles, standing_in, write_files
from memory_pipeline.workspace.session_pages import mend_session_pages

_UNKNOWN = "unknown_speakers"
State = Literal["open", "late", "stale", "read", "taken back"]


@dataclass(frozen=True, slots=True)
class ModelBill:
    """The bill of a run: calls with every attempt, answers that were known already, and the cost."""

    calls: int
    reused: int
    cost_usd: float

    def since(self, before: ModelBill) -> ModelBill:
        """The part of the bill after an earlier look."""
        cost = round(self.cost_usd - before.cost_usd, 6)
        return ModelBill(self.calls - before.calls, self.reused - before.reused, cost)


def bill_of(night: Night) -> ModelBill:
    """The bill of the run so far."""
    calls = session_of(night).calls()
    sent = [call for call in calls if call.mode != "cache"]
    return ModelBill(len(sent), len(calls) - len(sent), round(sum(call.cost_usd for call in sent), 6))


def read_turns(night: Night, turns: Sequence[Turn], known: Sequence[Extraction], problems: list[ModelError]) -> Found:
    """Finds what is worth keeping of a day's turns. `known`: the extractions that stand before them; `problems`: why
    the model cannot be asked any more in this run, which grows.

    An error of the model is noted once a run, and leaves what has no answer yet to the classifier.
    """
    if not turns:
        return Found()
    if not model_reads(night.settings):
        return found_by_classifier(turns, classifier_vectors())

    def note(error: ModelError) -> None:
        problems.append(error)
        if not any(earlier.stage == "extraction" and earlier.error == in_words(error) for earlier in night.errors):
            night.note_error("", "extraction", error)

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        try:
            client = ModelClient(night.settings)
            results = client.ask({"": question}, session_of(night), "conversations", cached_only=bool(problems))
            result = next((result for _, result in results), None)
        except ModelError as error:
            note(error)
            return None
        if isinstance(result, Declined) and result.reason in (COST_CAP, CALL_LIMIT):
            problems.append(ModelError(result.reason))  # no error: the next night goes on
        return result

    asked = ask_about("conversation", turns, known, ask, night.settings, night.embedder)
    if asked.problem:
        note(asked.problem)
    return asked.found


#: The connector of workspaces that were imported once, and are no source.
_WORKSPACE = "openclaw"


def names_in(store: Store, settings: Settings) -> Callable[[str], Mapping[str, Speaker]]:
    """Return a function that gives the names of a project: by name in lower case, whether it is its human's or its
    agent's. They are read once: from the files of its workspace, or from what was imported of such files."""

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
    they are read. `asks`: whether a model is asked; `names`: by project, whose the names before its turns are."""

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
        self._digests: dict[str, dict[date, str]] = {}
        for project in {day.project_id for day in self.spoken}:
            self._digests[project] = conversations.digests(project)
        self._bases: dict[str, tuple[list[date], list[str]]] = {}

    def state_of(self, day: SpokenDay) -> State:
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
        """True if a day is to be read though nobody asks for it."""
        return self.state_of(day) in ("open", "late", "stale") or self.waits_for_model(day)

    def waits_for_model(self, day: SpokenDay) -> bool:
        """True if a day that was read is read again only because no model has answered everything about it, and one is
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
            digests = self._digests[day.project_id]
            hashes = [_hash("")]  # of all before each night; the last one is of all
            for night in sorted(digests):
                hashes.append(_hash(f"{hashes[-1]}\n{night}\n{digests[night]}"))
            self._bases[day.project_id] = sorted(digests), hashes
        nights, hashes = self._bases[day.project_id]
        return _hash(hashes[bisect_left(nights, day.night)])

    def note_read(self, tx: Transaction, row: ConversationDay) -> None:
        """Take over what one day is now."""
        key = (row.project_id, row.night)
        self._rows[key] = row
        self._taken_back -= {key}
        digests = self._digests[row.project_id]
        before = digests.pop(row.night, None)
        digests.update(tx.conversations.digests(row.project_id, row.night))
        if digests.get(row.night) != before:
            self._bases.pop(row.project_id, None)


def unanswered(day: ConversationDay) -> int:
    """The number of questions about a day that no model has answered."""
    return int(json.loads(day.coverage).get("model", {}).get("waiting", 0))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class DayOfProject:
    """One day of one project that was read: what was found, and what the store holds of it now."""

    project_id: str
    night: date
    found: ReadDay
    kept: ConversationDay
    extractions: tuple[KeptExtraction, ...]
    is_changed: bool


def read_conversations(night: Night) -> list[DayOfProject]:
    """Read the conversations of the night's day, and those before it that are open, and write what is kept of them.

    An error costs its day and project alone, and is noted; the next night reads that day.
    """
    if night.options.moment is not None:  # words are still being said on that day
        return []
    last = night.options.partition
    session_of(night).take_over_previews()  # of flushes too, whether or not this night asks a model
    with night.store.reading() as tx:
        order = ConversationOrder(
            tx, last, asks=model_reads(night.settings), names=names_in(night.store, night.settings)
        )
    done = read_days(night, order, [day for day in order.spoken if day.night == last])
    write_pages(night)
    if left := [day for day in order.taken_back() if night.may_touch(day.project_id)]:
        night.log.info("%s", describe_left(left))
    return done


def describe_left(days: Sequence[SpokenDay]) -> str:
    """That days were taken back by a person, and how they are read again."""
    nights = sorted({day.night for day in days})
    return (
        f"{how_many(len(nights), 'day')} of conversations stay taken back, as a rollback left them, until "
        f"'memory-pipeline conversations run --date {nights[0]}' asks for them"
    )


def read_days(
    night: Night, order: ConversationOrder, asked: Collection[SpokenDay], *, also_open: bool = True
) -> list[DayOfProject]:
    """Read the days that are asked for, and with `also_open` the open ones, in order, each in its own transaction."""
    done: list[DayOfProject] = []
    problems: list[ModelError] = []
    due = 0 if not also_open else sum(map(order.is_due, order.spoken))
    number = 0
    for day in order.spoken:  # also those that come open while the days before them are read
        # Once the model could not be asked, what waits for nothing but a model is left.
        is_due = day in asked or (also_open and order.is_due(day) and not (problems and order.waits_for_model(day)))
        if not is_due or not night.may_touch(day.project_id):
            continue
        number += 1
        night.hold_lease()
        try:
            done.append(_read_day(night, day, order.basis_of(day), problems))
            with night.store.reading() as tx:
                order.note_read(tx, done[-1].kept)
        except Exception as error:  # one day never costs the others, or the night
            night.note_error("", "conversations", error, about=f"{day.project_id}, {day.night}")
        night.progress("conversations", number, max(len(asked), due, number))
    return done


def write_pages(night: Night) -> WrittenFiles:
    """Write the pages that do not say what the store holds, also those that a killed correction left; nothing in a dry
    run. Returns what became of them."""
    if night.options.dry_run:
        return WrittenFiles()
    written = write_files(night.store, night.settings, night.holder, night.options.run_id)
    _, failed = renew_stale(night.store, night.settings, holder=night.holder, run_id=night.options.run_id)
    for problem in (*written.problems, *failed, *mend_session_pages(night.settings)):
        night.note_error("", "conversations", problem)
    for note in written.moved:
        night.note_moved(note)
    return written


def _read_day(night: Night, day: SpokenDay, basis: str, problems: list[ModelError]) -> DayOfProject:
    rules = night.settings
    with night.store.reading() as tx:
        memories = tx.conversations.turns(day.project_id, day.night)
        known = standing_in(tx.conversations.standing(day.project_id, before=day.night, also_refused=True))
        refused = tx.opinions.refused(day.project_id)
        utility = tx.opinions.utility(day.project_id, end_of(day.night))
    names = names_in(night.store, rules)(day.project_id) if needs_names(memories) else None
    read = turns_of(memories, names)
    outcome = read_day(
        len(memories),
        read,
        read_turns(night, read.turns, [extraction for extraction in known if extraction.night < day.night], problems),
        utility=utility,
        known=known,
        closed=_closed(rules),
        steers=lambda extraction: attempt_by(extraction.speaker, extraction.text) is not None,
    )
    run_id, as_of = night.options.run_id, end_of(day.night)
    by_id = {memory.id: memory for memory in memories}
    made: list[Memory] = []
    kept_extractions: list[KeptExtraction] = []
    for extraction in outcome.extracted.extractions:
        destination = outcome.routes[extraction.id].destination
        memory = _make_memory(night, extraction, by_id[extraction.turn_id], as_of) if destination == "memory" else None
        made += [memory] if memory and extraction.id not in refused else []
        fields = {name: getattr(extraction, name) for name in Extraction.__dataclass_fields__}
        memory_id = memory.id if memory else None
        kept_extractions.append(
            KeptExtraction(**fields, night=day.night, run_id=run_id, destination=destination, memory_id=memory_id)
        )
    row = ConversationDay(
        project_id=day.project_id,
        night=day.night,
        run_id=run_id,
        digest=day.digest,
        topics=(),
        coverage=json.dumps(outcome.coverage(), sort_keys=True, ensure_ascii=False),
        basis=basis,
    )
    reached("conversations.day")
    with night.writing() as tx:
        left = tx.conversations.keep(row, kept_extractions, as_of)
        if left is not None:
            tx.memories.take_back(tx.conversations.superseded_by(left), at=as_of)
            tx.conversations.retire(left, as_of, f"conversations:{run_id}")
            _put(tx, made, [extraction for extraction in kept_extractions if extraction.id not in refused])
            memory_of = {extraction.id: extraction.memory_id for extraction in known if extraction.memory_id}
            for extraction in kept_extractions:  # what was said earlier and is withdrawn goes into what corrects it
                for loser in filter(None, map(memory_of.get, extraction.withdraws)):
                    if winner := extraction.memory_id:
                        night.supersede(tx, loser, winner, derived_id("withdrawn", loser, winner), at=as_of)
        stands = tx.conversations.day(day.project_id, day.night) or row
    reached("conversations.kept")
    return DayOfProject(day.project_id, day.night, outcome, stands, tuple(kept_extractions), left is not None)


def _closed(settings: Settings) -> frozenset[Destination]:
    """The destinations that the settings leave empty."""
    names = settings.compression.destinations
    given: dict[Destination, str] = {
        "user": names.user,
        "relational": names.relational,
        "soul": names.soul,
        "memory": names.embeddings,
    }
    return frozenset(destination for destination, name in given.items() if not name)


def _make_memory(night: Night, extraction: Extraction, turn: Memory, as_of: datetime) -> Memory | None:
    """The memory of what an extraction says, through the gate of imports; None if that refuses it.

    It is as old as its turn, and known from the end of its day.
    """
    # Importers and masking take long to load, and a night without conversations makes no such memory.
    from memory_pipeline.ingest.candidates import Candidate, RowError
    from memory_pipeline.ingest.gate import Gate

    candidate = Candidate(
        native_id=derived_id("extracted", extraction.id, extraction.text),
        project_id=extraction.project_id,
        content=extraction.text,
        memory_type=MEMORY_TYPE[extraction.kind],
        categories=extraction.topics[:2],
        tags=(f"kind:{extraction.kind}", *extraction.topics),
        importance=importance_of(extraction),
        created_at=as_of,
        created_at_quality=turn.created_at_quality,
        effective_date=turn.effective_date,
        utc_offset=turn.utc_offset,
        source=Source(EXTRACTED, turn.source.file, turn.source.line),
    )
    try:
        return Gate(extraction.project_id, night.embedder, as_of, night.settings.import_.redact).admit(candidate).memory
    except RowError as error:
        night.log.warning("what was extracted from '%s' is no memory: %s", extraction.turn_id, error)
        return None


def _put(tx: Transaction, made: Sequence[Memory], extractions: Iterable[KeptExtraction]) -> None:
    """Write the memories that the store does not have, and let those be in use again that it has."""
    turn_of = {extraction.memory_id: extraction.turn_id for extraction in extractions if extraction.memory_id}
    known = tx.memories.read(turn_of)
    fresh = {memory.id: memory for memory in made if memory.id not in known}
    for memory_id in tx.forgotten.ids_among(fresh):
        del fresh[memory_id]
    tx.memories.add(list(fresh.values()))
    tx.lineage.add([LineageLink(memory_id, turn_of[memory_id], "extracted", 1.0) for memory_id in fresh])
    tx.conversations.put_in_use(
        {memory_id: turn_of[memory_id] for memory_id, memory in known.items() if memory.rolled_back_at is not None}
    )
