"""The lineage of a memory: its sources down to the raw ones, and what has replaced it."""

from __future__ import annotations

from memory_pipeline.distillers import marked
from memory_pipeline.recall.documents import LineageEdge, LineageNode, MemoryLineage
from memory_pipeline.recall.results import source_of, summary_of
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import Transaction

#: Memories of one lineage that are shown; the raw sources are listed in full.
_MOST = 1000


def lineage_of(tx: Transaction, memory: Memory) -> MemoryLineage:
    """The lineage of a memory, nearest first."""
    depths = {memory.id: 0}
    links: dict[tuple[str, str], LineageLink] = {}
    level, depth = [memory.id], 0
    while level and len(depths) < _MOST:
        depth += 1
        found = tx.lineage.of(level)
        links |= {(link.memory_id, link.source_id): link for link in found}
        level = [source for source in dict.fromkeys(link.source_id for link in found) if source not in depths]
        depths |= dict.fromkeys(level, depth)
    successors, current = [memory.id], memory
    while (into := current.consolidated_into_id) is not None and into not in successors:
        successors.append(into)
        current = tx.memories.read([into])[into]
        depths.setdefault(into, -len(successors) + 1)
        links |= {(k.memory_id, k.source_id): k for k in tx.lineage.of([into]) if k.source_id == successors[-2]}
    shown = sorted(depths, key=lambda i: (i != memory.id, depths[i], i))[:_MOST]
    memories = tx.memories.read(shown)
    raw = tx.lineage.raw_sources_of([memory.id]).get(memory.id, [])
    return MemoryLineage(
        id=memory.id,
        project_id=memory.project_id,
        nodes=tuple(_node(memories[i], depths[i]) for i in shown if i in memories),
        edges=tuple(
            LineageEdge(
                memory_id=link.memory_id,
                source_id=link.source_id,
                relation=link.relation,
                similarity=round(link.similarity, 4),
            )
            for link in sorted(links.values(), key=lambda link: (link.memory_id, link.source_id))
            if link.memory_id in memories and link.source_id in memories
        ),
        raw_sources=tuple(raw),
        replaced_by=successors[-1] if len(successors) > 1 else None,
    )


def _node(memory: Memory, depth: int) -> LineageNode:
    return LineageNode(
        id=memory.id,
        summary=summary_of(marked(memory)),
        abstraction_level=memory.abstraction_level,
        day=memory.day,
        source=source_of(memory),
        archived=memory.archived_at is not None,
        depth=depth,
    )
