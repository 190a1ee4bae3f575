"""The report of a run: every field with its meaning, in the order in which JSON shows them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from memory_pipeline.documents import KeptDocument, Moment
from memory_pipeline.records import Verdict

#: How many of its clusters a report shows.
LARGEST = 20

Kind = Literal["night", "duplicates", "job", "review", "canonical", "principles"]

#: The title of a report, by its kind.
TITLES = {
    "night": "Night of",
    "duplicates": "Exact duplicates of",
    "job": "Consolidation job as of",
    "review": "Approved proposals, up to the night of",
    "canonical": "Knowledge base as of",
    "principles": "Principles of the week to",
}


class PolicyReport(KeptDocument):
    """The figures of one policy in a run."""

    policy: str = Field(description="The policy's name.")
    method: str = Field(description="`merge`, `canonical` or `distill`.")
    threshold: float = Field(description="The minimum cosine of any pair of a cluster.")
    group_by: str = Field(description="Clusters form within a `project`, or within each `memory_type` of a project.")
    enabled: bool = Field(description="Whether the policy runs.")
    clusters_found: int = Field(description="Clusters, including those that an earlier night decided.")
    settled: int = Field(description="The part of `clusters_found` that an earlier night decided.")
    compressed: int = Field(description="Clusters that became one memory.")
    skipped: int = Field(description="Clusters that were refused or deferred.")
    failed: int = Field(description="Clusters that failed with an error.")
    proposed: int = Field(description="Clusters that wait for a person's decision.")
    memories_archived: int = Field(description="Memories that were archived into the new ones.")
    tokens_before: int = Field(description="Tokens of the sources of the compressed clusters.")
    tokens_after: int = Field(description="Tokens of the memories that replaced them.")


class AtomReport(KeptDocument):
    """A causal finding in words, with its result."""

    status: str = Field(description="`created`, `strengthened` or `skipped`.")
    reason: str | None = Field(description="Why it was skipped.")
    atom_id: str | None = Field(description="The atom that was created or strengthened.")
    memory_id: str | None = Field(description="The abstraction with the finding.")
    subject: str = Field(description="What the action was applied to.")
    action: str = Field(description="What was done.")
    outcome: str = Field(description="What resulted.")
    consequences: str = Field(description="What followed further on.")


class SourceReport(KeptDocument):
    """The figures of one source in a run."""

    source: str = Field(description="The name of the source.")
    status: str = Field(description="`read`, `unchanged` or `failed`.")
    error: str | None = Field(description="Why it, or which of its files, could not be read.")
    files: int = Field(description="Files that it has.")
    files_read: int = Field(description="Files that had something new.")
    rows_read: int = Field(description="Entries or rows in these files.")
    new: int = Field(description="Entries that became memories.")
    changed: int = Field(description="Entries whose words were edited: the new ones supersede the old.")
    gone: int = Field(description="Memories whose words are no longer in the source, those of edited entries included.")
    quarantined: int = Field(description="Entries that could not be imported.")
    masked: int = Field(description="Secrets, addresses and phone numbers that were masked.")
    later: int = Field(description="Entries that are dated after the night, and were left for their own.")
    edits_later: int = Field(description="Removals that a later night takes: one that ends after them.")
    waits_for: str | None = Field(description="The first night that takes what was left; null if nothing was.")


class SeriesReport(KeptDocument):
    """A series memory that the run made or updated."""

    memory_id: str = Field(description="The series memory.")
    project_id: str = Field(description="Its project.")
    content: str = Field(description="What it says.")
    updated: bool = Field(description="Whether it is the next version of an earlier one.")
    readings: int = Field(description="How many readings of its shape it stands for, including those that break it.")
    archived: int = Field(description="Readings that the run archived into it.")
    breaking_ids: tuple[str, ...] = Field(description="Readings that break the series and stay active.")
    breaking: tuple[str, ...] = Field(description="What these say.")


class ConflictReport(KeptDocument):
    """A contradiction that awaits a decision, with what each side says."""

    id: str = Field(description="The id of the conflict, for `memory-pipeline conflicts`.")
    project_id: str = Field(description="The project of both memories.")
    a: str = Field(description="The id of one memory.")
    b: str = Field(description="The id of the other memory.")
    kind: str = Field(description="How they differ: a number, a unit, a date, a negation, ...")
    detail: str = Field(description="The differing words.")
    score: float = Field(description="The cosine of the two memories.")
    a_says: str = Field(description="The content of memory `a`.")
    b_says: str = Field(description="The content of memory `b`.")
    newer: str | None = Field(
        default=None,
        description="The memory of the later day; nothing if both are of one day, or if nobody knows the day of one.",
    )
    alike: int = Field(description="How many further conflicts the same memories have.")


class ClusterReport(KeptDocument):
    """A cluster with its members' content, and its result."""

    cluster_id: str = Field(description="Derived from policy, project and members.")
    project_id: str = Field(description="The project of its members.")
    policy: str = Field(description="The policy that found it.")
    member_ids: tuple[str, ...] = Field(description="The ids of its members.")
    members: tuple[str, ...] = Field(description="The content of its members, in the same order.")
    member_count: int = Field(description="The number of members.")
    avg_similarity: float = Field(description="The mean cosine of its pairs.")
    min_similarity: float = Field(description="The lowest cosine of any pair.")
    status: str = Field(description="`compressed`, `skipped`, `failed` or `proposed`.")
    reason: str | None = Field(description="Why it was not compressed.")
    abstraction_id: str | None = Field(description="The memory that was written.")
    abstraction: str = Field(description="Its content, or that of the draft; empty if there is none.")
    compression_ratio: float = Field(description="Tokens before divided by tokens after.")
    facts: str = Field(description="Facts: kept + attached / found.")


class ErrorReport(KeptDocument):
    """An error that did not stop the rest."""

    cluster_id: str = Field(description="The cluster, or null if the error does not concern one.")
    stage: str = Field(description="The step in which it occurred.")
    error: str = Field(description="The error in words.")
    timestamp: Moment = Field(description="When it occurred.")


class StoreFacts(KeptDocument):
    """Row counts of a store."""

    active: int = Field(description="Active memories.")
    archived: int = Field(description="Archived memories.")
    abstractions: int = Field(description="Memories made by nights.")
    active_tokens: int = Field(description="Tokens of the active memories.")
    conflicts: int = Field(description="Conflicts that await a decision, those that share memories as one.")
    quarantined: int = Field(description="Rows that could not be imported.")


class MissedReport(KeptDocument):
    """An archived memory that the recall check did not find again."""

    memory_id: str = Field(description="The memory; it is archived, and nothing of it is lost.")
    question: str = Field(description="The question that should have brought it back, or what replaced it.")
    content: str = Field(description="What it says.")
    replaced_by: str = Field(description="The memory that stands for it; `rollback --abstraction` undoes it.")


class CountedRun(KeptDocument):
    """The figures of a run, without a verdict. Pages show a figure with a title under that title."""

    run_id: str = Field(description="The Dagster run.")
    kind: Kind = Field(
        description="The kind of run: `night`, `duplicates`, `job`, `review`, `canonical` or `principles`."
    )
    partition: date = Field(description="The day of the night, UTC.")
    as_of: Moment = Field(description="The end of that day: the night's logical time.")
    dry_run: bool = Field(description="Whether this was a preview.")
    started_at: Moment = Field(description="When the run started.")
    finished_at: Moment = Field(description="When the run ended.")
    duration_ms: int = Field(description="The duration of the run.")
    rolled_back_at: Moment | None = Field(
        description="When the run was rolled back, or null; read from the store when the report is shown."
    )
    entries_new: int = Field(title="Entries new in sources", description="Entries of sources that became memories.")
    entries_changed: int = Field(
        title="Entries edited in sources", description="Entries of sources whose new words supersede the old ones."
    )
    entries_gone: int = Field(
        title="Memories no longer in their source",
        description="Memories whose words are no longer in their source, those of edited entries included.",
    )
    sources: tuple[SourceReport, ...] = Field(description="What the run read of each source.")
    notes_read: int = Field(default=0, title="Notes read", description="Notes that a model read.")
    statements_made: int = Field(
        default=0, title="Statements kept", description="Statements that were kept of these notes, or are proposed."
    )
    statements_refused: int = Field(
        default=0,
        title="Statements left out",
        description="Statements of the model that the check left out; the compression log says why.",
    )
    notes_waiting: int = Field(default=0, description="Notes that no model has read yet, though it may.")
    turns_waiting: int = Field(
        default=0, description="Turns of conversations that no model has read yet, though it may."
    )
    turns_read: int = Field(
        title="Turns of conversations read", description="Turns of conversations that were read anew."
    )
    extractions_kept: int = Field(
        title="Kept of them", description="What was extracted from these turns, and went to a file or a memory."
    )
    extractions_by_model: int = Field(
        default=0,
        title="Proposed by the model",
        description="What was extracted from these turns because a model proposed it; the rules found the rest.",
    )
    turns_without_speaker: int = Field(
        default=0,
        title="Without a known speaker",
        description="Memories of conversations of which nobody knows who speaks, and which are therefore not read.",
    )
    conversation_days_again: int = Field(
        default=0,
        title="Earlier days of them",
        description="Days of conversations before the night's own that were open, and were read too.",
    )
    lines_moved: tuple[str, ...] = Field(
        default=(),
        description="Where lines stand now that a person wrote between the marks of files about conversations.",
    )
    conversation_days_left: int = Field(
        default=0,
        title="Days that stay taken back",
        description="Days of conversations that a rollback took back, up to this one; they wait to be asked for.",
    )
    memories_scanned: int = Field(
        title="Memories scanned (a day old, active, no readings)", description="Eligible memories."
    )
    clusters_found: int = Field(
        title="Clusters found", description="Clusters, including those that an earlier night decided."
    )
    clusters_skipped: int = Field(
        title="Clusters skipped", description="Clusters that were refused tonight, or decided within the last days."
    )
    clusters_settled: int = Field(description="The part of `clusters_found` that an earlier night decided.")
    clusters_compressed: int = Field(title="Clusters compressed", description="Clusters that became one memory.")
    clusters_failed: int = Field(description="Clusters that failed with an error; they are tried again the next night.")
    duplicates_archived: int = Field(title="Exact duplicates archived", description="Exact copies archived tonight.")
    proposals: int = Field(
        title="Proposals that await review", description="Clusters and duplicates that wait for a person's approval."
    )
    memories_archived: int = Field(
        title="Memories archived", description="All memories archived tonight, including copies."
    )
    abstractions_created: int = Field(title="Abstractions created", description="New memories.")
    patterns_created: int = Field(
        description="The part of these that are patterns, distilled from memories on one subject."
    )
    policies: tuple[PolicyReport, ...] = Field(
        description="A section for each policy, in the order in which they ran: its threshold, clusters and tokens."
    )
    series_created: int = Field(title="Series created", description="New series memories.")
    series_updated: int = Field(title="Series updated", description="Next versions of series memories.")
    readings_archived: int = Field(
        title="Readings archived", description="Readings archived into these series memories, without copies."
    )
    readings_breaking: int = Field(
        title="Readings that break a series", description="Readings that break one of these series; they stay active."
    )
    series: tuple[SeriesReport, ...] = Field(description="Each series memory that was made or updated.")
    atoms_created: int = Field(title="Atoms created", description="Causal atoms created.")
    atoms_enriched: int = Field(title="Atoms strengthened", description="Causal atoms strengthened.")
    atoms_skipped: int = Field(description="Causal findings that the sources do not support, or that lack a field.")
    atoms_not_causal: int = Field(description="Abstractions that are not causal.")
    atoms: tuple[AtomReport, ...] = Field(
        description="The first twenty causal findings in words, each with its result."
    )
    playbook_created: int = Field(
        title="Playbook entries created", description="Playbook entries created from patterns and principles."
    )
    playbook_updated: int = Field(
        title="Playbook entries updated", description="Playbook entries updated from patterns and principles."
    )
    active_memories: int = Field(description="Active memories in the store after the run.")
    tokens_before: int = Field(
        title="Active tokens before",
        description="Tokens of the active memories in the store before the run, as `diff` counts them.",
    )
    tokens_after: int = Field(
        title="Active tokens after", description="Tokens of the active memories in the store after the run."
    )
    tokens_without: int = Field(
        title="Tokens without consolidation",
        description="Tokens that the active memories would have if no night had ever archived one.",
    )
    token_reduction_pct: float = Field(
        title="Token reduction %", description="Saved share of these tokens, in percent."
    )
    avg_compression_ratio: float = Field(
        title="Average compression ratio",
        description="Average over the patterns of original tokens divided by abstraction tokens.",
    )
    max_compression_ratio: float = Field(description="The highest of these ratios.")
    min_compression_ratio: float = Field(description="The lowest of these ratios.")
    total_llm_calls: int = Field(title="Model calls", description="Model calls, counting every attempt.")
    total_llm_input_tokens: int = Field(description="Tokens sent, as the server counted them.")
    total_llm_output_tokens: int = Field(description="Tokens received, as the server counted them.")
    estimated_cost_usd: int | float = Field(
        title="Cost (USD)",
        description="Cost of the calls: counted tokens times known prices; a broken call counts in full.",
    )
    llm_calls_failed: int = Field(description="Calls without an answer.")
    llm_answers_reused: int = Field(
        title="Answers reused", description="Answers of earlier runs that were reused at no cost."
    )
    llm_latency_ms: int | None = Field(
        description="Median time to an answer; for a batch, the time until it was collected."
    )
    llm_models: tuple[str, ...] = Field(description="Names of the models that were called.")
    read_by: str = Field(
        default="", title="Read by", description="Which model read the notes, what it was asked and what that cost."
    )
    masked_secrets: int = Field(description="Secrets masked in what was sent.")
    masked_personal: int = Field(description="Addresses and phone numbers masked in what was sent.")
    facts_found: int = Field(description="Facts in the sources of the compressed clusters, recomputed from the store.")
    facts_kept: int = Field(description="Facts kept in the abstraction's own text.")
    facts_attached: int = Field(description="Facts attached below it.")
    facts_lost: tuple[str, ...] = Field(
        description="Facts missing in the memory that replaced their sources, in words; at most twenty."
    )
    preservation_rate: float | None = Field(description="(Kept + attached) / found.")
    conflicts_known: int = Field(
        title="Conflicts kept apart",
        description="Contradictions that await a decision, those that share memories as one; see `memory-pipeline "
        "review`.",
    )
    conflicts: tuple[ConflictReport, ...] = Field(
        description="The twenty clearest contradictions, with what each side says."
    )
    refusals: dict[str, int] = Field(description="Number of clusters left alone, by reason.")
    sources_sha256: str = Field(
        description="Hash over content, categories and creation times of all raw memories; only imports change it."
    )
    store: StoreFacts = Field(description="Row counts of the store.")
    largest_clusters: tuple[ClusterReport, ...] = Field(
        description=f"The {LARGEST} largest clusters of this run, each with all its members and its abstraction; those "
        "that became series are in `series`."
    )
    recall_found: int = Field(
        description="How many memories of a sample of those archived are still found among the first ten results."
    )
    recall_sampled: int = Field(description="The size of the sample.")
    recall_rate: float | None = Field(
        title="Recall of archived memories", description="`recall_found` / `recall_sampled`."
    )
    recall_missed: tuple[MissedReport, ...] = Field(
        description="The first twenty of the sample that were not found again, nor what replaced them."
    )


class Report(CountedRun):
    """The figures of a run, with its errors and verdict."""

    errors: tuple[ErrorReport, ...] = Field(description="Cluster, stage, error and time of each error.")
    verdict: Verdict = Field(description="PASS, PARTIAL, FAIL or IDLE, computed from the rows that were written.")
    verdict_reason: str = Field(description="Why the verdict was given.")


class NightFigures(KeptDocument):
    """The figures of a night that are plotted by day."""

    partition: date = Field(description="The day, UTC.")
    tokens_after: int = Field(description="Tokens of the active memories after the night.")
    tokens_without: int | None = Field(
        default=None, description="Tokens without consolidation; null for a report from before they were counted."
    )
    memories_archived: int = Field(description="Memories that it archived, including copies.")
