"""Turns an accepted candidate into the memory that the store keeps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import LineageLink, Memory, MemoryBase
from memory_pipeline.records.columns import columns_of
from memory_pipeline.text.normalise import hashes_of

_AS_TOLD = [column.name for column in columns_of(MemoryBase)]


def as_memory(
    candidate: Candidate, memory_id: str, project_id: str, content: str, created_at: datetime, token_count: int
) -> Memory:
    """The memory with the hashes of its content; arguments give what the candidate leaves open."""
    told = {name: getattr(candidate, name) for name in _AS_TOLD}
    if candidate.created_at is None:
        told["created_at_quality"] = "import"
    content_hash, shape_hash = hashes_of(content)
    return Memory(
        **{**told, "content": content},
        id=memory_id,
        project_id=project_id,
        created_at=created_at,
        effective_date=candidate.effective_date or created_at,
        content_hash=content_hash,
        shape_hash=shape_hash,
        token_count=token_count,
    )


@dataclass(frozen=True, slots=True)
class Admitted:
    """What an import writes for one row."""

    memory: Memory
    links: tuple[LineageLink, ...]
    embedding: tuple[float, ...] | None
    embedding_model: str | None
