"""The drafts of proposals and the JSON in which they are stored; principles and contradictions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import TypeAdapter, ValidationError

from memory_pipeline.errors import InputError
from memory_pipeline.records.cluster import Cluster, Distillation
from memory_pipeline.records.columns import Column
from memory_pipeline.records.conversation import ROUTINE, STATED
from memory_pipeline.records.identifiers import derived_id, fingerprint_of
from memory_pipeline.records.memory import DuplicateGroup
from memory_pipeline.records.night import Proposal

#: The status of a group of related patterns.
PrincipleStatus = Literal["created", "skipped", "failed", "settled"]
DUPLICATE_POLICY = "duplicate"

#: The kinds of a linked conflict. Of one that is only likely no person is asked: a search puts the later side first.
#: Other kinds are of earlier versions.
CONTRADICTION, LIKELY = "contradiction", "likely"
#: What stands for the differing words of a conflict that is not one of words.
IN_OTHER_WORDS = "in other words"

_DISTILLATION, _DUPLICATES = TypeAdapter(Distillation), TypeAdapter(DuplicateGroup)


class DraftError(InputError):
    """The draft of a proposal cannot be read, or is not that of its proposal."""


def drafted(proposal: Proposal) -> Distillation | DuplicateGroup:
    """The distillation or group of duplicates in a proposal. Raises DraftError if there is none, or if it belongs to
    other members or another project than its proposal says."""
    try:
        draft = read_draft(proposal.policy, proposal.draft)
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
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
    drafts = {}
    for proposal in proposals:
        with suppress(DraftError):
            drafts[proposal] = drafted(proposal)
    return drafts


def read_draft(policy: str, text: str) -> Distillation | DuplicateGroup:
    """A draft from its JSON. Raises ValidationError if it is not a draft of this policy."""
    return _DUPLICATES.validate_json(text) if policy == DUPLICATE_POLICY else _DISTILLATION.validate_json(text)


def draft_json(draft: Distillation | DuplicateGroup) -> str:
    """The JSON that `drafted` reads."""
    data = _DUPLICATES.dump_json(draft) if isinstance(draft, DuplicateGroup) else _DISTILLATION.dump_json(draft)
    return data.decode()


def fingerprint_of_draft(draft: Distillation | DuplicateGroup) -> str:
    """The fingerprint of what a draft is made of: of its members; of a statement, with its words, since several
    statements may rest on the same notes."""
    words = (draft.content,) if isinstance(draft, Distillation) and draft.relation in (STATED, ROUTINE) else ()
    return fingerprint_of((*members_of(draft), *words))


def members_of(draft: Distillation | DuplicateGroup) -> tuple[str, ...]:
    """The memories that a draft is made of, or that are its copies."""
    return draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids


@dataclass(frozen=True, slots=True)
class PrincipleResult:
    """The result for one group of patterns that share a rule."""

    group: Annotated[Cluster, Column("The patterns behind it; they stay active.")]
    status: Annotated[
        PrincipleStatus,
        Column("created; skipped or failed (see reason; what failed is tried again next week); or settled."),
    ]  # fmt: skip
    reason: Annotated[str | None, Column("Why it was refused or failed.")] = None
    principle_id: Annotated[str | None, Column("The memory of level 3 that was written.")] = None
    content: Annotated[str, Column("The principle, or nothing.")] = ""
    replaces: Annotated[
        tuple[str, ...], Column("Earlier principles from some of these patterns, archived into it.")
    ] = ()

    @property
    def pattern_ids(self) -> tuple[str, ...]:
        """The memories of the group, sorted."""
        return self.group.member_ids


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both hold."""

    project_id: Annotated[str, Column("The project of both.")]
    a: Annotated[str, Column("One memory.")]
    b: Annotated[str, Column("The other memory; its id sorts after the first.")]
    kind: Annotated[str, Column("`contradiction`, or `likely`; of earlier versions also how they differ.")]
    detail: Annotated[str, Column("The differing words.")]
    score: Annotated[float, Column("Cosine of the two.")]


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A conflict with its history."""

    conflict: Annotated[Conflict, Column("The pair.")]
    found_at: Annotated[datetime, Column("The night in which it was found.")]
    resolution: Annotated[
        str | None,
        Column(
            "`keep_newer`, `keep_one` or `keep_both` by a person, `series` by the pipeline; nothing while it is open."
        ),
    ] = None
    resolved_at: Annotated[datetime | None, Column("When a person decided.")] = None
    resolved_by: Annotated[str | None, Column("Who decided.")] = None
    kept_id: Annotated[str | None, Column("The side that won; a later one may have won against it.")] = None
    scope_a: Annotated[str | None, Column("Where side a applies, if both were kept.")] = None
    scope_b: Annotated[str | None, Column("Where side b applies.")] = None
    note: Annotated[str | None, Column("What the person noted.")] = None
    resolution_run: Annotated[str | None, Column("The run that applied the decision.")] = None

    @property
    def id(self) -> str:
        """Derived from the pair."""
        return derived_id("conflict", self.conflict.a, self.conflict.b)
