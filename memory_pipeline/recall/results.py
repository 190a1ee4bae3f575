"""Memories as recall gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_pipeline.distillers import marked, may_guide
from memory_pipeline.recall.documents import RecalledMemory, SourceMemory
from memory_pipeline.records import MADE, Memory

_SUMMARY = 200


def summary_of(content: str) -> str:
    """The beginning of a content, on one line."""
    line = " ".join(content.split())
    return line if len(line) <= _SUMMARY else f"{line[: _SUMMARY - 1].rsplit(' ', 1)[0]}…"


def source_of(memory: Memory) -> str:
    """Where a memory was read, in one line: `memory/2026-03-14.md:12`, or `night (distill)`."""
    source = memory.source
    if source.connector == MADE:
        return f"{MADE} ({source.file})" if source.file else MADE
    if source.file is None:
        return source.connector
    return source.file if source.line is None else f"{source.file}:{source.line}"


def recalled(
    memory: Memory,
    *,
    source_count: int,
    score: float | None = None,
    superseded_by: str | None = None,
    sources: Sequence[SourceMemory] | None = None,
) -> RecalledMemory:
    """A memory with what is known beside it."""
    return RecalledMemory(
        id=memory.id,
        project_id=memory.project_id,
        content=marked(memory),
        steers=not may_guide(memory),
        memory_type=memory.memory_type,
        abstraction_level=memory.abstraction_level,
        pattern_type=memory.pattern_type,
        confidence_score=memory.confidence_score,
        relevance_score=None if score is None else round(min(score, 1.0), 4),
        source_memory_count=source_count,
        categories=memory.categories,
        tags=memory.tags,
        importance=memory.importance,
        created_at=memory.created_at,
        day=memory.day,
        source=source_of(memory),
        archived=memory.archived_at is not None,
        consolidated_into_id=memory.consolidated_into_id,
        superseded_by=superseded_by,
        source_memories=None if sources is None else tuple(sources),
    )


def speaker_in(memory_type: str, tags: Sequence[str]) -> str | None:
    """Who said a turn of a conversation: `human`, `agent`, or a name; None if the memory is no turn."""
    if memory_type != "conversation":
        return None
    spoken = (tag.removeprefix("role:") for tag in tags if tag in ("human", "agent") or tag.startswith("role:"))
    return next(spoken, None)


def described_sources(links: Sequence[tuple[str, float]], memories: Mapping[str, Memory]) -> list[SourceMemory]:
    """The direct sources of a memory, nearest first. `links`: id and similarity."""
    nearest = sorted(links, key=lambda link: (-link[1], link[0]))
    return [
        SourceMemory(id=source, summary=summary_of(marked(memories[source])), similarity=round(score, 4))
        for source, score in nearest
        if source in memories
    ]
