"""The gates: conditions that must hold before anything is archived, checked again from the store, independently of
earlier steps.

A cluster with a problem is refused before it is written. The checks that examine a night's results afterwards call
the same functions on the same data: they can warn but stop nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.merging import find_unmerged
from memory_pipeline.models.conflicts import find_conflict
from memory_pipeline.models.relations import is_contradiction
from memory_pipeline.records import ESTABLISHED, LEVEL_PATTERN, MADE, ROUTINE, SERIES, STATED, Distillation, Memory
from memory_pipeline.records.drafts import drafts_of
from memory_pipeline.store import Finding, Transaction, wrong_in_series
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.entries import claim_of, find_loss, read_entry
from memory_pipeline.text.normalise import line_shape
from memory_pipeline.text.preservation import find_invention, what_is_kept
from memory_pipeline.text.redaction import redact
from memory_pipeline.text.steering import steering_draft

#: The fix for a merged memory that lacks something: its sources are archived and complete.
LOST_IN_LEVELS_MEND = "run 'memory-pipeline rollback --abstraction ID', which restores its sources"

_LEVELS_AT_ONCE = 500
#: A cluster has at least two members, and a draft is shorter than they are; a canonical entry repeats their ids.
_LEAST_SOURCES = 2
_LONGEST_BESIDE_SOURCES = 2
#: What a reader found was checked against the items that the reader was given, with what these stand under.
_OF_READER = (STATED, ROUTINE)
_MARGIN = 2000


@dataclass(frozen=True, slots=True)
class Evidence:
    """The input of a gate: an accepted draft, its members as they are in the store now, and the night's rules.

    `members` lacks memories that no longer exist; `told`: those whose words the draft has to keep, for a pattern that
    grows the raw memories behind it; `readings`: of a series, the raw memories behind its members and
    those that break it; `against`: of a merge, its members that contradict another memory, each with that one.
    """

    draft: Distillation
    members: tuple[Memory, ...]
    night: Night
    readings: tuple[Memory, ...] = ()
    told: tuple[Memory, ...] = ()
    against: tuple[tuple[Memory, Memory], ...] = ()


def refusals_of(night: Night, drafts: Sequence[Distillation]) -> dict[str, str]:
    """The reasons why accepted drafts must not be written, by cluster id. Every writer calls this first."""
    refusals: dict[str, str] = {}
    for evidence in _evidence(night, drafts):
        found = (f"{reason}: {problem}" for reason, find in GATES.values() for problem in find(evidence)[:1])
        if refusal := next(found, None):
            refusals[evidence.draft.id] = refusal[:500]
    return refusals


def problems_of(night: Night, drafts: Sequence[Distillation]) -> dict[str, list[str]]:
    """The findings of each gate in the accepted drafts, in words, by the gate's name."""
    evidence = _evidence(night, drafts)
    return {name: [text for item in evidence for text in find(item)] for name, (_, find) in GATES.items()}


def lost_words(members: Sequence[Memory], content: str, tags: Sequence[str], *, canonical: bool) -> list[str]:
    """The words of its members that a merged memory or canonical entry lacks. Used by the judge before the write, by
    the check after it and by `check --deep`; the order of the members does not matter."""
    ordered = sorted(members, key=lambda memory: (memory.effective_date, memory.id))
    if canonical:
        return find_loss([(member.id, read_entry(member)) for member in ordered], content, tags)
    return [f"lacks: {text}" for text in find_unmerged([member.content for member in ordered], content)]


def unkept_statements(evidence: Evidence) -> list[str]:
    """The statements of its sources that an accepted merge or canonical entry would lack, in words."""
    draft = evidence.draft
    if draft.relation not in ("merged", "canonical"):
        return []
    return lost_words(evidence.members, draft.content, draft.tags, canonical=draft.relation == "canonical")


def losses(evidence: Evidence) -> list[str]:
    """The losses of an accepted draft, or that it saves nothing, in words. Its sources are read again from the store. A
    canonical entry may be longer than its members, because it lists them."""
    draft = evidence.draft
    if draft.relation in (SERIES, ESTABLISHED, *_OF_READER):
        return []  # a series says what its readings amount to: see `untrue_series`
    if lost := what_is_kept([memory.content for memory in evidence.told], draft.content).lost:
        return [f"{how_many(len(lost), 'fact')} lost, first the {lost[0].kind} '{lost[0].text}'"]
    if draft.relation != "canonical" and draft.measured.tokens_after >= draft.measured.tokens_before:
        return [f"{draft.measured.tokens_after} of {draft.measured.tokens_before} tokens"]
    return []


def lost_in_levels(tx: Transaction, only: Collection[str] | None = None) -> list[Finding]:
    """Every merged memory and canonical entry in the store, or of some, that lacks something of its sources, all
    recomputed. The sources are complete and the store is sound, so it is for a person to decide."""
    levels = list(tx.lineage.made_by(("merged", "canonical"), only).items())
    findings = []
    for start in range(0, len(levels), _LEVELS_AT_ONCE):
        page = levels[start : start + _LEVELS_AT_ONCE]
        memories = tx.memories.read({i for made_id, sources in page for i in (made_id, *sources)})
        for made_id, sources in page:
            made, members = memories[made_id], [memories[i] for i in sources]
            if lost := lost_words(members, made.content, made.tags, canonical=made.is_canonical):
                mend = LOST_IN_LEVELS_MEND.replace("ID", made_id)
                rule = "what was merged holds all that its sources say"
                findings.append(Finding(rule=rule, where=made_id, problem=lost[0], mend=mend))
    return findings


def unreadable_drafts(tx: Transaction) -> list[Finding]:
    """Every waiting proposal whose draft cannot be used."""
    waiting = tx.proposals.list()
    usable = drafts_of(waiting)
    return [
        Finding(
            rule="proposals hold drafts",
            where=proposal.id,
            problem="holds no draft of its members",
            mend=f"run 'memory-pipeline proposals reject {proposal.id}'",
        )
        for proposal in waiting
        if proposal not in usable
    ]


def unsafe_members(evidence: Evidence) -> list[str]:
    """Sources of an accepted draft that a night must not touch, in words."""
    draft, night = evidence.draft, evidence.night
    there = {memory.id for memory in evidence.members}
    patterns = [memory.id for memory in evidence.members if memory.abstraction_level >= LEVEL_PATTERN]
    if len(patterns) > 1 or (patterns and draft.relation != "distilled"):
        return [f"'{patterns[-1]}' is a pattern, and no other memory may be made of it than its next version"]
    problems = [f"'{memory_id}' does not exist" for memory_id in draft.member_ids if memory_id not in there]
    for memory in evidence.members:
        if memory.id in draft.stays:
            continue
        if memory.archived_at is not None and memory.archived_by != draft.id:
            problems.append(f"'{memory.id}' is archived")
        elif max(memory.importance, memory.importance_before or 0.0) >= night.critical_floor:
            problems.append(f"'{memory.id}' is critical")
        elif memory.pinned:
            problems.append(f"'{memory.id}' is pinned")
        elif night.ripe_at(memory) > night.as_of:
            problems.append(f"'{memory.id}' is fresh")
        elif memory.project_id != draft.cluster.project_id:
            problems.append(f"'{memory.id}' belongs to project '{memory.project_id}'")
    return problems


def conflicts_inside(evidence: Evidence) -> list[str]:
    """Pairs of sources of an accepted draft that contradict each other, in words."""
    if evidence.draft.relation in (SERIES, ESTABLISHED, *_OF_READER):
        return []  # readings are never a conflict, and a statement may say which of two values holds
    return [
        f"'{a.id}' and '{b.id}': {finding.kind}, {finding.detail}"
        for a, b in combinations(evidence.told, 2)
        if (finding := find_conflict(claim_of(a.content), claim_of(b.content))) is not None
    ]


def hidden_conflicts(evidence: Evidence) -> list[str]:
    """Members of an accepted merge that contradict another memory, which the words of the merge do not, in words: the
    person who is to decide between the two would no longer be asked."""
    claim = claim_of(evidence.draft.content)
    return [
        f"'{mine.id}' contradicts '{theirs.id}', and the merge would hide it"
        for mine, theirs in evidence.against
        if not is_contradiction(claim, claim_of(theirs.content))
    ]


def untrue_series(evidence: Evidence) -> list[str]:
    """The faults in the draft of a series memory, in words: it does not say what its readings amount to, or one of its
    sources is no reading of it."""
    if evidence.draft.relation != SERIES:
        return []
    if (facts := evidence.draft.series) is None:
        return ["it does not name the shapes of its readings"]
    foreign = [
        m.id for m in evidence.members if m.source.connector != MADE and line_shape(m.content) not in facts.shapes
    ]
    if foreign:
        return [f"'{foreign[0]}' is no reading of this series"]
    wrong = wrong_in_series(evidence.draft.content, facts, evidence.readings)
    return [wrong] if wrong else []


def unlike_sources(evidence: Evidence) -> list[str]:
    """The signs that an accepted draft cannot come from its sources, in words: too few of them, far too much text,
    another date, a secret or a figure that none of them has, or an attempt to steer its reader. A draft need not be the
    one that was judged: it may come from a file, or from a proposal that another store exported."""
    draft, members = evidence.draft, evidence.told
    if draft.relation == SERIES:
        return []  # see `untrue_series`
    if draft.relation == ESTABLISHED:
        stated = [memory.content for memory in evidence.members if memory.id in draft.archived_ids]
        return [] if stated == [draft.content] else ["it does not say what its statement says"]
    if len(set(draft.member_ids)) < _LEAST_SOURCES and draft.relation not in _OF_READER:
        return ["it has fewer than two sources"]
    contents = [memory.content for memory in members]
    if not draft.content.strip() or len(draft.content) > _LONGEST_BESIDE_SOURCES * sum(map(len, contents)) + _MARGIN:
        return [f"{len(draft.content)} characters from sources of {sum(map(len, contents))}"]
    if draft.effective_date != max((memory.effective_date for memory in members), default=None):
        return [f"its date is {draft.effective_date.isoformat()}, not that of its newest source"]
    if steering := steering_draft(draft.content):
        return [steering]
    _, masked = redact(draft.content)
    _, masked_before = redact("\n".join(contents))
    if unknown := masked.keys() - masked_before.keys():
        return [f"no source has a {min(unknown)}"]
    days = {memory.day for memory in members}
    is_checked = draft.relation in ("canonical", *_OF_READER)
    invented = None if is_checked else find_invention(contents, draft.content, days)
    return [f"no source has the {invented.kind} '{invented.text}'"] if invented else []


#: The gates in their order: the kind of reason for a refusal, and a function that returns the violations in words.
GATES: dict[str, tuple[str, Callable[[Evidence], list[str]]]] = {
    "unsafe_members": ("a source may not be archived", unsafe_members),
    "unlike_sources": ("it is not made of its sources", unlike_sources),
    "losses": ("preservation", losses),
    "unkept_statements": ("preservation", unkept_statements),
    "conflicts_inside": ("sources contradict each other", conflicts_inside),
    "hidden_conflicts": ("a contradiction would be hidden", hidden_conflicts),
    "untrue_series": ("it does not say what its readings say", untrue_series),
}


def _evidence(night: Night, drafts: Sequence[Distillation]) -> list[Evidence]:
    """The accepted drafts with their members, read from the store together."""
    accepted = [draft for draft in drafts if draft.outcome == "accepted"]
    members_of = {draft.id: set(draft.archived_ids) for draft in accepted if draft.relation == "merged"}
    merged = {i for ids in members_of.values() for i in ids}
    readings: dict[str, tuple[Memory, ...]] = {}
    with night.store.reading() as tx:
        sides = [pair for c in (tx.conflicts.open() if merged else ()) for pair in ((c.a, c.b), (c.b, c.a))]
        for draft in accepted:
            if draft.series is not None:
                raw = tx.series.readings(draft.member_ids, draft.series.breaking_ids, night.as_of)
                readings[draft.id] = tuple(raw)
    sides = [(mine, theirs) for mine, theirs in sides if mine in merged]
    wanted = {i for draft in accepted for i in draft.member_ids} | {i for pair in sides for i in pair}
    memories = night.memories(wanted) if wanted else {}
    versions = {i for i, memory in memories.items() if memory.abstraction_level == LEVEL_PATTERN}
    behind = night.witnesses(versions) if versions else {}
    evidence = []
    for draft in accepted:
        members = [memories[i] for i in draft.member_ids if i in memories]
        sources = [source for member in members for source in behind.get(member.id, [member])]
        against = [
            (memories[mine], memories[theirs])
            for mine, theirs in sides
            if mine in members_of.get(draft.id, ()) and theirs not in draft.member_ids and theirs in memories
        ]
        parts = readings.get(draft.id, ()), tuple(sources), tuple(against)
        evidence.append(Evidence(draft, tuple(members), night, *parts))
    return evidence
