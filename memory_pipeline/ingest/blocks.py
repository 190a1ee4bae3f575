"""Takes off what a program put into a message between tags of its own, such as reminders for the agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class Blocks:
    """Blocks of a program, known by the names of their tags. `anywhere`: those that may begin within a line."""

    def __init__(self, names: Iterable[str] = (), anywhere: Iterable[str] = ()) -> None:
        self._anywhere = frozenset(anywhere)
        every = "|".join(map(re.escape, sorted({*names, *self._anywhere})))
        self._tag = re.compile(rf"<(/?)({every})(?:\s[^<>]{{0,200}})?>")

    def taken_off(self, text: str) -> tuple[str, int]:
        """The text without its blocks, and their number.

        A block ends where as many tags are closed as were opened at the beginning of a line; where another closing tag
        stands in a line of its own before the next block, the first one was quoted. A block that begins a line and
        never ends goes on to the end of the text: words behind it cannot be told from the program's. A tag within a
        line that is never closed is only mentioned.
        """
        if "<" not in text:
            return text, 0
        tags = [_Tag.of(found, text) for found in self._tag.finditer(text)]
        of_name: dict[str, list[_Tag]] = {}
        for tag in tags:
            of_name.setdefault(tag.name, []).append(tag)
        for own in of_name.values():
            _number(own)
        kept: list[str] = []
        done = number = 0
        for tag in tags:
            if tag.start < done or not tag.opens:
                continue
            tag.begins_line |= done > 0 and not text[done : tag.start].strip()
            end = self._end(of_name[tag.name], tag, len(text))
            if end is not None:
                kept.append(text[done : tag.start])
                done = end
                number += 1
        return "".join([*kept, text[done:]]), number

    def _end(self, tags: Sequence[_Tag], first: _Tag, length: int) -> int | None:
        """Where the block ends that begins with a tag; None if none does. `tags`: all of the same name."""
        if not first.begins_line and first.name not in self._anywhere:
            return None
        at, depth = first.number + 1, 1
        if not first.begins_line:
            at = first.deciding
            if at == len(tags) or tags[at].opens:
                return None
        while at < len(tags) and depth > 0:
            depth += tags[at].begins_line if tags[at].opens else -1
            at += 1
        if depth > 0:
            return length
        last = tags[at - 1]
        while at < len(tags) and not tags[at].opens:
            last = tags[at] if tags[at].begins_line and tags[at].ends_line else last
            at += 1
        return last.end


@dataclass(slots=True)
class _Tag:
    """A tag in a text. `number`: its place among those of its name; `deciding`: that of the next one that closes a
    block or begins one with its line."""

    name: str
    opens: bool
    start: int
    end: int
    begins_line: bool
    ends_line: bool
    number: int = 0
    deciding: int = 0

    @classmethod
    def of(cls, found: re.Match[str], text: str) -> _Tag:
        start, end = found.span()
        before = text[max(0, start - 200) : start].rpartition("\n")[2]
        behind = text[end : end + 200].partition("\n")[0]
        return cls(found[2], not found[1], start, end, not before.strip(), not behind.strip())


def _number(tags: Sequence[_Tag]) -> None:
    """Give the tags of one name, in order, their places."""
    deciding = len(tags)
    for number in range(len(tags) - 1, -1, -1):
        tag = tags[number]
        tag.number, tag.deciding = number, deciding
        if not tag.opens or tag.begins_line:
            deciding = number
