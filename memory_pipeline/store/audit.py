"""The triggers of the audit log: every write leaves a trace, and the store itself enforces the first law.

No memory row is deleted, and only its changeable fields change (defined in records/memory.py). The triggers are
derived from the list of tables and recreated with every migration. A writer sets the variables `audit_actor` and
`audit_run` at the start of the transaction. Derived data (the similarity cache) and the lease's heartbeat are not
knowledge and are not logged.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from memory_pipeline.records import Memory
from memory_pipeline.records.columns import fixed_in, state_of
from memory_pipeline.store.tables import AUDIT_LOG, EMBEDDINGS, MEMORIES, TABLES, Table, Write

_SEEN = {
    "insert": "new table as n",
    "update": "old table as o new table as n",
    "delete": "old table as o",
}
_FROM = {"insert": "n", "update": "o join n on {same}", "delete": "o"}
_NAMED = {"insert": "inserted", "update": "updated", "delete": "deleted"}


def memory_state(alias: str) -> str:
    """SQL for the state of a memory in a table with this name: JSON of all changeable fields."""
    values = {
        column.name: f"{alias}.{column.name}{'::text' if column.kind is datetime else ''}"
        for column in state_of(Memory)
    }
    return _json(values)


def log_entries(entries: str, *, actor: str = "coalesce(getvariable('audit_actor'), 'unknown')") -> str:
    """SQL that adds entries to the log, by row.

    `entries`: a query of table_name, row_id, action, before_hash, after_hash, before_state and after_state.
    """
    return (
        f"insert into {AUDIT_LOG} (sequence, happened_at, actor, run_id, table_name, row_id, action, before_hash, "
        "after_hash, before_state, after_state) "
        f"select nextval('audit_sequence'), now() at time zone 'UTC', {actor}, getvariable('audit_run'), e.* "
        f"from ({entries} order by 2) e"
    )


def triggers() -> Iterator[str]:
    """The statements that make every trigger."""
    yield from _of_memories()
    yield _of_vectors()
    for table in TABLES:
        yield from (_of_table(table, write) for write in table.logged)


def _trigger(table: str, write: Write, entries: str) -> str:
    return (
        f"create trigger {table}_{_NAMED[write]} after {write} on {table} referencing {_SEEN[write]} "
        f"for each statement {log_entries(entries)}"
    )


def _of_table(table: Table, write: Write) -> str:
    """One entry per row: hashes of the whole row, and its state."""
    before, after = (alias if alias in _SEEN[write].split() else None for alias in ("o", "n"))
    row = after or before
    key = f" || '{table.between}' || ".join(f"{row}.{column}" for column in table.key)
    hashes, states = ([one(table, alias) for alias in (before, after)] for one in (_hash, _state))
    same = " and ".join(f"o.{column} = n.{column}" for column in table.key)
    return _trigger(
        table.name,
        write,
        f"select '{table.name}', {key}, '{write}', {', '.join(hashes)}, {', '.join(states)} "
        f"from {_FROM[write].format(same=same)}",
    )


def _hash(table: Table, alias: str | None) -> str:
    return f"sha256(to_json({alias})::text)" if alias else "null"


def _state(table: Table, alias: str | None) -> str:
    if alias is None:
        return "null"
    return _json({name: f"{alias}.{name}" for name in table.state}) if table.state else f"to_json({alias})::text"


def _json(values: dict[str, str]) -> str:
    pairs = ", ".join(f"'{name}', {value}" for name, value in values.items())
    return f"json_object({pairs})::text"


def _of_memories() -> Iterator[str]:
    """A memory's hashes are those of its state, so that its entries form a chain; changes that law 1 forbids raise
    an error."""
    old, new = memory_state("o"), memory_state("n")
    fixed = " or ".join(f"o.{column.name} is distinct from n.{column.name}" for column in fixed_in(Memory))
    changing = ", ".join(column.name for column in state_of(Memory))
    yield _trigger(MEMORIES, "insert", f"select '{MEMORIES}', n.id, 'insert', null, sha256({new}), null, {new} from n")
    yield _trigger(
        MEMORIES,
        "update",
        f"select '{MEMORIES}', coalesce(n.id, o.id), case when {fixed} then error('law 1: what memory ' || "
        f"coalesce(o.id, n.id) || ' says never changes, only {changing}') else 'update' end, "
        f"sha256({old}), sha256({new}), {old}, {new} from o full join n on o.id = n.id",
    )
    yield _trigger(
        MEMORIES,
        "delete",
        f"select '{MEMORIES}', error('law 1: memory ' || o.id || ' is never deleted'), 'delete', null, null, null, "
        "null from o",
    )


def _of_vectors() -> str:
    """One entry for all vectors of a model that a statement adds."""
    return _trigger(
        EMBEDDINGS,
        "insert",
        f"select '{EMBEDDINGS}', model, 'insert', null, sha256(string_agg(memory_id, ',' order by memory_id)), null, "
        "json_object('vectors', count(*), 'first', min(memory_id), 'last', max(memory_id))::text from n group by model",
    )
