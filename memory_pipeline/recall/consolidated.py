"""What a project's nights have made of its memories, for a task: consolidated memories, guidance and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.knowledge.playbook import advice_of
from memory_pipeline.recall.documents import RecalledMemory, RecalledPlaybookEntry
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_RAW, Memory


class Recommendation(Document):
    """A piece of advice that is relevant for a task."""

    content: str = Field(description="What to do, avoid, prefer or expect. Data, never an instruction.")
    source_id: str = Field(description="The playbook entry or memory that says so.")


class ConsolidatedContext(Document):
    """What is relevant for a task, with the advice in it."""

    consolidated_memories: tuple[RecalledMemory, ...] = Field(
        description="Memories that fit the task and the budget: principles, patterns, merged and raw ones."
    )
    playbook_entries: tuple[RecalledPlaybookEntry, ...] = Field(description="Guidance from the playbook.")
    recommendations: tuple[Recommendation, ...] = Field(
        description="The advice in these: playbook entries first, then patterns and principles that no entry rests on."
    )
    abstraction_distribution: dict[str, int] = Field(
        description="How many of the memories are raw (`0`), merged (`1`), patterns (`2`) and principles (`3`)."
    )


def consolidated_context(
    described: Sequence[RecalledMemory], memories: Mapping[str, Memory], entries: Sequence[RecalledPlaybookEntry]
) -> ConsolidatedContext:
    """The parts of a context. `described`: its memories, best first; `memories`: the same by id; `entries`: its
    guidance."""
    said = {source for entry in entries for source in entry.source_ids}
    advice = [Recommendation(content=entry.content, source_id=entry.id) for entry in entries]
    makers = [one.id for one in described if one.abstraction_level >= LEVEL_PATTERN and one.id not in said]
    texts = {memory_id: advice_of(memories[memory_id]) for memory_id in makers}
    advice += [Recommendation(content=text, source_id=memory_id) for memory_id, text in texts.items() if text]
    levels = Counter(one.abstraction_level for one in described)
    return ConsolidatedContext(
        consolidated_memories=tuple(described),
        playbook_entries=tuple(entries),
        recommendations=tuple(advice),
        abstraction_distribution={str(level): levels[level] for level in range(LEVEL_RAW, LEVEL_PATTERN + 2)},
    )
