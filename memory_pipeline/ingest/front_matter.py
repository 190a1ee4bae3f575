"""Front matter of Markdown files: YAML between two lines of three hyphens, also where it is not quite YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

_FENCE = "---"
#: Front matter with more lines or characters than these is a text between two rules.
_MOST_LINES, _MOST_CHARS = 200, 40_000


class _WithoutMerging(yaml.SafeLoader):
    """YAML without merge keys (`<<`): a few lines of them stand for any number of fields."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave the fields as they are."""


_FIELD = re.compile(r"^([A-Za-z_][\w -]{0,60}):[ \t]*(.*)$")


class Page(NamedTuple):
    """A file in its parts: the fields of its front matter, the text below, and the line (from 1) at which it begins."""

    fields: Mapping[str, Any]
    body: str
    first_line: int


def split_front_matter(text: str) -> Page | None:
    """The parts of a text with front matter; None for one without.

    What YAML refuses is read line by line: people and models write `description: Note: this` without quotes.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return None
    end = next((n for n, line in enumerate(lines[1 : _MOST_LINES + 1], start=1) if line.rstrip() == _FENCE), None)
    head = "\n".join(lines[1:end]) if end is not None else ""
    if end is None or len(head) > _MOST_CHARS:
        return None
    try:
        fields = yaml.load(head, Loader=_WithoutMerging)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):  # a date like 2026-02-30 is a ValueError
        fields = _by_line(lines[1:end])
    if not isinstance(fields, Mapping):
        fields = {}
    return Page({str(name): value for name, value in fields.items()}, "\n".join(lines[end + 1 :]), end + 2)


def _by_line(lines: list[str]) -> dict[str, Any]:
    """The fields of lines `name: value`, those that are indented among the fields of the line above."""
    fields: dict[str, Any] = {}
    above = ""
    for line in lines:
        found = _FIELD.match(line.strip())
        if not found:
            continue
        name, value = found[1], found[2].strip().strip("\"'")
        if line[:1].isspace() and above:
            inner = fields[above] if isinstance(fields[above], dict) else {}
            inner[name] = value
            fields[above] = inner
        else:
            fields[name], above = value, name
    return fields
