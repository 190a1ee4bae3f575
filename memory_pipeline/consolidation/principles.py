"""The weekly step: a model reads the patterns of a project, and says which rules several of them share. These become
principles. The patterns stay active, with links both ways.

Patterns that contradict each other are linked as conflicts and never support the same principle. A principle is only
made from patterns, never from another principle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.consolidation.archive import SourcesChangedError, apply_distillation
from memory_pipeline.consolidation.clustering import describe_cluster
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.contradictions import link_contradictions
from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.consolidation.distillers.judge import evidence_confidence
from memory_pipeline.consolidation.similarity import exact_scores
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient
from memory_pipeline.models.choose import model_reads
from memory_pipeline.models.conflicts import find_contradiction
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.reading.check import Reading
from memory_pipeline.reading.conversation_day import likeness_by
from memory_pipeline.reading.items import Item, split_into_questions, standing_of
from memory_pipeline.reading.question import question_about, room_for
from memory_pipeline.records import (
    COMPRESSED_CATEGORY,
    LEAST_PATTERNS,
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    Cluster,
    Distillation,
    Measured,
    Memory,
    PrincipleResult,
    offset_of_newest,
)
from memory_pipeline.store import Store, Transaction, create_snapshot
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.guidance import guidance_of
from memory_pipeline.text.normalise import content_hash, embedding_text
from memory_pipeline.text.steering import steering_draft

#: Part of the id of every principle.
PRINCIPLE_VERSION = "principle-4"


def decide_group(night: Night, group: Cluster, text: str, replaces: tuple[str, ...]) -> PrincipleResult:
    """The result for a group whose patterns share this rule, as a model says; `replaces`: earlier principles from some
    of them. A group that fails is tried again next week."""
    blank = PrincipleResult(group, "skipped", None, replaces=replaces)
    try:
        return _decided(night, blank, text)
    except Exception as error:  # one failing group leaves the others; it is logged and reported
        night.note_error(group.cluster_id, "distill", error)
        return replace(blank, status="failed", reason=in_words(error)[:500])


def _decided(night: Night, blank: PrincipleResult, text: str) -> PrincipleResult:
    group = blank.group
    patterns = list(night.memories(group.member_ids).values())
    reason = _find_refusal(patterns, text, night)
    if reason is None:
        try:
            vectors = night.embedder.embed([embedding_text(text)])
            draft = _draft(night, blank, text, patterns, vectors[0])
            made = apply_distillation(night, draft, lambda tx: _check_patterns(tx, group.member_ids), vectors)
            return replace(blank, status="created", content=text, principle_id=made.abstraction_id)
        except SourcesChangedError as change:
            reason = str(change)
    with night.writing() as tx:
        tx.journal.log([night.log_row(PRINCIPLE, group.fingerprint, "skipped", reason, len(group.member_ids))])
    return replace(blank, reason=reason)


def _find_refusal(patterns: Sequence[Memory], text: str, night: Night) -> str | None:
    """The reason why a text is no principle of some patterns, although their reader found it borne out; or None. They
    contradict neither each other nor the text, which must not steer its reader."""
    ids = {pattern.id for pattern in patterns}
    with night.store.reading() as tx:
        opposed = sum({conflict.a, conflict.b} <= ids for conflict in tx.conflicts.open())
    if opposed:
        return f"{how_many(opposed, 'pair')} of its patterns contradict each other"
    if steering := steering_draft(text):
        return steering
    if clash := find_contradiction([pattern.content for pattern in patterns], text):
        return f"contradicts a pattern: {clash}"
    tokens, most = night.embedder.count_tokens(text), night.settings.compression.max_abstraction_tokens
    return f"principle has {tokens} tokens; the maximum is {most}" if tokens > most else None


def misplaced_among(memories: Mapping[str, Memory], ids: Iterable[str]) -> list[str]:
    """Those of these ids that are not active patterns. Used before a principle is written, and by the check
    afterwards."""
    return [
        i
        for i in ids
        if i not in memories or memories[i].archived_at is not None or memories[i].abstraction_level != LEVEL_PATTERN
    ]


def _check_patterns(tx: Transaction, ids: Sequence[str]) -> None:
    gone = misplaced_among(tx.memories.read(ids), ids)
    if gone:
        raise SourcesChangedError(f"{len(gone)} patterns changed since the group was formed, first '{gone[0]}'")


def _draft(
    night: Night, result: PrincipleResult, text: str, patterns: Sequence[Memory], vector: Vectors
) -> Distillation:
    """The principle, of which every pattern stays active. Its sources are as near as they are to its own words.
    `vector`: of these, float32 (dimension,), unit length."""
    group = result.group
    witnesses = {witness.id: witness for behind in night.witnesses(group.member_ids).values() for witness in behind}
    cosines = night.vectors_in_order(group.member_ids).astype(np.float64) @ vector.astype(np.float64)
    kinds = [pattern.memory_type for pattern in patterns]
    types = [pattern.pattern_type for pattern in patterns if pattern.pattern_type]
    subjects = [c for pattern in patterns for c in pattern.categories if c != COMPRESSED_CATEGORY]
    top = sorted(set(subjects), key=lambda c: (-subjects.count(c), c))[:2]
    return Distillation(
        cluster=group,
        similarities=tuple(round(min(1.0, float(cosine)), 6) for cosine in cosines),
        content=text,
        outcome="accepted",
        measured=Measured.of(group.total_tokens, night.embedder.count_tokens(text)),
        method="llm",
        prompt_version=f"{PRINCIPLE_VERSION} {content_hash(text)}",
        memory_type=max(sorted(set(kinds)), key=kinds.count),
        categories=tuple(top),
        importance=max(1.0, group.max_importance),
        effective_date=max(pattern.effective_date for pattern in patterns),
        oldest_source_at=min(pattern.effective_date for pattern in patterns),
        utc_offset=offset_of_newest(patterns),
        pattern_type=max(sorted(set(types)), key=types.count) if types else None,
        confidence=round(evidence_confidence(witnesses.values() or patterns), 4),
        relation=PRINCIPLE,
        stays=group.member_ids,
        replaces=result.replaces,
    )


def form_principles(night: Night) -> list[PrincipleResult]:
    """Link contradicting patterns, and make a principle of every rule that the model finds in at least LEAST_PATTERNS
    of a project; returns the result of each, and none without a model.

    A principle with all patterns of an earlier one replaces it.
    """
    night.hold_lease()
    with night.store.reading() as tx:
        active = tx.memories.all(include_archived=False, created_by=night.as_of)
        mine = [memory for memory in active if night.may_touch(memory.project_id)]
        patterns = [memory for memory in mine if memory.abstraction_level == LEVEL_PATTERN]
        principles = [memory for memory in mine if memory.abstraction_level == LEVEL_PRINCIPLE]
        links = [link for link in tx.lineage.of([p.id for p in principles]) if link.relation == PRINCIPLE]
        stands = tx.lineage.replacements_of({link.source_id for link in links})
    if len(patterns) < LEAST_PATTERNS:
        return []
    night.embed_missing()
    for project in sorted({pattern.project_id for pattern in patterns}):
        ids = [pattern.id for pattern in patterns if pattern.project_id == project]
        link_contradictions(night, project, ids, ids)
    if not model_reads(night.settings):
        return []
    taken: dict[str, set[str]] = defaultdict(set)
    current: dict[str, set[str]] = defaultdict(set)  # patterns of stores of earlier versions grew without principles
    for link in links:
        taken[link.memory_id].add(link.source_id)
        current[link.memory_id].add(stands[link.source_id])
    read = _read(night, patterns, principles)
    new_groups = {group.cluster_id: (group, text) for group, text in read if _is_new(group, taken, current)}
    days = night.settings.compression.fingerprint_ttl_days
    with night.store.reading() as tx:
        settled = tx.journal.settled_fingerprints(night.as_of, days)
    results = {
        i: PrincipleResult(group, "settled", f"{before} within {days} days")
        for i, (group, _) in new_groups.items()
        if (before := settled.get((PRINCIPLE, group.fingerprint)))
    }
    todo = {i: pair for i, pair in new_groups.items() if i not in results}
    if todo and not night.options.dry_run:
        create_snapshot(night.store, "principles", datetime.now(UTC), night.settings.store.snapshots_kept)
    for i, (group, text) in todo.items():
        night.hold_lease()
        replaces = tuple(
            sorted(principle_id for principle_id, sources in current.items() if sources & set(group.member_ids))
        )
        results[i] = decide_group(night, group, text, replaces)
        night.progress("principles", len(results), len(new_groups))
    return [results[i] for i in new_groups]


def _read(night: Night, patterns: Sequence[Memory], principles: Sequence[Memory]) -> list[tuple[Cluster, str]]:
    """The groups of patterns in which the model finds a principle, and its words. A project without an answer waits
    for the next week."""
    try:
        room = room_for("principles", night.settings)
        client = ModelClient(night.settings)
    except ModelError as error:
        night.note_error("", "distill", error)
        return []
    questions = {}
    for project in sorted({pattern.project_id for pattern in patterns}):
        mine = sorted(
            (pattern for pattern in patterns if pattern.project_id == project),
            key=lambda pattern: (pattern.day, pattern.id),
        )
        standing = [standing_of(principle) for principle in principles if principle.project_id == project]
        standing = standing[-room.standing :]
        guidance = [Item(pattern.id, guidance_of(pattern), pattern.day, pattern.token_count) for pattern in mine]
        for number, items in enumerate(split_into_questions(guidance, room.item_tokens)):
            if len(items) >= LEAST_PATTERNS:
                questions[f"{project} {number}"] = question_about(
                    "principles", items, standing, night.settings, likeness_by(night.embedder)
                )
    drafts = []
    by_id = {pattern.id: pattern for pattern in patterns}
    try:
        for name, result in client.ask(questions, session_of(night), "principles"):
            if isinstance(result, Reading):
                for statement in result.statements:
                    group = [by_id[i] for i in dict.fromkeys(statement.item_ids)]
                    vectors = night.vectors_in_order([pattern.id for pattern in group])
                    scores = exact_scores(vectors, *np.triu_indices(len(group), 1)).tolist()
                    drafts.append((describe_cluster(group, scores, PRINCIPLE), statement.text))
            else:
                why = result.reason if isinstance(result, Declined) else in_words(result)
                night.note_error("", "distill", f"principles of {name.rpartition(' ')[0]}: {why}")
    except ModelError as error:
        night.note_error("", "distill", error)
    return drafts


def misplaced_patterns(store: Store, results: Sequence[PrincipleResult]) -> list[str]:
    """Patterns behind the principles of this run that are not active patterns linked to it, recomputed, in words."""
    problems = []
    for result in results:
        if result.principle_id is None:
            continue
        with store.reading() as tx:
            linked = {link.source_id for link in tx.lineage.of([result.principle_id]) if link.relation == PRINCIPLE}
            patterns = tx.memories.read(result.pattern_ids)
        wrong = {i for i in result.pattern_ids if i not in linked} | {*misplaced_among(patterns, result.pattern_ids)}
        problems += [f"'{i}' behind '{result.principle_id}'" for i in sorted(wrong)]
    return problems


def _is_new(group: Cluster, taken: Mapping[str, set[str]], current: Mapping[str, set[str]]) -> bool:
    """True if a group extends the principles of its patterns without splitting any of them, or renews one whose
    patterns have grown."""
    members = set(group.member_ids)
    return all(
        sources < members or (sources == members and sources != taken[principle])
        for principle, sources in current.items()
        if sources & members
    )
