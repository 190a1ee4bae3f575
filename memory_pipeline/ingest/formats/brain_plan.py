"""Plans what a `brain.db` lacks of what the store made of its memories. Nothing is written here.

A row of the brain is a memory of the store if it has its id and says its words. An abstraction goes back if every
memory behind it is in the brain; a row is archived if what replaced it stands there. What its agent deleted, changed or
archived itself stays so.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Literal, NamedTuple

from memory_pipeline.ingest.formats import brain
from memory_pipeline.ingest.gate import derive_version, mask_id
from memory_pipeline.ingest.sqlite_files import columns_of, records
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import BESIDE, EXPIRED, MADE, RELATIONS, LogRow, Memory, derived_id, fingerprint_of
from memory_pipeline.store import Store
from memory_pipeline.text.normalise import clean_text, content_hash
from memory_pipeline.text.redaction import redact


@dataclass(frozen=True)
class StoreSide:
    """The store's side: memories of brains, what nights made of them, what of what, and all that ever archived each."""

    memories: Mapping[str, Memory]
    raw: Mapping[str, list[str]]
    direct: Mapping[str, list[str]]
    replaced_by: Mapping[str, str]
    log: Mapping[str, LogRow]
    vectors: Mapping[str, Vectors]
    archivers: Mapping[str, Collection[str]]

    @classmethod
    def of(cls, store: Store) -> StoreSide:
        """Read it. Abstractions without a memory of a brain behind them are left out."""
        with store.reading() as tx:
            memories = {memory.id: memory for memory in tx.memories.of_connectors((brain.BrainImporter.name, MADE))}
            made = [memory.id for memory in memories.values() if memory.source.connector == MADE]
            raw = {
                top: ids
                for top, ids in tx.lineage.raw_sources_of(made).items()
                if any(_is_of_a_brain(memories.get(source_id)) for source_id in ids)
            }
            related = {i: m for i, m in memories.items() if _is_of_a_brain(m) or i in raw or m.rolled_back_at}
            direct = tx.lineage.made_by([relation for relation in RELATIONS if relation not in BESIDE], list(raw))
            log = {row.compressed_memory_id or "": row for row in tx.journal.log_of_memories(list(raw))}
            replaced_by = tx.lineage.replacements_of([i for i, memory in related.items() if memory.archived_at])
            ids, vectors = tx.vectors.read(list(raw), brain.MODEL, brain.DIMENSION)
            archivers = tx.history.archivers_of(list(related))
        return cls(related, raw, direct, replaced_by, log, dict(zip(ids, vectors, strict=True)), archivers)

    def zone_of_brain(self, stated: tzinfo) -> Callable[[datetime], tzinfo]:
        """The zone at a time of a brain's times that name none: `stated`, unless most memories were read in another."""
        dated = sorted(
            (memory.created_at, memory.utc_offset)
            for memory in self.memories.values()
            if _is_of_a_brain(memory) and memory.created_at_quality == "exact"
        )
        agreeing = sum(minutes_ahead(moment.astimezone(stated)) == offset for moment, offset in dated)
        if 2 * agreeing >= len(dated):
            return lambda _: stated

        def as_read(moment: datetime) -> tzinfo:
            after = min(bisect(dated, (moment, 0)), len(dated) - 1)
            nearest = min(dated[max(after - 1, 0) : after + 1], key=lambda pair: abs(pair[0] - moment))
            return timezone(timedelta(minutes=nearest[1]))

        return as_read

    def has_archived(self, memory_id: str, row: BrainRow) -> bool:
        """True if it was this store that archived a row: its marks in a brain name no store."""
        return row.ours is not None and row.ours.by in self.archivers.get(memory_id, ())


def _is_of_a_brain(memory: Memory | None) -> bool:
    return memory is not None and memory.source.connector == brain.BrainImporter.name


class BrainRow(NamedTuple):
    """A row of the brain that is a memory of the store: `key` is its id there."""

    key: object
    importance: float
    archived_by: str | None
    ours: brain.ArchivedHere | None


class NewRow(NamedTuple):
    """An abstraction to be added, with the rows that it was made from."""

    memory: Memory
    source_ids: tuple[str, ...]


Verb = Literal["archive", "make active again", "retire"]


class Marking(NamedTuple):
    """A change to a row, with the new values."""

    verb: Verb
    memory: Memory
    row: BrainRow
    archived_by: str | None
    importance: float


@dataclass
class BrainPlan:
    """The rows to be written, and the number of those that are left alone, by reason."""

    add: list[NewRow] = field(default_factory=list)
    mark: list[Marking] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)

    def count(self, verb: Verb) -> int:
        """The number of rows with this verb."""
        return sum(marking.verb == verb for marking in self.mark)


def plan_brain(connection: sqlite3.Connection, table: str, side: StoreSide) -> BrainPlan:
    """Compare a brain with the store."""
    standing = dict(_standing(connection, table, side))
    has_log = "id" in columns_of(connection, "compression_log")
    # What the brain's own log has was written once, and is not written again after it was deleted there.
    written = {str(row["id"]) for row in records(connection, "compression_log", ("id",), {})} if has_log else set()
    plan = BrainPlan()
    for memory_id, raw in sorted(side.raw.items()):
        memory = side.memories[memory_id]
        if memory_id in standing or memory.archived_at or memory.rolled_back_at:
            continue
        if not all(source_id in standing for source_id in raw):
            plan.left["abstractions of memories that are not all in this brain"] += 1
        elif any(
            standing[source_id].ours and not side.has_archived(source_id, standing[source_id]) for source_id in raw
        ):
            plan.left["abstractions of memories that another store archived"] += 1
        elif log_row(side, memory).id in written:
            plan.left["abstractions that were deleted there"] += 1
        else:
            # Earlier versions of an abstraction never were in the brain: the raw rows stand in their place.
            direct = side.direct.get(memory_id, [])
            named = direct if all(source_id in standing for source_id in direct) else raw
            plan.add.append(NewRow(memory, tuple(str(standing[source_id].key) for source_id in named)))
    there: set[str | None] = {*standing, *(new.memory.id for new in plan.add)}
    for memory_id, row in standing.items():
        memory = side.memories[memory_id]
        if why := _why_left(side, memory, row, there):
            plan.left[why] += 1
        elif memory.archived_at is None:
            if row.ours:
                plan.mark.append(Marking("make active again", memory, row, None, row.ours.importance))
        elif not row.ours or row.ours.by != (memory.archived_by or "night"):
            before = row.ours.importance if row.ours else row.importance
            into = standing.get(memory.consolidated_into_id or "")
            mark = brain.archived_mark(memory.archived_by or "night", before, into.key if into else None)
            plan.mark.append(Marking("retire" if memory.rolled_back_at else "archive", memory, row, mark, before))
    return plan


def _why_left(side: StoreSide, memory: Memory, row: BrainRow, there: Collection[str | None]) -> str | None:
    """The reason why a row is left alone that is not as its memory in the store is; None if it is not left alone."""
    if row.ours and not side.has_archived(memory.id, row):
        return "memories that another store archived"
    if memory.archived_at is None:
        return None
    if row.archived_by is not None and row.ours is None:
        return "memories that another program archived"
    if memory.archived_by == EXPIRED:
        return "memories that have expired there"
    if memory.rolled_back_at is None and side.replaced_by.get(memory.id) not in there:
        return "archived memories whose replacement is not in this brain"
    return None


def _standing(connection: sqlite3.Connection, table: str, side: StoreSide) -> Iterator[tuple[str, BrainRow]]:
    """The rows that are memories of the store, by the memory's id."""
    wanted = ("id", "content", "importance", "archived_by", "compressed_from")
    for row in records(connection, table, wanted, {}):
        memory = _find_memory(row, side)
        if memory is not None:
            importance, by = row.get("importance"), row.get("archived_by")
            weight = importance if isinstance(importance, int | float) else 1.0
            yield memory.id, BrainRow(row["id"], weight, None if by is None else str(by), brain.archived_here(by))


def _find_memory(row: Mapping[str, Any], side: StoreSide) -> Memory | None:
    content = row.get("content")
    if not isinstance(content, str) or not isinstance(row["id"], str | int):
        return None
    made = brain.made_as(row.get("compressed_from"), content)
    if made is not None:
        return side.memories.get(made)
    memory_id = mask_id(brain.store_id(str(row["id"])))
    if memory_id not in side.memories:
        return None
    try:
        text = clean_text(content).strip("\n")
        for is_masked in (False, True):
            digest = content_hash(clean_text(redact(text)[0]).strip("\n") if is_masked else text)
            for memory in (side.memories.get(memory_id), side.memories.get(derive_version(memory_id, digest))):
                if memory is not None and memory.content_hash == digest:
                    return memory
    except UnicodeEncodeError:  # a text that no import took
        pass
    return None


def log_row(side: StoreSide, memory: Memory) -> LogRow:
    """The decision that an abstraction stands for: the night's own, or one derived from what it was made from."""
    if memory.id in side.log:
        return side.log[memory.id]
    raw = side.raw.get(memory.id, [])
    return LogRow(
        id=derived_id("brain log", memory.id),
        cluster_fingerprint=fingerprint_of(raw),
        policy=memory.source.file or "night",
        compressed_memory_id=memory.id,
        status="compressed",
        reason=None,
        member_count=len(raw),
        compression_ratio=None,
        run_id="",
        created_at=memory.created_at,
    )
