"""Memories that say the same thing, what was made of them, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from memory_pipeline.records.columns import Column

#: Reasons for which a cluster is put off and not decided: the next night takes it up.
COST_CAP, TIME_LIMIT = "cost cap", "time limit"
BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER = "batch under way", "batch expired", "no answer"
DEFERRED_REASONS = (COST_CAP, TIME_LIMIT, BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that say the same thing. `settled` names why tonight leaves it alone, or is None."""

    cluster_id: str
    fingerprint: str
    policy: str
    project_id: str
    member_ids: tuple[str, ...]
    member_count: int
    avg_similarity: float
    min_similarity: float
    dominant_category: str
    top_categories: tuple[str, ...]
    total_tokens: int
    max_importance: float
    oldest_member_at: datetime
    newest_member_at: datetime
    settled: str | None = None


@dataclass(frozen=True, slots=True)
class Distillation:
    """What a distiller made of one cluster, already judged.

    `outcome` is `accepted`, `refused` (with a `reason`), `deferred` (no money or time was left tonight) or
    `failed` (an error); the last two are tried again next night. `contradictions` are pairs of members that
    the model found to disagree, `causal` the four fields of an atom when the cluster says what led to what.
    `content` is the abstraction with its attached facts; `facts_found`, `facts_kept` and
    `facts_attached` are the preservation figures. Ratios and token counts are measured, never a
    model's word. `relation` is that of the lineage links it gets: `distilled`, `merged` or `canonical`.
    """

    cluster_id: str
    fingerprint: str
    policy: str
    project_id: str
    member_ids: tuple[str, ...]
    similarities: tuple[float, ...]
    content: str
    attached: tuple[str, ...]
    outcome: str
    reason: str | None
    tokens_before: int
    tokens_after: int
    compression_ratio: float
    facts_found: int
    facts_kept: int
    facts_attached: int
    method: str
    prompt_version: str
    memory_type: str
    categories: tuple[str, ...]
    importance: float
    effective_date: datetime
    oldest_member_at: datetime
    pattern_type: str | None = None
    confidence: float = 0.0
    is_causal: bool = False
    causal: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    relation: str = "distilled"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """What became of one cluster in the store: `compressed`, `skipped`, `failed` or `proposed`, and why.

    `settled`: an earlier night decided it, and nothing was done or logged.
    """

    cluster_id: str
    fingerprint: str
    policy: str
    project_id: str
    status: str
    reason: str | None
    abstraction_id: str | None
    archived_ids: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    compression_ratio: float
    facts_found: int
    facts_kept: int
    facts_attached: int
    member_ids: tuple[str, ...] = ()
    avg_similarity: float = 0.0
    min_similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of `compression_log`: what was decided about one fingerprint, as of when."""

    id: Annotated[str, Column("Derived from what was decided about which fingerprint as of when.")]
    cluster_fingerprint: Annotated[str, Column("SHA-256 of the sorted member ids.")]
    policy: Annotated[str, Column("The rule that made the cluster.")]
    compressed_memory_id: Annotated[str | None, Column("The memory that was written.")]
    status: Annotated[str, Column("`compressed`, `skipped` or `failed`.")]
    reason: Annotated[str | None, Column("Why it was not compressed.")]
    member_count: Annotated[int, Column("How many memories it had.")]
    compression_ratio: Annotated[float | None, Column("Tokens before divided by tokens after.")]
    run_id: Annotated[str, Column("The run that decided.")]
    created_at: Annotated[datetime, Column("As of which night.")]
