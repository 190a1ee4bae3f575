"""A candidate that was accepted, as the memory that the store keeps."""

from __future__ import annotations

from datetime import datetime

from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import Memory
from memory_pipeline.wording.normalise import content_hash, shape_hash


def as_memory(
    candidate: Candidate, memory_id: str, project_id: str, content: str, created_at: datetime, token_count: int
) -> Memory:
    """The memory, with the hashes of its content; what the candidate leaves open is given."""
    return Memory(
        id=memory_id,
        project_id=project_id,
        content=content,
        memory_type=candidate.memory_type,
        created_at=created_at,
        effective_date=candidate.effective_date or created_at,
        content_hash=content_hash(content),
        shape_hash=shape_hash(content),
        token_count=token_count,
        categories=candidate.categories,
        tags=candidate.tags,
        importance=candidate.importance,
        abstraction_level=candidate.abstraction_level,
        pattern_type=candidate.pattern_type,
        confidence_score=candidate.confidence_score,
        consolidation_method=candidate.consolidation_method,
        created_at_quality=candidate.created_at_quality if candidate.created_at else "import",
        source=candidate.source,
        archived_by=candidate.archived_by,
        archived_at=candidate.archived_at,
        consolidated_into_id=candidate.consolidated_into_id,
        compressed_from=candidate.compressed_from,
        importance_before=candidate.importance_before,
        rolled_back_at=candidate.rolled_back_at,
        is_canonical=candidate.is_canonical,
        pinned=candidate.pinned,
        reuse_count=candidate.reuse_count,
        useful_count=candidate.useful_count,
    )
