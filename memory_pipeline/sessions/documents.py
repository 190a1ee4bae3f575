"""Live sessions as documents: their use of the context, what would fire now, and what a host asks its agent to keep."""

from __future__ import annotations

from datetime import datetime
from importlib import resources
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.store import Store


def instruction(now: datetime) -> str:
    """The instruction for an agent that writes the flush itself, in a turn that nobody sees (`prompts/flush.md`)."""
    text = (resources.files(__package__) / "prompts" / "flush.md").read_text("utf-8").removesuffix("\n")
    return text.format(day=now.date(), at=now.isoformat(timespec="seconds"))


class FlushedFile(Document):
    """A file that a flush is written to."""

    file: str = Field(description="The file.")
    outcome: str = Field(description="`created`, `changed`, `unchanged`, `failed`; of a preview, `previewed`.")
    told: str = Field(
        default="",
        description="What a person wrote between our marks, and where that stands now; or why an export failed.",
    )


class KeptOfSession(Document):
    """The fields that a flush and a compaction both report of a session."""

    session: str = Field(description="The session.")
    agent: str = Field(description="Its agent.")
    project: str = Field(description="Its project.")
    transcript: str = Field(description="Where its words were read.")
    turns: int = Field(description="Turns since its last compaction.")
    model: str | None = Field(
        default=None,
        description="What a model was asked, found and cost, or why the classifier read it; null if none is asked.",
    )
    files: tuple[FlushedFile, ...] = Field(description="The files.")
    run_id: str | None = Field(default=None, description="The run, for `rollback`; null if no file changed.")


class FlushedSession(KeptOfSession):
    """The result of a flush: what was kept of a session."""

    decisions: int = Field(description="Decisions that are kept.")
    rules: int = Field(description="Standing rules that are kept.")
    dead_ends: int = Field(description="Things that did not work, which are kept.")
    facts: int = Field(description="Facts that are kept.")
    configurations: int = Field(description="Changed settings that are kept.")
    progress: int = Field(description="Entries about what is done and open.")
    temporary: int = Field(description="Notes marked as temporary, which are left out.")
    text: str = Field(description="What stands in the files.")


Phase = Literal["before", "after"]
Severity = Literal["rolls back", "warns"]


class Gate(Document):
    """A gate of a compaction."""

    name: str = Field(description="Its name.")
    phase: Phase = Field(description="`before` or `after` the files are written.")
    passed: bool = Field(description="Whether it holds.")
    severity: Severity = Field(description="What happens if it does not: `rolls back` or `warns`.")
    found: str = Field(description="What it found.")

    @classmethod
    def of(cls, name: str, phase: Phase, passed: bool, severity: Severity, finding: str) -> Self:
        """A gate, told in order."""
        return cls(name=name, phase=phase, passed=passed, severity=severity, found=finding)


class CompactedSession(KeptOfSession):
    """The result of a compaction: what was kept of a session, and where."""

    outcome: str = Field(
        description="`compacted`, `previewed`, `nothing to keep`, or `rolled back` if a gate failed that may not."
    )
    aggressive: bool = Field(description="Whether progress and facts that are not sure enough were left out.")
    kept: int = Field(description="Entries of the flush.")
    promoted: tuple[str, ...] = Field(description="What is kept in `MEMORY.md`, as it stands there.")
    summary: str = Field(description="The summaries in the daily logs.")
    tokens_before: int = Field(description="Tokens of the session's turns, about.")
    tokens_after: int = Field(description="Tokens of what is kept of them, about.")
    reduction: float = Field(description="The share by which it is shorter.")
    gates: tuple[Gate, ...] = Field(description="The gates before and after.")


Share = Annotated[float, AfterValidator(lambda share: round(share, 4))]


class TriggerShown(Document):
    """A live session, and the trigger that fires for it, if one does."""

    session: str = Field(description="The session.")
    agent: str = Field(description="Its agent, or who reported it.")
    project: str = Field(description="Its project; empty if it is not known.")
    tokens: int = Field(description="Tokens in its context.")
    estimated: int = Field(description="How many of them are estimated.")
    window: int = Field(description="Tokens that its context can hold.")
    share: Share = Field(description="The share of the window that is in use.")
    compactions: int = Field(description="How often it was compacted.")
    at: Moment = Field(description="When it said so.")
    level: str = Field(description="`fine`, `warning`, `compaction` or `emergency`.")
    fires: str | None = Field(description="The trigger that fires now; null if none does.")
    action: str | None = Field(description="What it starts: `flush` or `compact`.")
    why: str = Field(description="Why, or why not.")


class EventShown(Document):
    """One time that a trigger fired."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(description="Its id.")
    session: str = Field(validation_alias="session_id", description="The session.")
    agent: str = Field(description="Its agent, or who reported it.")
    project: str = Field(validation_alias="project_id", description="Its project; empty if it was not known.")
    kind: str = Field(description="What fired.")
    action: str = Field(description="What it started: `flush` or `compact`.")
    share: Share = Field(description="The share of the window that was in use.")
    compactions: int = Field(description="How often the session had been compacted.")
    fired_at: Moment = Field(description="When it fired.")
    fired_by: str = Field(description="Who noticed.")
    reason: str = Field(description="Why.")
    outcome: str = Field(description="`started`, `done`, `failed`, or `late`: it was compacted before.")
    done_at: Moment | None = Field(description="When it ended; null if it has not.")


def list_events(store: Store, most: int) -> list[EventShown]:
    """The events that have fired, the newest first; nothing without a store."""
    if not store.exists():
        return []
    with store.reading() as tx:
        events = tx.triggers.newest(most)
    return [EventShown.model_validate(event) for event in events]
