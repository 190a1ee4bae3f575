"""What a proposal would do, and the JSON in which it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory_pipeline.errors import InputError
from memory_pipeline.records.cluster import Cluster, Disagreement, Distillation, Measured
from memory_pipeline.records.identifiers import fingerprint_of
from memory_pipeline.records.knowledge import Causal
from memory_pipeline.records.memory import DuplicateGroup
from memory_pipeline.records.night import Proposal
from memory_pipeline.records.statement import ROUTINE, STATED

DUPLICATE_POLICY = "duplicate"

_DISTILLATION, _DUPLICATES = TypeAdapter(Distillation), TypeAdapter(DuplicateGroup)


class DraftError(InputError):
    """The draft of a proposal cannot be read, or is not that of its proposal."""


def drafted(proposal: Proposal) -> Distillation | DuplicateGroup:
    """The distillation or group of duplicates in a proposal. Raises DraftError if there is none, or if it belongs to
    other members or another project than its proposal says."""
    try:
        draft = read_draft(proposal.policy, proposal.draft)
    except ValueError as error:
        reason = _words(error)
    else:
        project = draft.project_id if isinstance(draft, DuplicateGroup) else draft.cluster.project_id
        if (fingerprint_of_draft(draft), project) == (proposal.cluster_fingerprint, proposal.project_id):
            return draft
        reason = "it is about other memories than the proposal says"
    raise DraftError(
        f"the draft of proposal '{proposal.id}' cannot be used ({reason}); refuse it with 'memory-pipeline proposals "
        f"reject {proposal.id}'"
    )


def drafts_of(proposals: Iterable[Proposal]) -> dict[Proposal, Distillation | DuplicateGroup]:
    """The drafts by proposal, without those that cannot be used: they await a person's refusal, and hold up nothing."""
    found = {}
    for proposal in proposals:
        with suppress(DraftError):
            found[proposal] = drafted(proposal)
    return found


def read_draft(policy: str, text: str) -> Distillation | DuplicateGroup:
    """A draft from its JSON. Raises ValueError (of which a ValidationError is one) if it is not a draft of this
    policy."""
    if policy == DUPLICATE_POLICY:
        return _DUPLICATES.validate_json(text)
    kept = json.loads(text)
    if not isinstance(kept, dict):
        raise ValueError("it is not a JSON object")
    try:
        return _DISTILLATION.validate_python(kept if "cluster" in kept else _nested(kept))
    except (KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise ValueError(f"a field is missing or of the wrong kind: {error}") from error


def _words(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


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


def fingerprint_of_draft(draft: Distillation | DuplicateGroup) -> str:
    """The fingerprint of what a draft is made of: of its members; of a statement, with its words, since several
    statements may rest on the same notes."""
    said = (draft.content,) if isinstance(draft, Distillation) and draft.relation in (STATED, ROUTINE) else ()
    return fingerprint_of((*members_of(draft), *said))


def members_of(draft: Distillation | DuplicateGroup) -> tuple[str, ...]:
    """The memories that a draft is made of, or that are its copies."""
    return draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids
