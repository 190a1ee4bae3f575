"""First step: memories of one project with the same normalised content. The oldest stays.

A copy of something that an earlier night archived is archived too, into the memory that stands for it
now, so that a line repeated every day does not come back every day.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from memory_pipeline.errors import in_words
from memory_pipeline.night.context import Night
from memory_pipeline.records import DuplicateGroup, LineageLink, LogRow, derived_id, fingerprint_of
from memory_pipeline.review.proposals import DUPLICATE_POLICY, propose_duplicates
from memory_pipeline.store import (
    REJECTED,
    SameContent,
    Transaction,
    archive_memories,
    insert_lineage,
    replacement_of,
    same_content_groups,
)

_GROUPS_AT_ONCE = 200


def archive_duplicates(night: Night) -> list[DuplicateGroup]:
    """Find the night's exact duplicates and archive them, some groups a transaction; return the groups."""
    night.hold_lease()
    with night.store.reading() as tx:
        rows = same_content_groups(
            tx,
            created_before=night.fresh_after,
            as_of=night.as_of,
            critical_floor=night.settings.critical_floor,
        )
        groups = find_duplicates(rows)
        targets = {group.survivor_id: replacement_of(tx, group.survivor_id) for group in groups}
        decided = tx.proposals.reviewed_fingerprints()
    groups = [
        replace(g, survivor_id=targets[g.survivor_id], proposed=night.settings.is_reviewed(g.project_id))
        for g in groups
        if decided.get((DUPLICATE_POLICY, fingerprint_of(g.duplicate_ids))) != REJECTED
        and night.may_touch(g.project_id)
    ]
    if night.options.dry_run:
        return groups
    settled: list[DuplicateGroup] = []
    for start in range(0, len(groups), _GROUPS_AT_ONCE):
        batch = groups[start : start + _GROUPS_AT_ONCE]
        settled += _settle(night, batch)
        night.progress("duplicates", start + len(batch), len(groups))
    return settled


def _settle(night: Night, groups: list[DuplicateGroup]) -> list[DuplicateGroup]:
    """Archive or propose groups in one transaction; where one of them breaks, each in its own, without that one."""
    try:
        with night.store.writing(night.holder, night.options.run_id) as tx:
            for group in groups:
                (propose_duplicates if group.proposed else archive_group)(night, tx, group)
        return groups
    except Exception as error:  # one group failing leaves the others; it is logged and reported
        if len(groups) > 1:
            return [group for one in groups for group in _settle(night, [one])]
        _note_failure(night, groups[0], error)
        return []


def _note_failure(night: Night, group: DuplicateGroup, error: Exception) -> None:
    fingerprint = fingerprint_of(group.duplicate_ids)
    night.log.error("archiving duplicates of %s", group.survivor_id, exc_info=error)
    night.note_error(derived_id(DUPLICATE_POLICY, group.project_id, fingerprint), "archive", error)
    reason = in_words(error)[:500]
    with night.store.writing(night.holder, night.options.run_id) as tx:
        tx.journal.log(_log_row(night, group, fingerprint, len(group.duplicate_ids) + 1, "failed", reason))


def _log_row(night: Night, group: DuplicateGroup, fingerprint: str, members: int, status: str, reason: str) -> LogRow:
    return LogRow(
        id=derived_id("log", DUPLICATE_POLICY, fingerprint, night.as_of.isoformat(), status),
        cluster_fingerprint=fingerprint,
        policy=DUPLICATE_POLICY,
        compressed_memory_id=group.survivor_id if status == "compressed" else None,
        status=status,
        reason=reason,
        member_count=members,
        compression_ratio=None,
        run_id=night.options.run_id,
        created_at=night.as_of,
    )


def find_duplicates(rows: list[SameContent]) -> list[DuplicateGroup]:
    """Groups from rows of the same content, oldest first within a group. The oldest of all stays."""
    groups = []
    for (project, digest), members in groupby(rows, key=lambda row: (row.project_id, row.content_hash)):
        oldest, *others = members
        duplicates = tuple(sorted(row.id for row in others if row.may_be_archived))
        if duplicates:
            groups.append(DuplicateGroup(project, digest, oldest.id, duplicates))
    return groups


def archive_group(night: Night, tx: Transaction, group: DuplicateGroup) -> None:
    """Archive the copies of a group into its survivor, within a transaction."""
    fingerprint = fingerprint_of(group.duplicate_ids)
    cluster_id = derived_id(DUPLICATE_POLICY, group.project_id, fingerprint)
    archived = archive_memories(
        tx,
        [memory_id for memory_id in group.duplicate_ids if memory_id != group.survivor_id],
        archived_by=cluster_id,
        archived_at=night.as_of,
        into=group.survivor_id,
        critical_floor=night.settings.critical_floor,
    )
    insert_lineage(tx, [LineageLink(group.survivor_id, source, "duplicate", 1.0) for source in archived])
    tx.journal.log(_log_row(night, group, fingerprint, len(archived) + 1, "compressed", "exact duplicates"))
