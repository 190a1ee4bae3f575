"""A pattern grows: what new memories say again becomes the next version of it, instead of another pattern.

The next version is made from the raw memories of the pattern and the new ones, never from the pattern's own words.
The version before it is archived into it with them.

Memories that make one claim begin with the same statement, and go on with details of their own. Their cosine is lowered
by what else they say, so that notes of one lesson fall below the threshold of a policy. Here the claim brings them
together, and the cosine only has to show that they are about one thing. Found in time proportional to the memories, by
the words of the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import PRINCIPLE, Policy
from memory_pipeline.consolidation.clustering import cut_clusters, describe_cluster, mark_settled, takes
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.established import find_established
from memory_pipeline.consolidation.similarity import edges_among, edges_between, exact_scores, proposal_margin
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.conflicts import WORDING, are_of_another, find_conflict, says
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    LEAST_PATTERNS,
    LEVEL_PATTERN,
    MADE,
    READING,
    Cluster,
    EligibleMemory,
    LineageLink,
    Memory,
    Source,
    derived_id,
    fingerprint_of,
    offset_of_newest,
)
from memory_pipeline.store import EDGE_SCHEMA, Transaction
from memory_pipeline.text.entries import claim_of
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import line_shape
from memory_pipeline.text.sentences import split_statements, strip_lead_in

#: From this cosine on, memories that make one claim are about one thing (notes of one lesson, each with a detail of its
#: own: 0.72 to 0.82 in the demo).
CLAIM_COSINE = 0.65
#: A statement with as many content words is a claim; "It takes 4 minutes." is none.
WORDS_OF_A_CLAIM = 5
#: Of more memories that make one claim, the newest are taken: this bounds the pairs.
_MOST_OF_A_CLAIM = 50
#: A claim is looked for in as many characters at the beginning of a memory.
_BEGINNING = 600
_CLAIMS_AT_ONCE = 10_000
_TURNS = frozenset(word.rstrip("e") for text in ("otherwise", "unless", "else") for word in content_words(text))


def is_claim(statement: str) -> bool:
    """True if a statement says so much that two memories which make it say the same thing."""
    return len(content_words(statement)) >= WORDS_OF_A_CLAIM


def claim_threshold(night: Night, policy: Policy) -> float:
    """The cosine from which memories that make one claim belong together; a run that is given a threshold keeps it."""
    return policy.threshold if night.options.threshold is not None else min(policy.threshold, CLAIM_COSINE)


def _with_threshold(policy: Policy, threshold: float) -> Policy:
    """A policy with another threshold for all projects."""
    own = {project: table.model_copy(update={"threshold": threshold}) for project, table in policy.own.items()}
    return replace(policy, threshold=threshold, own=own)


def opening_claims(night: Night, ids: Sequence[str]) -> dict[str, int]:
    """By memory, a hash of the words of the claim with which it begins, and of its project; memories that begin with
    none are omitted. Each is read once, since reading costs more than all else of a night on which nothing is new."""
    claims: dict[str, int] = {}
    for start in range(0, len(ids), _CLAIMS_AT_ONCE):
        for memory_id, (project, content) in night.contents(ids[start : start + _CLAIMS_AT_ONCE]).items():
            claim = _opening_claim(content)
            if claim is not None:
                # What claims in the same words share, without endings and what turns `unless` round.
                key = frozenset(word.rstrip("e") for word in content_words(claim)) - _TURNS
                claims[memory_id] = hash((project, key))
    return claims


def claim_edges(night: Night, eligible: Sequence[EligibleMemory], claims: Mapping[str, int]) -> pa.Table:
    """The pairs of memories of one project that make one claim, with their cosine, and with the conflict that keeps
    them apart (EDGE_SCHEMA). Pairs below CLAIM_COSINE are omitted. `claims`: as in `opening_claims`."""
    groups: dict[int, list[str]] = {}
    for memory in eligible:
        if memory.id in claims:
            groups.setdefault(claims[memory.id], []).append(memory.id)
    several = [ids for ids in groups.values() if len(ids) > 1]
    memories = night.memories(i for ids in several for i in ids)
    pairs = sorted(pair for ids in several for pair in _claiming_pairs([memories[i] for i in ids]))
    ids, vectors = night.vectors_of(list({i for pair in pairs for i in pair}))
    row = {memory_id: number for number, memory_id in enumerate(ids)}
    left, right = (np.array([row[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    near = []
    for (a, b), score in zip(pairs, exact_scores(vectors, left, right).tolist(), strict=True):
        if score >= CLAIM_COSINE:
            finding = find_conflict(memories[a].content, memories[b].content)
            kind = finding.kind if finding else WORDING if are_of_another(memories[a], memories[b]) else None
            project = memories[a].project_id
            near.append(dict(zip(EDGE_SCHEMA.names, (project, a, b, score, kind, None), strict=True)))
    return pa.Table.from_pylist(near, schema=EDGE_SCHEMA)


def _opening_claim(content: str) -> str | None:
    """The claim with which a memory begins, if it is one."""
    first = next(iter(split_statements(content[:_BEGINNING])), "")
    claim = strip_lead_in(first)
    return claim if is_claim(claim) else None


def _claiming_pairs(memories: Sequence[Memory]) -> Iterator[tuple[str, str]]:
    """The ids of those that claim the same, of memories that begin with the same words, the smaller id first. Lines
    that differ in values only are readings."""
    newest = sorted(memories, key=lambda memory: (memory.effective_date, memory.id))[-_MOST_OF_A_CLAIM:]
    claims = {memory.id: (_opening_claim(memory.content) or "", line_shape(memory.content)) for memory in newest}
    for a, b in combinations(sorted(claims), 2):
        (one, shape), (other, other_shape) = claims[a], claims[b]
        if shape != other_shape and says(one, other):
            yield a, b


def carry_principles(
    night: Night, tx: Transaction, grown: Mapping[str, Memory], vectors: Mapping[str, Vectors], model: str
) -> None:
    """Make the next version of every active principle with a pattern that grew: it says the same with the same
    confidence, and links to the next versions of its patterns.

    `grown`: by pattern, its next version; `vectors`: by next version, its vector of this model, float32 (dimension,).
    A principle that is pinned or critical stays as it is.
    """
    links: dict[str, list[LineageLink]] = {}
    for link in tx.lineage.principles_on(grown):
        links.setdefault(link.memory_id, []).append(link)
    for principle in sorted(tx.memories.read(links).values(), key=lambda memory: memory.id):
        similarity = {
            grown[link.source_id].id if link.source_id in grown else link.source_id: link.similarity
            for link in links[principle.id]
        }
        patterns = [p for p in tx.memories.read(similarity).values() if p.abstraction_level == LEVEL_PATTERN]
        embedded_ids, own = tx.vectors.read([principle.id], model, len(next(iter(vectors.values()))))
        if not embedded_ids or len(patterns) < LEAST_PATTERNS:
            continue
        for i in similarity.keys() & vectors.keys():
            score = float(np.dot(own[0].astype(np.float64), vectors[i].astype(np.float64)))
            similarity[i] = round(min(1.0, score), 6)
        ids = sorted(pattern.id for pattern in patterns)
        made = replace(
            principle,
            id=derived_id("principle", principle.id, night.as_of.isoformat(), *ids),
            created_at=night.as_of,
            effective_date=max(pattern.effective_date for pattern in patterns),
            utc_offset=offset_of_newest(patterns),
            reuse_count=0,
            useful_count=0,
            updated_at=None,
        )
        group = derived_id(PRINCIPLE, principle.project_id, fingerprint_of(sorted(similarity)))
        if not night.supersede(tx, principle.id, made.id, group):
            continue
        if made.id in tx.memories.read([made.id]):
            tx.memories.revive([made.id])
        else:
            tx.memories.add([made])
            tx.vectors.add([made.id], own, model)
        tx.lineage.add([LineageLink(made.id, i, PRINCIPLE, score) for i, score in sorted(similarity.items())])
        ratio = round(sum(pattern.token_count for pattern in patterns) / made.token_count, 4)
        row = night.log_row(PRINCIPLE, fingerprint_of(ids), "compressed", None, len(patterns), made.id, ratio)
        tx.journal.log([row])


#: Statements that are alike by at least this cosine on average may teach one lesson: a model says whether they do.
#: Below it, notes of one subject that share no lesson crowd in (built-in model).
STATEMENT_COSINE = 0.55
#: Of more statements of a project the newest are compared: this bounds the pairs.
_MOST_STATEMENTS = 400
#: Rows of both sides that are compared at once: this bounds the memory.
_AT_ONCE = 2048


def find_growth(night: Night, policy: Policy, eligible: Sequence[EligibleMemory]) -> list[Cluster]:
    """By pattern that new memories say again, a cluster of it and of these, largest first.

    A memory joins the nearest pattern of its project at or above the policy's threshold, if it has a statement that
    one of the two says in the words of the other, and contradicts nothing in it, nor in the raw memories behind it, nor
    in a nearer one that joins it; below the threshold, if that statement is a claim. Patterns made tonight or later are
    left to the next night.
    """
    with night.store.reading() as tx:
        patterns = tx.memories.patterns(night.as_of, policy.name, night.critical_floor)
    mine = {pattern.id: pattern for pattern in patterns if night.may_touch(pattern.project_id)}
    by_id = {memory.id: memory for memory in eligible}
    joined: dict[str, dict[str, float]] = {}
    for project in sorted({pattern.project_id for pattern in mine.values()}):
        here = {i: pattern for i, pattern in mine.items() if pattern.project_id == project}
        cut = policy.of_project(project)
        if cut is None:
            continue
        others = {memory.id: memory for memory in eligible if memory.project_id == project and takes(cut, memory)}
        for pattern_id, memory_id, score in _find_nearest(night, cut, here, others):
            joined.setdefault(pattern_id, {})[memory_id] = score
    clusters = [
        describe_cluster([mine[i], *(by_id[m] for m in ids)], [scores[m] for m in ids], policy.name)
        for i, scores in sorted(joined.items())
        if (ids := _find_agreeing(night, i, scores))
    ]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _find_agreeing(night: Night, pattern_id: str, scores: Mapping[str, float]) -> list[str]:
    """Of the memories that say a pattern again, by cosine, those that conflict with none of the raw memories behind it
    and with no nearer one. The others stay as they are, and do not keep the pattern from growing."""
    contents = night.memories(scores)
    behind = {i: raw for i, raw in night.witnesses([pattern_id, *scores]).items() if raw}
    texts = [raw.content for raw in behind.get(pattern_id, [])]
    taken: list[str] = []
    for memory_id in sorted(scores, key=lambda i: (-scores[i], i)):
        says = [raw.content for raw in behind.get(memory_id, [])] or [contents[memory_id].content]
        if all(find_conflict(claim_of(one), claim_of(other)) is None for one in texts for other in says):
            taken.append(memory_id)
            texts += says
    return sorted(taken)


def _find_nearest(
    night: Night, policy: Policy, patterns: Mapping[str, Memory], others: Mapping[str, EligibleMemory]
) -> list[tuple[str, str, float]]:
    """For each memory that says again what a pattern says: the nearest such pattern, the memory and their cosine.

    A pattern is as near as the nearest of it and the raw memories behind it: the more details it has gathered, the
    farther it is from a short note of the same thing.
    """
    owner = {source.id: i for i, sources in night.witnesses(patterns).items() for source in sources}
    owner |= {i: i for i in patterns}
    source_ids, sources = night.vectors_of(sorted(owner))
    ids, vectors = night.vectors_of(sorted(others))
    near: dict[str, dict[str, float]] = {}
    for i, j, score in _pairs(sources, vectors, claim_threshold(night, policy)):
        best_scores = near.setdefault(ids[j], {})
        best_scores[owner[source_ids[i]]] = max(score, best_scores.get(owner[source_ids[i]], -1.0))
    contents = night.memories(near)
    nearest = []
    for memory_id, scores in sorted(near.items()):
        memory = contents[memory_id]
        for pattern_id in sorted(scores, key=lambda i: (-scores[i], i)):
            pattern, score = patterns[pattern_id], scores[pattern_id]
            of_one_kind = policy.group_by != "memory_type" or pattern.memory_type == memory.memory_type
            if of_one_kind and says_again(pattern.content, memory.content, only_claims=score < policy.threshold):
                nearest.append((pattern_id, memory_id, score))
                break
    return nearest


def _pairs(sources: Vectors, vectors: Vectors, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Rows of both with a cosine at or above the threshold. Vectors: float32 (n, dimension), unit length."""
    lowest = np.float32(threshold - proposal_margin(vectors.shape[1]))
    for left in range(0, len(vectors), _AT_ONCE):
        for top in range(0, len(sources), _AT_ONCE):
            rows, columns = sources[top : top + _AT_ONCE], vectors[left : left + _AT_ONCE]
            i, j = np.nonzero(rows @ columns.T >= lowest)
            scores = exact_scores(np.concatenate([rows, columns]), i, j + len(rows))
            for a, b, score in zip(i, j, scores, strict=True):
                if score >= threshold:
                    yield int(a) + top, int(b) + left, float(score)


def says_again(pattern: str, content: str, *, only_claims: bool = False) -> bool:
    """True if a content has a statement (of those that are a claim) that a pattern makes as well, in its words, and
    contradicts nothing in it."""
    ours, theirs = (
        [
            statement
            for statement in map(strip_lead_in, split_statements(text))
            if not only_claims or is_claim(statement)
        ]
        for text in (pattern, content)
    )
    same = any(says(one, other) or says(other, one) for one in ours for other in theirs)
    return same and find_conflict(pattern, content) is None


def cluster_memories(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Cluster]:
    """Tonight's established statements and clusters of every `distill` policy, largest first.

    What says again what a pattern says joins that pattern; the rest may form new ones: of near memories, then of those
    that make one claim, and then, if a model says what they teach, of statements that are alike in meaning. `eligible`
    and `edges`: what merging left. A memory is in at most one cluster. A fingerprint decided within the last
    `fingerprint_ttl_days` as of the night is marked settled. With `cluster_id`, all other clusters are marked settled.
    """
    night.hold_lease()
    # Edges from a file may be those of an earlier run, whose memories have been archived since.
    edges = edges_among(edges, [memory.id for memory in eligible])
    clusters = find_established(night, eligible)
    for policy in night.policies:
        if policy.method == "distill":
            taken = _members(clusters)
            left = [memory for memory in eligible if memory.id not in taken]
            grown = mark_settled(night, policy.name, find_growth(night, policy, left))
            # Also those of clusters that were declined: a second run must not make of them what the first one did not.
            again = _members(grown)
            rest = [memory for memory in left if memory.id not in again]
            near = cut_clusters(night, policy, rest, edges)
            joined = _members(near)
            apart = [memory for memory in rest if memory.id not in joined]
            made = _members(cluster for cluster in near if cluster.settled is None)
            claims = opening_claims(night, sorted({*made, *(memory.id for memory in apart)}))
            # What begins with a claim of those joins in a later night what becomes of them.
            known = {claims[memory_id] for memory_id in made if memory_id in claims}
            apart = [memory for memory in apart if claims.get(memory.id) not in known]
            claimed = claim_edges(night, apart, claims)
            far = cut_clusters(night, _with_threshold(policy, claim_threshold(night, policy)), apart, claimed)
            clusters += [*grown, *near, *far, *_cluster_alike(night, policy, apart, _members(far))]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _cluster_alike(night: Night, policy: Policy, apart: Sequence[EligibleMemory], taken: set[str]) -> list[Cluster]:
    """Clusters of statements that are alike in meaning; none without a model, which alone can tell what they share."""
    if not has_model(night.settings) or night.options.threshold is not None:
        return []
    memories = night.memories(memory.id for memory in apart if memory.id not in taken)
    stated = [memory for memory in memories.values() if memory.source == Source(MADE, READING)]
    newest: dict[str, list[str]] = {}
    for memory in sorted(stated, key=lambda memory: (memory.effective_date, memory.id), reverse=True):
        newest.setdefault(memory.project_id, []).append(memory.id)
    newest = {project: ids[:_MOST_STATEMENTS] for project, ids in sorted(newest.items())}
    tables = [EDGE_SCHEMA.empty_table()]
    tables += [edges_between(night, project, ids, STATEMENT_COSINE) for project, ids in newest.items()]
    taken_part = {i for ids in newest.values() for i in ids}
    loose = replace(_with_threshold(policy, STATEMENT_COSINE), linkage="average")
    statements = [memory for memory in apart if memory.id in taken_part]
    clusters = cut_clusters(night, loose, statements, pa.concat_tables(tables))
    # Two statements, of however many notes, are not yet a lesson: a model that was shown 65 such pairs declined 56.
    return [cluster for cluster in clusters if cluster.member_count >= policy.min_size]


def _members(clusters: Iterable[Cluster]) -> set[str]:
    return {memory_id for cluster in clusters for memory_id in cluster.member_ids}
