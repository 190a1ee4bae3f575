"""Sessions of agents: how much of its context window each has used, and what that has started."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, get_args

from memory_pipeline.records.columns import Column

#: More tokens than any context window holds.
MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """What a session last reported about its context window."""

    project_id: Annotated[str, Column("The project.", is_id=True)]
    session_id: Annotated[str, Column("The session, as its agent calls it.")]
    tokens_used: Annotated[int, Column("Tokens in its context.", low=0, high=MOST_TOKENS, changes=True)]
    window_tokens: Annotated[int, Column("Tokens that its context can hold.", low=1, high=MOST_TOKENS, changes=True)]
    reported_at: Annotated[datetime, Column("When it said so.", changes=True)]
    reported_by: Annotated[str, Column("Who said so.", changes=True)]


#: What starts something: how full a context is, the bytes of a transcript, a share of the window or the time since the
#: last compaction, a host's hook, or a person's command.
TriggerKind = Literal["emergency", "compaction", "tokens", "time", "warning", "bytes", "hook", "command"]
TRIGGER_KINDS: tuple[TriggerKind, ...] = get_args(TriggerKind)
TriggerAction = Literal["flush", "compact"]
#: `started` until it ends; `late`: the session was compacted before it could begin.
TriggerOutcome = Literal["started", "done", "failed", "late"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerEvent:
    """One time that a trigger fired."""

    id: Annotated[str, Column("Derived from the session, its compactions so far, and the trigger.", is_id=True)]
    project_id: Annotated[str, Column("The project of the session; empty if it was not known.")]
    session_id: Annotated[str, Column("The session, as its agent calls it.")]
    agent: Annotated[str, Column("Its agent, or who reported it.")]
    transcript: Annotated[str, Column("Where its words are.")]
    kind: Annotated[TriggerKind, Column("What fired.")]
    action: Annotated[TriggerAction, Column("What it started.")]
    compactions: Annotated[int, Column("How often the session had been compacted.", low=0)]
    tokens_used: Annotated[int, Column("Tokens in its context.", low=0, high=MOST_TOKENS, changes=True)]
    window_tokens: Annotated[int, Column("Tokens that its context can hold.", low=1, high=MOST_TOKENS, changes=True)]
    fired_at: Annotated[datetime, Column("When it fired.", changes=True)]
    fired_by: Annotated[str, Column("Who noticed: a sensor, a hook or a command.", changes=True)]
    reason: Annotated[str, Column("Why, in words.", changes=True)]
    outcome: Annotated[TriggerOutcome, Column("What became of it.", changes=True)] = "started"
    done_at: Annotated[datetime | None, Column("When it ended.", changes=True)] = None

    @property
    def share(self) -> float:
        """The share of the window that was in use."""
        return self.tokens_used / self.window_tokens
