"""Reading: a model reads the notes that no night has read, and says what of them is worth keeping.

Statements become memories with links to their notes; notes that are wholly in them, that only repeat a statement, or
that are routine are archived, into these or into the digest of their day; statements that hold no longer are archived
into those that replace them. Everything else stays. Without a model the step does nothing.

Questions of one project follow each other, since each is given the statements of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

import numpy as np

from memory_pipeline.consolidation.archive import make_abstractions, write_abstractions
from memory_pipeline.consolidation.clustering import describe_cluster
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.consolidation.gates import refusals_of
from memory_pipeline.consolidation.review.proposals import propose
from memory_pipeline.consolidation.series import find_series
from memory_pipeline.errors import EmbeddingError, ModelError, in_words
from memory_pipeline.models import Declined, ModelClient
from memory_pipeline.models.choose import model_reads
from memory_pipeline.reading.check import Reading, find_carried
from memory_pipeline.reading.conversation_day import likeness_by
from memory_pipeline.reading.items import Item, Standing, split_into_questions, standing_of
from memory_pipeline.reading.question import Room, question_about, room_for
from memory_pipeline.records import (
    DIGEST,
    READ,
    READING,
    REFUSED,
    REPEATED,
    ROUTINE,
    STATED,
    Archive,
    Distillation,
    DuplicateGroup,
    LevelRelation,
    LineageLink,
    Measured,
    Memory,
    StatementKind,
    derived_id,
    fingerprint_of,
    offset_of_newest,
    tags_of,
)
from memory_pipeline.store import AWAITS_REVIEW, Replacement, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.entries import is_entry
from memory_pipeline.text.steering import attempt_in
from memory_pipeline.text.subject import subject_beside

VERSION = "reading-1"
#: The type of the memory that a statement becomes, by its kind.
MEMORY_TYPES: Mapping[StatementKind, str] = {
    "fact": "fact",
    "decision": "decision",
    "lesson": "lesson",
    "cause": "discovery",
    "procedure": "learning",
    "rule": "feedback",
    "preference": "feedback",
    "trust": "feedback",
    "boundary": "feedback",
    "dynamic": "feedback",
    "emotion": "other",
    "correction": "fact",
    "thread": "other",
    "context": "fact",
}
#: Added to the significance of a statement: its importance as a memory, which is never critical.
_IMPORTANCE, _OF_DIGEST = 0.6, 0.5
#: Characters after which the digest of a day grows no more, and the day gets a second one.
_MOST_DIGEST = 400


#: Room for every note: of a model that cannot be asked only matters whether there is something to ask.
ANY_ROOM = Room(item_tokens=1 << 30, longest_item=1 << 30, standing=0)


@dataclass(frozen=True, slots=True)
class Unread:
    """The notes of one project that are to be read, as the questions about them will be."""

    project_id: str
    memories: Mapping[str, Memory]
    questions: tuple[tuple[Item, ...], ...]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for items in self.questions for item in items)


def read_notes(night: Night, duplicates: Sequence[DuplicateGroup]) -> list[Archive]:
    """Read what no night has read; the statements and digests that came of it, with the notes archived into them.

    A question without an answer stays open, with those after it, for the next night. A run whose scope is narrower than
    projects leaves notes to the nights.
    """
    night.hold_lease()
    if night.options.is_narrow or not model_reads(night.settings):
        return []
    copies = {memory_id for group in duplicates for memory_id in group.duplicate_ids}
    try:
        room = room_for("notes", night.settings)
        unread = find_unread(night, room, copies)
        if not unread:
            return []
        night.embed_missing()
        client = ModelClient(night.settings)
    except EmbeddingError as error:
        night.note_error("", "embed", error)
        return []
    except ModelError as error:
        if find_unread(night, ANY_ROOM, copies):
            night.note_error("", "read", error)
        return []
    number, notes = sum(len(group.questions) for group in unread), sum(len(group.memories) for group in unread)
    night.log.info("reading %s in %s", how_many(notes, "note"), how_many(number, "question"))
    archives: list[Archive] = []
    left = {group.project_id: list(group.questions) for group in unread}
    by_project = {group.project_id: group for group in unread}
    done = 0
    while left:
        asked = {project: questions.pop(0) for project, questions in left.items()}
        for project, result in _ask(night, client, room, asked):
            if isinstance(result, Reading):
                done += 1
                archives += _keep(night, by_project[project], asked[project], result)
            elif isinstance(result, Declined) and not result.again:
                night.note_error(
                    "", "read", f"{project}: {len(asked[project])} notes stay as they are: {result.reason}"
                )
            else:
                left[project] = []
            night.progress("readings", done, number)
        left = {project: questions for project, questions in left.items() if questions and project in asked}
    return archives


def find_unread(night: Night, room: Room, left_out: Iterable[str] = ()) -> list[Unread]:
    """The notes that no night has read, by project, in the questions that they make. What a series stands for is told
    by it, or will be tonight. Notes that try to steer their reader are shown to no model, and notes that are longer
    than what it takes wait for one that takes more."""
    gone = set(left_out)
    with night.store.reading() as tx:
        memories = tx.readings.unread(created_before=night.fresh_after, as_of=night.as_of)
        new = find_series(tx, night, gone) if memories else []
        readings = tx.series.reading_ids({(series.project_id, shape) for series in new for shape in series.shapes})
    floor = night.critical_floor
    unread = []
    for project, group in groupby(memories, key=lambda memory: memory.project_id):
        notes = [
            memory
            for memory in group
            if memory.id not in gone
            and memory.id not in readings
            and not is_entry(memory.content)
            and memory.token_count <= room.longest_item
            and attempt_in(memory.content) is None
        ]
        if not notes or not night.may_touch(project):
            continue
        items = [_item(memory, floor) for memory in notes]
        questions = split_into_questions(items, room.item_tokens)
        unread.append(Unread(project, {m.id: m for m in notes}, tuple(tuple(part) for part in questions)))
    return unread


def _item(memory: Memory, critical_floor: float) -> Item:
    return Item(
        id=memory.id,
        words=memory.content,
        day=memory.day,
        tokens=memory.token_count,
        under=subject_beside(memory),
        is_protected=memory.pinned or memory.importance >= critical_floor,
    )


def _ask(
    night: Night, client: ModelClient, room: Room, asked: Mapping[str, tuple[Item, ...]]
) -> Iterator[tuple[str, Reading | Declined | Exception]]:
    """The answers to one question of each project; an error of the model is noted once, and leaves the rest open."""
    likeness = likeness_by(night.embedder)
    questions = {
        project: question_about(
            "notes", items, _find_nearest(night, project, items, room.standing), night.settings, likeness
        )
        for project, items in asked.items()
    }
    answered = set()
    try:
        for project, result in client.ask(questions, session_of(night), "readings"):
            answered.add(project)
            if isinstance(result, Exception):
                night.note_error("", "read", f"{project}: {in_words(result)}")
            yield project, result
    except ModelError as error:
        night.note_error("", "read", error)
    for project in asked.keys() - answered:
        yield project, Declined("no answer", again=True)


def _find_nearest(night: Night, project: str, items: Sequence[Item], most: int) -> list[Standing]:
    """The `most` standing statements that are nearest to any of some items, by day and id."""
    with night.store.reading() as tx:
        known = {memory.id: memory for memory in tx.readings.standing(project, night.as_of)}
    ids, vectors = night.vectors_of(list(known))
    _, own = night.vectors_of([item.id for item in items])
    if len(ids) > most and len(own):
        nearness = np.round((vectors @ own.T).max(axis=1), 5)
        best = np.argsort(-nearness, kind="stable")[:most]
        ids = [ids[place] for place in sorted(best)]
    nearest = sorted((known[i] for i in ids), key=lambda memory: (memory.day, memory.id))
    return [standing_of(memory) for memory in nearest]


def _keep(night: Night, unread: Unread, items: Sequence[Item], reading: Reading) -> list[Archive]:
    """Write what was read in some items, in one transaction; if that fails, they are read again."""
    try:
        is_reviewed = night.settings.is_reviewed(unread.project_id)
        drafts = _make_drafts(night, unread, items, reading, together=not is_reviewed)
        refused = refusals_of(night, drafts)
        if refused:  # what the refused ones carried, stays
            texts = {draft.content for draft in drafts if draft.id in refused}
            left = [statement for statement in reading.statements if statement.text not in texts]
            rest = replace(reading, statements=tuple(left), carried=find_carried(items, left))
            drafts = _make_drafts(night, unread, items, rest, together=not is_reviewed)
            refused = refused | refusals_of(night, drafts)
        accepted = [draft for draft in drafts if draft.id not in refused]
        made = make_abstractions(night, [] if is_reviewed else accepted)
        with night.writing() as tx:
            if is_reviewed:
                for draft in accepted:
                    propose(night, tx, draft)
                archives = [Archive(d.cluster, "proposed", AWAITS_REVIEW, measured=d.measured) for d in accepted]
                gone: set[str] = set()
            else:
                archives = write_abstractions(night, tx, accepted, made)
                gone = {i for archive in archives for i in archive.archived_ids}
                gone |= _archive_repeats(night, tx, unread.project_id, reading.repeats)
            left_out = dict.fromkeys([*reading.refused, *refused.values()])
            rows = [
                night.log_row(READ, fingerprint_of((item.id,)), "skipped", "read, and stays as it is", 1)
                for item in items
                if item.id not in gone
            ]
            for why in left_out:
                fingerprint = fingerprint_of([*(item.id for item in items), why])
                reason = f"a statement is left out: {why}"
                rows.append(night.log_row(REFUSED, fingerprint, "skipped", reason, len(items)))
            tx.journal.log(rows)
        return archives
    except Exception as error:  # one question never costs the others
        night.note_error("", "read", error, about=unread.project_id)
        return []


def _archive_repeats(night: Night, tx: Transaction, project: str, repeats: Sequence[tuple[str, str]]) -> set[str]:
    """Archive notes that only say again what a statement says into it, or into what has replaced it."""
    stands = tx.lineage.replacements_of({statement for _, statement in repeats})
    by_statement: dict[str, list[str]] = {}
    for item, statement in repeats:
        by_statement.setdefault(stands[statement], []).append(item)
    done: set[str] = set()
    for statement, ids in sorted(by_statement.items()):
        fingerprint = fingerprint_of(ids)
        cluster_id = derived_id(REPEATED, project, fingerprint, statement)
        archived = tx.memories.archive(
            [Replacement(i, cluster_id, statement) for i in ids],
            archived_at=night.as_of,
            critical_floor=night.critical_floor,
        )
        if not archived:
            continue
        done |= archived
        tx.lineage.add([LineageLink(statement, i, REPEATED, 1.0) for i in sorted(archived)])
        reason = "says again what a statement says"
        tx.journal.log([night.log_row(REPEATED, fingerprint, "compressed", reason, len(archived), statement)])
    return done


def _make_drafts(
    night: Night, unread: Unread, items: Sequence[Item], reading: Reading, *, together: bool
) -> list[Distillation]:
    """The memories that statements and digests become. A note is archived into the first statement that rests on it, if
    its statements carry all of it (`together`, or one alone) or the rest of it is routine."""
    keeps_routine = night.settings.reading.routine == "keep"
    carried = set(reading.carried)
    if not together:
        carried = {i for statement in reading.statements for i in find_carried(items, [statement])}
    away = carried | set(() if keeps_routine else reading.routine)
    away -= {item.id for item in items if item.is_protected}
    taken: set[str] = set()
    drafts = []
    for statement in reading.statements:
        members = [unread.memories[i] for i in sorted(set(statement.item_ids))]
        mine = {memory.id for memory in members} & away - taken
        taken |= mine
        draft = _draft(
            night,
            statement.text,
            members,
            READING,
            STATED,
            MEMORY_TYPES[statement.kind],
            importance=round(_IMPORTANCE + statement.significance, 3),
            stays=tuple(memory.id for memory in members if memory.id not in mine),
        )
        drafts.append(replace(draft, tags=tags_of(statement), replaces=tuple(dict.fromkeys(statement.replaces))))
    routine: dict[date, list[Memory]] = {}
    for item_id in () if keeps_routine else reading.routine:
        if item_id not in taken:
            memory = unread.memories[item_id]
            routine.setdefault(memory.day, []).append(memory)
    digests = {date.fromisoformat(day): text for day, text in reading.digests}
    for day in sorted(routine.keys() & digests.keys()):
        is_last = day == max(routine.keys() & digests.keys())
        replaced = {old for statement in reading.statements for old in statement.replaces}
        ended = tuple(old for old in reading.ended if is_last and old not in replaced)
        put_away = {memory.id for memory in routine[day]}
        remaining = [unread.memories[item.id] for item in items if item.day == day and item.id not in put_away]
        drafts.append(_digest_draft(night, day, digests[day], routine[day], remaining, ended))
    return drafts


def _digest_draft(
    night: Night, day: date, text: str, routine: Sequence[Memory], remaining: Sequence[Memory], ended: Sequence[str]
) -> Distillation:
    """The digest of a day. An earlier one, of other notes of the day, is replaced and said again, unless it is long. It
    may have words of the `remaining` notes, which its reader saw beside the routine, so it rests on these too."""
    with night.store.reading() as tx:
        before = tx.readings.digest_of(routine[0].project_id, day)
        if before is not None and len(before.content) > _MOST_DIGEST:
            before = None
        stood_for = tx.readings.count_routine(before.id) if before else 0
    number = len(routine) + stood_for
    summary = f"{before.content.rpartition(' (')[0] or before.content} {text}" if before else f"{day}: {text}"
    content = f"{summary} ({how_many(number, 'routine note')})"
    members = sorted([*routine, *remaining], key=lambda memory: memory.id)
    stays = tuple(memory.id for memory in remaining)
    draft = _draft(night, content, members, DIGEST, ROUTINE, "other", _OF_DIGEST, stays)
    return replace(draft, replaces=(*((before.id,) if before else ()), *ended))


def _draft(
    night: Night,
    content: str,
    members: Sequence[Memory],
    policy: str,
    relation: LevelRelation,
    memory_type: str,
    importance: float,
    stays: tuple[str, ...] = (),
) -> Distillation:
    cluster = describe_cluster(members, [1.0], policy)
    fingerprint = fingerprint_of((*cluster.member_ids, content))
    categories = tuple(dict.fromkeys(category for memory in members for category in memory.categories))[:2]
    cluster = replace(
        cluster,
        cluster_id=derived_id(policy, cluster.project_id, fingerprint),
        fingerprint=fingerprint,
        dominant_category=next(iter(categories), ""),
        top_categories=categories,
    )
    before = sum(memory.token_count for memory in members if memory.id not in stays)
    return Distillation(
        cluster=cluster,
        similarities=tuple(1.0 for _ in members),
        content=content,
        outcome="accepted",
        measured=Measured.of(before, night.embedder.count_tokens(content)),
        method="llm",
        prompt_version=VERSION,
        memory_type=memory_type,
        categories=categories,
        importance=importance,
        effective_date=max(memory.effective_date for memory in members),
        oldest_source_at=min(memory.effective_date for memory in members),
        utc_offset=offset_of_newest(members),
        relation=relation,
        stays=stays,
    )
