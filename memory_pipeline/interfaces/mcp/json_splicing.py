"""Sets one value in a JSON text and leaves every other byte of it as it is: spacing, order, number forms, line ends."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its name, and where the name begins and its value begins and ends."""

    name: str
    at: int
    value: int
    end: int


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at a path of names; objects on the way that are missing are added. A text that has the
    value there already stays as it is.

    Raises ValueError for a text that is not JSON, and for a path that leads through something other than an object.
    """
    whole = json.loads(text)
    if not isinstance(whole, dict):
        raise ValueError("it is no JSON object")
    start = _after_space(text, 0)
    depth = 0
    while True:
        members = _members(text, start)
        found = next((member for member in reversed(members) if member.name == path[depth]), None)
        if found is None:
            return _added(text, start, members, path[depth], _nested(path[depth + 1 :], value), depth)
        depth += 1
        if depth == len(path):
            if json.dumps(json.loads(text[found.value : found.end])) == json.dumps(value):
                return text
            return text[: found.value] + _written(text, value, depth) + text[found.end :]
        if text[found.value] != "{":
            raise ValueError(f"'{'.'.join(path[:depth])}' in it is no object")
        start = found.value


def _members(text: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start`, in a text that is JSON."""
    found: list[_Member] = []
    place = _after_space(text, start + 1)
    while text[place] != "}":
        at = place
        name, place = _DECODER.raw_decode(text, at)
        value = _after_space(text, _after_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(_Member(name, at, value, end))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return found


def _added(text: str, start: int, members: Sequence[_Member], name: str, value: object, depth: int) -> str:
    """The text with one more member at the end of the object that begins at `start`."""
    written = f"{json.dumps(name, ensure_ascii=False)}: {_written(text, value, depth + 1)}"
    if members:
        first, last = members[0], members[-1]
        space = text[start + 1 : first.at]  # the last one may stand on the line of another
        between = space if "\n" in space else " "
        return f"{text[: last.end]},{between}{written}{text[last.end :]}"
    end = text.index("}", start)
    line, indent = _line_end(text), _indent(text)
    return f"{text[: start + 1]}{line}{indent * (depth + 1)}{written}{line}{indent * depth}{text[end:]}"


def _written(text: str, value: object, depth: int) -> str:
    """A value as JSON in the manner of the text, for an object at a depth."""
    indent, line = _indent(text), _line_end(text)
    lines = json.dumps(value, ensure_ascii=False, indent=indent).split("\n")
    return f"{line}{indent * depth}".join(lines)


def _nested(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _indent(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
