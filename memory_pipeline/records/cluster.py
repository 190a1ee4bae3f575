"""Memories that say the same thing, the drafts made of them, and the results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

#: Reasons for which a cluster is deferred, not decided: the next night processes it.
COST_CAP, TIME_LIMIT = "cost cap", "time limit"
BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER = "batch under way", "batch expired", "no answer"
DEFERRED_REASONS = (COST_CAP, TIME_LIMIT, BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER)


#: The judge's verdicts on a draft; the last two are tried again the next night.
Outcome = Literal["accepted", "refused", "deferred", "failed"]
#: How the sources of a cluster are linked to the abstraction made of it.
LevelRelation = Literal["merged", "canonical", "distilled"]
#: The status of a cluster in the log.
Decided = Literal["compressed", "skipped", "failed"]
#: The status of a cluster in the store.
ArchiveStatus = Literal["compressed", "skipped", "failed", "proposed", "settled"]

# The meanings of fields that a cluster, its distillation and its archive share.
ClusterId = Annotated[
    str, Column("Derived from policy, project and members: the same cluster has the same id every night.")
]
Fingerprint = Annotated[str, Column("SHA-256 of the sorted member ids.")]
PolicyName = Annotated[str, Column("The policy that found it.")]
Members = Annotated[tuple[str, ...], Column("The memories of the cluster.")]
MeanCosine = Annotated[float, Column("Mean cosine over all pairs.")]
LowestCosine = Annotated[float, Column("The lowest cosine of any pair; never below the threshold.")]
TokensBefore = Annotated[int, Column("Tokens of all members.")]
TokensAfter = Annotated[int, Column("Tokens of the proposed memory, as measured.")]
Ratio = Annotated[float, Column("Tokens before divided by tokens after.")]
FactsFound = Annotated[int, Column("Numbers, dates, names, identifiers, negations and recommendations in the sources.")]
FactsKept = Annotated[int, Column("Facts kept in the shared statement.")]
FactsAttached = Annotated[int, Column("Facts attached from single sources.")]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of memories that say the same thing."""

    cluster_id: ClusterId
    fingerprint: Fingerprint
    policy: PolicyName
    project_id: str
    member_ids: Members
    member_count: int
    avg_similarity: MeanCosine
    min_similarity: LowestCosine
    dominant_category: Annotated[str, Column("The category that most members have.")]
    top_categories: Annotated[tuple[str, ...], Column("The two most frequent categories.")]
    total_tokens: TokensBefore
    max_importance: Annotated[float, Column("The highest importance among the members.")]
    oldest_member_at: datetime
    newest_member_at: datetime
    settled: Annotated[
        str | None, Column("Why the night leaves the cluster alone; empty for clusters to be distilled.")
    ] = None


@dataclass(frozen=True, slots=True)
class Distillation:
    """A draft for one cluster, already judged. Ratios and token counts are measured, not taken from a model."""

    cluster_id: ClusterId
    fingerprint: Fingerprint
    policy: PolicyName
    project_id: str
    member_ids: Members
    similarities: Annotated[tuple[float, ...], Column("The mean cosine of each member to the others.")]
    content: Annotated[str, Column("The proposed memory, attached facts included.")]
    attached: Annotated[tuple[str, ...], Column("Facts of single sources, attached below the shared statement.")]
    outcome: Annotated[
        Outcome, Column("accepted, refused (see reason), deferred or failed (tried again the next night).")
    ]
    reason: Annotated[str | None, Column("Why it was refused or failed.")]
    tokens_before: TokensBefore
    tokens_after: TokensAfter
    compression_ratio: Ratio
    facts_found: FactsFound
    facts_kept: FactsKept
    facts_attached: FactsAttached
    method: Annotated[str, Column("The distiller that wrote it.")]
    prompt_version: str
    memory_type: str
    categories: tuple[str, ...]
    importance: float
    effective_date: datetime
    oldest_member_at: datetime
    pattern_type: str | None = None
    confidence: Annotated[float, Column("0 to 1; for extractive drafts the mean cosine of the sources.")] = 0.0
    is_causal: Annotated[bool, Column("Whether it states a cause and its effect.")] = False
    causal: Annotated[
        tuple[str, ...],
        Column("Subject, action, outcome and consequences; empty if it is not causal."),
    ] = ()
    contradictions: Annotated[
        tuple[str, ...],
        Column("Pairs of members that contradict each other according to the model; the draft quotes both."),
    ] = ()
    relation: Annotated[LevelRelation, Column("How the sources will be linked: merged, canonical or distilled.")] = (
        "distilled"
    )
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """What became of one cluster in the store, and why. A cluster that an earlier night decided is neither processed
    nor logged again."""

    cluster_id: ClusterId
    fingerprint: Fingerprint
    policy: PolicyName
    project_id: str
    status: Annotated[
        ArchiveStatus, Column("compressed, skipped, failed, proposed, or settled (decided on an earlier night).")
    ]
    reason: Annotated[str | None, Column("Why it was refused or failed.")]
    abstraction_id: Annotated[str | None, Column("The memory that was written.")]
    archived_ids: Annotated[tuple[str, ...], Column("Sources that were archived into the abstraction.")]
    tokens_before: TokensBefore
    tokens_after: TokensAfter
    compression_ratio: Ratio
    facts_found: FactsFound
    facts_kept: FactsKept
    facts_attached: FactsAttached
    member_ids: Members = ()
    avg_similarity: MeanCosine = 0.0
    min_similarity: LowestCosine = 0.0


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of `compression_log`: the decision about one fingerprint, as of a night."""

    id: Annotated[str, Column("Derived from the decision, the fingerprint and the as-of time.")]
    cluster_fingerprint: Fingerprint
    policy: PolicyName
    compressed_memory_id: Annotated[str | None, Column("The memory that was written.")]
    status: Annotated[Decided, Column("`compressed`, `skipped` or `failed`.")]
    reason: Annotated[str | None, Column("Why it was not compressed.")]
    member_count: Annotated[int, Column("The number of its members.")]
    compression_ratio: Annotated[float | None, Column("Tokens before divided by tokens after.")]
    run_id: Annotated[str, Column("The run that made the decision.")]
    created_at: Annotated[datetime, Column("The night of the decision.")]
