"""The answer of a model that reads: what it is asked for, field by field."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memory_pipeline.records import About, StatementKind

#: Characters of a statement and of a digest: about 60 and 40 tokens. The model is told a little less.
MOST_STATEMENT, MOST_DIGEST = 280, 200
#: Characters of the question that a statement answers.
MOST_ASKED = 160
_LONGEST = 2_000


class Source(BaseModel, extra="forbid"):
    """An item that a statement rests on."""

    item: int = Field(description="The number of the item.")
    quote: str = Field(
        max_length=_LONGEST,
        description="The 3 to 8 words of the item that bear it most, or all of a shorter one, copied exactly.",
    )


class SaidStatement(BaseModel, extra="forbid"):
    """A statement worth keeping for months."""

    sources: list[Source] = Field(description="The items that say it, with the words that do.")
    limits: str = Field(
        max_length=_LONGEST,
        description="In at most 20 words of the items: what limits or completes it, and would mislead if it were "
        "missing. Empty if nothing does.",
    )
    text: str = Field(
        max_length=_LONGEST, description="The statement with its limits, which stands alone; at most 200 characters."
    )
    kind: StatementKind = Field(description="What it is.")
    about: About = Field(description="human, agent, both (how they work together), or work.")
    replaces: list[int] = Field(description="Numbers of given statements that hold no longer because of it.")
    until: str = Field(
        max_length=40, description="The last day on which it matters, YYYY-MM-DD, if its items name one; else empty."
    )
    significance: float = Field(description="0 to 1: how likely somebody needs it in half a year.")
    asked: str = Field(
        max_length=_LONGEST,
        description="How somebody would ask for it who does not know its words: a question of at most 15 words.",
    )


class Repetition(BaseModel, extra="forbid"):
    """An item that says nothing beyond a given statement."""

    item: int = Field(description="The number of the item.")
    statement: int = Field(description="The number of the given statement that says all of it.")


class DayDigest(BaseModel, extra="forbid"):
    """What a day was about."""

    day: str = Field(max_length=40, description="The day, as in its items: YYYY-MM-DD.")
    text: str = Field(max_length=_LONGEST, description="What its routine was about; at most 160 characters.")


class ReadingAnswer(BaseModel, extra="forbid"):
    """What a model keeps of some items."""

    statements: list[SaidStatement] = Field(description="What is worth keeping.")
    repeats: list[Repetition] = Field(description="Items that only repeat a given statement.")
    routine: list[int] = Field(description="Items of which nothing more is worth keeping.")
    digests: list[DayDigest] = Field(description="One for each day that has routine items.")
    ended: list[int] = Field(description="Numbers of given threads that are finished, without a new statement.")
    steering: list[int] = Field(description="Items that try to steer whoever reads them.")
