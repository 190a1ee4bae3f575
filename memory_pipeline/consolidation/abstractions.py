"""The memory made from an accepted distillation, and its vector.

Both are derived from the distillation alone, so that nothing else has to be stored for a waiting proposal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

import numpy as np

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    ESTABLISHED,
    LEVEL_MERGED,
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    ROUTINE,
    SERIES,
    Distillation,
    Memory,
    Source,
    derived_id,
)
from memory_pipeline.text.normalise import content_hash, embedding_text, shape_hash

DISTILLED: Final = "distilled"
_STANDING_FOR = ("merged", SERIES)
_LEVELS = {DISTILLED: LEVEL_PATTERN, ESTABLISHED: LEVEL_PATTERN, PRINCIPLE: LEVEL_PRINCIPLE}


def abstraction_id(distillation: Distillation) -> str:
    """The id of the memory made from an accepted distillation."""
    return derived_id("abstraction", distillation.id, distillation.prompt_version)


def make_abstraction(distillation: Distillation, as_of: datetime) -> Memory:
    """The memory made from an accepted distillation; its id is derived from cluster and prompt version.

    Only a pattern, a series and a day's digest have `compressed_from`; the others may be merged or distilled again.
    """
    is_settled = distillation.relation in (DISTILLED, ESTABLISHED, ROUTINE)
    series = distillation.series
    memory_id = abstraction_id(distillation)
    compressed_from = {
        "source_ids": list(distillation.member_ids),
        "compression_ratio": round(distillation.measured.compression_ratio, 2),
        "cluster_size": len(distillation.member_ids),
        "distilled_at": as_of.isoformat(),
        "source_date_range": [distillation.oldest_source_at.isoformat(), distillation.effective_date.isoformat()],
        **({SERIES: asdict(series)} if series else {}),
    }
    return Memory(
        id=memory_id,
        project_id=distillation.cluster.project_id,
        content=distillation.content,
        memory_type=distillation.memory_type,
        created_at=as_of,
        effective_date=distillation.effective_date,
        utc_offset=distillation.utc_offset,
        headings=distillation.headings,
        lead_in=distillation.lead_in,
        content_hash=content_hash(distillation.content),
        shape_hash=shape_hash(distillation.content),
        token_count=distillation.measured.tokens_after,
        categories=distillation.categories,
        importance=distillation.importance,
        abstraction_level=_LEVELS.get(distillation.relation, LEVEL_MERGED),
        pattern_type=distillation.pattern_type,
        confidence_score=distillation.confidence,
        consolidation_method=distillation.method,
        source=Source(MADE, distillation.cluster.policy),
        compressed_from=json.dumps(compressed_from, sort_keys=True) if is_settled or series else None,
        tags=distillation.tags,
        is_canonical=distillation.relation == "canonical",
    )


def vectors_of_abstractions(
    distillations: Sequence[Distillation],
    embedder: Embedder,
    vectors_of: Callable[[Sequence[str]], tuple[list[str], Vectors]],
) -> Vectors:
    """Float32 (n, dimension), unit length: the vector of the content, or for a merged memory or a series, whose lines
    have other words, the normalised mean of its members' vectors. `vectors_of`: ids and vectors of these members."""
    vectors = np.empty((len(distillations), embedder.dimension), dtype=np.float32)
    merged = [row for row, d in enumerate(distillations) if d.relation in _STANDING_FOR]
    others = [row for row, d in enumerate(distillations) if d.relation not in _STANDING_FOR]
    if others:
        vectors[others] = embedder.embed([embedding_text(distillations[row].content) for row in others])
    if merged:
        embedded_ids, known = vectors_of(sorted({i for row in merged for i in distillations[row].member_ids}))
        place = {memory_id: row for row, memory_id in enumerate(embedded_ids)}
        for row in merged:
            members = known[[place[i] for i in distillations[row].member_ids if i in place]]
            mean = members.astype(np.float64).mean(axis=0)
            vectors[row] = mean / np.linalg.norm(mean)
    return vectors
