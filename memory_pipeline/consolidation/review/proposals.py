"""Proposals of a night: how a night leaves them, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import Field

from memory_pipeline.consolidation.abstractions import make_abstraction
from memory_pipeline.consolidation.context import Night
from memory_pipeline.documents import Document, Moment, optional
from memory_pipeline.records import Distillation, DuplicateGroup, Memory, Proposal, derived_id, fingerprint_of
from memory_pipeline.records.drafts import DUPLICATE_POLICY, DraftError, draft_json, drafted, drafts_of, members_of
from memory_pipeline.store import Transaction
from memory_pipeline.text.subject import with_subject


def propose(night: Night, tx: Transaction, draft: Distillation | DuplicateGroup) -> None:
    """Leave an accepted distillation or a group of exact duplicates for a person to decide."""
    if isinstance(draft, DuplicateGroup):
        policy, project, fingerprint = DUPLICATE_POLICY, draft.project_id, fingerprint_of(draft.duplicate_ids)
    else:
        cluster = draft.cluster
        policy, project, fingerprint = cluster.policy, cluster.project_id, cluster.fingerprint
    tx.proposals.keep(
        Proposal(
            id=derived_id(policy, project, fingerprint),
            project_id=project,
            cluster_fingerprint=fingerprint,
            policy=policy,
            run_id=night.run_id,
            partition=night.options.partition,
            draft=draft_json(draft),
            status="pending",
            proposed_at=night.as_of,
        )
    )


def find_awaiting(tx: Transaction) -> set[str]:
    """Members of proposals that wait for another one: the cluster does not form again until that one is decided."""
    return {i for proposal, missing in resting_on_others(tx).items() if missing for i in members_of(drafted(proposal))}


def resting_on_others(tx: Transaction) -> dict[Proposal, list[str]]:
    """By waiting proposal, the members of its draft that are not in the store yet, because they are only proposed."""
    members = {proposal: members_of(draft) for proposal, draft in drafts_of(tx.proposals.list()).items()}
    there = tx.memories.read({i for ids in members.values() for i in ids})
    return {proposal: [i for i in ids if i not in there] for proposal, ids in members.items()}


def find_kept_apart(tx: Transaction) -> list[frozenset[str]]:
    """Groups of memories that a person wants to keep apart: those of rejected duplicates and merges, with their
    current replacements."""
    groups = []
    for draft in drafts_of(tx.proposals.list("rejected")).values():
        if isinstance(draft, DuplicateGroup):
            members = (draft.survivor_id, *draft.duplicate_ids)
        elif draft.relation != "distilled":
            members = draft.member_ids
        else:
            continue
        groups.append(members)
    stands_for = tx.lineage.replacements_of({memory_id for members in groups for memory_id in members})
    return [frozenset((*members, *(stands_for[memory_id] for memory_id in members))) for members in groups]


def proposed_memories(tx: Transaction) -> dict[str, tuple[str, Memory]]:
    """By id, the memories that proposals would make, each with the id of its proposal."""
    made = {
        proposal.id: make_abstraction(draft, proposal.proposed_at)
        for proposal, draft in drafts_of(tx.proposals.list(None)).items()
        if isinstance(draft, Distillation)
    }
    return {memory.id: (proposal_id, memory) for proposal_id, memory in made.items()}


class ProposedMember(Document):
    """A memory that a proposal would archive."""

    id: str = Field(description="The memory.")
    content: str = Field(description="Its content.")


class DescribedProposal(Document):
    """A proposal for display: the cluster next to its abstraction, what is kept and what is attached."""

    id: str = Field(description="The proposal's id, which is that of its cluster.")
    status: str = Field(description="`pending`, `approved`, `rejected` or `withdrawn`.")
    policy: str = Field(description="The policy that made it; `duplicate` for exact copies.")
    project_id: str = Field(description="The project of its members.")
    partition: date = Field(description="The night that made it, as a UTC day.")
    run_id: str = Field(description="The run that made it.")
    decided_at: Moment | None = Field(description="When a person decided.")
    decided_by: str | None = Field(description="Who decided.")
    reason: str | None = Field(description="The reason they gave.")
    members: tuple[ProposedMember, ...] = Field(description="The memories that it would archive, with their content.")
    rests_on_proposed: tuple[str, ...] = optional(
        "Proposals that make some of its members and must be approved first; omitted if there are none.", ()
    )
    abstraction: str = Field(description="The text that would replace them, including attached facts.")
    attached: tuple[str, ...] = Field(description="Facts of single members that are attached to it.")
    facts: str = Field(description="How many facts of the members it keeps, in words.")
    tokens: str | None = optional("Tokens before -> after; omitted for exact copies.")


def describe_proposals(tx: Transaction, proposals: Sequence[Proposal]) -> list[DescribedProposal]:
    """Proposals with the content of their members, also of proposed ones, and of the text that would replace them."""
    proposed = proposed_memories(tx)
    return [_describe(tx, proposal, proposed) for proposal in proposals]


def _describe(tx: Transaction, proposal: Proposal, proposed: Mapping[str, tuple[str, Memory]]) -> DescribedProposal:
    fields: dict[str, Any] = {"abstraction": "", "attached": ()}
    members: list[Memory] = []
    try:
        draft = drafted(proposal)
    except DraftError as error:
        fields["facts"] = str(error)
    else:
        ids = members_of(draft)
        survivor = [draft.survivor_id] if isinstance(draft, DuplicateGroup) else []
        memories = tx.memories.read([*ids, *survivor])
        waiting = {i: proposed[i] for i in ids if i not in memories and i in proposed}
        known = memories | {i: memory for i, (_, memory) in waiting.items()}
        members = sorted((known[i] for i in ids if i in known), key=lambda memory: (memory.effective_date, memory.id))
        if isinstance(draft, DuplicateGroup):
            original = memories.get(draft.survivor_id)
            fields["abstraction"] = original.content if original else ""
            fields["facts"] = f"exact copies of {draft.survivor_id}" + ("" if original else ", which does not exist")
        else:
            counted = draft.measured
            fields |= {
                "rests_on_proposed": tuple(sorted({proposal_id for proposal_id, _ in waiting.values()})),
                "abstraction": draft.content,
                "attached": draft.attached,
                "facts": f"{counted.facts_kept} kept, {counted.facts_attached} attached, of {counted.facts_found}",
                "tokens": f"{counted.tokens_before} -> {counted.tokens_after}",
            }
    return DescribedProposal.of_record(
        proposal,
        members=tuple(ProposedMember(id=memory.id, content=with_subject(memory)) for memory in members),
        **fields,
    )


def proposal_text(proposal: DescribedProposal) -> str:
    """A described proposal as plain text, with the sources above the text that would replace them."""
    decided = f", {proposal.status} by {proposal.decided_by}" if proposal.decided_by else f", {proposal.status}"
    lines = [f"{proposal.id}  {proposal.policy}, project {proposal.project_id}, night of {proposal.partition}{decided}"]
    lines += [f"  - {member.content}" for member in proposal.members]
    lines += [f"  => {proposal.abstraction}", f"  facts: {proposal.facts}"]
    if proposal.rests_on_proposed:
        lines.append(f"  depends on other proposals: {', '.join(proposal.rests_on_proposed)}")
    lines += [f"  attached: {'; '.join(proposal.attached)}"] if proposal.attached else []
    return "\n".join(lines)
