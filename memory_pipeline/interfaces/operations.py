"""The operations of agents and people on a project's memory, each once: the request, and its answer as text. The
commands, the routes and the MCP tools follow from it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.recall import documents
from memory_pipeline.recall.asking import Reply
from memory_pipeline.recall.lineage import speaker_in
from memory_pipeline.recall.project import ProjectMemory, check_query
from memory_pipeline.records.identifiers import MAX_ID
from memory_pipeline.text.counts import how_many

#: A character that is neither space, as Python has it, nor NUL.
_NO_SPACE = r"[^\s\x00\x1c-\x1f\x85]"
_WORDS = {
    "type": "string",
    "minLength": documents.SHORTEST_QUERY,
    "maxLength": documents.LONGEST_QUERY,
    "pattern": rf"{_NO_SPACE}[\s\S]+{_NO_SPACE}",
}


def _checked(text: str, info: ValidationInfo) -> str:
    try:
        check_query(text, info.field_name or "query")
    except InputError as error:
        raise ValueError(str(error)) from None
    return text


#: A text to search for. Its schema says what it has to have, and the check says in words what it lacks.
Words = Annotated[str, AfterValidator(_checked), WithJsonSchema(_WORDS)]
Project = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
_LEVELS = ("raw", "merged", "pattern", "principle")
#: What a context without a text says.
NOTHING_KNOWN = "Nothing that the project knows belongs to this task."
#: Lines of a memory's words that a terminal shows.
_MOST_LINES = 4


class Request(Document):
    """A request to the memory of one project."""

    model_config = ConfigDict(defer_build=False)  # FastAPI builds what it reads when it starts
    project_id: Project | None = Field(
        default=None,
        description="The project; may be left out where the token is good for one alone, or the store has only one.",
    )


class SearchRequest(documents.Filters, Request):
    """A search in the memories of one project; the filters stand beside the query, or in `filters`."""

    query: Words = Field(description="What to search for.")
    limit: documents.Whole = Field(default=10, ge=1, le=documents.MOST_RESULTS, description="How many results.")
    mode: documents.Mode = Field(
        default="hybrid", description="`hybrid`: by words and meaning; `dense` or `bm25`: one alone."
    )
    include_sources: bool = Field(default=False, description="Give each memory its direct sources.")
    explain: bool = Field(
        default=False, description="Say of each why it stands where it stands (`explanation`); not with `as_of`."
    )
    filters: documents.Filters = Field(
        default=documents.Filters(),
        description="The filters as one object, instead of beside the query; `abstraction_levels` is another name of "
        "`levels`.",
    )

    @property
    def chosen(self) -> documents.Filters:
        """The filters, wherever they stand."""
        return self.filters.model_copy(update=self.given)

    def put_to(self, memory: ProjectMemory) -> documents.SearchResults:
        """Search a project. Raises InputError as `ProjectMemory.search` does."""
        return memory.search(
            self.query,
            self.limit,
            filters=self.chosen,
            mode=self.mode,
            include_sources=self.include_sources,
            explain=self.explain,
        )

    @model_validator(mode="after")
    def _in_one_place(self) -> Self:
        for name, value in self.given.items():
            if self.filters.given.get(name, value) != value:
                raise ValueError(f"{name} and filters.{name} are different; leave one of them")
        self.chosen.check_order()
        return self


class ContextRequest(Request):
    """The task that an agent is about to do."""

    task: Words = Field(
        validation_alias=AliasChoices("task", "task_description"),
        description="The task, in words; `task_description` is another name of it.",
    )
    budget: documents.Whole = Field(
        default=documents.DEFAULT_BUDGET,
        ge=documents.LEAST_BUDGET,
        le=documents.MOST_BUDGET,
        description="Tokens allowed.",
    )


class Ask(Request):
    """A question that a model answers."""

    question: Words = Field(description="The question, in words.")


class MemoryToWrite(documents.NewMemory, Request):
    """A memory to be written."""

    create_project: bool = Field(
        default=False,
        description="Begin the project if the store does not have it. A token bound to projects begins its own "
        "unasked, and so does the first memory of an empty store.",
    )


class MemoryRequest(Request):
    """One memory of a project."""

    id: str = Field(description="The memory: its id, or its handle in a context.", min_length=1, max_length=MAX_ID)


class FeedbackRequest(Request):
    """Feedback: a memory helped, or did not."""

    was_useful: bool = Field(description="Whether it helped.")


def search_lines(results: documents.SearchResults, width: int | None) -> list[str]:
    """The results of a search: id, day, level and type, score and words."""
    if not results.results:
        return [documents.NOTHING_NEAR if results.nothing_near else "Nothing was found."]
    several = len({memory.project_id for memory in results.results}) > 1
    lines = [documents.NOTHING_NEAR, ""] if results.nothing_near else []
    lines += [line for memory in results.results for line in _memory_lines(memory, width, with_project=several)]
    if results.total_found > len(results.results) and width is not None:
        lines.append(
            f"{len(results.results)} of {how_many(results.total_found, 'memory', 'memories')}; --limit shows more"
        )
    return lines


def _memory_lines(memory: documents.RecalledMemory, width: int | None, *, with_project: bool) -> list[str]:
    holding = {"newer": memory.newer, "archived": memory.archived, "superseded": memory.superseded_by}
    marks = [mark for mark, holds in holding.items() if holds]
    speaker = speaker_in(memory.memory_type, memory.tags)
    speakers = [speaker] if speaker else []
    projects = [memory.project_id] if with_project else []
    kind = "/".join((*projects, _LEVELS[memory.abstraction_level], memory.memory_type, *speakers, *marks))
    score = "" if memory.relevance_score is None else f"{memory.relevance_score:.2f}"
    day = f"{memory.day_text:<10}"
    if width is None:
        lines = [f"{score}  {day}  {kind}  {memory.id}  {' '.join(memory.words_in_place.split())}"]
    else:
        lines = [f"{score}  {day}  {kind:<16}  {memory.id}"]
        lines += _wrapped(memory.words, width) + _wrapped(memory.notes, width)
    if through := memory.found_through:
        lines += _wrapped(f"archived {through.day_text} {through.id}: {through.content}", width, most=3)
    if memory.explanation:
        lines += _wrapped(f"why: {memory.explanation}", width)
    for source in memory.source_memories or ():
        lines += _wrapped(f"from {source.id} ({source.similarity:.2f}): {source.summary}", width, most=2)
    return lines


def _wrapped(text: str, width: int | None, indent: int = 6, most: int = _MOST_LINES) -> list[str]:
    text, before = " ".join(text.split()), " " * indent
    if width is None:
        return [before + text]
    return textwrap.wrap(
        text, width, initial_indent=before, subsequent_indent=before, max_lines=most, placeholder=" ..."
    )


def lineage_lines(lineage: documents.MemoryLineage, width: int | None) -> list[str]:
    """A lineage as a tree: what replaced the memory, the memory, and its sources below it."""
    nodes = {node.id: node for node in lineage.nodes}
    relations = {(edge.memory_id, edge.source_id): edge.relation for edge in lineage.edges}
    below: dict[str, list[str]] = {}
    for edge in lineage.edges:
        if nodes[edge.source_id].depth > 0:
            below.setdefault(edge.memory_id, []).append(edge.source_id)
    lines = _node_lines(nodes[lineage.id], "", 0, width)
    seen = {lineage.id}
    waiting = [(source, lineage.id, 1) for source in reversed(below.get(lineage.id, []))]
    while waiting:
        source, parent, depth = waiting.pop()
        again = source in seen
        lines += _node_lines(nodes[source], relations[parent, source], depth, width, again=again)
        if not again:
            waiting += [(deeper, source, depth + 1) for deeper in reversed(below.get(source, []))]
        seen.add(source)
    later = sorted((node for node in lineage.nodes if node.depth < 0), key=lambda node: -node.depth)
    for node in later:
        lines += ["Replaced by:", *_node_lines(node, "", 1, width)]
    if len(lines) == len(_node_lines(nodes[lineage.id], "", 0, width)):
        undone = nodes[lineage.id].abstraction_level > 0 and nodes[lineage.id].archived
        sources = "its sources stand for themselves again" if undone else "it was not made from other memories"
        lines.append(f"Nothing has replaced it, and {sources}.")
    return lines


def _node_lines(
    node: documents.LineageNode, relation: str, depth: int, width: int | None, *, again: bool = False
) -> list[str]:
    state = "archived" if node.archived else "active"
    words = (relation, _LEVELS[node.abstraction_level], state, node.day_text, node.source, node.id)
    head = f"{'  ' * depth}{'- ' if depth else ''}{'  '.join(word for word in words if word)}"
    if again:
        return [f"{head}  (above)"]
    summary = " ".join(node.summary.split())
    if width is None:
        return [f"{head}  {summary}"]
    return [head, *_wrapped(summary, width, 2 * depth + 2, 2)]


def metrics_lines(figures: documents.Metrics, width: int | None) -> list[str]:
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
    indent = max(map(len, rows)) + 2
    lines = [f"{name:<{indent}}{value}" for name, value in rows.items()]
    if width is None:
        return lines
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=" " * indent)]


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered) or "none"


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "none"


def remembered_line(remembered: documents.Remembered) -> str:
    outcome = {
        "created": f"Remembered as {remembered.id}.",
        "unchanged": f"It was there already, as {remembered.id}.",
        "new_version": f"Remembered as {remembered.id}: the given id has other words, which stay.",
    }[remembered.status]
    masked = ", ".join(f"{count} {kind}" for kind, count in sorted(remembered.masked.items()))
    return f"{outcome} Masked: {masked}." if masked else outcome


def feedback_line(feedback: documents.Feedback) -> str:
    """The line for feedback: how the memory stands now."""
    called, recalled = (how_many(count, "time") for count in (feedback.useful_count, feedback.reuse_count))
    note = f" It counts for little: {feedback.note}." if feedback.note else ""
    return f"{feedback.memory_id}: called useful {called}, recalled {recalled}.{note}"


def reply_lines(reply: Reply) -> list[str]:
    """An answer with the memories that it rests on, or that there is none."""
    if reply.known:
        return [
            reply.answer,
            *(f"  < {memory.day_text}  {' '.join(memory.content.split())}  {memory.id}" for memory in reply.memories),
        ]
    if reply.refused:
        return [f"No answer: {reply.refused}."]
    return [f"The memory does not hold the answer; {how_many(reply.read, 'memory')} nearest to it were read."]
