"""By the week: related patterns of a project become a principle. The patterns stay active, with links both ways.

Patterns that contradict each other are linked as conflicts and never stand behind one principle. A
principle is made of patterns alone, never of another principle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from memory_pipeline.distillers import (
    COMPRESSED_CATEGORY,
    Declined,
    Member,
    Task,
    find_attempt,
    find_contradiction,
    find_invention,
    mean_similarities,
)
from memory_pipeline.embedding import check_vectors
from memory_pipeline.knowledge.principles import CONTRADICTING, find_principle
from memory_pipeline.night.clustering import conflicts_in, find_clusters
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import session_of
from memory_pipeline.night.eligibility import as_eligible
from memory_pipeline.night.similarity import guard_edges, similar_pairs
from memory_pipeline.policies import Policy
from memory_pipeline.records import (
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    Cluster,
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

POLICY = "principle"
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
        POLICY, "distill", night.settings.principle_similarity, night.settings.principle_patterns, linkage="average"
    )
    candidates = [replace(as_eligible(night, pattern, 1), is_entry=False) for pattern in patterns]
    groups = find_clusters(candidates, _between_subjects(edges), policy)
    with night.store.reading() as tx:
        settled = settled_fingerprints(tx, night.as_of, night.settings.fingerprint_ttl_days)
    results = []
    todo = [group for group in groups if _is_new(group, taken)]
    if todo and not night.options.dry_run:
        create_snapshot(night.store, "principles", datetime.now(UTC), night.settings.store_snapshots_kept)
    for done, group in enumerate(todo, start=1):
        night.hold_lease()
        before = settled.get((POLICY, group.fingerprint))
        if before:
            results.append(_result(group, "settled", f"{before} within {night.settings.fingerprint_ttl_days} days"))
        else:
            results.append(_settle(night, group, taken))
        night.progress("principles", done, len(todo))
    return results


def misplaced_patterns(night: Night, results: Sequence[PrincipleResult]) -> list[str]:
    """Patterns behind the principles of this run that are not active patterns linked to it, read again, in words."""
    problems = []
    for result in results:
        if result.principle_id is None:
            continue
        with night.store.reading() as tx:
            linked = {link.source_id for link in lineage_of(tx, [result.principle_id]) if link.relation == POLICY}
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
            link.source_id for link in links if link.memory_id == principle.id and link.relation == POLICY
        )
        for principle in principles
    }


def _is_new(group: Cluster, taken: dict[str, frozenset[str]]) -> bool:
    """Whether a group goes beyond the principles that its patterns stand behind, and tears none of them apart."""
    members = set(group.member_ids)
    touched = [sources for sources in taken.values() if sources & members]
    return all(sources < members for sources in touched)


def _settle(night: Night, group: Cluster, taken: dict[str, frozenset[str]]) -> PrincipleResult:
    memories = night.memories(group.member_ids)
    patterns = sorted(memories.values(), key=lambda memory: (memory.effective_date, memory.id))
    replaces = tuple(sorted(i for i, sources in taken.items() if sources & set(group.member_ids)))
    try:
        drafted = _draft(night, group, patterns)
        if isinstance(drafted, str):
            result = replace(_result(group, "skipped", drafted), replaces=replaces)
            _log(night, result, None)
            return result
        text, confidence, method = drafted
        result = replace(_result(group, "created", None), content=text, replaces=replaces)
        if night.options.dry_run:
            return result
        return _write(night, result, patterns, confidence, method)
    except Exception as error:  # one group failing leaves the others; it is logged and reported
        night.log.error("the principle of group %s", group.cluster_id, exc_info=error)
        night.note_error(group.cluster_id, "distill", error)
        return replace(_result(group, "failed", f"{type(error).__name__}: {error}"[:500]), replaces=replaces)


def _draft(night: Night, group: Cluster, patterns: Sequence[Memory]) -> tuple[str, float, str] | str:
    """The text of a principle with its confidence and method, or why there is none. Whoever wrote it, it says
    nothing that the patterns do not, and contradicts none of them."""
    attempt = find_attempt({pattern.id: pattern.content for pattern in patterns})
    if attempt:
        return f"looks like an attempt to steer: {attempt}"
    model = night.distiller
    if model.method == "heuristic":
        found = find_principle(
            patterns,
            night.embedder.embed,
            similarity=night.settings.principle_similarity,
            least=night.settings.principle_patterns,
        )
        if isinstance(found, str):
            return found
        text, confidence = found.text, found.confidence
    else:
        _, vectors = night.vectors_of([pattern.id for pattern in patterns])
        order = np.argsort(np.argsort([pattern.id for pattern in patterns]))
        cosines, means = mean_similarities(vectors[order])
        task = Task(group, tuple(map(Member, patterns, means)), cosines)
        ((_, draft),) = model.drafts([task], session_of(night))
        if isinstance(draft, Exception):
            raise draft
        if isinstance(draft, Declined):
            return draft.reason
        text, confidence = draft.text, draft.confidence
    contents = [pattern.content for pattern in patterns]
    invented = find_invention(contents, text)
    clash = find_contradiction(contents, text)
    if invented:
        return f"invented: no pattern has the {invented.kind} '{invented.text}'"
    if clash:
        return f"contradicts a pattern: {clash}"
    least = night.settings.principle_similarity if model.method == "heuristic" else night.settings.confidence_min
    return (text, confidence, model.method) if confidence >= least else f"confidence {confidence:.2f} is too low"


def _write(
    night: Night, result: PrincipleResult, patterns: Sequence[Memory], confidence: float, method: str
) -> PrincipleResult:
    """The principle with its links, and the earlier ones that it replaces archived into it, in one transaction."""
    memory = _memory(night, result, patterns, confidence, method)
    vector = np.asarray(night.embedder.embed([embedding_text(memory.content)]), dtype=np.float32)
    check_vectors(vector, [memory.id], night.embedder.dimension, night.embedder.name)
    ids, vectors = night.vectors_of([pattern.id for pattern in patterns])
    scores = dict(zip(ids, (vectors.astype(np.float64) @ vector[0]).tolist(), strict=True))
    with night.store.writing(night.holder, night.options.run_id) as tx:
        there = read_memories(tx, [memory.id]).get(memory.id)
        if there is not None and there.rolled_back_at is not None:
            revive_memory(tx, memory.id)
        elif there is None:
            insert_memories(tx, [memory])
            insert_vectors(tx, [memory.id], vector, night.embedder.name)
        insert_lineage(tx, [LineageLink(memory.id, p.id, POLICY, round(min(1.0, scores[p.id]), 6)) for p in patterns])
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


def _memory(
    night: Night, result: PrincipleResult, patterns: Sequence[Memory], confidence: float, method: str
) -> Memory:
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
        consolidation_method=method,
        source=Source(MADE, POLICY),
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


def _log(night: Night, result: PrincipleResult, ratio: float | None) -> None:
    if not night.options.dry_run:
        with night.store.writing(night.holder, night.options.run_id) as tx:
            insert_log(tx, _log_row(night, result, ratio))


def _log_row(night: Night, result: PrincipleResult, ratio: float | None) -> LogRow:
    status = "compressed" if result.principle_id else "skipped"
    return LogRow(
        id=derived_id("log", POLICY, result.fingerprint, night.as_of.isoformat(), status),
        cluster_fingerprint=result.fingerprint,
        policy=POLICY,
        compressed_memory_id=result.principle_id,
        status=status,
        reason=result.reason,
        member_count=len(result.pattern_ids),
        compression_ratio=ratio,
        run_id=night.options.run_id,
        created_at=night.as_of,
    )
