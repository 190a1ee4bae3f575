"""Memories that say the same thing, the drafts made of them, the results, and facts of a series."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from memory_pipeline.records.columns import Column
from memory_pipeline.records.memory import MADE, Memory
from memory_pipeline.records.night import Causal

#: The policy and the relation of series memories, and the name of the step that makes them.
SERIES: Final = "series"
#: Readings, and days with one, that make a series.
LEAST_READINGS, LEAST_DAYS = 5, 2
#: The most tokens of a series memory.
MOST_SERIES_TOKENS = 160
#: The category of what was made from a cluster; starts the line of the facts that are attached to it; begins a fact
#: that is attached as a quotation.
COMPRESSED_CATEGORY, DETAILS_LABEL, QUOTE = "compressed", "Details:", "“"
#: Reasons for which a cluster is deferred, not decided: the next night processes it.
COST_CAP, CALL_LIMIT, TIME_LIMIT = "cost cap", "call limit", "time limit"
BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER = "batch under way", "batch expired", "no answer"
NOT_RECORDED = "no recorded answer"
DEFERRED_REASONS = (COST_CAP, CALL_LIMIT, TIME_LIMIT, BATCH_UNDER_WAY, BATCH_EXPIRED, NO_ANSWER, NOT_RECORDED)


#: The judge's verdicts on a draft; the last two are tried again the next night.
Outcome = Literal["accepted", "refused", "deferred", "failed"]
#: How the sources of a cluster are linked to the abstraction made of it.
LevelRelation = Literal[
    "merged", "canonical", "distilled", "established", "series", "stated", "routine", "principle",
]  # fmt: skip
#: The status of a cluster in the log.
Decided = Literal["compressed", "skipped", "failed"]
#: The status of a cluster in the store.
ArchiveStatus = Literal["compressed", "skipped", "failed", "proposed", "settled"]

ClusterId = Annotated[
    str, Column("Derived from policy, project and members: the same cluster has the same id every night.")
]
Fingerprint = Annotated[str, Column("SHA-256 of the sorted member ids.")]
PolicyName = Annotated[str, Column("The policy that found it.")]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of memories that say the same thing."""

    cluster_id: ClusterId
    fingerprint: Fingerprint
    policy: PolicyName
    project_id: str
    member_ids: Annotated[tuple[str, ...], Column("The memories of the cluster, sorted.")]
    member_count: Annotated[int, Column("The number of its members.")]
    avg_similarity: Annotated[float, Column("Mean of the cosines that join the members.")]
    min_similarity: Annotated[
        float, Column("The lowest cosine that joins members; below the threshold only where they make one claim.")
    ]
    dominant_category: Annotated[str, Column("The category that most members have.")]
    top_categories: Annotated[tuple[str, ...], Column("The two most frequent categories.")]
    total_tokens: Annotated[int, Column("Tokens of all members.")]
    max_importance: Annotated[float, Column("The highest importance among the members.")]
    oldest_member_at: Annotated[datetime, Column("When its oldest member was created.")]
    newest_member_at: Annotated[datetime, Column("When its newest member was created.")]
    settled: Annotated[
        str | None, Column("Why the night leaves the cluster alone; empty for clusters to be distilled.")
    ] = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The size and the facts of a draft, measured against its sources, not taken from a model."""

    tokens_before: Annotated[int, Column("Tokens of all members.")] = 0
    tokens_after: Annotated[int, Column("Tokens of the proposed memory.")] = 0
    compression_ratio: Annotated[float, Column("Tokens before divided by tokens after.")] = 0.0
    facts_found: Annotated[
        int, Column("Numbers, dates, names, identifiers, negations and recommendations in the sources.")
    ] = 0
    facts_kept: Annotated[int, Column("Facts kept in the shared statement.")] = 0
    facts_attached: Annotated[int, Column("Facts attached from single sources.")] = 0

    @classmethod
    def of(
        cls, tokens_before: int, tokens_after: int, facts_found: int = 0, facts_kept: int = 0, facts_attached: int = 0
    ) -> Measured:
        """The figures with the ratio computed from the tokens; 0 if nothing was written."""
        ratio = round(tokens_before / tokens_after, 4) if tokens_after else 0.0
        return cls(tokens_before, tokens_after, ratio, facts_found, facts_kept, facts_attached)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two members of a cluster that cannot both be true; `a` is the lesser id."""

    a: str
    b: str


class _OfCluster:
    """A result for one cluster."""

    __slots__ = ()
    cluster: Cluster

    @property
    def id(self) -> str:
        """The id of its cluster: there is one result of a kind a cluster."""
        return self.cluster.cluster_id

    @property
    def member_ids(self) -> tuple[str, ...]:
        """The memories of its cluster, sorted."""
        return self.cluster.member_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation(_OfCluster):
    """A draft for one cluster, already judged.

    `stays`: of a statement, the members that are not archived into it: they say more, or are archived into another;
    `replaces`: the statements that it takes the place of.
    """

    cluster: Annotated[Cluster, Column("The cluster that was distilled.")]
    similarities: Annotated[tuple[float, ...], Column("The mean cosine of each member to the others, in their order.")]
    content: Annotated[str, Column("The proposed memory, attached facts included.")]
    attached: Annotated[tuple[str, ...], Column("Facts of single sources, attached below the shared statement.")] = ()
    outcome: Annotated[
        Outcome, Column("accepted, refused (see reason), deferred or failed (tried again the next night).")
    ]
    reason: Annotated[str | None, Column("Why it was refused or failed.")] = None
    measured: Annotated[Measured, Column("Tokens and facts of sources and draft.")]
    method: Annotated[str, Column("The distiller that wrote it.")]
    prompt_version: Annotated[str, Column("The version of the prompt, or of the distiller without a model.")]
    memory_type: str
    categories: tuple[str, ...] = ()
    importance: float
    effective_date: datetime
    oldest_source_at: Annotated[datetime, Column("The earliest effective date of its sources.")]
    pattern_type: str | None = None
    confidence: Annotated[
        float, Column("0 to 1: how many texts on how many days say it; of a model, what it says itself.")
    ] = 0.0
    causal: Annotated[Causal | None, Column("The cause and its effect; empty if it is not causal.")] = None
    contradictions: Annotated[
        tuple[Disagreement, ...],
        Column("Pairs of members that contradict each other according to the model; the draft quotes both."),
    ] = ()
    relation: Annotated[
        LevelRelation,
        Column(
            "How the sources will be linked: merged, canonical, distilled, established, series, stated, routine or "
            "principle."
        ),
    ] = "distilled"
    tags: tuple[str, ...] = ()
    series: SeriesFacts | None = None
    utc_offset: Annotated[int, Column("The minutes by which the clock of its newest source was ahead of UTC.")] = 0
    headings: Annotated[tuple[str, ...], Column("The headings that stand above all members of a merge.")] = ()
    lead_in: Annotated[str, Column("The words that lead in to all members of a merge.")] = ""
    stays: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()

    @property
    def archived_ids(self) -> tuple[str, ...]:
        """Those of its members that it would replace."""
        return tuple(i for i in self.member_ids if i not in self.stays)


@dataclass(frozen=True, slots=True)
class Archive(_OfCluster):
    """The outcome for one cluster in the store, and its reason. A cluster that an earlier night decided is neither
    processed nor logged again."""

    cluster: Annotated[Cluster, Column("The cluster.")]
    status: Annotated[ArchiveStatus, Column("compressed, skipped, failed, proposed, or settled (decided earlier).")]
    reason: Annotated[str | None, Column("Why it was not compressed.")] = None
    abstraction_id: Annotated[str | None, Column("The memory that was written, or is proposed.")] = None
    archived_ids: Annotated[tuple[str, ...], Column("Sources that were archived into the abstraction.")] = ()
    measured: Annotated[Measured, Column("Tokens and facts of sources and draft.")] = Measured()


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


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """The shapes of its lines, the form of its words, the number of readings, the number of memories of these shapes
    when it was made, and the readings that break the series."""

    shapes: tuple[str, ...]
    words: str
    readings: int
    seen: int
    breaking_ids: tuple[str, ...] = ()


def is_series(memory: Memory) -> bool:
    """True if a memory says what readings of one series amount to."""
    return memory.source.connector == MADE and memory.source.file == SERIES


def only_counts(memory: Memory) -> bool:
    """True if a series memory tells no more than how often its line came, because nothing in it varies. It is found,
    but neither a context nor an export gives it."""
    return is_series(memory) and memory.memory_type == "other"
