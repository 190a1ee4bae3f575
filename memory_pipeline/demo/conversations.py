"""Conversations of the demo's humans with their agents, and what is worth keeping of each sentence.

A line of `talks.txt` is a turn: `u:` is the human, `a:` the agent. Behind a sentence stands, in braces, what is to be
kept of it: `{fact}`; `{fact/context}`, if either is right; `{fact+emotion}`, if both are. `{-fact}`: nothing, though it
looks like a fact. `{?fact}`: it may be kept as that or left out. Where nothing stands, there is nothing to keep.
Conversations that are `aside` are for measuring alone; the others stand in the workspace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from memory_pipeline.records.conversation import Speaker

_LABEL = re.compile(r"\s*\{([-?]?)([\w+/]+)\}")
_ROLES = {"u": "user", "a": "assistant"}
_SPEAKERS: dict[str, Speaker] = {"user": "human", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """Words of a turn, at most one of whose sentences is labelled: the last one.

    `ways`: the sets of kinds of which one is to be kept; `may_be`: kinds that may be kept or left out; `looks_like`:
    the kind that it is not, though it looks like it.
    """

    words: str
    ways: tuple[frozenset[str], ...] = ()
    may_be: frozenset[str] = frozenset()
    looks_like: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: the role that spoke, and its words."""

    role: Literal["user", "assistant"]
    parts: tuple[Labelled, ...]

    @property
    def words(self) -> str:
        """The turn as it is written."""
        return "".join(part.words for part in self.parts)

    @property
    def speaker(self) -> Speaker:
        """Whose words it is."""
        return _SPEAKERS[self.role]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of one day, and whether it stands in the workspace."""

    project: str
    day: str
    turns: tuple[Said, ...]
    in_workspace: bool


@cache
def conversations() -> tuple[Talk, ...]:
    """All conversations, by day; those of the last day are left for a later night."""
    talks = []
    for told in (Path(__file__).parent / "talks.txt").read_text("utf-8").strip().split("\n\n"):
        head, *lines = told.split("\n")
        _, project, day, *aside = head.split()
        turns: list[tuple[str, str]] = []
        for line in lines:
            if line[:3] in ("u: ", "a: "):
                turns.append((_ROLES[line[0]], line[3:]))
            else:
                turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line}")
        talks.append(Talk(project, day, tuple(Said(role, _parts(words)) for role, words in turns), not aside))  # type: ignore[arg-type]
    return tuple(talks)


def _parts(words: str) -> tuple[Labelled, ...]:
    found, start = [], 0
    for match in _LABEL.finditer(words):
        said = words[start : match.start()]
        mark, ways = match[1], tuple(frozenset(way.split("+")) for way in match[2].split("/"))
        kinds = frozenset().union(*ways)
        if mark:
            found.append(
                Labelled(said, may_be=kinds if mark == "?" else frozenset(), looks_like="" if mark == "?" else match[2])
            )
        else:
            found.append(Labelled(said, ways))
        start = match.end()
    rest = words[start:]
    return (*found, Labelled(rest)) if rest.strip() else tuple(found)
