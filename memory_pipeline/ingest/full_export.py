"""Exports everything in a store to one file: the memories, and what nights made and decided.

The file consists of records. Each names its kind (`"record": "memory"`, `"atom"`, ...); the first one gives the
format and its version, and the last one gives the counts of the others and hashes of the file and of the store's
contents, so that a truncated or altered file is detected. In Parquet, memories are stored in their usual columns and
other records as JSON in `payload`. An import into an empty store gives the same store (full_import.py);
docs/reference.md lists the records and what is not exported.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from memory_pipeline.ingest.export_rows import (
    EVERYTHING_FIRST,
    EVERYTHING_FORMAT,
    columns_of_everything,
    parquet_row,
    parquet_schema,
    row_of_everything,
)
from memory_pipeline.store import RECORD_NAMES, Store, Transaction, schema_number

FORMAT, VERSION = EVERYTHING_FORMAT, 1
FIRST, LAST, MEMORY = EVERYTHING_FIRST, "end", "memory"
_GROUP = 2000


def write_everything(store: Store, name: str, file: BinaryIO) -> int:
    """Write everything in a store to an open file; return the number of memories."""
    with store.reading() as tx:
        return _write_jsonl(file, tx) if name == "jsonl" else _write_parquet(file, tx)


def table_of(kind: str) -> str:
    """The table whose rows have this record name."""
    return next((table for table, called in RECORD_NAMES.items() if called == kind), kind)


def json_line(record: dict[str, Any]) -> str:
    """A record as one line of JSON; lone surrogates, which an old store may contain, are written as escapes."""
    line = json.dumps(record, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(record)
    return f"{line}\n"


def _records(tx: Transaction) -> Iterator[dict[str, Any]]:
    yield {"record": FIRST, "format": FORMAT, "version": VERSION, "schema": schema_number()}
    for memory, links in tx.transfer.memories():
        yield {"record": MEMORY, **row_of_everything(memory, links)}
    for table in tx.transfer.tables():
        for row in tx.transfer.rows(table):
            yield {"record": RECORD_NAMES[table], **row}


def _write_jsonl(file: BinaryIO, tx: Transaction) -> int:
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    for record in _records(tx):
        line = json_line(record).encode()
        digest.update(line)
        file.write(line)
        counts[record["record"]] += 1
    file.write(json_line(_last(tx, counts, digest.hexdigest())).encode())
    return counts[MEMORY]


def _write_parquet(file: BinaryIO, tx: Transaction) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = parquet_schema().append(pa.field("record", pa.string())).append(pa.field("payload", pa.string()))
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()

    def rows() -> Iterator[dict[str, Any]]:
        for record in _records(tx):
            counts[record["record"]] += 1
            row = _with_payload(record)
            digest.update(row["payload"].encode())
            yield row
        yield _with_payload(_last(tx, counts, digest.hexdigest()))

    with pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        group: list[dict[str, Any]] = []
        for row in rows():
            group.append(row)
            if len(group) >= _GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
                group = []
        writer.write_table(pa.Table.from_pylist(group, schema=schema))
    return counts[MEMORY]


def _last(tx: Transaction, counts: Counter[str], digest: str) -> dict[str, Any]:
    """`sha256`: of the lines before this one, in Parquet of the payloads; `contents`: of everything that the store
    knows."""
    return {"record": LAST, "records": dict(counts), "sha256": digest, "contents": tx.transfer.digest()}


def _with_payload(record: dict[str, Any]) -> dict[str, Any]:
    if record["record"] != MEMORY:
        return {"record": record["record"], "payload": json.dumps(record)}
    more = {name: record[name] for name in columns_of_everything()}
    return {**parquet_row(record), "record": MEMORY, "payload": json.dumps(more)}
