"""What only HTTP is asked and only HTTP answers; everything else is a document of the part that it comes from."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints, model_validator

from memory_pipeline.documents import Document
from memory_pipeline.ingest.values import MAX_ID, MAX_NAME
from memory_pipeline.recall.documents import (
    DEFAULT_BUDGET,
    LEAST_BUDGET,
    LONGEST_CONTENT,
    LONGEST_QUERY,
    MOST_BUDGET,
    MOST_RESULTS,
    SHORTEST_QUERY,
    Filters,
    Mode,
    NewMemory,
)
from memory_pipeline.records import MEMORY_TYPES, PATTERN_TYPES
from memory_pipeline.records.conversation import MOST_TOKENS

MemoryType = Literal[MEMORY_TYPES]  # type: ignore[valid-type]
PatternType = Literal[PATTERN_TYPES]  # type: ignore[valid-type]
_PROJECT = "The project; may be left out where the token is good for one alone, or the store has only one."
_Label = Annotated[str, StringConstraints(max_length=MAX_NAME, pattern=r"^[^\x00]*$")]
#: An id that a client makes up: printable ASCII, without spaces at its ends.
OwnId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID, pattern=r"^[!-~]([ -~]*[!-~])?$")]
#: A character that is neither space, as Python has it, nor NUL.
_NO_SPACE = r"[^\s\x00\x1c-\x1f\x85]"
#: Three characters or more between the first and the last that are no space.
_Words = Annotated[
    str,
    StringConstraints(min_length=SHORTEST_QUERY, max_length=LONGEST_QUERY, pattern=rf"{_NO_SPACE}[\s\S]+{_NO_SPACE}"),
]
#: In JSON, `10.0` is a whole number too.
_Whole = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
Whole = Annotated[int, _Whole]
Project = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
Level = Annotated[int, Field(ge=0, le=3), _Whole]


class SearchFilters(Filters):
    """Which memories of the project a search considers; an empty filter admits all."""

    levels: tuple[Level, ...] = Field(
        default=(), description="Abstraction levels: 0 raw, 1 merged, 2 pattern, 3 principle.", max_length=4
    )
    memory_types: tuple[MemoryType, ...] = Field(default=(), description="Memory types.", max_length=20)
    pattern_types: tuple[PatternType, ...] = Field(default=(), description="Pattern types.", max_length=20)


class SearchRequest(Document):
    """A search in the memories of one project."""

    query: _Words = Field(description="What to search for.")
    project_id: Project | None = Field(default=None, description=_PROJECT)
    limit: Whole = Field(default=10, ge=1, le=MOST_RESULTS, description="How many results.")
    mode: Mode = Field(default="hybrid", description="`hybrid`: by words and meaning; `dense` or `bm25`: one alone.")
    include_sources: bool = Field(default=False, description="Give each memory its direct sources.")
    explain: bool = Field(
        default=False,
        description="Say of each why it stands where it stands (`explanation`); not with `filters.as_of`.",
    )
    filters: SearchFilters = Field(default=SearchFilters(), description="Which memories to consider.")
    abstraction_levels: tuple[Level, ...] = Field(
        default=(), description="Another place of `filters.levels`.", max_length=4
    )
    memory_types: tuple[MemoryType, ...] = Field(
        default=(), description="Another place of `filters.memory_types`.", max_length=20
    )
    pattern_types: tuple[PatternType, ...] = Field(
        default=(), description="Another place of `filters.pattern_types`.", max_length=20
    )

    @property
    def chosen(self) -> SearchFilters:
        """The filters, wherever they stand."""
        return self.filters.model_copy(update={name: value for _, name, value in self._beside() if value})

    def _beside(self) -> tuple[tuple[str, str, tuple[object, ...]], ...]:
        return (
            ("abstraction_levels", "levels", self.abstraction_levels),
            ("memory_types", "memory_types", self.memory_types),
            ("pattern_types", "pattern_types", self.pattern_types),
        )

    @model_validator(mode="after")
    def _in_one_place(self) -> SearchRequest:
        for beside, name, value in self._beside():
            if value and getattr(self.filters, name) not in ((), value):
                raise ValueError(f"{beside} and filters.{name} are different; leave one of them")
        return self


class ContextRequest(Document):
    """What an agent is about to do."""

    task: _Words = Field(
        validation_alias=AliasChoices("task", "task_description"),
        description="The task, in words; `task_description` is another name of it.",
    )
    project_id: Project | None = Field(default=None, description=_PROJECT)
    budget: Whole = Field(default=DEFAULT_BUDGET, ge=LEAST_BUDGET, le=MOST_BUDGET, description="Tokens allowed.")


class Ask(Document):
    """A question that a model answers."""

    question: _Words = Field(description="The question, in words.")
    project_id: Project | None = Field(default=None, description=_PROJECT)


class MemoryToWrite(NewMemory):
    """A memory to be written."""

    project_id: Project | None = Field(default=None, description=_PROJECT)
    create_project: bool = Field(
        default=False,
        description="Begin the project if the store does not have it. A token bound to projects begins its own "
        "unasked, and so does the first memory of an empty store.",
    )
    memory_type: MemoryType | None = Field(
        default=None, description="The kind of knowledge; null: told from the wording."
    )
    content: Annotated[str, StringConstraints(pattern=rf"^[^\x00]*{_NO_SPACE}[^\x00]*$")] = Field(
        description="What is to be remembered.", min_length=1, max_length=LONGEST_CONTENT
    )
    categories: tuple[_Label, ...] = Field(default=(), description="The subjects it is about.", max_length=50)
    tags: tuple[_Label, ...] = Field(default=(), description="Further labels.", max_length=50)
    id: OwnId | None = Field(
        default=None, description="An id of your own, in printable ASCII, so that a repeated call changes nothing."
    )


class FeedbackRequest(Document):
    """Whether a memory helped."""

    was_useful: bool = Field(description="Whether it helped.")
    project_id: Project | None = Field(default=None, description=_PROJECT)


class ConsolidationScope(Document):
    """What a consolidation is limited to."""

    date_range: tuple[date | None, date | None] | None = Field(
        default=None, description="First and last day on which the memories were created; null for no limit."
    )
    memory_types: tuple[MemoryType, ...] = Field(default=(), description="Only memories of these types.")
    unconsolidated_only: bool = Field(default=False, description="Only raw memories, no merged ones.")


class ConsolidationRequest(Document):
    """A consolidation to be started."""

    project_id: Project | None = Field(
        default=None, description="The project; null for all that the token is good for."
    )
    scope: ConsolidationScope = Field(default=ConsolidationScope(), description="What it is limited to.")
    dry_run: bool = Field(default=False, description="Write nothing.")
    trigger_type: Literal["manual", "scheduled", "threshold"] = Field(
        default="manual", description="What makes the client ask: shown as the job's `trigger`."
    )


class StartedConsolidation(Document):
    """A consolidation that was started."""

    job_id: str = Field(description="The job, which is a Dagster run with this id.")
    status: str = Field(description="`pending` or `running`.")
    message: str = Field(description="Where to ask how it goes.")
    estimated_duration_seconds: float = Field(
        description="How long earlier jobs took (the median of the last ten); without any, an estimate from the "
        "number of memories."
    )


class UsageReport(Document):
    """How much of its context window a session has used."""

    tokens_used: Whole = Field(ge=0, le=MOST_TOKENS, description="Tokens in the context now.")
    window_tokens: Whole = Field(default=200_000, ge=1, le=MOST_TOKENS, description="Tokens that the context can hold.")
    project_id: Project | None = Field(default=None, description=_PROJECT)


class Alive(Document):
    """The server answers."""

    status: Literal["ok"] = Field(default="ok", description="Always `ok`.")


class Readiness(Document):
    """Whether the server can answer questions about memories."""

    status: Literal["ready", "not_ready"] = Field(description="Whether the store can be read.")
    index: Literal["ready", "being built", "on demand"] = Field(
        description="`ready`: the projects that were asked for are in memory; `being built`: they are being read; "
        "`on demand`: the first search of a project reads it."
    )


#: Every document that is a body of a request.
BODIES = (
    SearchRequest,
    Ask,
    ContextRequest,
    MemoryToWrite,
    FeedbackRequest,
    ConsolidationRequest,
    UsageReport,
)
