"""Contents of memories in Markdown and front matter, so that they are shown and nothing in them has an effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from memory_pipeline.text.hidden import visible
from memory_pipeline.text.quoting import plain

_ITEM = re.compile(r"([ \t]{0,12})([-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
_ROW, _RULE = re.compile(r"[ \t]*\|[^\n]*\|[ \t]*"), re.compile(r":?-{2,}:?")
_TICKS = re.compile(r"`{3,}")
_BRACKETS = str.maketrans("[]", "()")
_NOT_PRINTED = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")


def quoted(text: str) -> str:
    """A text with its paragraphs, lists and blocks of code; everything else in it is shown as it is."""
    return "\n".join(_lines(visible(text).strip().split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        end = _end_of_code(lines, at, opening[1]) if opening else None
        if end is not None:
            inside = lines[at + 1 : end]
            longest = max((len(run) for line in inside for run in _TICKS.findall(line)), default=2)
            fence = "`" * (longest + 1)
            yield from (f"{fence}text", *inside, fence)
            at = end + 1
            continue
        item = _ITEM.match(lines[at])
        if _ROW.fullmatch(lines[at]):
            yield "|".join(_cell(cell) for cell in lines[at].strip().split("|"))
        elif item:
            yield f"{item[1].expandtabs(4)}{item[2]} {plain(lines[at][item.end() :])}"
        else:
            yield plain(lines[at])
        at += 1


def _cell(cell: str) -> str:
    flat = cell.strip()
    return f" {flat if _RULE.fullmatch(flat) else plain(flat, in_table=True)} " if flat else cell


def _end_of_code(lines: Sequence[str], start: int, fence: str) -> int | None:
    """The line that closes a block of code; None if none does."""
    return next((n for n in range(start + 1, len(lines)) if lines[n].strip() == fence), None)


def yaml_text(text: str) -> str:
    """A text on one line as a scalar of YAML."""
    flat = json.dumps(" ".join(visible(text).split()), ensure_ascii=False)
    return _NOT_PRINTED.sub(lambda found: json.dumps(found.group())[1:-1], flat)


def yaml_list(texts: Sequence[str]) -> str:
    """Texts as a list of YAML on one line."""
    return f"[{', '.join(map(yaml_text, texts))}]"


def link_text(text: str) -> str:
    """A title inside of a link: without what would end the link."""
    return " ".join(re.sub(r"[|`<>\\^#]", " ", visible(text).translate(_BRACKETS)).split()) or "Memory"
