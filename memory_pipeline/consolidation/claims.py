"""Memories that make one claim: each begins with the same statement, and goes on with details of its own.

Their cosine is lowered by what else they say, so that notes of one lesson fall below the threshold of a policy. Here
the claim brings them together, and the cosine only has to show that they are about one thing. Found in time
proportional to the memories, by the words of the claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import Policy
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.similarity import exact_scores
from memory_pipeline.records import EligibleMemory, Memory
from memory_pipeline.store import EDGE_SCHEMA
from memory_pipeline.text.agreement import keep_their_roles, says_the_same
from memory_pipeline.text.conflicts import find_conflict
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
_AT_ONCE = 10_000
_TURNS = frozenset(word.rstrip("e") for text in ("otherwise", "unless", "else") for word in content_words(text))


def is_claim(statement: str) -> bool:
    """Whether a statement says so much that two memories which make it say the same thing."""
    return len(content_words(statement)) >= WORDS_OF_A_CLAIM


def claim_threshold(night: Night, policy: Policy) -> float:
    """The cosine from which memories that make one claim belong together; a run that is given a threshold keeps it."""
    return policy.threshold if night.options.threshold is not None else min(policy.threshold, CLAIM_COSINE)


def by_claims(night: Night, policy: Policy) -> Policy:
    """A policy as it applies to pairs that make one claim."""
    cosine = claim_threshold(night, policy)
    own = {project: table.model_copy(update={"threshold": cosine}) for project, table in policy.own.items()}
    return replace(policy, threshold=cosine, own=own)


def opening_claims(night: Night, ids: Sequence[str]) -> dict[str, int]:
    """By memory, a hash of the words of the claim with which it begins, and of its project; memories that begin with
    none are omitted. Each is read once, since reading costs more than all else of a night on which nothing is new."""
    found: dict[str, int] = {}
    for start in range(0, len(ids), _AT_ONCE):
        for memory_id, (project, content) in night.contents(ids[start : start + _AT_ONCE]).items():
            claim = _opening_claim(content)
            if claim is not None:
                # What claims in the same words share, without endings and what turns `unless` round.
                key = frozenset(word.rstrip("e") for word in content_words(claim)) - _TURNS
                found[memory_id] = hash((project, key))
    return found


def claim_edges(night: Night, eligible: Sequence[EligibleMemory], claims: Mapping[str, int]) -> pa.Table:
    """The pairs of memories of one project that make one claim, with their cosine, and with the conflict that keeps
    them apart (EDGE_SCHEMA). Pairs below CLAIM_COSINE are omitted. `claims`: as in `opening_claims`."""
    groups: dict[int, list[str]] = {}
    for memory in eligible:
        if memory.id in claims:
            groups.setdefault(claims[memory.id], []).append(memory.id)
    several = [ids for ids in groups.values() if len(ids) > 1]
    memories = night.memories(i for ids in several for i in ids)
    pairs = sorted(pair for ids in several for pair in _pairs([memories[i] for i in ids]))
    ids, vectors = night.vectors_of(list({i for pair in pairs for i in pair}))
    row = {memory_id: number for number, memory_id in enumerate(ids)}
    left, right = (np.array([row[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    near = [
        _edge(memories[a], memories[b], float(score))
        for (a, b), score in zip(pairs, exact_scores(vectors, left, right), strict=True)
        if score >= CLAIM_COSINE
    ]
    return pa.Table.from_pylist(near, schema=EDGE_SCHEMA)


def without_claims_of(
    eligible: Sequence[EligibleMemory], taken: Collection[str], claims: Mapping[str, int]
) -> list[EligibleMemory]:
    """The memories that do not begin with a claim of one of those that are taken: what becomes of these they join in a
    later night, rather than making a second memory of it. `claims`: as in `opening_claims`."""
    known = {claims[memory_id] for memory_id in taken if memory_id in claims}
    return [memory for memory in eligible if claims.get(memory.id) not in known]


def _opening_claim(content: str) -> str | None:
    """The claim with which a memory begins, if it is one."""
    first = next(iter(split_statements(content[:_BEGINNING])), "")
    claim = strip_lead_in(first)
    return claim if is_claim(claim) else None


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[str, str]]:
    """The ids of those that claim the same, of memories that begin with the same words, the smaller id first. Lines
    that differ in values only are readings."""
    newest = sorted(memories, key=lambda memory: (memory.effective_date, memory.id))[-_MOST_OF_A_CLAIM:]
    told = {memory.id: (_opening_claim(memory.content) or "", line_shape(memory.content)) for memory in newest}
    for a, b in combinations(sorted(told), 2):
        (one, shape), (other, other_shape) = told[a], told[b]
        if shape != other_shape and says_the_same(one, other) and keep_their_roles(one, other):
            yield a, b


def _edge(one: Memory, other: Memory, score: float) -> dict[str, object]:
    found = find_conflict(one.content, other.content)
    return {
        "project_id": one.project_id,
        "a": one.id,
        "b": other.id,
        "score": score,
        "conflict_kind": found.kind if found else None,
        "conflict_detail": None,
    }
