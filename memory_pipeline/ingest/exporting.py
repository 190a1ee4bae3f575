"""Exports the active memories as rows, or everything in a store, to JSONL or Parquet.

An export of everything consists of records. Each names its kind (`"record": "memory"`, `"atom"`, ...); the first one
gives the format and its version, and the last one gives the counts of the others and hashes of the file and of the
store's contents, so that a truncated or altered file is detected. In Parquet, memories are stored in their usual
columns and other records as JSON in `payload`. An import into an empty store gives the same store (full_import.py);
docs/reference.md lists the records and what is not exported.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from memory_pipeline.config.exports import EXPORT_FORMATS
from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.files.shared_blocks import SharedBlocks
from memory_pipeline.files.writing import check_output, writing_whole
from memory_pipeline.ingest.values import json_or_none
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.records.columns import Column, columns_of
from memory_pipeline.store import RECORD_NAMES, Store, Transaction, schema_number

#: Marks a Parquet file as an export, which the next one may replace.
MARK = {b"memory_pipeline": b"export"}
#: How the first row of an export of everything says what it is, by its `format`, and the records that it has always.
FORMAT, VERSION = "memory-pipeline", 1
FIRST, LAST, MEMORY = "export", "end", "memory"
#: The columns that scripts rely on, in a fixed order; the others follow.
_FIRST = (
    "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at", "effective_date",
    "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id", "source_ids", "pinned",
    "confidence_score",
)  # fmt: skip
#: Additional columns, besides the fields of the memory.
_DERIVED = (
    Column("Whether it was archived.", name="archived", kind=bool),
    Column("The memories that it was made from or that it replaced.", name="source_ids", kind=tuple),
    Column("The direct sources, each with `id`, `relation` and `similarity`.", name="sources", is_json=True),
)
_FIELDS = [column for column in columns_of(Memory) if column.export == "every"]
_MORE = [column for column in columns_of(Memory) if column.export == "everything"]


def export_columns() -> tuple[Column, ...]:
    """The columns of an exported row, in order."""
    known = {column.name: column for column in (*_FIELDS, *_DERIVED)}
    return tuple(known[name] for name in (*_FIRST, *(name for name in known if name not in _FIRST)))


def is_export_row(row: object) -> bool:
    """True if a JSON value is a row of an export, or the first one of an export of everything."""
    if not isinstance(row, dict):
        return False
    return begins_everything(row) or row.keys() >= _ALWAYS


def begins_everything(row: Mapping[str, Any]) -> bool:
    """True if a record is the first one of an export of everything."""
    return (row.get("record"), row.get("format")) == (FIRST, FORMAT)


def columns_of_everything() -> tuple[str, ...]:
    """The additional columns of a memory in an export of everything."""
    return tuple(column.name for column in _MORE)


def export_row(memory: Memory, sources: list[LineageLink]) -> dict[str, Any]:
    """One memory as a row: first the columns that scripts rely on, then the others that a complete copy needs."""
    values = {column.name: _exported(memory, column) for column in _FIELDS}
    values["archived"] = memory.archived_at is not None
    values["source_ids"] = [link.source_id for link in sources]
    values["sources"] = [
        {"id": link.source_id, "relation": link.relation, "similarity": link.similarity} for link in sources
    ]
    return {name: values[name] for name in _NAMES}


def _parquet_row(row: dict[str, Any]) -> dict[str, Any]:
    """An exported row in its Parquet form. Nested columns are JSON text, so that every file has the same schema."""
    return {name: json.dumps(row[name]) if name in _NESTED and row[name] is not None else row[name] for name in _NAMES}


def _exported(memory: Memory, column: Column) -> Any:
    value = getattr(memory, column.name)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    if is_dataclass(column.kind):
        return asdict(value)
    return json.loads(value) if column.is_json and value else value


_NAMES = tuple(column.name for column in export_columns())
#: What the rows of every version have.
_ALWAYS = {*_FIRST, *(column.name for column in _DERIVED)}
_NESTED = {column.name for column in export_columns() if column.is_json or is_dataclass(column.kind)}


#: A longer first line is not a row of an export.
_LONGEST_LINE = 16 << 20
_GROUP = 2000


def export_memories(
    store: Store, name: str, path: Path, *, everything: bool = False, project: str | None = None, force: bool = False
) -> int:
    """Write memories as rows to `path`, completely or not at all; return their number.

    Writes only the active memories, of all projects or of one; with `everything`, all contents of the store. Raises
    InputError for an unknown format, and OutputError for a path that cannot or must not be written and for a full disk.
    """
    if everything:
        check_export(store, name, path, everything=True, force=force)
        with writing_whole(path, lambda place: is_export(name, place), force=force) as file, store.reading() as tx:
            count = _write_everything(tx, name, file)
        SharedBlocks(store.path).note_file(path.absolute())
        return count
    with store.reading() as tx:
        memories = tx.memories.all(project, include_archived=False)
        links = tx.lineage.of([memory.id for memory in memories])
    return write_rows(store, name, path, memories, links, force=force)


def write_rows(
    store: Store, name: str, path: Path, memories: list[Memory], links: list[LineageLink], *, force: bool = False
) -> int:
    """Write these memories with their direct sources to `path`; errors as in `export_memories`.

    An existing file is replaced if it is an earlier export, or with `force`; the file that memories of the store
    came from is never replaced.
    """
    from memory_pipeline.ingest.formats import IMPORTERS  # whose readers know the rows of an export

    check_export(store, name, path, force=force)
    single_files = {name for name, importer in IMPORTERS.items() if importer.takes_directory is False}
    if path.name in {m.source.file for m in memories if m.source.connector in single_files} and path.exists():
        raise OutputError(
            f"memories of this store came from a file named '{path.name}'; name another file than '{path}'"
        )
    sources: dict[str, list[LineageLink]] = defaultdict(list)
    for link in links:
        sources[link.memory_id].append(link)
    rows = (export_row(memory, sources[memory.id]) for memory in memories)
    with writing_whole(path, lambda place: is_export(name, place), force=force, keep_equal=True) as file:
        _write(name, file, map(json_line if name == "jsonl" else _parquet_row, rows))
    SharedBlocks(store.path).note_file(path.absolute())
    return len(memories)


def check_export(store: Store, name: str, path: Path, *, everything: bool = False, force: bool | None = False) -> None:
    """Raises the errors of `export_memories` before any work is done. An export of everything is replaced by a
    smaller one only with `force`, which is None if the command has no `--force`."""
    from memory_pipeline.ingest.tables import is_full_export

    if name not in EXPORT_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_FORMATS)}")
    check_is_free(path, store.path)
    target = check_output(path, lambda place: is_export(name, place), force=force)
    if not everything and not force and target.is_file() and target.stat().st_size and is_full_export(target, name):
        raise OutputError(
            f"'{path}' is an export of everything in a store, and would be replaced by memories only; name another file"
            + ("" if force is None else ", or add --force")
        )


def is_export(name: str, path: Path) -> bool:
    """True if a file is an earlier export in this format, that is, if its rows have the columns of one."""
    if name == "parquet":
        return has_mark(path, MARK)
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE)
    return is_export_row(json_or_none(line))


def has_mark(path: Path, mark: Mapping[bytes, bytes]) -> bool:
    """True if a file is one of Parquet with a mark in its metadata."""
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            return mark.items() <= (pq.read_schema(file).metadata or {}).items()
    except (pa.ArrowException, OSError):
        return False


def _write_everything(tx: Transaction, name: str, file: BinaryIO) -> int:
    """Write everything in a store to an open file; return the number of memories.

    `sha256` in the last record: of the lines before it, in Parquet of the payloads; `contents`: of all in the store.
    """
    shaped = json_line if name == "jsonl" else _with_payload
    counts: Counter[str] = Counter()

    def rows() -> Iterator[Any]:
        digest = hashlib.sha256()
        for record in _records(tx):
            row = shaped(record)
            digest.update(row if isinstance(row, bytes) else row["payload"].encode())
            counts[record["record"]] += 1
            yield row
        totals = {"records": dict(counts), "sha256": digest.hexdigest(), "contents": tx.transfer.digest()}
        yield shaped({"record": LAST, **totals})

    _write(name, file, rows(), ("record", "payload"))
    return counts[MEMORY]


def _write(name: str, file: BinaryIO, rows: Iterator[Any], more: tuple[str, ...] = ()) -> None:
    """Write lines, or rows of Parquet with columns of text besides those of a memory."""
    if name == "jsonl":
        file.writelines(rows)
        return
    import pyarrow.parquet as pq

    kinds = {tuple: pa.list_(pa.string()), int: pa.float64(), float: pa.float64(), bool: pa.bool_()}
    columns = [(column.name, kinds.get(column.kind, pa.string())) for column in export_columns()]
    schema = pa.schema([*columns, *((column, pa.string()) for column in more)], metadata=MARK)
    with pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def find_table(kind: str) -> str:
    """The table whose rows have this record name."""
    return next((table for table, called in RECORD_NAMES.items() if called == kind), kind)


def json_line(record: dict[str, Any]) -> bytes:
    """A record as one line of JSON; lone surrogates, which an old store may contain, are written as escapes."""
    try:
        return f"{json.dumps(record, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(record)}\n".encode()


def _records(tx: Transaction) -> Iterator[dict[str, Any]]:
    yield {"record": FIRST, "format": FORMAT, "version": VERSION, "schema": schema_number()}
    for memory, links in tx.transfer.memories():
        yield {
            "record": MEMORY,
            **export_row(memory, links),
            **{column.name: _exported(memory, column) for column in _MORE},
        }
    for table in tx.transfer.tables():
        for row in tx.transfer.rows(table):
            yield {"record": RECORD_NAMES[table], **row}


def _with_payload(record: dict[str, Any]) -> dict[str, Any]:
    if record["record"] != MEMORY:
        return {"record": record["record"], "payload": json.dumps(record)}
    more = {name: record[name] for name in columns_of_everything()}
    return {**_parquet_row(record), "record": MEMORY, "payload": json.dumps(more)}
