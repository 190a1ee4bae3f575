"""Proposals of a night: what waits for a person, as a night leaves it and as a person reads it."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, TypeVar

from memory_pipeline.night.context import Night
from memory_pipeline.records import Distillation, DuplicateGroup, Proposal, derived_id, fingerprint_of
from memory_pipeline.store import Transaction, read_memories, replacement_of

DUPLICATE_POLICY = "duplicate"

_Record = TypeVar("_Record", Distillation, DuplicateGroup)


def propose_duplicates(night: Night, tx: Transaction, group: DuplicateGroup) -> None:
    """Leave a group of exact duplicates for a person to decide."""
    fingerprint = fingerprint_of(group.duplicate_ids)
    cluster_id = derived_id(DUPLICATE_POLICY, group.project_id, fingerprint)
    _propose(night, tx, cluster_id, group.project_id, fingerprint, DUPLICATE_POLICY, group)


def propose_distillation(night: Night, tx: Transaction, draft: Distillation) -> None:
    """Leave an accepted distillation for a person to decide."""
    _propose(night, tx, draft.cluster_id, draft.project_id, draft.fingerprint, draft.policy, draft)


def _propose(
    night: Night, tx: Transaction, cluster_id: str, project: str, fingerprint: str, policy: str, draft: object
) -> None:
    assert isinstance(draft, Distillation | DuplicateGroup)
    tx.proposals.keep(
        Proposal(
            id=cluster_id,
            project_id=project,
            cluster_fingerprint=fingerprint,
            policy=policy,
            run_id=night.options.run_id,
            partition=night.options.partition,
            draft=json.dumps(asdict(draft), default=str, sort_keys=True),
            status="pending",
            proposed_at=night.as_of,
        ),
    )


def held_by_proposals(tx: Transaction) -> set[str]:
    """Members of proposals that wait for another one: the cluster does not form again until that is decided."""
    return {i for proposal, missing in resting_on_others(tx).items() if missing for i in members_of(proposal)}


def resting_on_others(tx: Transaction) -> dict[Proposal, list[str]]:
    """By waiting proposal, the members of its draft that are in no store yet, for they are proposed themselves."""
    waiting = tx.proposals.list()
    members = {proposal: members_of(proposal) for proposal in waiting}
    there = read_memories(tx, {i for ids in members.values() for i in ids})
    return {proposal: [i for i in ids if i not in there] for proposal, ids in members.items()}


def members_of(proposal: Proposal) -> tuple[str, ...]:
    """The memories that a proposal would archive."""
    draft = drafted(proposal)
    return draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids


def kept_apart(tx: Transaction) -> list[frozenset[str]]:
    """Groups of memories that a person would not have as one: those of rejected duplicates and merges, with what
    stands for them now."""
    groups = []
    for draft in map(drafted, tx.proposals.list("rejected")):
        if isinstance(draft, DuplicateGroup):
            members = (draft.survivor_id, *draft.duplicate_ids)
        elif draft.relation != "distilled":
            members = draft.member_ids
        else:
            continue
        groups.append(frozenset((*members, *(replacement_of(tx, memory_id) for memory_id in members))))
    return groups


def drafted(proposal: Proposal) -> Distillation | DuplicateGroup:
    """The distillation or group of duplicates that a proposal holds."""
    if proposal.policy == DUPLICATE_POLICY:
        return _from_json(DuplicateGroup, proposal.draft)
    return _from_json(Distillation, proposal.draft)


def _from_json(record: type[_Record], text: str) -> _Record:
    hints = typing.get_type_hints(record)
    loaded = json.loads(text)
    return record(**{field.name: _as(hints[field.name], loaded[field.name]) for field in fields(record)})


def _as(hint: Any, value: Any) -> Any:
    if isinstance(hint, types.UnionType):
        return None if value is None else _as(hint.__args__[0], value)
    if hint is datetime:
        return datetime.fromisoformat(value)
    return tuple(value) if isinstance(value, list) else value


def describe_proposal(tx: Transaction, proposal: Proposal) -> dict[str, Any]:
    """A proposal for a reader: the cluster beside its abstraction, what is kept and what is attached."""
    draft = drafted(proposal)
    ids = draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids
    survivor = draft.survivor_id if isinstance(draft, DuplicateGroup) else None
    memories = read_memories(tx, [*ids, *([survivor] if survivor else [])])
    shown: dict[str, Any] = {
        "id": proposal.id,
        "status": proposal.status,
        "policy": proposal.policy,
        "project_id": proposal.project_id,
        "partition": proposal.partition.isoformat(),
        "run_id": proposal.run_id,
        "decided_at": proposal.decided_at.isoformat() if proposal.decided_at else None,
        "decided_by": proposal.decided_by,
        "reason": proposal.reason,
        "members": [{"id": i, "content": memories[i].content} for i in ids if i in memories],
    }
    if isinstance(draft, DuplicateGroup):
        kept = memories[draft.survivor_id]
        return {**shown, "abstraction": kept.content, "attached": [], "facts": "exact copies of " + kept.id}
    missing = [i for i in ids if i not in memories]
    return {
        **shown,
        **({"rests_on_proposed": missing} if missing else {}),
        "abstraction": draft.content,
        "attached": list(draft.attached),
        "facts": f"{draft.facts_kept} kept, {draft.facts_attached} attached, of {draft.facts_found}",
        "tokens": f"{draft.tokens_before} -> {draft.tokens_after}",
    }


def proposal_text(shown: dict[str, Any]) -> str:
    """A described proposal as plain text, sources above what would stand for them."""
    decided = f", {shown['status']} by {shown['decided_by']}" if shown["decided_by"] else f", {shown['status']}"
    lines = [f"{shown['id']}  {shown['policy']}, project {shown['project_id']}, night of {shown['partition']}{decided}"]
    lines += [f"  - {member['content']}" for member in shown["members"]]
    lines += [f"  => {shown['abstraction']}", f"  facts: {shown['facts']}"]
    lines += [f"  rests on what is proposed too: {', '.join(shown.get('rests_on_proposed', []))}"] * (
        "rests_on_proposed" in shown
    )
    lines += [f"  attached: {'; '.join(shown['attached'])}"] if shown["attached"] else []
    return "\n".join(lines)
