"""The past: everything that happened to a memory, and the memories of the store at a past time.

There are two clocks. The audit log records when each write happened, so the store of any moment or run can be read
again. The memories' own time (created, archived as of a night) shows what was known on a day, whenever the nights
were run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from pydantic import Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.moments import end_of
from memory_pipeline.records import EXTRACTED, MADE, Memory
from memory_pipeline.records.columns import state_of
from memory_pipeline.store.forgotten import Forgotten
from memory_pipeline.store.memories import Memories
from memory_pipeline.store.rows import Statements

_STATE_TIMES = [column.name for column in state_of(Memory) if column.kind is datetime]


class Event(Document):
    """One event of a row in the store."""

    sequence: int = Field(description="Its number in the audit log.")
    happened_at: Moment = Field(description="When.")
    actor: str = Field(description="Who did it.")
    run_id: str | None = Field(description="The run that did it.")
    table: str = Field(description="The table that changed.")
    row_id: str = Field(description="The key of the row.")
    action: str = Field(description="`insert`, `update`, `delete` or `forget`.")
    before: dict[str, Any] | None = Field(description="The row before the change.")
    after: dict[str, Any] | None = Field(description="The row after the change.")


class History(Statements):
    """The events of memories, and past states."""

    def archivers_of(self, memory_ids: Sequence[str]) -> dict[str, list[str]]:
        """By memory, all that ever archived it in this store, also where a rollback has restored it since."""
        return self._sql(memory_ids).mapping("""
            select row_id, list(distinct after_state ->> 'archived_by')
            from audit_log
            where table_name = 'memories' and row_id in (select unnest($1::text[]))
              and after_state ->> 'archived_by' is not null
            group by row_id
            """)

    def of_runs(self, run_ids: Collection[str]) -> list[Event]:
        """Everything that some runs did, in order."""
        return self._read_events("run_id in (select unnest($1::text[]))", [list(run_ids)])

    def of(self, memory_id: str) -> list[Event]:
        """Every entry of the audit log that concerns a memory, given its id or handle, oldest first: the memory itself,
        its links, its conflicts, whether its words left their source, and the decisions that made it.

        Raises InputError for a memory that does not exist, and for a handle that stands for several.
        """
        memory_id = Memories(self._sql).whole_id(memory_id)
        if not Memories(self._sql).read([memory_id]):
            forgotten = Forgotten(self._sql).find(memory_id)
            if forgotten is not None:
                return self.of(forgotten.memory_id)
            raise InputError(
                f"there is no memory '{memory_id}'; give its handle or whole id ('memory-pipeline as-of now list "
                "--archived' shows them)"
            )
        return self._read_events(
            """
                (table_name = 'memories' and row_id = $1)
               or (table_name = 'lineage' and (starts_with(row_id, $1 || ' <- ') or ends_with(row_id, ' <- ' || $1)))
               or (table_name = 'conflicts' and (starts_with(row_id, $1 || ' ~ ') or ends_with(row_id, ' ~ ' || $1)))
               or (table_name = 'source_entries' and ends_with(row_id, ':' || $1))
               or (table_name = 'compression_log' and after_state ->> 'compressed_memory_id' = $1)
               or (table_name in ('atoms', 'playbook_entries')
                   and contains(coalesce(after_state, before_state), $2))
            """,
            [memory_id, json.dumps(memory_id)],
        )

    def _read_events(self, which: str, values: list[object]) -> list[Event]:
        rows = self._sql(*values).rows(f"""
            select sequence, happened_at, actor, run_id, table_name, row_id, action, before_state, after_state
            from audit_log
            where {which}
            order by sequence
            """)
        return [
            Event(**dict(zip(Event.model_fields, (*values, _state(before), _state(after)), strict=True)))
            for *values, before, after in rows
        ]

    def memories_on(self, day: date) -> list[Memory]:
        """The memories known at the end of a UTC day by their own time, ordered by creation time and id.

        A memory counts if it was created by then, and as archived only if it was archived as of then. A late memory
        counts from the day that it describes; a rolled-back one never counts. At midnight the night of the day makes
        its own, and notes without a time belong to the next day.
        """
        end = end_of(day)
        until = Memories(self._sql).all(created_by=end)
        known = [memory for memory in until if memory.created_at < end or memory.source.connector in (MADE, EXTRACTED)]
        return [as_before(memory) if memory.archived_at and memory.archived_at > end else memory for memory in known]

    def memories_at(self, moment: datetime) -> list[Memory]:
        """The memories of the store at a moment, according to the audit log.

        Raises InputError if the store did not exist yet.
        """
        sequence = self._sql(moment).value("select max(sequence) from audit_log where happened_at <= $1")
        if sequence is None:
            began = self._sql.value("select min(happened_at) from audit_log")
            since = f"{began:%Y-%m-%d %H:%M:%S} UTC" if began else "its first import"
            raise InputError(f"the store's history begins on {since}; {moment.isoformat()} is before that")
        return self.memories_after(int(sequence))

    def memories_after(self, sequence: int) -> list[Memory]:
        """The memories of the store after an entry of the audit log, ordered by creation time and id."""
        rows = self._sql(sequence).rows("""
            select row_id, max_by(after_state, sequence)
            from audit_log
            where table_name = 'memories' and sequence <= $1
            group by 1
            """)
        states = {str(row[0]): _state(row[1]) for row in rows}
        now = Memories(self._sql).all(include_rolled_back=True)
        then = [_with_state(memory, states[memory.id]) for memory in now if memory.id in states]
        return [memory for memory in then if memory.rolled_back_at is None]


def _state(text: str | None) -> dict[str, Any] | None:
    return None if text is None else dict(json.loads(text))


def _with_state(memory: Memory, state: dict[str, Any] | None) -> Memory:
    if state is None:
        return memory
    values = dict(state)
    for name in _STATE_TIMES:
        values[name] = datetime.fromisoformat(values[name]).replace(tzinfo=UTC) if values.get(name) else None
    return replace(memory, **values)


def as_before(memory: Memory) -> Memory:
    """A memory as it was before it was archived."""
    importance = memory.importance if memory.importance_before is None else memory.importance_before
    return replace(
        memory,
        importance=importance,
        importance_before=None,
        archived_by=None,
        archived_at=None,
        consolidated_into_id=None,
    )
