"""Out of the store again: the active memories, or everything with its lineage, to JSONL or Parquet.

What `--all` writes, an import into an empty store turns into the same store, by hash.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError, StoreError
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import Store, all_memories, lineage_of

EXPORT_FORMATS = ("jsonl", "parquet")


def export_memories(store: Store, name: str, path: Path, *, everything: bool = False) -> int:
    """Write memories as rows to `path`, whole or not at all; return how many.

    Without `everything` only the active ones. Raises InputError for an unknown format or a path that
    cannot be written, StoreError when the disk is full.
    """
    _check_target(name, path)
    with store.reading() as tx:
        memories = all_memories(tx, include_archived=everything, include_rolled_back=everything)
        links = lineage_of(tx, [memory.id for memory in memories])
    return write_rows(name, path, memories, links)


def write_rows(name: str, path: Path, memories: list[Memory], links: list[LineageLink]) -> int:
    """Write these memories with their direct sources to `path`; errors as in `export_memories`."""
    _check_target(name, path)
    rows = list(_rows(memories, links))
    partial = path.with_name(f".{path.name}.partial")
    try:
        if name == "jsonl":
            with partial.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        else:
            _write_parquet(partial, rows)
        partial.replace(path)
    except OSError as error:
        raise StoreError(
            f"'{path}' could not be written: {error.strerror or error}; nothing was left behind"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return len(rows)


def _check_target(name: str, path: Path) -> None:
    if name not in EXPORT_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"'{path}' cannot be written: name a file in a directory that exists")


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


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
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
    schema = pa.schema([(name, kinds.get(name, text)) for name in columns])
    pq.write_table(pa.Table.from_pylist(flat, schema=schema), path)


def export_row_columns() -> tuple[str, ...]:
    """The columns of an exported row, in order."""
    return (
        "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at",
        "effective_date", "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id",
        "source_ids", "pinned", "confidence_score", "pattern_type", "consolidation_method", "created_at_quality",
        "importance_before", "rolled_back_at", "is_canonical", "reuse_count", "useful_count", "compressed_from",
        "source", "sources",
    )  # fmt: skip
