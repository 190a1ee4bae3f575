"""Sessions of agents: how much of its context window each has used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

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
