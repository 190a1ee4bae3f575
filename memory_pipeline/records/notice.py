"""Messages to people about runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

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
