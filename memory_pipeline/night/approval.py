"""A person's decision about proposals: approving applies one as of its night, rejecting remembers it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from memory_pipeline.night.archive import SourcesChangedError, apply_distillation
from memory_pipeline.night.context import Night, NightOptions
from memory_pipeline.night.duplicates import archive_group
from memory_pipeline.night.gates import refusal_of
from memory_pipeline.night.report import report_run
from memory_pipeline.night.review import drafted
from memory_pipeline.records import DuplicateGroup, Proposal
from memory_pipeline.settings import Settings
from memory_pipeline.store import (
    Store,
    Transaction,
    create_snapshot,
    decide_proposal,
    list_proposals,
    read_proposal,
    release_lease,
    replacement_of,
)

_HOLDER = "memory-pipeline proposals"


def find_proposals(store: Store, ids: Sequence[str]) -> list[Proposal]:
    """The proposals with these ids (or beginnings of ids), or all that wait when none is named.

    Raises InputError for an id that fits none or several.
    """
    with store.reading() as tx:
        return [read_proposal(tx, wanted) for wanted in ids] if ids else list_proposals(tx)


def approve_proposals(store: Store, settings: Settings, ids: Sequence[str], by: str) -> list[dict[str, Any]]:
    """Apply proposals as of their nights, each in one transaction, and say what became of each.

    One whose sources changed since, or that is decided already, is left alone with the reason. Raises
    StoreBusyError while a night runs.
    """
    proposals = find_proposals(store, ids)
    run_id, started = f"review-{uuid.uuid4()}", datetime.now(UTC)
    results = []
    try:
        for number, proposal in enumerate(proposals):
            night = Night(store, settings, NightOptions(proposal.partition, run_id), holder=_HOLDER)
            night.hold_lease()
            if number == 0:
                create_snapshot(store, "review", datetime.now(UTC), settings.store_snapshots_kept)
            results.append({"id": proposal.id, "outcome": _approve_alone(night, proposal, by), "run_id": run_id})
        if proposals:
            newest = max(proposal.partition for proposal in proposals)
            report_run(Night(store, settings, NightOptions(newest, run_id), holder=_HOLDER), "review", started)
    finally:
        if proposals:
            release_lease(store, run_id)
    return results


def reject_proposals(store: Store, ids: Sequence[str], by: str, reason: str | None = None) -> list[dict[str, Any]]:
    """Remember that a person does not want these; no night proposes them again."""
    results = []
    for proposal in find_proposals(store, ids):
        outcome = f"{proposal.status} already"
        if proposal.status in ("pending", "withdrawn"):
            with store.writing(_HOLDER) as tx:
                decide_proposal(tx, proposal.id, "rejected", datetime.now(UTC), by, reason)
            outcome = "rejected"
        results.append({"id": proposal.id, "outcome": outcome, "run_id": None})
    return results


def _approve_alone(night: Night, proposal: Proposal, by: str) -> str:
    """What became of one proposal; one that breaks is reported and leaves the others."""
    try:
        return _approve(night, proposal, by)
    except Exception as error:
        night.log.exception("approving %s", proposal.id)
        night.note_error(proposal.id, "write", error)
        return f"failed: {type(error).__name__}: {error}"[:500]


def _approve(night: Night, proposal: Proposal, by: str) -> str:
    if proposal.status != "pending":
        return f"{proposal.status} already"

    def note(tx: Transaction) -> None:
        decide_proposal(tx, proposal.id, "approved", datetime.now(UTC), by)

    draft = drafted(proposal)
    if isinstance(draft, DuplicateGroup):
        with night.store.writing(_HOLDER, night.options.run_id) as tx:
            archive_group(night, tx, replace(draft, survivor_id=replacement_of(tx, draft.survivor_id)))
            note(tx)
        return "approved"
    refusal = refusal_of(night, draft)
    if refusal:
        return f"not applied: {refusal}"
    try:
        apply_distillation(night, draft, note)
    except SourcesChangedError as change:
        return f"not applied: {change}"
    return "approved"
