"""The records of a night beside memories: errors, notices, proposals to decide, rollups, causes and effects, the
playbook, and its requests to models with their answers and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import MOST_COUNT, Column

#: From the finest to the coarsest; each is made from those before it.
ROLLUP_LEVELS = ("day", "week", "month", "year")
Verdict = Literal["PASS", "PARTIAL", "FAIL", "IDLE"]
Stage = Literal[
    "sources", "conversations", "extraction", "embed", "read", "distill", "write", "archive", "enrich", "recall",
    "export", "report", "night", "moved",
]  # fmt: skip
#: The stage of what is no error: where lines of a person stand now.
MOVED: Stage = "moved"


@dataclass(frozen=True, slots=True)
class NightError:
    """An error in one cluster, which did not stop the others."""

    cluster_id: str
    stage: Stage
    error: str
    timestamp: datetime


#: Whether someone has to do something about it.
Priority = Literal["action", "info"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message about a run, as the outbox keeps it."""

    id: Annotated[str, Column("Derived from the run and its result.")]
    run_id: Annotated[str, Column("The run.")]
    recipient: Annotated[str, Column("Who should read it.")]
    priority: Annotated[Priority, Column("`action` if someone has to do something, else `info`.")]
    subject: Annotated[str, Column("The subject line.")]
    body: Annotated[str, Column("The text.")]
    created_at: Annotated[datetime, Column("When it was written.")]


ProposalStatus = Literal["pending", "approved", "rejected", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that a night would have made, for a person to decide.

    `draft`: the JSON of a Distillation or, for the policy `duplicate`, a DuplicateGroup; the id is the cluster's.
    """

    id: str
    project_id: str
    cluster_fingerprint: str
    policy: str
    run_id: str
    partition: date
    draft: str
    status: ProposalStatus
    proposed_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rollup:
    """The summary of one period of a project."""

    id: Annotated[str, Column("Derived from project, level and period.")]
    project_id: Annotated[str, Column("The project.", is_id=True)]
    level: Annotated[str, Column("What is summed up.", choices=ROLLUP_LEVELS)]
    period: Annotated[str, Column("`2026-03-14`, `2026-W11`, `2026-03` or `2026`.")]
    starts_at: Annotated[datetime, Column("When the period begins.", changes=True)]
    ends_at: Annotated[datetime, Column("When it ends: the time as of which it is told.", changes=True)]
    content: Annotated[str, Column("The summary, as Markdown.", changes=True)]
    entries: Annotated[str, Column("What stands in it, as JSON, for the next level.", is_json=True, changes=True)]
    below_ids: Annotated[tuple[str, ...], Column("The rollups that it is made from.", changes=True)]
    memory_ids: Annotated[tuple[str, ...], Column("The memories that its entries say.", changes=True)]
    notes: Annotated[int, Column("Memories of the period.", changes=True, low=0, high=MOST_COUNT)]
    token_count: Annotated[int, Column("Tokens of the summary.", changes=True, low=1, high=MOST_COUNT)]
    budget_tokens: Annotated[int, Column("The most tokens that it could have.", changes=True, low=1, high=MOST_COUNT)]
    rules_version: Annotated[int, Column("The version of the rules that it was made by.", changes=True, low=1)]


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance, in the words of its source with the highest level and confidence."""

    id: Annotated[str, Column("Derived from the memory that came first.")]
    project_id: Annotated[str, Column("The project in which it applies.")]
    category: Annotated[str, Column("What it is about.")]
    content: Annotated[str, Column("The guidance.")]
    confidence: Annotated[float, Column("The confidence of its most reliable source, 0 to 1.")]
    source_ids: Annotated[tuple[str, ...], Column("The patterns and principles that support it.")]
    created_at: Annotated[datetime, Column("When the first of them was created.")]
    updated_at: Annotated[datetime, Column("When the last of them was created or archived.")]


@dataclass(frozen=True, slots=True)
class Contribution:
    """The effect of one pattern or principle on the playbook: it `created` an entry or `updated` one."""

    memory_id: Annotated[str, Column("The pattern or principle.")]
    entry_id: Annotated[str, Column("The entry of the playbook.")]
    guidance: Annotated[str, Column("What the pattern or principle advises, in its words.")]
    category: Annotated[str, Column("What it is about.")]
    confidence: Annotated[float, Column("Its confidence, 0 to 1.")]
    level: Annotated[int, Column("Its abstraction level.")]
    status: Annotated[
        Literal["created", "updated"], Column("Whether it created an entry, or updated one with the same guidance.")
    ]


#: What became of a causal finding.
AtomStatus = Literal["created", "strengthened", "skipped", "not_causal"]


@dataclass(frozen=True, slots=True)
class Causal:
    """A cause and its effect."""

    subject: Annotated[str, Column("What the action was applied to.")]
    action: Annotated[str, Column("What was done.")]
    outcome: Annotated[str, Column("What resulted.")]
    consequences: Annotated[str, Column("What followed further on.")] = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """A causal finding, supported by one or more memories."""

    id: Annotated[str, Column("Derived from project, subject and action, or given.")]
    project_id: Annotated[str, Column("The project in which it applies.")]
    causal: Annotated[Causal, Column("The cause and its effect.")]
    confidence: Annotated[
        float, Column("0.7 when a night creates it, 0.1 more for each further memory, 1 when someone states it here.")
    ]
    source_ids: Annotated[tuple[str, ...], Column("The abstractions or memories that support it.")]
    created_at: Annotated[datetime, Column("When it was first found or stated.")]
    strengthened_at: Annotated[datetime | None, Column("When another memory last supported it.")] = None
    retracted_at: Annotated[datetime | None, Column("When no supporting memory was left.")] = None
    stated_by: Annotated[str | None, Column("Who stated it.")] = None


@dataclass(frozen=True, slots=True)
class AtomDecision:
    """The result for the causal finding of one abstraction."""

    memory_id: Annotated[str, Column("The abstraction with the finding.")]
    project_id: str
    status: Annotated[AtomStatus, Column("created, strengthened, skipped or not_causal.")]
    atom_id: Annotated[str | None, Column("The atom that was created or strengthened.")]
    reason: Annotated[str | None, Column("Why it was skipped.")]
    causal: Annotated[Causal | None, Column("The cause and its effect; empty if the abstraction is not causal.")] = None


CallMode = Literal["live", "batch", "cache"]
CallOutcome = Literal["answered", "failed", "unknown"]
BatchStatus = Literal["sending", "sent", "collected", "lost"]


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer to one prompt, word for word, stored by the hash of the prompt."""

    prompt_hash: Annotated[str, Column("Hash of model, prompt version and prompt.")]
    model: Annotated[str, Column("The model that was asked.")]
    prompt_version: Annotated[str, Column("The version of the prompt.")]
    answer: Annotated[str, Column("The answer, word for word.")]
    stop_reason: Annotated[str | None, Column("Why the answer ended.")]
    answered_at: Annotated[datetime, Column("When the model answered.")]
    run_id: Annotated[str, Column("The run that asked.")]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model, with its cost."""

    id: Annotated[str, Column("The id of this request.")]
    run_id: Annotated[str, Column("The run that asked.")]
    prompt_hash: Annotated[str, Column("Hash of the prompt, as in its answer.")]
    model: Annotated[str, Column("The model that was asked.")]
    mode: Annotated[CallMode, Column("`live`, `batch`, or `cache`: an earlier answer was reused at no cost.")]
    outcome: Annotated[
        CallOutcome,
        Column("`answered`, `failed` (the server returned an error: nothing is billed) or `unknown` (the connection "
               "broke: billed at the reserved amount, because the server may have charged it)."),
    ]  # fmt: skip
    input_tokens: Annotated[int, Column("Tokens of the prompt.")]
    output_tokens: Annotated[int, Column("Tokens of the answer.")]
    cost_usd: Annotated[float, Column("Cost in US dollars.")]
    latency_ms: Annotated[int, Column("Duration in milliseconds.")]
    masked_secrets: Annotated[int, Column("Number of secrets masked in the prompt.")]
    masked_personal: Annotated[int, Column("Number of personal data items masked in the prompt.")]
    error: Annotated[str | None, Column("What went wrong.")]
    called_at: Annotated[datetime, Column("When the request was made.")]
    asked_again: Annotated[
        bool, Column("Whether it is a question once more, with what was wrong with the first answer.")
    ] = False


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """A Message Batch."""

    id: Annotated[str, Column("This program's own id of the batch.")]
    batch_id: Annotated[str | None, Column("The server's id of the batch.")]
    server: Annotated[str, Column("The server that it was sent to.")]
    model: Annotated[str, Column("The model that was asked.")]
    status: Annotated[
        BatchStatus, Column("`sending` (the server's id is not known yet), `sent`, `collected` or `lost`.")
    ]
    prompt_hashes: Annotated[tuple[str, ...], Column("The prompts in it.")]
    run_id: Annotated[str, Column("The run that sent it.")]
    created_at: Annotated[datetime, Column("When it was sent.")]
    settled_at: Annotated[datetime | None, Column("When it was collected or given up.")] = None
