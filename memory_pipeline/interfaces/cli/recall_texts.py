"""What the commands of recall print for a person: lines that fit the terminal, or one line a memory in a pipe."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping
from datetime import datetime

from memory_pipeline.recall.documents import (
    LineageNode,
    MemoryLineage,
    Metrics,
    RecalledMemory,
    Remembered,
    SearchResults,
)
from memory_pipeline.recall.lineage import speaker_in
from memory_pipeline.text.counts import how_many

_LEVELS = ("raw", "merged", "pattern", "principle")
#: Lines of a memory's words that a terminal shows, and the narrowest and widest that they become.
_MOST_LINES, _NARROWEST, _WIDEST = 4, 40, 120


def terminal_width() -> int | None:
    """The columns of the terminal; None if the output goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def search_lines(found: SearchResults, width: int | None) -> list[str]:
    """What a search found: id, day, level and type, score and words."""
    if not found.results:
        return ["Nothing was found."]
    several = len({memory.project_id for memory in found.results}) > 1
    lines = [line for memory in found.results for line in _memory_lines(memory, width, with_project=several)]
    if found.total_found > len(found.results) and width is not None:
        lines.append(f"{len(found.results)} of {how_many(found.total_found, 'memory', 'memories')}; --limit shows more")
    return lines


def _memory_lines(memory: RecalledMemory, width: int | None, *, with_project: bool) -> list[str]:
    marks = [mark for mark, holds in (("archived", memory.archived), ("superseded", memory.superseded_by)) if holds]
    speaker = speaker_in(memory.memory_type, memory.tags)
    said = [speaker] if speaker else []
    of = [memory.project_id] if with_project else []
    kind = "/".join((*of, _LEVELS[memory.abstraction_level], memory.memory_type, *said, *marks))
    score = "" if memory.relevance_score is None else f"{memory.relevance_score:.2f}"
    words = " ".join(memory.words_in_place.split())
    if width is None:
        lines = [f"{score}  {memory.day}  {kind}  {memory.id}  {words}"]
    else:
        lines = [f"{score}  {memory.day}  {kind:<16}  {memory.id}", *_wrapped(words, width)]
    if through := memory.found_through:
        told = f"archived {through.day} {through.id}: {' '.join(through.content.split())}"
        lines += [f"      {told}"] if width is None else _wrapped(told, width, 6, 3)
    if memory.explanation:
        told = f"why: {memory.explanation}"
        lines += [f"      {told}"] if width is None else _wrapped(told, width)
    for source in memory.source_memories or ():
        told = f"from {source.id} ({source.similarity:.2f}): {source.summary}"
        lines += [f"      {told}"] if width is None else _wrapped(told, width, 6, 2)
    return lines


def _wrapped(text: str, width: int, indent: int = 6, most: int = _MOST_LINES) -> list[str]:
    before = " " * indent
    return textwrap.wrap(
        text, width, initial_indent=before, subsequent_indent=before, max_lines=most, placeholder=" ..."
    )


def lineage_lines(found: MemoryLineage, width: int | None) -> list[str]:
    """A lineage as a tree: what replaced the memory, the memory, and its sources below it."""
    nodes = {node.id: node for node in found.nodes}
    relations = {(edge.memory_id, edge.source_id): edge.relation for edge in found.edges}
    below: dict[str, list[str]] = {}
    for edge in found.edges:
        if nodes[edge.source_id].depth > 0:
            below.setdefault(edge.memory_id, []).append(edge.source_id)
    lines = _node_lines(nodes[found.id], "", 0, width)
    seen = {found.id}
    waiting = [(source, found.id, 1) for source in reversed(below.get(found.id, []))]
    while waiting:
        source, parent, depth = waiting.pop()
        again = source in seen
        lines += _node_lines(nodes[source], relations[parent, source], depth, width, again=again)
        if not again:
            waiting += [(deeper, source, depth + 1) for deeper in reversed(below.get(source, []))]
        seen.add(source)
    later = sorted((node for node in found.nodes if node.depth < 0), key=lambda node: -node.depth)
    for node in later:
        lines += ["Replaced by:", *_node_lines(node, "", 1, width)]
    if len(lines) == len(_node_lines(nodes[found.id], "", 0, width)):
        lines.append("It was not made from other memories, and nothing has replaced it.")
    return lines


def _node_lines(node: LineageNode, relation: str, depth: int, width: int | None, *, again: bool = False) -> list[str]:
    state = "archived" if node.archived else "active"
    words = (relation, _LEVELS[node.abstraction_level], state, str(node.day), node.source, node.id)
    head = f"{'  ' * depth}{'- ' if depth else ''}{'  '.join(word for word in words if word)}"
    if again:
        return [f"{head}  (above)"]
    summary = " ".join(node.summary.split())
    if width is None:
        return [f"{head}  {summary}"]
    return [head, *_wrapped(summary, width, 2 * depth + 2, 2)]


def metrics_lines(figures: Metrics, width: int | None) -> list[str]:
    """The figures of a project, each with its name."""
    run = "none"
    if figures.last_night:
        run = f"that of {figures.last_night}, run {_time(figures.last_run_at)}, {figures.last_verdict}"
    rows = {
        "Project": figures.project_id,
        "Memories": f"{figures.active_memories:,} active, {figures.archived_memories:,} archived",
        "Made by nights": f"{figures.consolidated_memories:,} of the active ones; {figures.raw_memories:,} are raw",
        "Tokens": f"{figures.active_tokens:,} active, {figures.archived_tokens:,} archived",
        "Fewer tokens": f"{figures.reduction_percentage:.1f}%",
        "By level": _counts({_LEVELS[int(level)]: count for level, count in figures.memories_by_level.items()}),
        "By type": _counts(figures.memories_by_type),
        "Last night": run,
        "Next night": _time(figures.next_run_at),
    }
    left = max(map(len, rows)) + 2
    lines = [f"{name:<{left}}{value}" for name, value in rows.items()]
    if width is None:
        return lines
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=" " * left)]


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered) or "none"


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "none"


def remembered_line(told: Remembered) -> str:
    """What became of a memory that was told."""
    said = {
        "created": f"Remembered as {told.id}.",
        "unchanged": f"It was there already, as {told.id}.",
        "new_version": f"Remembered as {told.id}: the given id has other words, which stay.",
    }[told.status]
    masked = ", ".join(f"{count} {kind}" for kind, count in sorted(told.masked.items()))
    return f"{said} Masked: {masked}." if masked else said
