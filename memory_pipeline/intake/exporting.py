"""Out of the store again: the active memories, or everything with its lineage, to JSONL or Parquet.

What `--all` writes, an import into an empty store turns into the same store, by hash.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files import check_output, writing_whole
from memory_pipeline.places import check_is_free
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import Store, all_memories, lineage_of

EXPORT_FORMATS = ("jsonl", "parquet")
#: The connectors whose sources are single files, known to the store by name.
_FILE_CONNECTORS = ("jsonl", "csv", "parquet")
#: In the metadata of a Parquet file: that it is an export, which the next one may replace.
_MARK = {b"memory_pipeline": b"export"}
#: Longer first lines than this are no row of an export.
_LONGEST_LINE = 16 << 20


def export_memories(store: Store, name: str, path: Path, *, everything: bool = False, force: bool = False) -> int:
    """Write memories as rows to `path`, whole or not at all; return how many.

    Without `everything` only the active ones. Raises InputError for an unknown format, OutputError for a path that
    cannot or must not be written and for a full disk.
    """
    check_export(store, name, path, force=force)
    with store.reading() as tx:
        memories = all_memories(tx, include_archived=everything, include_rolled_back=everything)
        links = lineage_of(tx, [memory.id for memory in memories])
    return write_rows(store, name, path, memories, links, force=force)


def write_rows(
    store: Store, name: str, path: Path, memories: list[Memory], links: list[LineageLink], *, force: bool = False
) -> int:
    """Write these memories with their direct sources to `path`; errors as in `export_memories`.

    A file that stands there is replaced when it is an earlier export, or with `force`; the file that memories of the
    store came from is never.
    """
    check_export(store, name, path, force=force)
    if path.name in {m.source.file for m in memories if m.source.connector in _FILE_CONNECTORS} and path.exists():
        raise OutputError(
            f"memories of this store came from a file named '{path.name}'; name another file than '{path}'"
        )
    rows = _rows(memories, links)
    with writing_whole(path, lambda found: is_export(name, found), force=force) as file:
        if name == "parquet":
            return _write_parquet(file, list(rows))
        count = 0
        for row in rows:
            file.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))
            count += 1
        return count


def check_export(store: Store, name: str, path: Path, *, force: bool = False) -> None:
    """Raises what `export_memories` would, before any work is done."""
    if name not in EXPORT_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_FORMATS)}")
    check_is_free(path, store.path)
    check_output(path, lambda found: is_export(name, found), force=force)


def is_export(name: str, path: Path) -> bool:
    """Whether a file is an earlier export in this format: its rows have the columns of one."""
    if name == "parquet":
        return _is_parquet_export(path)
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE)
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and set(export_row_columns()) <= row.keys()


def _is_parquet_export(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            metadata = pq.read_schema(file).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return _MARK.items() <= metadata.items()


def _rows(memories: list[Memory], links: list[LineageLink]) -> Iterator[dict[str, Any]]:
    sources: dict[str, list[LineageLink]] = defaultdict(list)
    for link in links:
        sources[link.memory_id].append(link)
    for memory in memories:
        yield export_row(memory, sources[memory.id])


def export_row(memory: Memory, sources: list[LineageLink]) -> dict[str, Any]:
    """One memory as a row: the columns that scripts rely on first, then what a faithful copy needs."""
    return {
        "id": memory.id,
        "project_id": memory.project_id,
        "content": memory.content,
        "memory_type": memory.memory_type,
        "categories": list(memory.categories),
        "tags": list(memory.tags),
        "importance": memory.importance,
        "created_at": memory.created_at.isoformat(),
        "effective_date": memory.effective_date.isoformat(),
        "abstraction_level": memory.abstraction_level,
        "archived": memory.archived_at is not None,
        "archived_by": memory.archived_by,
        "archived_at": memory.archived_at.isoformat() if memory.archived_at else None,
        "consolidated_into_id": memory.consolidated_into_id,
        "source_ids": [link.source_id for link in sources],
        "pinned": memory.pinned,
        "confidence_score": memory.confidence_score,
        "pattern_type": memory.pattern_type,
        "consolidation_method": memory.consolidation_method,
        "created_at_quality": memory.created_at_quality,
        "importance_before": memory.importance_before,
        "rolled_back_at": memory.rolled_back_at.isoformat() if memory.rolled_back_at else None,
        "is_canonical": memory.is_canonical,
        "reuse_count": memory.reuse_count,
        "useful_count": memory.useful_count,
        "compressed_from": json.loads(memory.compressed_from) if memory.compressed_from else None,
        "source": {"connector": memory.source.connector, "file": memory.source.file, "line": memory.source.line},
        "sources": [
            {"id": link.source_id, "relation": link.relation, "similarity": link.similarity} for link in sources
        ],
    }


def _write_parquet(file: BinaryIO, rows: list[dict[str, Any]]) -> int:
    """Nested columns are JSON text, so that every row has the same schema, an empty store's too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number, flag, texts = pa.string(), pa.float64(), pa.bool_(), pa.list_(pa.string())
    numbers = (
        "importance",
        "confidence_score",
        "importance_before",
        "abstraction_level",
        "reuse_count",
        "useful_count",
    )
    kinds = {
        **dict.fromkeys(("categories", "tags", "source_ids"), texts),
        **dict.fromkeys(numbers, number),
        **dict.fromkeys(("archived", "pinned", "is_canonical"), flag),
    }
    nested = ("compressed_from", "source", "sources")
    columns = list(export_row_columns())
    flat = [
        {name: json.dumps(row[name]) if name in nested and row[name] is not None else row[name] for name in columns}
        for row in rows
    ]
    schema = pa.schema([(name, kinds.get(name, text)) for name in columns], metadata=_MARK)
    pq.write_table(pa.Table.from_pylist(flat, schema=schema), file)
    return len(rows)


def export_row_columns() -> tuple[str, ...]:
    """The columns of an exported row, in order."""
    return (
        "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at",
        "effective_date", "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id",
        "source_ids", "pinned", "confidence_score", "pattern_type", "consolidation_method", "created_at_quality",
        "importance_before", "rolled_back_at", "is_canonical", "reuse_count", "useful_count", "compressed_from",
        "source", "sources",
    )  # fmt: skip
