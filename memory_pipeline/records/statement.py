"""What a reader keeps of notes and conversations: statements that stand alone, and what they stand on."""

from __future__ import annotations

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

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The items that say it."""
        return tuple(item for item, _ in self.quotes)
