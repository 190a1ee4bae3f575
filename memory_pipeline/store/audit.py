"""The state of a row as the audit log keeps it: JSON of what may change in it."""

from __future__ import annotations

from datetime import datetime

from memory_pipeline.records import Memory
from memory_pipeline.records.columns import state_of


def memory_state(alias: str) -> str:
    """SQL of the state of a memory in a table of this name."""
    pairs = [
        f"'{column.name}', {alias}.{column.name}{'::text' if column.kind is datetime else ''}"
        for column in state_of(Memory)
    ]
    return f"json_object({', '.join(pairs)})::text"
