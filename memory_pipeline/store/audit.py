"""The audit log, and the logs that are kept of it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_pipeline.records import Memory
from memory_pipeline.records.columns import fixed_in, state_of
from memory_pipeline.store.rows import AUDIT_LOG, EMBEDDINGS, MEMORIES, TABLES, Table, Write
from memory_pipeline.store.seal import log_path

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


_NAME = re.compile(r"log-(?P<base>[0-9a-f]{32})-(?P<next>[0-9a-f]{32})-(?P<contents>[0-9a-f]{32})\.wal")
#: Kept logs may take as much space as the store, and at least this much; beyond that, the chain starts again.
_LEAST_ROOM = 64 << 20


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A log, the header of the resulting file, and the hash of its contents."""

    path: Path
    header: str
    contents: str


def directory_beside(path: Path) -> Path:
    """The directory of a store's snapshots and kept logs."""
    return path.parent / f"{path.stem}.snapshots"


def short_hash(contents: str) -> str:
    """A digest of contents, shortened for a file name."""
    return hashlib.sha256(contents.encode()).hexdigest()[:32]


def keep_log(path: Path, base: str, following: str, contents: str) -> None:
    """Give the log of a store that is about to be folded a second name; `base` and `following`: the headers of the
    store's file before and after. Without snapshots, a log is not needed."""
    directory, log = directory_beside(path), log_path(path)
    if not directory.is_dir():
        return
    known = []
    for file in _logs_in(directory):
        if file.samefile(log):  # a kill has prevented the folding of this log before, and it has grown since
            file.unlink()
        else:
            known.append(file)
    if sum(file.stat().st_size for file in known) + log.stat().st_size > max(_LEAST_ROOM, path.stat().st_size):
        for file in known:
            file.unlink(missing_ok=True)
    name = directory / f"log-{base}-{following}-{short_hash(contents)}.wal"
    try:
        name.unlink(missing_ok=True)
        os.link(log, name)
    except OSError:  # the file system does not support hard links
        shutil.copyfile(log, name)


def logs_between(path: Path, start: str, end: str) -> list[KeptLog] | None:
    """The kept logs that lead from the file with the header `start` to that with the header `end`, in order; None if
    there is no such chain. A restored store has more than one branch after its snapshot."""
    led_by = {found["next"]: (file, found) for file in _logs_in(directory_beside(path)) if (found := _named(file))}
    chain: list[KeptLog] = []
    while end != start:
        if end not in led_by or len(chain) > len(led_by):
            return None
        file, found = led_by[end]
        chain.append(KeptLog(file, end, found["contents"]))
        end = found["base"]
    return chain[::-1]


def logs_after(path: Path, header: str) -> list[KeptLog]:
    """The kept logs that follow the file with this header, until the chain branches."""
    following: dict[str, list[KeptLog]] = {}
    for file in _logs_in(directory_beside(path)):
        if found := _named(file):
            following.setdefault(found["base"], []).append(KeptLog(file, found["next"], found["contents"]))
    chain: list[KeptLog] = []
    while len(ways := following.pop(header, [])) == 1:
        chain += ways
        header = ways[0].header
    return chain


def forget_logs_before(path: Path, moment: float) -> None:
    """Remove the kept logs that were last written before a time (seconds since 1970)."""
    for file in _logs_in(directory_beside(path)):
        if file.stat().st_mtime < moment:
            file.unlink(missing_ok=True)


def _logs_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("log-*.wal"), key=lambda file: (file.stat().st_mtime, file.name))


def _named(file: Path) -> re.Match[str] | None:
    return _NAME.fullmatch(file.name)
