"""What must hold before anything is archived, checked again from the store and apart from the steps above.

Whatever is wrong with one cluster refuses that cluster, before it is written. The checks that look at a night's
results afterwards call the same functions on the same data: they can warn, and stop nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from memory_pipeline.knowledge.entries import claim_of, find_loss, read_entry
from memory_pipeline.knowledge.merging import find_unmerged
from memory_pipeline.night.cells import SERIES_LEAST
from memory_pipeline.night.clustering import FIGURE_KINDS
from memory_pipeline.night.context import Night
from memory_pipeline.night.preservation_check import losses_of
from memory_pipeline.records import MADE, Archive, Distillation, Memory
from memory_pipeline.store import Finding, Transaction, read_memories, series_shapes, sources_of_levels
from memory_pipeline.wording.conflicts import find_conflict

#: What a person can do about a merged memory that lacks something: its sources are archived, and whole.
LOST_IN_LEVELS_MEND = "run 'memory-pipeline rollback --abstraction ID', which brings its sources back"

_LEVELS_AT_ONCE = 500

_Gate = Callable[[Night, Sequence[Distillation]], list[str]]

#: The gates in their order, each with the kind of reason that it gives.
_GATES: tuple[tuple[str, _Gate], ...] = (
    ("preservation", lambda night, drafts: lossy_distillations(night, drafts)),
    ("preservation", lambda night, drafts: unkept_statements(night, drafts)),
    ("a source may not be archived", lambda night, drafts: unsafe_members(night, drafts)),
    ("sources contradict each other", lambda night, drafts: conflicts_inside(night, drafts)),
)


def refusal_of(night: Night, draft: Distillation) -> str | None:
    """Why an accepted draft must not be written, or None. Whoever writes one asks here first."""
    with night.store.reading():
        for kind, gate in _GATES:
            found = gate(night, [draft])
            if found:
                return f"{kind}: {found[0]}"[:500]
    return None


def lost_words(members: Sequence[Memory], content: str, tags: Sequence[str], *, canonical: bool) -> list[str]:
    """What a merged memory or canonical entry lacks of its members, in words. The judge before the write, the check
    after it and `check --deep` all ask here; the order of the members does not matter."""
    ordered = sorted(members, key=lambda memory: (memory.effective_date, memory.id))
    if canonical:
        return find_loss([(member.id, read_entry(member)) for member in ordered], content, tags)
    return [f"lacks: {text}" for text in find_unmerged([member.content for member in ordered], content)]


def unkept_statements(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """What accepted merges and canonical entries would lack of their sources, in words."""
    levels = [d for d in _accepted(distillations) if d.relation in ("merged", "canonical")]
    memories = night.memories({i for d in levels for i in d.member_ids})
    return [
        text
        for d in levels
        for text in lost_words(
            [memories[i] for i in d.member_ids if i in memories],
            d.content,
            d.tags,
            canonical=d.relation == "canonical",
        )
    ]


def lossy_distillations(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Accepted drafts that lose something or save nothing, in words. Their sources are read again from the store, and
    by another reader than the one by which they were accepted. A canonical entry may be longer than its members, for it
    lists them."""
    accepted = _accepted(distillations)
    memories = night.memories({i for d in accepted for i in d.member_ids}) if accepted else {}
    problems = []
    for d in accepted:
        lost = losses_of([memories[i].content for i in d.member_ids if i in memories], d.content)
        if lost:
            problems.append(f"{d.cluster_id}: {len(lost)} facts lost, first {lost[0]}")
        elif d.relation != "canonical" and d.tokens_after >= d.tokens_before:
            problems.append(f"{d.cluster_id}: {d.tokens_after} of {d.tokens_before} tokens")
    return problems


def lost_in_levels(night: Night, archives: Sequence[Archive]) -> list[str]:
    """What merged memories and canonical entries lack of their sources, all read again from the store, in words."""
    memories = night.memories({i for a in archives for i in (*a.member_ids, a.abstraction_id or "")})
    problems = []
    for archive in archives:
        made = memories.get(archive.abstraction_id or "")
        members = [memories[i] for i in archive.member_ids if i in memories]
        if made is None:
            problems.append(f"{archive.cluster_id}: nothing was written")
            continue
        lost = lost_words(members, made.content, made.tags, canonical=made.is_canonical)
        problems += [f"'{made.id}' {text}" for text in lost]
    return problems


def levels_that_lack(tx: Transaction) -> list[Finding]:
    """Every merged memory and canonical entry of the store that lacks something of its sources, as an earlier version
    may have left it. The sources are whole, and so is the store: it is for a person to weigh."""
    levels = list(sources_of_levels(tx).items())
    findings = []
    for start in range(0, len(levels), _LEVELS_AT_ONCE):
        page = levels[start : start + _LEVELS_AT_ONCE]
        memories = read_memories(tx, {i for made_id, sources in page for i in (made_id, *sources)})
        for made_id, sources in page:
            made, members = memories[made_id], [memories[i] for i in sources]
            lost = lost_words(members, made.content, made.tags, canonical=made.is_canonical)
            if lost:
                mend = LOST_IN_LEVELS_MEND.replace("ID", made_id)
                findings.append(Finding("what was merged holds all that its sources say", made_id, lost[0], mend))
    return findings


def unsafe_members(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Sources of accepted drafts that a night may not touch, in words."""
    problems: list[str] = []
    if not _accepted(distillations):
        return problems
    memories = night.memories({i for d in _accepted(distillations) for i in d.member_ids})
    for distillation in _accepted(distillations):
        for memory_id in distillation.member_ids:
            memory = memories.get(memory_id)
            if memory is None:
                problems.append(f"'{memory_id}' does not exist")
            elif memory.archived_at is not None and memory.archived_by != distillation.cluster_id:
                problems.append(f"'{memory_id}' is archived")
            elif max(memory.importance, memory.importance_before or 0.0) >= night.settings.critical_floor:
                problems.append(f"'{memory_id}' is critical")
            elif memory.pinned:
                problems.append(f"'{memory_id}' is pinned")
            elif memory.created_at > (night.as_of if memory.source.connector == MADE else night.fresh_after):
                problems.append(f"'{memory_id}' is fresh")
            elif memory.project_id != distillation.project_id:
                problems.append(f"'{memory_id}' is of project '{memory.project_id}'")
    return problems


def conflicts_inside(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Pairs of sources of one accepted draft that contradict each other, in words."""
    if not _accepted(distillations):
        return []
    memories = night.memories({i for d in _accepted(distillations) for i in d.member_ids})
    series: set[tuple[str, str]] | None = None
    problems = []
    for distillation in _accepted(distillations):
        members = [memories[i] for i in distillation.member_ids if i in memories]
        for a, b in combinations(members, 2):
            finding = find_conflict(claim_of(a.content), claim_of(b.content))
            if finding is None:
                continue
            if finding.kind in FIGURE_KINDS and a.shape_hash == b.shape_hash:
                if series is None:
                    with night.store.reading() as tx:
                        series = series_shapes(tx, night.fresh_after, SERIES_LEAST)
                if (a.project_id, a.shape_hash) in series:
                    continue
            problems.append(f"'{a.id}' and '{b.id}': {finding.kind}, {finding.detail}")
    return problems


def _accepted(distillations: Sequence[Distillation]) -> list[Distillation]:
    return [d for d in distillations if d.outcome == "accepted"]
