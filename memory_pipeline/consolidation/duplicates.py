"""Exact duplicates: memories of one project with the same normalised content. The oldest stays.

A copy of a memory that an earlier night archived is archived too, into that memory's current replacement, so that a
line that is repeated every day does not return every day.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from memory_pipeline.consolidation.archive import SourcesChangedError
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.review.proposals import propose
from memory_pipeline.errors import in_words
from memory_pipeline.models.conflicts import are_of_another, find_signs
from memory_pipeline.records import DUPLICATE_POLICY, DuplicateGroup, LineageLink, derived_id, fingerprint_of
from memory_pipeline.store import REJECTED, Replacement, SameContent, Transaction
from memory_pipeline.text.normalise import has_done
from memory_pipeline.text.subject import title_beside

_GROUPS_AT_ONCE = 200
#: Below so many different headings the same words are compared by what these name.
_MOST_TITLES = 8


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
        decided = tx.proposals.reviewed_fingerprints()
    dates, todo = {row.id: row.effective_date for row in rows}, []
    for group in groups:
        turned = since.get(group.survivor_id)  # what is said again after something else took its place holds again
        copies = tuple(i for i in group.duplicate_ids if turned is None or dates[i] <= turned)
        is_rejected = decided.get((DUPLICATE_POLICY, fingerprint_of(copies))) == REJECTED
        if copies and not is_rejected and night.may_touch(group.project_id):
            target, proposed = targets[group.survivor_id], night.settings.is_reviewed(group.project_id)
            todo.append(replace(group, survivor_id=target, duplicate_ids=copies, proposed=proposed))
    settled: list[DuplicateGroup] = []
    for start in range(0, len(todo), _GROUPS_AT_ONCE):
        batch = todo[start : start + _GROUPS_AT_ONCE]
        settled += _settle(night, batch)
        night.progress("duplicates", start + len(batch), len(todo))
    return settled


def _settle(night: Night, groups: list[DuplicateGroup]) -> list[DuplicateGroup]:
    """Archive or propose groups in one transaction; if one fails, process each one separately, without that one."""
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
    """Groups from rows with the same content, oldest first within a group. The oldest of all stays. What stands below
    headings that name different things is no copy, nor are an open task, one that is done and one that is open again,
    or what differs in its signs and words of code (`lp -o`, `lp -O`)."""
    same: dict[tuple[Hashable, ...], list[SameContent]] = {}
    turns: dict[tuple[str, str], tuple[bool, int]] = {}
    for row in rows:
        content = row.project_id, row.content_hash
        was_done, turn = turns.get(content, (False, 0))
        is_done = has_done(row.content)
        turns[content] = is_done, turn + (is_done != was_done)
        signs = frozenset(find_signs(row.content).items())
        same.setdefault((*content, turns[content], signs), []).append(row)
    groups = []
    for oldest, *others in (thing for rows_of in same.values() for thing in split_by_thing(rows_of)):
        duplicates = tuple(sorted(row.id for row in others if row.may_be_archived))
        if duplicates:
            groups.append(DuplicateGroup(oldest.project_id, oldest.content_hash, oldest.id, duplicates))
    return groups


def split_by_thing(rows: Sequence[SameContent]) -> list[list[SameContent]]:
    """Rows of the same words by the thing that they are of, as their headings tell, in their order. One without a
    heading is of the first thing. What is said of very many things is no longer compared: each is one of its own."""
    things: list[list[SameContent]] = []
    thing_of: dict[str, list[SameContent]] = {}
    for row in rows:
        title = title_beside(row).casefold()
        found = thing_of.get(title) if title else next(iter(things), None)
        if found is None and len(thing_of) < _MOST_TITLES:
            found = next((one for one in things if not any(are_of_another(row, other) for other in one)), None)
        if found is None:
            found = []
            things.append(found)
        found.append(row)
        if title:
            thing_of[title] = found
    return things


def archive_groups(night: Night, tx: Transaction, groups: Sequence[DuplicateGroup]) -> None:
    """Archive the copies of groups into their survivors, within a transaction."""
    copies: list[Replacement] = []
    for group in groups:
        cluster_id = derived_id(DUPLICATE_POLICY, group.project_id, fingerprint_of(group.duplicate_ids))
        ids = (i for i in group.duplicate_ids if i != group.survivor_id)
        copies += [Replacement(i, cluster_id, group.survivor_id) for i in ids]
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
    # A copy of something that an earlier night archived goes where that went.
    behind = tx.memories.read(tx.lineage.raw_sources_of([survivor.id]).get(survivor.id, ())).values()
    hashes = {survivor.content_hash, *(source.content_hash for source in behind)}
    if survivor.project_id != group.project_id or group.content_hash not in hashes:
        return f"'{survivor.id}' does not say what they say"
    for memory_id in group.duplicate_ids:
        memory = memories[memory_id]
        if (memory.project_id, memory.content_hash) != (group.project_id, group.content_hash):
            return f"'{memory_id}' is not a copy of what '{survivor.id}' stands for"
        if memory.archived_at is not None:
            return f"'{memory_id}' is archived"
    return None
