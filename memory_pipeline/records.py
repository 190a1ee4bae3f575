"""The nouns of the pipeline: what flows from step to step, and what the store keeps.

All times are aware UTC datetimes; every record is frozen, so that a step cannot change what an
earlier one decided.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

MEMORY_TYPES = (
    "error_fix",
    "discovery",
    "decision",
    "learning",
    "warning",
    "codebase_knowledge",
    "fact",
    "lesson",
    "feedback",
    "conversation",
    "other",
)
PATTERN_TYPES = ("success", "failure", "decision", "workflow", "gotcha")
CONSOLIDATION_METHODS = ("llm", "heuristic", "hybrid")

#: Connector of what the pipeline itself makes of other memories; everything else is raw.
MADE = "night"
LEVEL_RAW, LEVEL_MERGED, LEVEL_PATTERN, LEVEL_PRINCIPLE = 0, 1, 2, 3

#: Namespace of every derived id, so that a re-run finds its own work.
ID_NAMESPACE = uuid.UUID("6f1d3e0a-8d2c-5b7e-9c41-2f6a0b9d4e55")

Verdict = Literal["PASS", "PARTIAL", "FAIL", "IDLE"]
Stage = Literal["embed", "distill", "write", "archive", "enrich", "recall", "export", "report", "night"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory was read: the connector's name, the file relative to its root, and the line or row."""

    connector: str = "api"
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that an agent knows.

    `importance` lies in 0-3; `confidence_score` in 0-1. `effective_date` is the time that the content
    speaks of (for an abstraction its newest source's), `created_at` the time the memory came into being.
    `importance_before` keeps the importance that archiving replaced; `rolled_back_at` says when an
    abstraction was retired by a rollback. `content_hash` is the same for exact
    duplicates, `shape_hash` for texts that differ in figures alone.
    """

    id: str
    project_id: str
    content: str
    memory_type: str
    created_at: datetime
    effective_date: datetime
    content_hash: str
    shape_hash: str
    token_count: int
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 1.0
    abstraction_level: int = LEVEL_RAW
    pattern_type: str | None = None
    confidence_score: float | None = None
    consolidation_method: str | None = None
    created_at_quality: str = "exact"
    updated_at: datetime | None = None
    source: Source = field(default_factory=Source)
    archived_by: str | None = None
    archived_at: datetime | None = None
    consolidated_into_id: str | None = None
    compressed_from: str | None = None
    importance_before: float | None = None
    rolled_back_at: datetime | None = None
    is_canonical: bool = False
    pinned: bool = False
    reuse_count: int = 0
    useful_count: int = 0


@dataclass(frozen=True, slots=True)
class LineageLink:
    """One direct source of a memory. `relation`: `duplicate`, `merged`, `canonical`, `distilled`, `principle` or
    `superseded` (a person settled a conflict for the other side)."""

    memory_id: str
    source_id: str
    relation: str
    similarity: float


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Memories of one project whose normalised content is the same; the survivor is the oldest.

    `proposed`: a person has to approve it before the copies are archived.
    """

    project_id: str
    content_hash: str
    survivor_id: str
    duplicate_ids: tuple[str, ...]
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class EligibleMemory:
    """A memory that tonight's clustering may use; the fields that clustering needs, without the content.

    `stands_for`: how many raw memories it was merged from (1 for a raw one); `is_entry`: it is an entry of the
    knowledge base.
    """

    id: str
    project_id: str
    memory_type: str
    categories: tuple[str, ...]
    importance: float
    token_count: int
    created_at: datetime
    effective_date: datetime
    stands_for: int = 1
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that say different things in nearly the same words."""

    project_id: str
    a: str
    b: str
    kind: str
    detail: str
    score: float


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A conflict with its history. `resolution`: None while it is open, `keep_newer`, `keep_one` or `keep_both` by a
    person, `series` by the pipeline; the scopes say where each side holds."""

    id: str
    conflict: Conflict
    found_at: datetime
    resolution: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    kept_id: str | None = None
    scope_a: str | None = None
    scope_b: str | None = None
    note: str | None = None
    resolution_run: str | None = None


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
class Proposal:
    """What a night would have done and a person decides: `pending`, `approved`, `rejected` or `withdrawn`.

    `draft` is the JSON of a Distillation or, for the policy `duplicate`, of a DuplicateGroup; the id is
    the cluster's.
    """

    id: str
    project_id: str
    cluster_fingerprint: str
    policy: str
    run_id: str
    partition: date
    draft: str
    status: str
    proposed_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of `compression_log`: what was decided about one fingerprint, as of when."""

    id: str
    cluster_fingerprint: str
    policy: str
    compressed_memory_id: str | None
    status: str
    reason: str | None
    member_count: int
    compression_ratio: float | None
    run_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered to one prompt, word for word; the prompt's hash finds it again."""

    prompt_hash: str
    model: str
    prompt_version: str
    answer: str
    stop_reason: str | None
    answered_at: datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model and its bill.

    `mode`: `live`, `batch`, or `cache` (an earlier answer was used, at no cost). `outcome`: `answered`,
    `failed` (the server said no: nothing is billed) or `unknown` (the connection broke: billed at what was
    reserved, since the server may have charged it).
    """

    id: str
    run_id: str
    prompt_hash: str
    model: str
    mode: str
    outcome: str
    input_tokens: int
    output_tokens: int
    cost_usd: float
    latency_ms: int
    masked_secrets: int
    masked_personal: int
    error: str | None
    called_at: datetime


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """A Message Batch: `sending` (its id at the server is not known yet), `sent`, `collected` or `lost`."""

    id: str
    batch_id: str | None
    server: str
    model: str
    status: str
    prompt_hashes: tuple[str, ...]
    run_id: str
    created_at: datetime
    settled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Causal:
    """What led to what: doing `action` to `subject` has `outcome`, with `consequences` further on."""

    subject: str
    action: str
    outcome: str
    consequences: str = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """A causal finding that may rest on many memories.

    `confidence`: 0.7 when a night creates it, 0.1 more with each further memory, 1.0 when somebody states it
    (`stated_by`). `source_ids`: the abstractions or memories it rests on.
    """

    id: str
    project_id: str
    causal: Causal
    confidence: float
    source_ids: tuple[str, ...]
    created_at: datetime
    strengthened_at: datetime | None = None
    retracted_at: datetime | None = None
    stated_by: str | None = None


@dataclass(frozen=True, slots=True)
class AtomDecision:
    """What became of one abstraction's causal finding: `created`, `strengthened`, `skipped` or `not_causal`."""

    memory_id: str
    project_id: str
    status: str
    atom_id: str | None
    reason: str | None
    causal: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance: what its surest and highest source says. `source_ids`: patterns and principles."""

    id: str
    project_id: str
    category: str
    content: str
    confidence: float
    source_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pattern or principle did in the playbook: it `created` an entry or `updated` one."""

    memory_id: str
    entry_id: str
    guidance: str
    category: str
    confidence: float
    level: int
    status: str


@dataclass(frozen=True, slots=True)
class PrincipleResult:
    """What became of one group of related patterns: `created`; with a `reason`: `skipped`, `failed`, `deferred` (no
    answer could be had; taken up next week), or `settled`."""

    group_id: str
    project_id: str
    pattern_ids: tuple[str, ...]
    status: str
    reason: str | None
    principle_id: str | None
    content: str
    replaces: tuple[str, ...]
    avg_similarity: float
    fingerprint: str


@dataclass(frozen=True, slots=True)
class NightError:
    """Something that went wrong with one cluster, and did not stop the others."""

    cluster_id: str
    stage: Stage
    error: str
    timestamp: datetime


#: Reasons for which a cluster is put off and not decided: the next night takes it up.
COST_CAP, TIME_LIMIT = "cost cap", "time limit"
BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER = "batch under way", "batch expired", "no answer"
DEFERRED_REASONS = (COST_CAP, TIME_LIMIT, BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER)


def fingerprint_of(member_ids: tuple[str, ...] | list[str]) -> str:
    """SHA-256 over the sorted member ids, one a line: the same members give the same fingerprint."""
    return hashlib.sha256("\n".join(sorted(member_ids)).encode()).hexdigest()


def derived_id(*parts: str) -> str:
    """UUIDv5 of the parts: a deterministic id, so that a re-run finds what an earlier run wrote."""
    return str(uuid.uuid5(ID_NAMESPACE, "\x1f".join(parts)))
