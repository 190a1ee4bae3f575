"""A memory that passed the gate, with its links and vector."""

from __future__ import annotations

from dataclasses import dataclass

from memory_pipeline.records import LineageLink, Memory


@dataclass(frozen=True, slots=True)
class Admitted:
    """What an import writes for one row."""

    memory: Memory
    links: tuple[LineageLink, ...]
    embedding: tuple[float, ...] | None
    embedding_model: str | None
