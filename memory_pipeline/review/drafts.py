"""What a proposal would do, and the JSON in which it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from memory_pipeline.records import (
    Causal,
    Cluster,
    Disagreement,
    Distillation,
    DuplicateGroup,
    Measured,
    Proposal,
)

DUPLICATE_POLICY = "duplicate"

_DISTILLATION, _DUPLICATES = TypeAdapter(Distillation), TypeAdapter(DuplicateGroup)


def drafted(proposal: Proposal) -> Distillation | DuplicateGroup:
    """The distillation or group of duplicates in a proposal."""
    if proposal.policy == DUPLICATE_POLICY:
        return _DUPLICATES.validate_json(proposal.draft)
    kept = json.loads(proposal.draft)
    return _DISTILLATION.validate_python(kept if "cluster" in kept else _nested(kept))


def draft_json(draft: Distillation | DuplicateGroup) -> str:
    """The JSON that `drafted` reads."""
    kept = _DUPLICATES.dump_json(draft) if isinstance(draft, DuplicateGroup) else _DISTILLATION.dump_json(draft)
    return kept.decode()


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """A distillation as stores from before the first release keep it, with its cluster's fields among its own.
    Missing fields of its cluster are derived from its members."""
    similarity = dict(zip(flat["member_ids"], flat["similarities"], strict=True))
    ids = tuple(sorted(similarity))
    cluster = {
        **{field.name: flat[field.name] for field in fields(Cluster) if field.name in flat},
        "member_ids": ids,
        "member_count": len(ids),
        "avg_similarity": sum(similarity.values()) / len(ids),
        "min_similarity": min(similarity.values()),
        "dominant_category": next(iter(flat["categories"]), ""),
        "top_categories": tuple(flat["categories"][:2]),
        "total_tokens": flat["tokens_before"],
        "max_importance": flat["importance"],
        "newest_member_at": flat["effective_date"],
    }
    return {
        **{field.name: flat[field.name] for field in fields(Distillation) if field.name in flat},
        "cluster": cluster,
        "similarities": tuple(similarity[memory_id] for memory_id in ids),
        "measured": {field.name: flat[field.name] for field in fields(Measured)},
        "oldest_source_at": flat["oldest_member_at"],
        "causal": Causal(*flat["causal"]) if flat["causal"] else None,
        "contradictions": tuple(Disagreement.between(*pair.split("\n", 1)) for pair in flat["contradictions"]),
    }


def members_of(proposal: Proposal) -> tuple[str, ...]:
    """The memories that a proposal would archive."""
    draft = drafted(proposal)
    return draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids
