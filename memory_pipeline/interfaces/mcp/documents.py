"""What the MCP tools answer: the documents of recall, cut to what an agent needs, so that answers and schemas stay
small."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from memory_pipeline.recall.documents import AtomListing as FoundAtoms
from memory_pipeline.recall.documents import (
    Context,
    Feedback,
    MemoryLineage,
    Metrics,
    PlaybookListing,
    RecalledMemory,
    Remembered,
    SearchResults,
)
from memory_pipeline.text.quoting import clipped

Level = Literal["raw", "merged", "pattern", "principle"]
LEVELS: tuple[Level, ...] = ("raw", "merged", "pattern", "principle")
#: Characters of a title, and of a memory in a list; `fetch` gives the whole.
_TITLE, _EXCERPT = 80, 600
#: Memories of a lineage that are listed.
_MOST_NODES = 50


class Answer(BaseModel):
    """An answer of a tool. Fields that say nothing (null, false, empty) are left out of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def compact(self) -> dict[str, Any]:
        """The answer as JSON, without what says nothing."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Hit(Answer):
    """A memory that was found."""

    id: str
    title: str
    url: str
    text: str
    day: date
    level: Level
    type: str
    score: float
    archived: bool = False
    steers: bool = False
    superseded_by: str | None = None


class Hits(Answer):
    """What `search` found."""

    results: list[Hit]
    total_found: int

    @classmethod
    def of(cls, found: SearchResults) -> Hits:
        """The memories of a search, with the beginning of what they say."""
        return cls(
            results=[
                Hit(
                    id=one.id,
                    title=clipped(one.words_in_place, _TITLE),
                    url=address(one.project_id, one.id),
                    text=_with_source(one),
                    day=one.day,
                    level=LEVELS[one.abstraction_level],
                    type=one.memory_type,
                    score=one.relevance_score or 0.0,
                    archived=one.archived,
                    steers=one.steers,
                    superseded_by=one.superseded_by,
                )
                for one in found.results
            ],
            total_found=found.total_found,
        )


def _with_source(memory: RecalledMemory) -> str:
    """The beginning of what a memory says, and the archived one by whose words it was found."""
    text, source = clipped(memory.words_in_place, _EXCERPT), memory.found_through
    return text if source is None else f"{text} (archived {source.day} [{source.id}]: {source.content})"


class Fetched(Answer):
    """A whole memory."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]

    @classmethod
    def of(cls, memory: RecalledMemory) -> Fetched:
        """A memory with what is known beside it."""
        told = memory.as_json()
        beside = {name: value for name, value in told.items() if name not in ("id", "content", "source_memories")}
        beside["abstraction_level"] = LEVELS[memory.abstraction_level]
        sources = [source.id for source in memory.source_memories or ()]
        return cls(
            id=memory.id,
            title=clipped(memory.words_in_place, _TITLE),
            text=memory.words_in_place,
            url=address(memory.project_id, memory.id),
            metadata={name: value for name, value in beside.items() if value not in (None, [], False)}
            | ({"sources": sources} if sources else {}),
        )


class Piece(Answer):
    """One piece of a context."""

    id: str
    kind: str


class ContextAnswer(Answer):
    """What is known for a task."""

    text: str
    tokens: int
    items: list[Piece]

    @classmethod
    def of(cls, context: Context) -> ContextAnswer:
        """A context with its text and the ids of its pieces."""
        items = [Piece(id=item.id, kind=item.kind) for item in context.items]
        return cls(text=context.text, tokens=context.tokens, items=items)


class RememberAnswer(Answer):
    """What became of a memory that was told."""

    id: str
    status: Literal["created", "unchanged", "new_version"]
    text: str
    masked: dict[str, int] = {}

    @classmethod
    def of(cls, told: Remembered) -> RememberAnswer:
        """The memory as it was written, with the number of secrets that were masked, by kind."""
        return cls(id=told.id, status=told.status, text=told.memory.content, masked=dict(told.masked))


class FeedbackAnswer(Answer):
    """How a memory stands after feedback."""

    id: str
    useful_count: int
    reuse_count: int

    @classmethod
    def of(cls, said: Feedback) -> FeedbackAnswer:
        """The counts of a memory."""
        return cls(id=said.memory_id, useful_count=said.useful_count, reuse_count=said.reuse_count)


class LineageAnswer(Answer):
    """Where a memory comes from (`depth` from 1 on), and what replaced it (from -1 down)."""

    id: str
    replaced_by: str | None = None
    raw_sources: int
    nodes: list[dict[str, Any]]

    @classmethod
    def of(cls, found: MemoryLineage) -> LineageAnswer:
        """The nearest memories of a lineage."""
        relations = {edge.source_id: edge.relation for edge in found.edges}
        nodes = [
            {
                "id": node.id,
                "depth": node.depth,
                "level": LEVELS[node.abstraction_level],
                "day": str(node.day),
                "source": node.source,
                "archived": node.archived,
                "text": node.summary,
            }
            | ({"relation": relations[node.id]} if node.id in relations else {})
            for node in found.nodes[:_MOST_NODES]
        ]
        return cls(id=found.id, replaced_by=found.replaced_by, raw_sources=len(found.raw_sources), nodes=nodes)


class Overview(Answer):
    """One view of a project: its figures, its guidance, or what causes what."""

    project: str
    status: dict[str, Any] | None = None
    entries: list[dict[str, Any]] | None = None

    @classmethod
    def of_status(cls, figures: Metrics) -> Overview:
        """The figures of a project."""
        return cls(project=figures.project_id, status=figures.as_json())

    @classmethod
    def of_playbook(cls, project: str, listing: PlaybookListing, limit: int) -> Overview:
        """The guidance of a project, surest first."""
        surest = sorted(listing.entries, key=lambda entry: -entry.confidence)[:limit]
        entries = [entry.as_json() for entry in surest]
        return cls(project=project, entries=entries)

    @classmethod
    def of_atoms(cls, project: str, found: FoundAtoms) -> Overview:
        """Causes and effects."""
        return cls(
            project=project,
            entries=[
                atom.model_dump(
                    mode="json",
                    include={"id", "subject", "action", "outcome", "consequences", "confidence", "source_ids", "score"},
                )
                for atom in found.atoms
            ],
        )


def address(project: str, memory_id: str) -> str:
    """The address under which this server gives a memory as a resource."""
    return f"memory://{quote(project, safe='')}/memories/{quote(memory_id, safe='')}"
