"""By the week: related patterns of a project become a principle. The patterns stay active, with links both ways.

Patterns that contradict each other are linked as conflicts and never stand behind one principle. A
principle is made of patterns alone, never of another principle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from memory_pipeline.distillers import (
    COMPRESSED_CATEGORY,
    Declined,
    Draft,
    Session,
    Task,
    find_contradiction,
    find_invention,
)
from memory_pipeline.embedding import check_vectors
from memory_pipeline.errors import DistillerError
from memory_pipeline.knowledge.playbook import guidance_of
from memory_pipeline.knowledge.principles import CONTRADICTING, find_principle
from memory_pipeline.night.clustering import conflicts_in, find_clusters
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import note_failure, propose
from memory_pipeline.night.eligibility import as_eligible
from memory_pipeline.night.similarity import guard_edges, similar_pairs
from memory_pipeline.policies import PRINCIPLE, Policy
from memory_pipeline.records import (
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    Cluster,
    Conflict,
    LineageLink,
    LogRow,
    Memory,
    PrincipleResult,
    Source,
    derived_id,
)
from memory_pipeline.store import (
    EDGE_SCHEMA,
    all_memories,
    create_snapshot,
    insert_lineage,
    insert_log,
    insert_memories,
    insert_vectors,
    lineage_of,
    read_memories,
    record_conflicts,
    revive_memory,
    settled_fingerprints,
    supersede_memory,
)
from memory_pipeline.wording.normalise import content_hash, embedding_text, shape_hash

_VERSION = "principle-1"


def form_principles(night: Night) -> list[PrincipleResult]:
    """Link contradicting patterns, and make a principle of every group of related ones; what became of each.

    A group that holds all patterns of an earlier principle replaces it. A dry run writes nothing.
    """
    night.hold_lease()
    patterns, principles = _patterns(night)
    if len(patterns) < night.settings.principle_patterns:
        return []
    edges = _edges(night, patterns)
    conflicts = [
        c for c in conflicts_in(edges) if c.kind in CONTRADICTING or c.score >= night.threshold_of(c.project_id)
    ]
    if conflicts and not night.options.dry_run:
        with night.store.writing(night.holder, night.options.run_id) as tx:
            record_conflicts(tx, conflicts, night.as_of)
    taken = _sources_of(night, principles)
    policy = Policy(
        PRINCIPLE, "distill", night.settings.principle_similarity, night.settings.principle_patterns, linkage="average"
    )
    candidates = [replace(as_eligible(night, pattern, 1), is_entry=False) for pattern in patterns]
    groups = find_clusters(candidates, _between_subjects(edges), policy)
    with night.store.reading() as tx:
        settled = settled_fingerprints(tx, night.as_of, night.settings.fingerprint_ttl_days)
    new = [group for group in groups if _is_new(group, taken)]
    days = night.settings.fingerprint_ttl_days
    results = {
        group.cluster_id: _result(group, "settled", f"{before} within {days} days")
        for group in new
        if (before := settled.get((PRINCIPLE, group.fingerprint)))
    }
    todo = [group for group in new if group.cluster_id not in results]
    if todo and not night.options.dry_run:
        create_snapshot(night.store, "principles", datetime.now(UTC), night.settings.store_snapshots_kept)
    model = SharedStatements(night) if night.distiller.method == "heuristic" else night.distiller
    for group, task, draft in propose(night, model, todo, guidance_of):
        night.hold_lease()
        results[group.cluster_id] = _settle(night, group, task, draft, taken)
        night.progress("principles", len(results), len(new))
    return [results[group.cluster_id] for group in new]


class SharedStatements:
    """The distiller of principles that needs no model: the statement that most patterns of a group bear out."""

    name, method, prompt_version = "extractive", "heuristic", _VERSION

    def __init__(self, night: Night) -> None:
        self._embed, self._settings = night.embedder.embed, night.settings

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """One after the other, as patterns come."""
        for task in tasks:
            try:
                yield task, self._draft(task)
            except Exception as error:  # one group failing leaves the others
                yield task, error

    def _draft(self, task: Task) -> Draft | Declined:
        found = find_principle(
            [member.memory.content for member in task.members],
            self._embed,
            similarity=self._settings.principle_similarity,
            least=self._settings.principle_patterns,
        )
        return Declined(found) if isinstance(found, str) else Draft(found.text, _VERSION, confidence=found.confidence)


def misplaced_patterns(night: Night, results: Sequence[PrincipleResult]) -> list[str]:
    """Patterns behind the principles of this run that are not active patterns linked to it, read again, in words."""
    problems = []
    for result in results:
        if result.principle_id is None:
            continue
        with night.store.reading() as tx:
            linked = {link.source_id for link in lineage_of(tx, [result.principle_id]) if link.relation == PRINCIPLE}
            patterns = read_memories(tx, result.pattern_ids)
        problems += [
            f"'{i}' behind '{result.principle_id}'"
            for i in result.pattern_ids
            if i not in linked
            or i not in patterns
            or patterns[i].archived_at is not None
            or patterns[i].abstraction_level != LEVEL_PATTERN
        ]
    return problems


def _patterns(night: Night) -> tuple[list[Memory], list[Memory]]:
    """The active patterns, and the active principles, of the projects that take part."""
    with night.store.reading() as tx:
        active = all_memories(tx, include_archived=False, created_by=night.as_of)
    mine = [memory for memory in active if night.may_touch(memory.project_id)]
    return (
        [memory for memory in mine if memory.abstraction_level == LEVEL_PATTERN],
        [memory for memory in mine if memory.abstraction_level == LEVEL_PRINCIPLE],
    )


def _edges(night: Night, patterns: Sequence[Memory]) -> pa.Table:
    """Every related pair of patterns of one project, with the conflict guard's finding."""
    night.embed_missing()
    tables = [EDGE_SCHEMA.empty_table()]
    for project in sorted({pattern.project_id for pattern in patterns}):
        ids, vectors = night.vectors_of([pattern.id for pattern in patterns if pattern.project_id == project])
        i, j, scores = similar_pairs(vectors, night.settings.principle_similarity, block_size=night.settings.block_size)
        pairs = [(ids[x], ids[y]) for x, y in zip(i, j, strict=True)]
        tables.append(guard_edges(night, project, pairs, scores))
    return pa.concat_tables(tables)


def _between_subjects(edges: pa.Table) -> pa.Table:
    """The edges with contradictions as their only conflicts: one rule may hold for two subjects."""
    place = edges.schema.get_field_index("conflict_kind")
    kinds = [kind if kind in CONTRADICTING else None for kind in edges["conflict_kind"].to_pylist()]
    return edges.set_column(place, edges.schema.field(place), pa.array(kinds, type=pa.string()))


def _sources_of(night: Night, principles: Sequence[Memory]) -> dict[str, frozenset[str]]:
    with night.store.reading() as tx:
        links = lineage_of(tx, [principle.id for principle in principles])
    return {
        principle.id: frozenset(
            link.source_id for link in links if link.memory_id == principle.id and link.relation == PRINCIPLE
        )
        for principle in principles
    }


def _is_new(group: Cluster, taken: dict[str, frozenset[str]]) -> bool:
    """Whether a group goes beyond the principles that its patterns stand behind, and tears none of them apart."""
    members = set(group.member_ids)
    touched = [sources for sources in taken.values() if sources & members]
    return all(sources < members for sources in touched)


def _settle(
    night: Night,
    group: Cluster,
    task: Task | None,
    draft: Draft | Declined | Exception,
    taken: dict[str, frozenset[str]],
) -> PrincipleResult:
    """What becomes of a group. One that fails, or for which no answer could be had, is taken up again next week."""
    replaces = tuple(sorted(i for i, sources in taken.items() if sources & set(group.member_ids)))
    blank = replace(_result(group, "skipped", None), replaces=replaces)
    try:
        if isinstance(draft, Exception):
            raise draft
        if isinstance(draft, Declined) and draft.again:
            return replace(blank, status="deferred", reason=draft.reason)
        patterns = list(night.memories(group.member_ids).values())
        reason = draft.reason if isinstance(draft, Declined) else _refusal(night, patterns, draft)
        if reason or isinstance(draft, Declined):
            _log_refusal(night, replace(blank, reason=reason), draft, task)
            return replace(blank, reason=reason)
        made = replace(blank, status="created", content=draft.text)
        return made if night.options.dry_run else _write(night, made, patterns, draft.confidence)
    except Exception as error:  # one group failing leaves the others; it is logged and reported
        if task is not None or not isinstance(error, DistillerError):
            note_failure(night, group, error)
        return replace(blank, status="failed", reason=f"{type(error).__name__}: {error}"[:500])


def _refusal(night: Night, patterns: Sequence[Memory], draft: Draft) -> str | None:
    """Why a draft is no principle. Whoever wrote it, it says nothing that the patterns do not, and contradicts none."""
    contents = [pattern.content for pattern in patterns]
    if draft.contradictions:
        return f"{len(draft.contradictions)} pairs of its patterns contradict each other"
    if not draft.text.strip():
        return "the patterns share no rule"
    invented = find_invention(contents, draft.text)
    if invented:
        return f"invented: no pattern has the {invented.kind} '{invented.text}'"
    clash = find_contradiction(contents, draft.text)
    if clash:
        return f"contradicts a pattern: {clash}"
    tokens = night.embedder.count_tokens(draft.text)
    if tokens > night.settings.max_abstraction_tokens:
        return f"principle has {tokens} tokens, at most {night.settings.max_abstraction_tokens} are accepted"
    by_words = night.distiller.method == "heuristic"
    least = night.settings.principle_similarity if by_words else night.settings.confidence_min
    return None if draft.confidence >= least else f"confidence {draft.confidence:.2f} is below {least:g}"


def _write(night: Night, result: PrincipleResult, patterns: Sequence[Memory], confidence: float) -> PrincipleResult:
    """The principle with its links, and the earlier ones that it replaces archived into it, in one transaction."""
    memory = _memory(night, result, patterns, confidence)
    vector = np.asarray(night.embedder.embed([embedding_text(memory.content)]), dtype=np.float32)
    check_vectors(vector, [memory.id], night.embedder.dimension, night.embedder.name)
    theirs = night.vectors_in_order([pattern.id for pattern in patterns]).astype(np.float64)
    links = [
        LineageLink(memory.id, pattern.id, PRINCIPLE, round(min(1.0, float(score)), 6))
        for pattern, score in zip(patterns, theirs @ vector[0], strict=True)
    ]
    with night.store.writing(night.holder, night.options.run_id) as tx:
        there = read_memories(tx, [memory.id]).get(memory.id)
        if there is not None and there.rolled_back_at is not None:
            revive_memory(tx, memory.id)
        elif there is None:
            insert_memories(tx, [memory])
            insert_vectors(tx, [memory.id], vector, night.embedder.name)
        insert_lineage(tx, links)
        for earlier in result.replaces:
            gone = supersede_memory(
                tx,
                earlier,
                winner=memory.id,
                archived_by=result.group_id,
                at=night.as_of,
                critical_floor=night.settings.critical_floor,
            )
            if gone:
                insert_lineage(tx, [LineageLink(memory.id, earlier, "superseded", 1.0)])
        done = replace(result, principle_id=memory.id)
        insert_log(tx, _log_row(night, done, _ratio(patterns, memory)))
    return done


def _memory(night: Night, result: PrincipleResult, patterns: Sequence[Memory], confidence: float) -> Memory:
    kinds = [pattern.memory_type for pattern in patterns]
    types = [pattern.pattern_type for pattern in patterns if pattern.pattern_type]
    subjects = [c for pattern in patterns for c in pattern.categories if c != COMPRESSED_CATEGORY]
    top = sorted(set(subjects), key=lambda c: (-subjects.count(c), c))[:2]
    return Memory(
        id=derived_id("principle", result.group_id, _VERSION, content_hash(result.content)),
        project_id=result.project_id,
        content=result.content,
        memory_type=max(sorted(set(kinds)), key=kinds.count),
        created_at=night.as_of,
        effective_date=max(pattern.effective_date for pattern in patterns),
        content_hash=content_hash(result.content),
        shape_hash=shape_hash(result.content),
        token_count=night.embedder.count_tokens(result.content),
        categories=tuple(top),
        importance=max(1.0, *(pattern.importance for pattern in patterns)),
        abstraction_level=LEVEL_PRINCIPLE,
        pattern_type=max(sorted(set(types)), key=types.count) if types else None,
        confidence_score=confidence,
        consolidation_method=night.distiller.method,
        source=Source(MADE, PRINCIPLE),
    )


def _ratio(patterns: Sequence[Memory], principle: Memory) -> float:
    return round(sum(pattern.token_count for pattern in patterns) / principle.token_count, 4)


def _result(group: Cluster, status: str, reason: str | None) -> PrincipleResult:
    return PrincipleResult(
        group_id=group.cluster_id,
        project_id=group.project_id,
        pattern_ids=group.member_ids,
        status=status,
        reason=reason,
        principle_id=None,
        content="",
        replaces=(),
        avg_similarity=group.avg_similarity,
        fingerprint=group.fingerprint,
    )


def _log_refusal(night: Night, result: PrincipleResult, draft: Draft | Declined, task: Task | None) -> None:
    """The refusal in the log, and the patterns that a model found to contradict each other as conflicts."""
    if night.options.dry_run:
        return
    conflicts = []
    if task is not None and isinstance(draft, Draft):
        place = {member.memory.id: number for number, member in enumerate(task.members)}
        conflicts = [
            Conflict(
                result.project_id,
                min(a, b),
                max(a, b),
                "contradiction",
                "found among the patterns of a principle",
                round(float(task.similarities[place[a], place[b]]), 6),
            )
            for a, b in draft.contradictions
        ]
    with night.store.writing(night.holder, night.options.run_id) as tx:
        record_conflicts(tx, conflicts, night.as_of)
        insert_log(tx, _log_row(night, result, None))


def _log_row(night: Night, result: PrincipleResult, ratio: float | None) -> LogRow:
    status = "compressed" if result.principle_id else "skipped"
    return LogRow(
        id=derived_id("log", PRINCIPLE, result.fingerprint, night.as_of.isoformat(), status),
        cluster_fingerprint=result.fingerprint,
        policy=PRINCIPLE,
        compressed_memory_id=result.principle_id,
        status=status,
        reason=result.reason,
        member_count=len(result.pattern_ids),
        compression_ratio=ratio,
        run_id=night.options.run_id,
        created_at=night.as_of,
    )
