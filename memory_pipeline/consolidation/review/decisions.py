"""A person's decisions about proposals: approving applies them as of their night, rejecting is remembered.

Approving all proposals of a night leaves the same store, by hash, as the night without review: they are applied in
the night's order, and their consequences (links between contradictions, atoms, the playbook) as of the night.
Approving only some, or one after the other, may leave a different store, because later nights start from what is
there.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Literal

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.abstractions import DISTILLED, abstraction_id
from memory_pipeline.consolidation.archive import SourcesChangedError, apply_distillation
from memory_pipeline.consolidation.atoms import grow_atoms
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.duplicates import archive_group
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.gates import refusals_of
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.playbook import update_playbook
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.review.conflicts import DescribedConflict, describe_choices, open_groups
from memory_pipeline.consolidation.review.patterns import DescribedPattern, list_patterns
from memory_pipeline.consolidation.review.proposals import (
    DescribedProposal,
    describe_proposals,
    proposed_memories,
    resting_on_others,
)
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.documents import Document
from memory_pipeline.errors import EmbeddingError, InputError, in_words
from memory_pipeline.periods.running import renew_stale
from memory_pipeline.records import (
    ESTABLISHED,
    ROUTINE,
    SERIES,
    STATED,
    Distillation,
    DuplicateGroup,
    PatternDecision,
    Proposal,
)
from memory_pipeline.records.drafts import DraftError, drafted, drafts_of
from memory_pipeline.store import Store, Transaction, create_snapshot
from memory_pipeline.store.rows import only_one
from memory_pipeline.store.runs import REVIEW_ACTOR
from memory_pipeline.workspace.conversation_pages import write_files

_ORDER = (SERIES, STATED, ROUTINE, "merged", "canonical", DISTILLED, ESTABLISHED)


class DecidedProposal(Document):
    """A proposal that was approved or rejected, and what became of it."""

    id: str = Field(description="The proposal.")
    outcome: str = Field(
        description="`approved`, `rejected`, `not applied: ...` with the reason, `failed: ...` with the error, or what "
        "it was already."
    )
    run_id: str | None = Field(default=None, description="The run that applied the approved ones.")


def find_proposals(store: Store, ids: Sequence[str]) -> list[Proposal]:
    """The proposals with these ids (or starts of ids), or all waiting ones if no id is given.

    Raises InputError for an id that matches none or several.
    """
    with store.reading() as tx:
        return [tx.proposals.read(wanted) for wanted in ids] if ids else tx.proposals.list()


def approve_proposals(store: Store, settings: Settings, ids: Sequence[str], by: str) -> list[DecidedProposal]:
    """Apply proposals as of their nights, each in one transaction, and return the result of each.

    A proposal whose sources changed since, or that is already decided, is left alone with the reason. Raises
    StoreBusyError while a night runs.
    """
    proposals = sorted(find_proposals(store, ids), key=lambda proposal: proposal.partition)
    run_id, started = f"review-{uuid.uuid4()}", datetime.now(UTC)
    results: list[DecidedProposal] = []
    if not proposals:
        return results
    try:
        for day, group in groupby(proposals, key=lambda proposal: proposal.partition):
            night = Night(store, settings, NightOptions(day, run_id), holder=REVIEW_ACTOR)
            night.hold_lease()
            if not results:
                create_snapshot(store, "review", datetime.now(UTC), settings.store.snapshots_kept)
            outcomes = _approve_night(night, list(group), by)
            results += [DecidedProposal(id=i, outcome=outcome, run_id=run_id) for i, outcome in outcomes.items()]
        report_run(night, "review", started)
    finally:
        store.release_lease(run_id)
    return results


def reject_proposals(store: Store, ids: Sequence[str], by: str, reason: str | None = None) -> list[DecidedProposal]:
    """Record that a person does not want these; no night proposes them again. Proposals that depend on them are
    withdrawn, and may be proposed again without them."""
    results = []
    for proposal in find_proposals(store, ids):
        outcome = f"{proposal.status} already"
        if proposal.status in ("pending", "withdrawn"):
            with store.writing(REVIEW_ACTOR) as tx:
                resting = resting_on_others(tx)
                tx.proposals.decide(proposal.id, "rejected", datetime.now(UTC), by, reason)
                for dependent in _find_dependents(proposal, resting):
                    why = f"depends on proposal '{proposal.id}', which was rejected"
                    tx.proposals.decide(dependent.id, "withdrawn", datetime.now(UTC), by, why)
            outcome = "rejected"
        results.append(DecidedProposal(id=proposal.id, outcome=outcome))
    return results


def _find_dependents(proposal: Proposal, resting: dict[Proposal, list[str]]) -> list[Proposal]:
    """The proposals with a missing member that this one would create, directly or through others."""
    dependents: list[Proposal] = []
    base = [proposal]
    while base:
        drafts = [draft for draft in drafts_of(base).values() if isinstance(draft, Distillation)]
        makes = {abstraction_id(draft) for draft in drafts}
        base = [above for above, missing in resting.items() if makes & set(missing) and above not in dependents]
        dependents += base
    return dependents


def _approve_night(night: Night, proposals: list[Proposal], by: str) -> dict[str, str]:
    """The proposals of one night in the order in which it would have applied them, and their consequences."""
    ranked = sorted(proposals, key=lambda proposal: _rank(night, proposal))
    patterns = [proposal for proposal in ranked if _rank(night, proposal)[0] == len(_ORDER)]
    outcomes = {p.id: _approve(night, p, by) for p in ranked if p not in patterns}
    try:
        find_similar(night, select_eligible(night, []))  # links the contradictions of what was made
    except EmbeddingError as error:
        night.note_error("", "embed", error)
    outcomes |= {p.id: _approve(night, p, by) for p in patterns}
    if "approved" in outcomes.values():
        grow_atoms(night)
        update_playbook(night)
    return outcomes


def _rank(night: Night, proposal: Proposal) -> tuple[int, int, str]:
    draft = drafts_of([proposal]).get(proposal)
    names = [policy.name for policy in night.policies]
    place = names.index(proposal.policy) if proposal.policy in names else len(names)
    return (1 + _ORDER.index(draft.relation) if isinstance(draft, Distillation) else 0), place, proposal.id


def _approve(night: Night, proposal: Proposal, by: str) -> str:
    """The result of one proposal; one that fails is reported and does not affect the others."""
    if proposal.status != "pending":
        return f"{proposal.status} already"

    def note(tx: Transaction) -> None:
        tx.proposals.decide(proposal.id, "approved", datetime.now(UTC), by)

    try:
        draft = drafted(proposal)
        if isinstance(draft, DuplicateGroup):
            archive_group(night, draft, note)
            return "approved"
        with night.store.reading() as tx:
            missing = sorted(set(draft.member_ids) - tx.memories.existing(draft.member_ids).keys())
            if missing:
                return f"not applied: it depends on {_name_prerequisites(tx, missing)}"
        if refusal := refusals_of(night, [draft]).get(draft.id):
            return f"not applied: {refusal}"
        apply_distillation(night, draft, note)
        return "approved"
    except (DraftError, SourcesChangedError) as error:
        return f"not applied: {error}"
    except Exception as error:
        night.note_error(proposal.id, "write", error)
        return f"failed: {in_words(error)}"[:500]


def _name_prerequisites(tx: Transaction, missing: Sequence[str]) -> str:
    """The proposals that make the missing members of another one, in words."""
    proposed = proposed_memories(tx)
    named = sorted({f"'{proposed[i][0]}'" for i in missing if i in proposed})
    if not named:
        return f"the memory '{missing[0]}', which is not in the store and which no proposal makes"
    if len(named) == 1:
        return f"the proposal {named[0]}; approve that one first"
    return f"the proposals {', '.join(named)}; approve those first"


class DecidedExtraction(Document):
    """Something that was extracted, and what a person decided about it."""

    id: str = Field(description="The extraction.")
    project_id: str = Field(description="The project.")
    text: str = Field(description="What was said.")
    decision: Literal["confirmed", "rejected"] = Field(description="`rejected`: it is not so, and is written nowhere.")
    note: str | None = Field(default=None, description="Where else it is told, and stays; null if nowhere.")
    problems: tuple[str, ...] = Field(default=(), description="What could not be written; the next night writes it.")
    moved: tuple[str, ...] = Field(
        default=(), description="Lines that a person wrote between our marks, and where they stand now."
    )


def decide_extraction(
    store: Store,
    settings: Settings,
    wanted: str,
    decision: Literal["confirmed", "rejected"],
    *,
    actor: str,
    now: datetime,
) -> DecidedExtraction:
    """Refuse something that was extracted, given its id, the start of it, or the id of its memory; or take that back.
    Its memory, the files of its day and project, rollups and `MEMORY.md` follow.

    Raises InputError for an unknown id, StoreBusyError while a night runs.
    """
    where = "'memory-pipeline conversations show DAY' has the ids"
    if not wanted:
        raise InputError(f"give the id of what was extracted; {where}")
    holder, run_id = f"conversations {decision} by {actor}", str(uuid.uuid4())
    with store.leased(run_id, holder):
        with store.reading() as tx:
            known = tx.opinions.known()
        by_id = {extraction.memory_id: extraction for extraction in reversed(known) if extraction.memory_id} | {
            extraction.id: extraction for extraction in known
        }
        extraction = only_one(by_id, wanted, "extraction", where)
        pattern_decision = PatternDecision(
            id=extraction.id,
            project_id=extraction.project_id,
            text=extraction.text,
            decision=decision,
            decided_at=now,
            decided_by=actor,
        )
        with store.writing(holder) as tx:
            tx.opinions.decide_extraction(extraction, pattern_decision)
            tx.rollups.mark_stale([extraction.turn_id, *([extraction.memory_id] if extraction.memory_id else [])])
            still = tx.opinions.active([extraction.memory_id] if extraction.memory_id else [])
        written = write_files(store, settings, holder, run_id)
        _, failed = renew_stale(store, settings, holder=holder, run_id=run_id)
    note = f"a night has archived memory '{still[0]}', and what it was archived into stays" if still else None
    return DecidedExtraction.of_record(
        extraction,
        decision=decision,
        note=note if decision == "rejected" else None,
        problems=(*written.problems, *failed),
        moved=written.moved,
    )


class Waiting(Document):
    """Something that waits for a decision."""

    kind: str = Field(description="`proposal`, `conflict` or `pattern`.")
    id: str = Field(description="Its id.")
    project: str = Field(description="Its project.")
    text: str = Field(description="What it is about.")
    decide: str = Field(description="The command that decides it.")


class Inbox(Document):
    """Everything that waits for a decision."""

    count: int = Field(description="How much that is.")
    waiting: tuple[Waiting, ...] = Field(description="What it is: proposals, then conflicts, then patterns.")
    quarantined: int = Field(description="Rows that no import could take; they stay listed after they were mended.")


def read_inbox(opened: Store, project: str | None, today: date, critical_floor: float) -> Inbox:
    """The decisions that wait in one project, or in all (None). `today`: the day for which the confidence of patterns
    is told; `critical_floor`: the importance from which a memory is never archived."""
    with opened.reading() as tx:
        proposals = describe_proposals(tx, tx.proposals.list("pending"))
        quarantined = len(tx.journal.rejected())
        conflicts = describe_choices(tx, open_groups(tx, project), critical_floor)
    patterns = list_patterns(opened, project, today)
    mine = [proposal for proposal in proposals if project in (None, proposal.project_id)]
    waiting = [
        _describe_waiting("proposal", proposal, " ".join(proposal.abstraction.split()), "approve") for proposal in mine
    ]
    for clearest, sides, options in conflicts:
        text = "\n".join(f"{side.day or 'undated'}: {' '.join(side.content.split())}" for side in sides)
        waiting.append(_describe_waiting("conflict", clearest, text, "resolve", f" {options}"))
    waiting += [
        _describe_waiting("pattern", pattern, " ".join(pattern.text.split()), "confirm") for pattern in patterns
    ]
    return Inbox(count=len(waiting), waiting=tuple(waiting), quarantined=quarantined)


def _describe_waiting(
    kind: str, item: DescribedProposal | DescribedConflict | DescribedPattern, text: str, verb: str, how: str = ""
) -> Waiting:
    command = f"memory-pipeline review {kind}s {verb} {item.id[:8]}{how}"
    return Waiting(kind=kind, id=item.id, project=item.project_id, text=text, decide=command)
