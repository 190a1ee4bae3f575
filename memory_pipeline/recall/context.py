"""The best mix of what a project knows for a task, within a token budget, as Markdown."""

from __future__ import annotations

from memory_pipeline.embedding import Embedder
from memory_pipeline.recall.documents import Context, ContextItem, Filters, ItemKind
from memory_pipeline.recall.index import ProjectIndex
from memory_pipeline.recall.results import source_of
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_PRINCIPLE, Memory
from memory_pipeline.store import Store


def build_context(
    store: Store, index: ProjectIndex, embedder: Embedder, project: str, task: str, budget: int
) -> Context:
    """The context of a task."""
    matches, _ = index.search(task, limit=100, filters=Filters())
    items: list[ContextItem] = []
    text = ""
    for match in matches:
        memory = match.memory
        line = f"- {' '.join(memory.content.split())} ({memory.day}, {source_of(memory)}, id {memory.id})"
        longer = f"{text}\n{line}".strip()
        if embedder.count_tokens(longer) > budget:
            continue
        text = longer
        items.append(
            ContextItem(
                kind=_kind(memory),
                id=memory.id,
                content=memory.content,
                day=memory.day,
                source=source_of(memory),
                confidence=memory.confidence_score,
                relevance_score=round(match.score, 4),
                tokens=embedder.count_tokens(line),
            )
        )
    tokens = embedder.count_tokens(text) if text else 0
    return Context(project=project, task=task, budget=budget, tokens=tokens, items=tuple(items), text=text)


def _kind(memory: Memory) -> ItemKind:
    if memory.source.file == "series":
        return "series"
    return {LEVEL_PRINCIPLE: "principle", LEVEL_PATTERN: "pattern"}.get(memory.abstraction_level, "memory")  # type: ignore[return-value]
