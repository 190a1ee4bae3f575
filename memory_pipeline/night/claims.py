"""Memories that make one claim: each begins with the same statement, and goes on with details of its own.

Their cosine is lowered by what else they say, so that notes of one lesson fall below the threshold of a policy. Here
the claim brings them together, and the cosine only has to show that they are about one thing. Found in time
proportional to the memories, by the words of the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import Policy
from memory_pipeline.night.pairs import exact_scores
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.night.reading import NightReader
from memory_pipeline.records import EligibleMemory, Memory
from memory_pipeline.store import EDGE_SCHEMA
from memory_pipeline.wording.agreement import keep_their_roles, says_the_same
from memory_pipeline.wording.conflicts import find_conflict
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.normalise import line_shape
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

#: From this cosine on, memories that make one claim are about one thing (notes of one lesson, each with a detail of its
#: own: 0.72 to 0.82 in the demo).
CLAIM_COSINE = 0.65
#: A statement with as many content words is a claim; "It takes 4 minutes." is none.
WORDS_OF_A_CLAIM = 5
#: Of more memories that make one claim, the newest are taken: this bounds the pairs.
_MOST_OF_A_CLAIM = 50
#: A claim is looked for in as many characters at the beginning of a memory.
_BEGINNING = 600
_AT_ONCE = 2000


def is_claim(statement: str) -> bool:
    """Whether a statement says so much that two memories which make it say the same thing."""
    return len(content_words(statement)) >= WORDS_OF_A_CLAIM


def claim_threshold(plan: NightPlan, policy: Policy) -> float:
    """The cosine from which memories that make one claim belong together; a run that is given a threshold keeps it."""
    return policy.threshold if plan.options.threshold is not None else min(policy.threshold, CLAIM_COSINE)


def by_claims(plan: NightPlan, policy: Policy) -> Policy:
    """A policy as it applies to pairs that make one claim."""
    cosine = claim_threshold(plan, policy)
    own = {project: table.model_copy(update={"threshold": cosine}) for project, table in policy.own.items()}
    return replace(policy, threshold=cosine, own=own)


def claim_edges(reader: NightReader, eligible: Sequence[EligibleMemory]) -> pa.Table:
    """The pairs of memories of one project that make one claim, with their cosine, and with the conflict that keeps
    them apart (EDGE_SCHEMA). Pairs below CLAIM_COSINE are omitted."""
    claims: dict[tuple[str, frozenset[str]], dict[str, str]] = {}
    memories: dict[str, Memory] = {}
    for start in range(0, len(eligible), _AT_ONCE):
        page = reader.memories(memory.id for memory in eligible[start : start + _AT_ONCE])
        for memory_id, memory in page.items():
            claim = _claim_of(memory.content)
            if claim is not None:
                key = (memory.project_id, frozenset(content_words(claim)))
                claims.setdefault(key, {})[memory_id] = claim
                memories[memory_id] = memory
    rows = [row for said in claims.values() if len(said) > 1 for row in _pairs(reader, said, memories)]
    rows.sort(key=lambda row: (row["a"], row["b"]))
    return pa.Table.from_pylist(rows, schema=EDGE_SCHEMA)


def _claim_of(content: str) -> str | None:
    first = next(iter(split_statements(content[:_BEGINNING])), "")
    claim = strip_lead_in(first)
    return claim if is_claim(claim) else None


def _pairs(
    reader: NightReader, claims: Mapping[str, str], memories: Mapping[str, Memory]
) -> Iterator[dict[str, object]]:
    """`claims`: what memories claim in the same words, by id. Lines that differ in values only are readings."""
    newest = sorted(claims, key=lambda i: (memories[i].effective_date, i))[-_MOST_OF_A_CLAIM:]
    ids, vectors = reader.vectors_of(newest)
    pairs = [
        (i, j)
        for i, j in combinations(range(len(ids)), 2)
        if says_the_same(claims[ids[i]], claims[ids[j]])
        and keep_their_roles(claims[ids[i]], claims[ids[j]])
        and line_shape(memories[ids[i]].content) != line_shape(memories[ids[j]].content)
    ]
    if not pairs:
        return
    left, right = np.array(pairs, dtype=np.int64).T
    for i, j, score in zip(left, right, exact_scores(vectors, left, right), strict=True):
        if score >= CLAIM_COSINE:
            one, other = memories[ids[i]], memories[ids[j]]
            found = find_conflict(one.content, other.content)
            yield {
                "project_id": one.project_id,
                "a": one.id,
                "b": other.id,
                "score": float(score),
                "conflict_kind": found.kind if found else None,
                "conflict_detail": None,
            }
