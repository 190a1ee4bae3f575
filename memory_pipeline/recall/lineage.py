"""Shows where a memory comes from, what has replaced it, and by which archived one it was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_pipeline.recall.documents import (
    FoundThrough,
    LineageEdge,
    LineageNode,
    MemoryLineage,
    RecalledMemory,
    SourceMemory,
)
from memory_pipeline.recall.search import Match
from memory_pipeline.recall.words import query_terms, terms_of
from memory_pipeline.records import MADE, LineageLink, Memory, matters_until
from memory_pipeline.store import Transaction
from memory_pipeline.text.steering import marked, may_guide
from memory_pipeline.text.subject import subject_beside, with_subject

_SUMMARY = 200
#: Memories of one lineage that are shown; the raw sources are listed in full.
_MOST = 1000


def lineage_of(tx: Transaction, memory: Memory) -> MemoryLineage:
    """The lineage of a memory, nearest first."""
    depths = {memory.id: 0}
    links: dict[tuple[str, str], LineageLink] = {}
    level, depth = [memory.id], 0
    while level and len(depths) < _MOST:
        depth += 1
        new_links = tx.lineage.of(level)
        links |= {(link.memory_id, link.source_id): link for link in new_links}
        level = [source for source in dict.fromkeys(link.source_id for link in new_links) if source not in depths]
        depths |= dict.fromkeys(level, depth)
    successors, current = [memory.id], memory
    while (into := current.consolidated_into_id) is not None and into not in successors:
        successors.append(into)
        current = tx.memories.read([into])[into]
        depths.setdefault(into, -len(successors) + 1)
        links |= {(k.memory_id, k.source_id): k for k in tx.lineage.of([into]) if k.source_id == successors[-2]}
    shown_ids = sorted(depths, key=lambda i: (i != memory.id, depths[i], i))[:_MOST]
    memories = tx.memories.read(shown_ids)
    return MemoryLineage(
        id=memory.id,
        project_id=memory.project_id,
        nodes=tuple(
            LineageNode.of_record(
                memories[i],
                summary=summary_of(marked(memories[i], with_subject(memories[i]))),
                source=source_of(memories[i]),
                archived=memories[i].archived_at is not None,
                depth=depths[i],
            )
            for i in shown_ids
            if i in memories
        ),
        edges=tuple(
            LineageEdge.model_validate(link, from_attributes=True)
            for link in sorted(links.values(), key=lambda link: (link.memory_id, link.source_id))
            if link.memory_id in memories and link.source_id in memories
        ),
        raw_sources=tuple(tx.lineage.raw_sources_of([memory.id]).get(memory.id, [])),
        replaced_by=successors[-1] if len(successors) > 1 else None,
    )


_VALUE = re.compile(r"\d[\d.,:/-]*(?<=\d)")
#: How many archived memories are looked at for words, and for a value, which only one of them may say.
_FOR_WORDS, _FOR_VALUES = 20, 200
#: Characters that are given of a memory. Of 200 rare values of a workspace that a model had read, 480 answer 192 within
#: 1,000 tokens and 183 within 250; 240 answer 166 and 159, 400 answer 191 and 182, 1,000 answer 194 and 184.
_LONGEST_EXCERPT = 480


def find_through(
    query: str, language: str, memory: Memory, rows: Sequence[int], read: Callable[[Sequence[int]], Sequence[Memory]]
) -> Memory | None:
    """The archived memory that says most of what a query asks for and `memory` lacks, with the words around that; None
    if none says any of it. `rows`: of the archived memories that were found, best first, which `read` reads."""
    terms = set(query_terms(query, language)) - set(terms_of(memory.content, language))
    values = [value for value in _VALUE.findall(query) if not _find_place(memory.content, value)]
    best, most = None, 0.0
    for source in read(rows[: _FOR_VALUES if values else _FOR_WORDS]) if terms or values else ():
        score = len(terms.intersection(terms_of(source.content, language))) / (len(terms) + 1)
        score += sum(_find_place(source.content, value) is not None for value in values)
        if score > most:
            best, most = source, score
    if best is None:
        return None
    mark = marked(best).removesuffix(best.content)
    return replace(best, content=mark + _cut_excerpt(best.content, terms, values, language))


def _find_place(content: str, value: str) -> re.Match[str] | None:
    """The place of a value in a text, whatever unit follows."""
    return re.search(rf"(?<![\d.,:]){re.escape(value)}(?!\d|[.,:]\d)", content)


def _cut_excerpt(content: str, terms: set[str], values: Sequence[str], language: str) -> str:
    """A content on one line; of a long one, the part that has most of these values, and then of these terms."""
    text = " ".join(content.split())
    if len(text) <= _LONGEST_EXCERPT:
        return text
    hits: list[tuple[int, str]] = []
    for word in re.finditer(r"\S+", text):
        hits += [(word.start(), term) for term in terms.intersection(terms_of(word.group(), language))]
    hits += [(place.start(), value) for value in values if (place := _find_place(text, value))]
    hits.sort()

    def within(start: int) -> list[tuple[int, str]]:
        return [hit for hit in hits if start <= hit[0] < start + _LONGEST_EXCERPT]

    def worth(start: int) -> tuple[int, int]:
        words = {term for _, term in within(start)}
        return len(words.intersection(values)), len(words)

    first = max((position for position, _ in hits), key=worth, default=0)
    last = max((position for position, _ in within(first)), default=first)
    start = text.rfind(" ", 0, max((first + last - _LONGEST_EXCERPT) // 2, 0)) + 1
    end = start + _LONGEST_EXCERPT
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


def summary_of(content: str) -> str:
    """The beginning of a content, on one line."""
    line = " ".join(content.split())
    return line if len(line) <= _SUMMARY else f"{line[: _SUMMARY - 1].rsplit(' ', 1)[0]}…"


def source_of(memory: Memory) -> str:
    """The place where a memory was read, in one line: `memory/2026-03-14.md:12`, or `night (distill)`."""
    source = memory.source
    if source.connector == MADE:
        return f"{MADE} ({source.file})" if source.file else MADE
    if source.file is None:
        return source.connector
    return source.file if source.line is None else f"{source.file}:{source.line}"


def recalled(match: Match, *, scored: bool = False, sources: Sequence[SourceMemory] | None = None) -> RecalledMemory:
    """A memory with what is known beside it, and with `scored` with its score."""
    memory, through = match.memory, match.found_through
    same = RecalledMemory.model_fields.keys()
    fields = {name: getattr(record, name) for record in (match, memory) for name in same if hasattr(record, name)}
    fields |= {
        "content": marked(memory),
        "subject": subject_beside(memory),
        "steers": not may_guide(memory),
        "relevance_score": round(min(match.score, 1.0), 4) if scored else None,
        "source_memory_count": match.source_count,
        "source": source_of(memory),
        "archived": memory.archived_at is not None,
        "source_memories": None if sources is None else tuple(sources),
        "found_through": through and FoundThrough.of_record(through),
        "explanation": match.why,
        "until": match.until or matters_until(memory.tags),
    }
    if match.opponents:
        latest = match.opponents[0]
        fields |= {"contradicted_by": latest.id, "contradicted_on": latest.later_on}
    return RecalledMemory(**fields)


def speaker_in(memory_type: str, tags: Sequence[str]) -> str | None:
    """The speaker of a turn of a conversation: `human`, `agent`, or a name; None if the memory is no turn."""
    if memory_type != "conversation":
        return None
    spoken = (tag.removeprefix("role:") for tag in tags if tag in ("human", "agent") or tag.startswith("role:"))
    return next(spoken, None)


def sources_of(tx: Transaction, memory_ids: Sequence[str]) -> dict[str, list[SourceMemory]]:
    """The direct sources of memories, nearest first, by memory."""
    links = sorted(tx.lineage.of(memory_ids), key=lambda link: (-link.similarity, link.source_id))
    memories = tx.memories.read({link.source_id for link in links})
    by_memory: dict[str, list[SourceMemory]] = {memory_id: [] for memory_id in memory_ids}
    for link in links:
        if source := memories.get(link.source_id):
            summary = summary_of(marked(source, with_subject(source)))
            by_memory[link.memory_id].append(
                SourceMemory(id=source.id, summary=summary, similarity=round(link.similarity, 4))
            )
    return by_memory
