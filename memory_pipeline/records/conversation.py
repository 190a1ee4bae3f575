"""A conversation: its turns, the chunks that they form, what is worth keeping of them, and its session."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Final, Literal

from memory_pipeline.records.columns import Column

#: What a statement is.
StatementKind = Literal[
    "fact", "decision", "lesson", "cause", "procedure", "rule", "preference", "trust", "boundary", "dynamic",
    "emotion", "correction", "thread", "context",
]  # fmt: skip
#: Whom or what a statement is about.
About = Literal["human", "agent", "both", "work"]

#: The policy of memories that say what a reader found, and how their sources are linked to them.
READING: Final = "reading"
STATED: Final = "stated"
#: The policy of patterns that are statements which notes of several days say, and how their sources are linked to them.
ESTABLISHED: Final = "established"
#: The policy of memories that stand for a day's routine, and how their sources are linked to them.
DIGEST: Final = "digest"
ROUTINE: Final = "routine"
#: How an item that only repeats a standing statement is linked to it, and a statement to the one that replaces it.
REPEATED: Final = "repeated"
REPLACED: Final = "replaced"
#: The policy of log rows of single notes that were read and stay as they are.
READ: Final = "read"
#: The policy of log rows of statements that a reader gave and the check left out.
REFUSED: Final = "refused"
_ASKED: Final = "asked:"
_UNTIL: Final = "until:"
_BINDING: Final = frozenset(f"kind:{kind}" for kind in ("rule", "preference", "boundary", "trust"))
#: More tokens than any context window holds.
MOST_TOKENS = 10**9
#: Who speaks. What neither of them said is nobody's words, and makes no turn.
Speaker = Literal["human", "agent"]
#: What an extraction is.
ExtractionKind = Literal[
    "marker", "correction", "trust", "boundary", "repetition", "emotion", "decision", "fact", "preference", "dynamic",
    "learning", "context",
]  # fmt: skip
#: Where an extraction goes: one of the three files of a workspace, a memory, or nowhere.
Destination = Literal["user", "relational", "soul", "memory", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The words that one of the two said at once. The same memory always gives the same turn."""

    memory_id: Annotated[str, Column("The memory of the turn.", is_id=True)]
    project_id: Annotated[str, Column("The project of the conversation.", is_id=True)]
    conversation: Annotated[str, Column("The conversation: its connector and file.")]
    line: Annotated[int, Column("The position in the conversation.", low=0)]
    speaker: Annotated[Speaker, Column("Who said it.")]
    said_at: Annotated[datetime, Column("When it was said, by the clock of its source.")]
    words: Annotated[str, Column("What was said, without the name of who said it.")]
    token_count: Annotated[int, Column("Number of tokens of the memory.", low=0)] = 0
    offset: Annotated[int, Column("Where the words begin in the content of the memory.", low=0)] = 0

    @property
    def day(self) -> date:
        """The day on which it was said, by the calendar of its source."""
        return self.said_at.date()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Turns of one conversation in order, about the same topics. Every turn is in one chunk, whole."""

    turns: tuple[Turn, ...]
    topics: Annotated[tuple[str, ...], Column("The words that its turns share, the most frequent first.")] = ()

    @property
    def token_count(self) -> int:
        """Number of tokens of its turns."""
        return sum(turn.token_count for turn in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """One thing that is worth keeping of what was said, with the words that say it."""

    id: Annotated[str, Column("Derived from its turn, its kind, and where its quote stands in the turn.", is_id=True)]
    project_id: Annotated[str, Column("The project of the conversation.", is_id=True)]
    day: Annotated[date, Column("The day on which it was said, by the calendar of its source.")]
    turn_id: Annotated[str, Column("The memory of the turn.", is_id=True)]
    conversation: Annotated[str, Column("The conversation: its connector and file.")]
    line: Annotated[int, Column("The position of the turn in the conversation.", low=0)]
    speaker: Annotated[Speaker, Column("Who said it.")]
    kind: Annotated[ExtractionKind, Column("What it is.")]
    text: Annotated[str, Column("What was said, with a date beside every word that means another day later.")]
    quote: Annotated[str, Column("The sentence as it was said.")]
    significance: Annotated[float, Column("How much it matters, 0 to 1.", low=0.0, high=1.0)]
    topics: Annotated[tuple[str, ...], Column("What it is about.")] = ()
    rationale: Annotated[str, Column("Why, in the words of who decided; empty if nothing was said.")] = ""
    priority: Annotated[bool, Column("Whether its speaker marked it as important.")] = False
    withdraws: Annotated[tuple[str, ...], Column("The extractions that it corrects: they are kept, marked.")] = ()
    proposed_by: Annotated[str, Column("The model that found it; empty if the classifier or a mark did.")] = ""

    def __post_init__(self) -> None:
        """Raises ValueError for what no store should hold: words or a significance that cannot be."""
        if not self.quote.strip() or not self.text.strip():
            raise ValueError(f"extraction '{self.id}' of turn '{self.turn_id}' has no words")
        if not 0.0 <= self.significance <= 1.0:
            raise ValueError(f"extraction '{self.id}' has a significance of {self.significance}; it is from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExtraction(Extraction):
    """An extraction as the store keeps it. One that a later run replaced, or that was taken back, stays on record."""

    night: Annotated[
        date,
        Column(
            "The day with whose conversations it was extracted: the later one by UTC and by the clock of the source."
        ),
    ]
    run_id: Annotated[str, Column("The run that extracted it.")]
    destination: Annotated[Destination, Column("Where it went.")]
    memory_id: Annotated[str | None, Column("The memory that was made of it.", is_id=True)] = None
    gone_at: Annotated[datetime | None, Column("When it was replaced or taken back.", changes=True)] = None
    gone_by: Annotated[str | None, Column("The run or the rollback that did so.", changes=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationDay:
    """The outcome for the conversations of one project on one day."""

    project_id: Annotated[str, Column("The project.", is_id=True)]
    night: Annotated[date, Column("The day: the later one by UTC and by the clock of the source.")]
    run_id: Annotated[str, Column("The run that read it.")]
    digest: Annotated[str, Column("SHA-256 of the memories that were read: another one means that there are others.")]
    topics: Annotated[tuple[str, ...], Column("What the human named, as stems.")]
    coverage: Annotated[str, Column("What was read, kept and dropped, and why, as JSON.", is_json=True)]
    is_written: Annotated[bool, Column("Whether the files of the day have been written since.", changes=True)] = False
    gone_at: Annotated[datetime | None, Column("When it was replaced or taken back.", changes=True)] = None
    gone_by: Annotated[str | None, Column("The run or the rollback that did so.", changes=True)] = None
    basis: Annotated[str, Column("Hash of what stood before the day: it changes with earlier days.", changes=True)] = ""
    is_taken_back: Annotated[
        bool, Column("Whether a rollback took it back, and nobody has asked for the day since.", changes=True)
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDecision:
    """A decision of a person about a pattern of how the two work together, or about something that was extracted."""

    id: Annotated[str, Column("The extraction, or the pattern, derived from the one that it began with.", is_id=True)]
    project_id: Annotated[str, Column("The project.", is_id=True)]
    text: Annotated[str, Column("What it said then.", changes=True)]
    decision: Annotated[Literal["confirmed", "rejected"], Column("What was decided.", changes=True)]
    decided_at: Annotated[datetime, Column("When.", changes=True)]
    decided_by: Annotated[str, Column("By whom.", changes=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionFeedback:
    """An opinion on the use of something that was extracted."""

    id: Annotated[str, Column("Its id.", is_id=True)]
    project_id: Annotated[str, Column("The project.", is_id=True)]
    extraction_id: Annotated[str, Column("What was extracted.", is_id=True)]
    kind: Annotated[ExtractionKind, Column("Its kind.")]
    was_useful: Annotated[bool, Column("Whether it helped.")]
    said_at: Annotated[datetime, Column("When.")]
    said_by: Annotated[str, Column("By whom.")]


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """The last report of a session about its context window."""

    project_id: Annotated[str, Column("The project.", is_id=True)]
    session_id: Annotated[str, Column("The session, as its agent calls it.")]
    tokens_used: Annotated[int, Column("Tokens in its context.", low=0, high=MOST_TOKENS, changes=True)]
    window_tokens: Annotated[int, Column("Tokens that its context can hold.", low=1, high=MOST_TOKENS, changes=True)]
    reported_at: Annotated[datetime, Column("When it said so.", changes=True)]
    reported_by: Annotated[str, Column("Who said so.", changes=True)]


#: What starts something: how full a context is, the bytes of a transcript, a share of the window or the time since the
#: last compaction, a host's hook, or a person's command.
TriggerKind = Literal["emergency", "compaction", "tokens", "time", "warning", "bytes", "hook", "command"]
TriggerAction = Literal["flush", "compact"]
#: `started` until it ends; `late`: the session was compacted before it could begin.
TriggerOutcome = Literal["started", "done", "failed", "late"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerEvent:
    """One time that a trigger fired."""

    id: Annotated[str, Column("Derived from the session, its compactions so far, and the trigger.", is_id=True)]
    project_id: Annotated[str, Column("The project of the session; empty if it was not known.")]
    session_id: Annotated[str, Column("The session, as its agent calls it.")]
    agent: Annotated[str, Column("Its agent, or who reported it.")]
    transcript: Annotated[str, Column("Where its words are.")]
    kind: Annotated[TriggerKind, Column("What fired.")]
    action: Annotated[TriggerAction, Column("What it started.")]
    compactions: Annotated[int, Column("How often the session had been compacted.", low=0)]
    tokens_used: Annotated[int, Column("Tokens in its context.", low=0, high=MOST_TOKENS, changes=True)]
    window_tokens: Annotated[int, Column("Tokens that its context can hold.", low=1, high=MOST_TOKENS, changes=True)]
    fired_at: Annotated[datetime, Column("When it fired.", changes=True)]
    fired_by: Annotated[str, Column("Who noticed: a sensor, a hook or a command.", changes=True)]
    reason: Annotated[str, Column("Why, in words.", changes=True)]
    outcome: Annotated[TriggerOutcome, Column("What became of it.", changes=True)] = "started"
    done_at: Annotated[datetime | None, Column("When it ended.", changes=True)] = None

    @property
    def share(self) -> float:
        """The share of the window that was in use."""
        return self.tokens_used / self.window_tokens


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is worth keeping, in words that stand alone.

    `quotes`: by item, the words of the item that say it; `replaces`: the standing statements that hold no longer.
    """

    text: Annotated[str, Column("The statement.")]
    kind: Annotated[StatementKind, Column("What it is.")]
    about: Annotated[About, Column("Whom or what it is about.")]
    quotes: Annotated[tuple[tuple[str, str], ...], Column("The items that say it, each with its words.")]
    significance: Annotated[float, Column("How much it matters, 0 to 1.", low=0.0, high=1.0)] = 0.5
    replaces: Annotated[tuple[str, ...], Column("The standing statements that it replaces.")] = ()
    asked: Annotated[str, Column("A question that it answers, in other words than its own; empty for none.")] = ""
    until: Annotated[str, Column("The last day on which it matters, YYYY-MM-DD; empty for none.")] = ""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The items that say it."""
        return tuple(item for item, _ in self.quotes)


def binds(tags: Iterable[str]) -> bool:
    """True if a memory with these tags says what the human wants or forbids: who reads few memories reads it first."""
    return not _BINDING.isdisjoint(tags)


def tags_of(statement: Statement) -> tuple[str, ...]:
    """The tags of a memory that is a statement: its kind, whom it is about, until when it matters, and the question
    that it answers, for searches."""
    until = (f"{_UNTIL}{statement.until}",) if statement.until else ()
    asked = (f"{_ASKED}{statement.asked}",) if statement.asked else ()
    return (f"kind:{statement.kind}", f"about:{statement.about}", *until, *asked)


def matters_until(tags: Iterable[str]) -> date | None:
    """The last day on which a memory with these tags matters; None if it has none."""
    for tag in tags:
        with suppress(ValueError):  # anybody may write tags
            if tag.startswith(_UNTIL):
                return date.fromisoformat(tag.removeprefix(_UNTIL))
    return None


def with_asked(text: str, tags: Iterable[str]) -> str:
    """The text in which a memory is searched: one of its own, and the question that it answers if one is known."""
    return "\n".join([text, *(tag.removeprefix(_ASKED) for tag in tags if tag.startswith(_ASKED))])


def tags_of_all(each: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The tags about statements that a memory takes over from those that it is made of: the questions and what binds
    of any of them, other kinds and subjects where all agree."""
    sets = [set(tags) for tags in each]
    of_any = {tag for tags in sets for tag in tags if tag in _BINDING or tag.startswith(_ASKED)}
    of_all = {tag for tag in set.intersection(*sets) if tag.startswith(("kind:", "about:", _UNTIL))} if sets else set()
    return tuple(sorted(of_any | of_all))


def labels_among(tags: Iterable[str]) -> list[str]:
    """The tags that people read: all but the question that a memory answers."""
    return [tag for tag in tags if not tag.startswith(_ASKED)]
