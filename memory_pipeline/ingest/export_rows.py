"""One memory as a row of an export, and the columns that such rows have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memory_pipeline.records import LineageLink, Memory

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("categories", "tags", "source_ids")
_NUMBERS = (
    "importance",
    "confidence_score",
    "importance_before",
    "abstraction_level",
    "reuse_count",
    "useful_count",
)
_FLAGS = ("archived", "pinned", "is_canonical")
#: In the metadata of a Parquet file: that it is an export, which the next one may replace.
MARK = {b"memory_pipeline": b"export"}
_NESTED = ("compressed_from", "source", "sources")


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


def parquet_schema() -> pa.Schema:
    """The columns of a row in Parquet. Nested ones are JSON text, so that every file has the same schema."""
    import pyarrow as pa

    kinds = {
        **dict.fromkeys(_LISTS, pa.list_(pa.string())),
        **dict.fromkeys(_NUMBERS, pa.float64()),
        **dict.fromkeys(_FLAGS, pa.bool_()),
    }
    return pa.schema([(name, kinds.get(name, pa.string())) for name in export_row_columns()], metadata=MARK)


def parquet_row(row: dict[str, Any]) -> dict[str, Any]:
    """An exported row as Parquet holds it."""
    return {
        name: json.dumps(row[name]) if name in _NESTED and row[name] is not None else row[name]
        for name in export_row_columns()
    }


def export_row_columns() -> tuple[str, ...]:
    """The columns of an exported row, in order."""
    return (
        "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at",
        "effective_date", "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id",
        "source_ids", "pinned", "confidence_score", "pattern_type", "consolidation_method", "created_at_quality",
        "importance_before", "rolled_back_at", "is_canonical", "reuse_count", "useful_count", "compressed_from",
        "source", "sources",
    )  # fmt: skip
