"""Exact duplicates: memories of one project with the same normalised content. The oldest stays.

A copy of a memory that an earlier night archived is archived too, into that memory's current replacement, so that a
line that is repeated every day does not return every day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory_pipeline.consolidation.archive import SourcesChangedError
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.review.proposals import propose
from memory_pipeline.errors import in_words
from memory_pipeline.records import DuplicateGroup, LineageLink, Memory, derived_id, fingerprint_of
from memory_pipeline.records.drafts import DUPLICATE_POLICY
from memory_pipeline.store import REJECTED, Replacement, SameContent, Transaction
from memory_pipeline.text.normalise import has_done
from memory_pipeline.text.subject import read_attribute_heading

_GROUPS_AT_ONCE = 200


def archive_duplicates(night: Night) -> list[DuplicateGroup]:
    """Find the night's exact duplicates and archive them, several groups per transaction; returns the groups."""
    night.hold_lease()
    with night.store.reading() as tx:
        rows = tx.memories.same_content(
            created_before=night.fresh_after,
            as_of=night.as_of,
            critical_floor=night.critical_floor,
        )
        groups = find_duplicates(rows)
        targets = tx.lineage.replacements_of([group.survivor_id for group in groups])
        since = tx.lineage.turned_at([group.survivor_id for group in groups])
        groups = [left for group in groups if (left := _drop_later_copies(group, since, rows)) is not None]
        decided = tx.proposals.reviewed_fingerprints()
    groups = [
        replace(g, survivor_id=targets[g.survivor_id], proposed=night.settings.is_reviewed(g.project_id))
        for g in groups
        if decided.get((DUPLICATE_POLICY, fingerprint_of(g.duplicate_ids))) != REJECTED
        and night.may_touch(g.project_id)
    ]
    settled: list[DuplicateGroup] = []
    for start in range(0, len(groups), _GROUPS_AT_ONCE):
        batch = groups[start : start + _GROUPS_AT_ONCE]
        settled += _settle(night, batch)
        night.progress("duplicates", start + len(batch), len(groups))
    return settled


def _drop_later_copies(
    group: DuplicateGroup, since: Mapping[str, datetime], rows: Sequence[SameContent]
) -> DuplicateGroup | None:
    """A group without the copies that were told after something else took the place of their survivor: what is said
    again then holds again. None if no copy is left."""
    if (turned := since.get(group.survivor_id)) is None:
        return group
    dates = {row.id: row.effective_date for row in rows}
    left = tuple(i for i in group.duplicate_ids if dates[i] <= turned)
    return replace(group, duplicate_ids=left) if left else None


def _settle(night: Night, groups: list[DuplicateGroup]) -> list[DuplicateGroup]:
    """Archive or propose groups in one transaction; if one of them fails, process each one separately, without that
    one."""
    try:
        with night.writing() as tx:
            archive_groups(night, tx, [group for group in groups if not group.proposed])
            for group in groups:
                if group.proposed:
                    propose(night, tx, group)
        return groups
    except Exception as error:  # one failing group leaves the others; it is logged and reported
        if len(groups) > 1:
            return [group for candidate in groups for group in _settle(night, [candidate])]
        (group,) = groups
        fingerprint, members = fingerprint_of(group.duplicate_ids), len(group.duplicate_ids) + 1
        night.note_error(derived_id(DUPLICATE_POLICY, group.project_id, fingerprint), "archive", error)
        with night.writing() as tx:
            row = night.log_row(DUPLICATE_POLICY, fingerprint, "failed", in_words(error)[:500], members)
            tx.journal.log([row])
        return []


def find_duplicates(rows: list[SameContent]) -> list[DuplicateGroup]:
    """Groups from rows with the same content, oldest first within a group. The oldest of all stays. Attributes of
    several things (`Price: 45 euros` under two headings) are no copies, nor are an open task and one that is done."""
    groups = []
    same: dict[tuple[str, str, str, bool], list[SameContent]] = {}
    for row in rows:
        about = read_attribute_heading(row.headings, row.content)
        same.setdefault((row.project_id, row.content_hash, about, has_done(row.content)), []).append(row)
    for (project, digest, _, _), (oldest, *others) in same.items():
        duplicates = tuple(sorted(row.id for row in others if row.may_be_archived))
        if duplicates:
            groups.append(DuplicateGroup(project, digest, oldest.id, duplicates))
    return groups


def archive_groups(night: Night, tx: Transaction, groups: Sequence[DuplicateGroup]) -> None:
    """Archive the copies of groups into their survivors, within a transaction."""
    copies = [
        Replacement(i, derived_id(DUPLICATE_POLICY, group.project_id, fingerprint_of(group.duplicate_ids)), into)
        for group in groups
        for i in group.duplicate_ids
        if i != (into := group.survivor_id)
    ]
    archived = tx.memories.archive(copies, archived_at=night.as_of, critical_floor=night.critical_floor)
    tx.lineage.add([LineageLink(copy.into, copy.id, "duplicate", 1.0) for copy in copies if copy.id in archived])
    rows = []
    for group in groups:
        members = sum(i in archived for i in group.duplicate_ids if i != group.survivor_id) + 1
        fingerprint, reason = fingerprint_of(group.duplicate_ids), "exact duplicates"
        rows.append(night.log_row(DUPLICATE_POLICY, fingerprint, "compressed", reason, members, group.survivor_id))
    tx.journal.log(rows)


def archive_group(night: Night, group: DuplicateGroup, also: Callable[[Transaction], None]) -> None:
    """Archive the copies of one group into what stands for its survivor today and do `also`, in one transaction.

    Raises SourcesChangedError unless they are exact copies, all of which may be archived.
    """
    with night.writing() as tx:
        wrong = _not_copies(tx, group)
        if wrong:
            raise SourcesChangedError(wrong)
        archive_groups(night, tx, [replace(group, survivor_id=tx.lineage.replacement_of(group.survivor_id))])
        left = [memory for memory in tx.memories.read(group.duplicate_ids).values() if memory.archived_at is None]
        if left:
            raise SourcesChangedError(f"'{left[0].id}' may no longer be archived")
        also(tx)


def _not_copies(tx: Transaction, group: DuplicateGroup) -> str | None:
    """The reason why a group is not one of exact copies, or None."""
    memories = tx.memories.read([group.survivor_id, *group.duplicate_ids])
    missing = sorted({group.survivor_id, *group.duplicate_ids} - memories.keys())
    if missing:
        return f"'{missing[0]}' does not exist"
    if not group.duplicate_ids or group.survivor_id in group.duplicate_ids:
        return "it names no copies of another memory"
    survivor = memories[group.survivor_id]
    if survivor.project_id != group.project_id or not _says(tx, survivor, group.content_hash):
        return f"'{survivor.id}' does not say what they say"
    for memory_id in group.duplicate_ids:
        memory = memories[memory_id]
        if (memory.project_id, memory.content_hash) != (group.project_id, group.content_hash):
            return f"'{memory_id}' is not a copy of what '{survivor.id}' stands for"
        if memory.archived_at is not None:
            return f"'{memory_id}' is archived"
    return None


def _says(tx: Transaction, memory: Memory, content_hash: str) -> bool:
    """True if a memory has this content, or stands for an archived one that has it: a copy of something that an earlier
    night archived goes where that went."""
    if memory.content_hash == content_hash:
        return True
    sources = tx.lineage.raw_sources_of([memory.id]).get(memory.id, [])
    return any(source.content_hash == content_hash for source in tx.memories.read(sources).values())
