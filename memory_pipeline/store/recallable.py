"""Everything that an index of a project is made from, and what has changed since it was made."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.records import AGAIN, Memory
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rows import Statements


@dataclass(frozen=True, slots=True)
class Generation:
    """A state of the store: the last entry of its audit log, and a digest of this entry. A store in which the entry is
    another one was restored or replaced."""

    sequence: int
    mark: str


class Recallable(Statements):
    """Memories and vectors of one project for an index."""

    def generation(self, sequence: int | None = None) -> Generation:
        """The state of the store now, or at an earlier entry of its log. Sequence 0 stands for an empty log."""
        row = self._sql(sequence).row("""
            select sequence, happened_at::text, actor, table_name, row_id, coalesce(after_hash, '')
            from audit_log
            where sequence = coalesce($1, (select max(sequence) from audit_log))
            """)
        if row is None:
            return Generation(0, "")
        return Generation(int(row[0]), hashlib.sha256("\0".join(map(str, row)).encode()).hexdigest()[:32])

    def memories(self, project_id: str, since: int = 0) -> pa.Table:
        """The memories of a project, rolled-back ones included, in no order: every column. With `since`, those that
        were written or changed after an entry of the log."""
        return self._sql(project_id, since).table(f"""
            select {MEMORIES.columns}
            from memories
            where project_id = $1
              and ($2 = 0 or id in (select row_id from audit_log where table_name = 'memories' and sequence > $2))
            """)

    def places(self, project_id: str, until: int) -> str:
        """A digest of the headings and lead-ins of a project's memories, but for those added after an entry of the log:
        another one if a source was read again in which they are others."""
        return str(
            self._sql(project_id, until).value("""
                select coalesce(bit_xor(hash(id, headings, lead_in)), 0)
                from memories
                where project_id = $1 and (len(headings) > 0 or lead_in <> '') and id not in (
                    select row_id from audit_log where table_name = 'memories' and action = 'insert' and sequence > $2
                )
                """)
        )

    def has_changed(self, table: str, since: int) -> bool:
        """True if a table has changed since an entry of the log."""
        return bool(
            self._sql(table, since).value(
                "select exists (select 1 from audit_log where table_name = $1 and sequence > $2)"
            )
        )

    def source_counts(self, project_id: str) -> dict[str, int]:
        """The number of direct sources of each memory of a project; those without any are left out."""
        return self._sql(project_id).mapping("""
            select l.memory_id, count(*)
            from lineage l
            join memories m on m.id = l.memory_id
            where m.project_id = $1
            group by 1
            """)

    def copies(self, project_id: str) -> frozenset[str]:
        """The memories of a project that were archived into one that said the same before."""
        rows = self._sql(project_id).strings(f"""
            select m.id
            from memories m
            join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id
            where m.project_id = $1 and m.archived_at is not null and l.relation in {AGAIN}
            """)
        return frozenset(rows)

    def withdrawn(self, project_id: str) -> dict[str, str]:
        """By memory that holds no more, the one in its place: of words that were edited in their source, those that
        stand there now; of what was withdrawn in a conversation, what was made of the withdrawal, or its turn. That
        are the turns that said it, those that said it again, and what was made of it."""
        withdrawn: dict[str, str] = self._sql(project_id).mapping("""
            select e.memory_id, e.superseded_by
            from source_entries e
            join memories m on m.id = e.memory_id
            where m.project_id = $1 and e.superseded_by is not null
            """)
        extractions = self._sql(project_id).rows("""
            select id, turn_id, memory_id, kind <> 'repetition' and destination <> 'drop', withdraws
            from extractions
            where project_id = $1 and gone_at is null
            order by id
            """)
        newer_by_old = {old: new for new, _, _, _, olds in extractions for old in olds}
        again = self._sql.about(newer_by_old, project_id).rows("""
            select pair ->> 0, pair ->> 1
            from (
                select unnest(from_json(coverage -> 'told_again', '["json"]')) as pair
                from conversation_days
                where project_id = $2 and gone_at is null
            )
            where pair ->> 0 in (select unnest($1::text[]))
            """)
        place_of = {extraction_id: memory or turn for extraction_id, turn, memory, _, _ in extractions}
        stands = {
            turn for extraction_id, turn, _, is_kept, _ in extractions if is_kept and extraction_id not in newer_by_old
        }
        replacements = [
            (extraction_id, place)
            for extraction_id, turn, memory, _, _ in extractions
            if extraction_id in newer_by_old
            for place in (turn, memory)
        ] + again
        for extraction_id, place in replacements:
            newer = newer_by_old[extraction_id]
            while newer in newer_by_old:  # what withdraws is said later: no chain of these comes back
                newer = newer_by_old[newer]
            if place and place not in stands and place != place_of[newer]:
                withdrawn[str(place)] = str(place_of[newer])
        return withdrawn

    def vectors(self, ids: Sequence[str], model: str, dimension: int, room: int = 0) -> NDArray[np.float32]:
        """The vectors of these memories in their order, float32 (len(ids), dimension); zero for one without. `room`:
        how many rows there are at least."""
        wanted = pa.table({"id": pa.array(list(ids), pa.string()), "place": np.arange(len(ids))})
        table = self._sql(model, dimension, wanted=wanted).table(f"""
            select w.place, e.vector::float[{dimension:d}] as vector
            from embeddings e
            join wanted w on w.id = e.memory_id
            where e.model = $1 and e.dimension = $2
            """)
        vectors = np.zeros((max(room, len(ids)), dimension), dtype=np.float32)
        for batch in table.to_batches():
            vectors[batch["place"].to_numpy()] = (
                batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
            )
        return vectors


def memory_of(row: Sequence[Any]) -> Memory:
    """The memory of a row of `Recallable.memories`."""
    return MEMORIES.read(row)
