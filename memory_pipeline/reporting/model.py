"""The report of a run: every field with its meaning, in the order in which JSON shows them."""

from __future__ import annotations

from datetime import date
from typing import Literal, Self

from pydantic import Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.records import Verdict

Kind = Literal["night", "duplicates", "job", "review", "canonical", "principles"]


class PolicyReport(Document):
    """What one policy did in a run."""

    policy: str = Field(description="The policy's name.")
    method: str = Field(description="`merge`, `canonical` or `distill`.")
    threshold: float = Field(description="The least cosine of any pair of a cluster.")
    group_by: str = Field(description="Clusters form within a `project`, or within a `memory_type` of it.")
    enabled: bool = Field(description="Whether it runs at all.")
    clusters_found: int = Field(description="Clusters, settled ones included.")
    settled: int = Field(description="Of these, decided on an earlier night.")
    compressed: int = Field(description="Clusters that became one memory.")
    skipped: int = Field(description="Clusters that were refused or put off.")
    failed: int = Field(description="Clusters that an error stopped.")
    proposed: int = Field(description="Clusters that wait for a person.")
    memories_archived: int = Field(description="Memories that were archived into what it made.")
    tokens_before: int = Field(description="Tokens of the sources of what it compressed.")
    tokens_after: int = Field(description="Tokens of what it made of them.")


class AtomReport(Document):
    """A causal finding in words, with what became of it."""

    status: str = Field(description="`created`, `strengthened` or `skipped`.")
    reason: str | None = Field(description="Why it was skipped.")
    atom_id: str | None = Field(description="The atom that the finding became or made surer.")
    memory_id: str | None = Field(description="The abstraction that says it.")
    subject: str = Field(description="What something was done to.")
    action: str = Field(description="What was done.")
    outcome: str = Field(description="What that led to.")
    consequences: str = Field(description="What followed from it further on.")


class ConflictReport(Document):
    """A contradiction that awaits a decision, with what each side says."""

    id: str = Field(description="The conflict, as `memory-pipeline conflicts` names it.")
    project_id: str = Field(description="The project of both memories.")
    a: str = Field(description="The memory of one side.")
    b: str = Field(description="The memory of the other side.")
    kind: str = Field(description="In what they differ: a number, a unit, a date, a negation, ...")
    detail: str = Field(description="The difference itself.")
    score: float = Field(description="The cosine of the two.")
    a_says: str = Field(description="The words of one side.")
    b_says: str = Field(description="The words of the other side.")
    alike: int = Field(description="How many more conflicts there are of the same memories.")


class ClusterReport(Document):
    """A cluster with its members' words, and what became of it."""

    cluster_id: str = Field(description="Derived from policy, project and members.")
    project_id: str = Field(description="The project of its members.")
    policy: str = Field(description="The policy that found it.")
    member_ids: tuple[str, ...] = Field(description="The memories in it.")
    members: tuple[str, ...] = Field(description="Their words, in the same order.")
    member_count: int = Field(description="How many there are.")
    avg_similarity: float = Field(description="The mean cosine of its pairs.")
    min_similarity: float = Field(description="The lowest cosine of any pair.")
    status: str = Field(description="`compressed`, `skipped`, `failed` or `proposed`.")
    reason: str | None = Field(description="Why it was not compressed.")
    abstraction_id: str | None = Field(description="The memory that was written.")
    abstraction: str = Field(description="Its words, or those of the draft; empty where there is none.")
    compression_ratio: float = Field(description="Tokens before by tokens after.")
    facts: str = Field(description="Facts kept + attached / found.")


class ErrorReport(Document):
    """Something that went wrong, and did not stop the rest."""

    cluster_id: str = Field(description="The cluster, or nothing where it was none.")
    stage: str = Field(description="The step that met it.")
    error: str = Field(description="What went wrong, in words.")
    timestamp: Moment = Field(description="When.")


class StoreFacts(Document):
    """Row counts of a store."""

    active: int = Field(description="Active memories.")
    archived: int = Field(description="Archived memories.")
    abstractions: int = Field(description="Memories that nights made.")
    active_tokens: int = Field(description="Tokens of the active memories.")
    conflicts: int = Field(description="Conflicts that await a decision.")
    quarantined: int = Field(description="Rows that could not be kept.")


class CountedRun(Document):
    """What a run came to, before it is judged. Where a figure has a title, pages show it under that."""

    run_id: str = Field(description="The Dagster run.")
    kind: Kind = Field(description="What was run: `night`, `duplicates`, `job`, `review`, `canonical` or `principles`.")
    partition: date = Field(description="The day, UTC.")
    as_of: Moment = Field(description="The end of that day: the night's logical time.")
    dry_run: bool = Field(description="Whether this was a preview.")
    started_at: Moment = Field(description="When the run started.")
    finished_at: Moment = Field(description="When it ended.")
    duration_ms: int = Field(description="How long it took.")
    rolled_back_at: Moment | None = Field(
        description="When the run was rolled back, if it was, as the store knows it when the report is read."
    )
    memories_scanned: int = Field(title="Memories scanned", description="Eligible memories.")
    clusters_found: int = Field(title="Clusters found", description="Clusters, settled ones included.")
    clusters_skipped: int = Field(
        title="Clusters skipped", description="Refused tonight, or decided within the last days."
    )
    clusters_settled: int = Field(description="Of these, decided on an earlier night.")
    clusters_compressed: int = Field(title="Clusters compressed", description="Clusters that became one memory.")
    clusters_failed: int = Field(description="Clusters that an error stopped; tried again next night.")
    duplicates_archived: int = Field(title="Exact duplicates archived", description="Exact copies archived tonight.")
    proposals: int = Field(
        title="Proposals that await review",
        description="Clusters and duplicates that wait for a person to approve them.",
    )
    memories_archived: int = Field(
        title="Memories archived", description="Everything archived tonight, copies included."
    )
    abstractions_created: int = Field(title="Abstractions created", description="New memories.")
    patterns_created: int = Field(description="Of these, patterns distilled from memories on one subject.")
    policies: tuple[PolicyReport, ...] = Field(
        description="A section for each policy, in the order in which they ran: its threshold, clusters and tokens."
    )
    atoms_created: int = Field(title="Atoms created", description="Causal atoms created.")
    atoms_enriched: int = Field(title="Atoms strengthened", description="Causal atoms strengthened.")
    atoms_skipped: int = Field(description="Causal findings that the sources do not bear out, or that lack a field.")
    atoms_not_causal: int = Field(description="Abstractions that say nothing of causes.")
    atoms: tuple[AtomReport, ...] = Field(
        description="The first twenty causal findings in words, with what became of each."
    )
    playbook_created: int = Field(
        title="Playbook entries created", description="Entries of the playbook created from patterns and principles."
    )
    playbook_updated: int = Field(title="Playbook entries updated", description="And updated.")
    active_memories: int = Field(description="Active memories of the store, after it.")
    tokens_before: int = Field(
        title="Active tokens before",
        description="Tokens of the active memories of the store before it, as `diff` counts them.",
    )
    tokens_after: int = Field(title="Active tokens after", description="And after it.")
    token_reduction_pct: float = Field(
        title="Token reduction %", description="What the night saved of them, in percent."
    )
    avg_compression_ratio: float = Field(
        title="Average compression ratio",
        description="Original by abstraction tokens of the patterns, on average.",
    )
    max_compression_ratio: float = Field(description="The highest.")
    min_compression_ratio: float = Field(description="The lowest.")
    total_llm_calls: int = Field(title="Model calls", description="Model calls, every attempt counted.")
    total_llm_input_tokens: int = Field(description="Tokens sent, as the server counted them.")
    total_llm_output_tokens: int = Field(description="Tokens received, as the server counted them.")
    estimated_cost_usd: int | float = Field(
        title="Cost (USD)",
        description="What they cost: counted tokens by known prices; a broken call counts in full.",
    )
    llm_calls_failed: int = Field(description="Calls without an answer.")
    llm_answers_reused: int = Field(
        title="Answers reused", description="Answers of earlier runs that were used again, at no cost."
    )
    llm_latency_ms: int | None = Field(description="Half of the answers took no longer; in a batch, the wait for it.")
    llm_models: tuple[str, ...] = Field(description="The models that were called.")
    masked_secrets: int = Field(description="Secrets masked in what was sent.")
    masked_personal: int = Field(description="Addresses and phone numbers masked in what was sent.")
    facts_found: int = Field(
        description="Facts in the sources of what was compressed, read again from the store by a second reader."
    )
    facts_kept: int = Field(description="Of these, kept in the abstraction's text.")
    facts_attached: int = Field(description="And attached below it.")
    facts_lost: tuple[str, ...] = Field(
        description="Those that stand nowhere in what replaced their sources, in words; at most twenty."
    )
    preservation_rate: float | None = Field(description="Kept and attached by found.")
    conflicts_known: int = Field(
        title="Conflicts kept apart",
        description="Contradictions that await a decision: see `memory-pipeline conflicts`.",
    )
    conflicts: tuple[ConflictReport, ...] = Field(
        description="The plainest twenty with what each side says; `alike`: how many more there are of the same "
        "memories."
    )
    refusals: dict[str, int] = Field(description="Why clusters were left alone, counted.")
    sources_sha256: str = Field(
        description="Hash over words, categories and creation times of all raw memories; only imports change it."
    )
    store: StoreFacts = Field(description="Row counts of the store.")
    largest_clusters: tuple[ClusterReport, ...] = Field(
        description="The twenty largest clusters in words, with their abstraction."
    )
    recall_found: int = Field(
        description="Of a sample of what was archived, how many are still found in the first ten."
    )
    recall_sampled: int = Field(description="The size of the sample.")
    recall_rate: float | None = Field(title="Recall of what was archived", description="The one by the other.")


class Report(CountedRun):
    """What a run came to, and the verdict on it."""

    errors: tuple[ErrorReport, ...] = Field(description="Cluster, stage, error and time of everything that went wrong.")
    verdict: Verdict = Field(description="PASS, PARTIAL, FAIL or IDLE, from the rows that were written.")
    verdict_reason: str = Field(description="Why.")


class NightFigures(Document):
    """What of a night is plotted over the days."""

    partition: date = Field(description="The day, UTC.")
    tokens_after: int = Field(description="Tokens of the active memories after it.")
    memories_archived: int = Field(description="What it archived, copies included.")

    @classmethod
    def of(cls, report: Report) -> Self:
        """Those of a report."""
        return cls(
            partition=report.partition,
            tokens_after=report.tokens_after,
            memories_archived=report.memories_archived,
        )
