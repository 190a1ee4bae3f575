"""What a reader keeps of notes and conversations: statements that stand alone, and what they stand on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from memory_pipeline.records.columns import Column

#: What a statement is.
StatementKind = Literal[
    "fact", "decision", "lesson", "cause", "procedure", "rule", "preference", "trust", "boundary", "dynamic",
    "emotion", "correction", "thread", "context",
]  # fmt: skip
STATEMENT_KINDS: tuple[StatementKind, ...] = get_args(StatementKind)
#: Whom or what a statement is about.
About = Literal["human", "agent", "both", "work"]

#: The policy of memories that say what a reader found, and how their sources are linked to them.
READING: Final = "reading"
STATED: Final = "stated"
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
_BINDING: Final = frozenset(f"kind:{kind}" for kind in ("rule", "preference", "boundary", "trust"))


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

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The items that say it."""
        return tuple(item for item, _ in self.quotes)


def binds(tags: Iterable[str]) -> bool:
    """Whether a memory with these tags says what the human wants or forbids: who reads few memories reads it first."""
    return not _BINDING.isdisjoint(tags)


def asked_tags(asked: str) -> tuple[str, ...]:
    """The tag that keeps the question which a memory answers, for searches."""
    return (f"{_ASKED}{asked}",) if asked else ()


def with_asked(text: str, tags: Iterable[str]) -> str:
    """What is searched of a memory: a text of it, and the question that it answers if one is known."""
    return "\n".join([text, *(tag.removeprefix(_ASKED) for tag in tags if tag.startswith(_ASKED))])


def tags_of_all(each: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The tags about statements that a memory takes over from those that it is made of: the questions and what binds
    of any of them, other kinds and subjects where all agree."""
    sets = [set(tags) for tags in each]
    of_any = {tag for tags in sets for tag in tags if tag in _BINDING or tag.startswith(_ASKED)}
    of_all = {tag for tag in set.intersection(*sets) if tag.startswith(("kind:", "about:"))} if sets else set()
    return tuple(sorted(of_any | of_all))


def labels_among(tags: Iterable[str]) -> list[str]:
    """The tags that people read: all but the question that a memory answers."""
    return [tag for tag in tags if not tag.startswith(_ASKED)]
