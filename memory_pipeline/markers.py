"""What this program writes into Markdown that others read and write too: blocks between markers, and sealed pages.

A block stands between `<!-- memory-pipeline:NAME:start -->` and `:end`, each on a line of its own; every byte outside
is somebody else's. A page is a whole file whose front matter says that this program wrote it, with a seal: the hash of
the page, by which a later export knows whether a person has changed it. Neither is read back as a memory.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect
from collections import defaultdict

from memory_pipeline.errors import OutputError

_WRITTEN_BY = "written_by: memory-pipeline"
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(?:(?!---[ \t]*\n)[^\n]*\n){0,80}---[ \t]*(?:\n|\Z)")
_OURS = re.compile(rf"^[ \t]*{re.escape(_WRITTEN_BY)}[ \t]*$", re.MULTILINE)
_SEAL = re.compile(r"^([ \t]*seal: )([0-9a-f]{32})[ \t]*\n", re.MULTILINE)
_EXPORT = re.compile(r"^[ \t]*export: ([^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_UNSEALED = "0" * 32
_START = "<!-- memory-pipeline:"
_START_LINE = re.compile(r"\ufeff?<!-- memory-pipeline:([\w-]+):start -->\s*$")
_END_LINE = re.compile(r"<!-- memory-pipeline:([\w-]+):end -->\s*$")
_BOM = "\ufeff"


def start_of(name: str) -> str:
    """The line before a block."""
    return f"<!-- memory-pipeline:{name}:start -->"


def end_of(name: str) -> str:
    """The line after a block."""
    return f"<!-- memory-pipeline:{name}:end -->"


def block_in(text: str, name: str) -> str | None:
    """What stands between the markers, with line ends as `\\n`; None without them. Errors as in `with_block`."""
    place = _place(text, name)
    return None if place is None else text[place[0] : place[1]].replace("\r\n", "\n").strip("\n")


def outside(text: str, name: str) -> str:
    """The text without the block and its markers."""
    place = _place(text, name)
    if place is None:
        return text
    before, after = text[: place[0]], text[place[1] :]
    return before[: before.rfind(start_of(name))] + after[after.find(end_of(name)) + len(end_of(name)) :]


def without_blocks(text: str) -> str:
    """The text in which the lines of our blocks, whatever their names, are empty, so that line numbers stay the same;
    line ends are `\\n`."""
    if _START not in text:
        return text
    lines = text.split("\n")
    ends: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if (end := _END_LINE.match(line)) is not None:
            ends[end[1]].append(number)
    done = -1
    for number, line in enumerate(lines):
        start = _START_LINE.match(line) if number > done else None
        if start is not None:
            after = ends[start[1]][bisect(ends[start[1]], number) :]
            done = after[0] if after else number  # a block without an end would swallow the file
            lines[number : done + 1] = [""] * (done + 1 - number)
    return "\n".join(lines)


def with_block(text: str, name: str, body: str) -> str:
    """The text in which the block is replaced; without a block, a body that is not empty is added at the end.

    Line ends are those of the text. Raises OutputError if a marker is missing or there are several: what is between
    cannot be told then.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    inside = f"{ends}{body.strip(chr(10)).replace(chr(10), ends)}{ends}" if body.strip("\n") else ends
    place = _place(text, name)
    if place is not None:
        return text[: place[0]] + inside + text[place[1] :]
    if inside == ends:
        return text
    gap = ""
    if text not in ("", _BOM):
        gap = ends if text.endswith(("\n", "\r")) else 2 * ends
    return f"{text}{gap}{start_of(name)}{inside}{end_of(name)}{ends}"


def _place(text: str, name: str) -> tuple[int, int] | None:
    """Where the inside of a block begins and ends; None if there is neither marker."""
    starts, finishes = (_lines_of(text, marker) for marker in (start_of(name), end_of(name)))
    if not starts and not finishes:
        return None
    if len(starts) != 1 or len(finishes) != 1 or finishes[0].start() < starts[0].end():
        raise OutputError(
            f"the markers '{start_of(name)}' and '{end_of(name)}' do not stand there once each and in this order; "
            "put them right, or take both out"
        )
    return starts[0].end(), finishes[0].start()


def _lines_of(text: str, marker: str) -> list[re.Match[str]]:
    return [*re.finditer(rf"(?<![^\r\n\ufeff]){re.escape(marker)}(?=[ \t]*(?:[\r\n]|\Z))", text)]


def sealed(page: str) -> str:
    """A page whose front matter has the lines of `marks`, with its seal."""
    return _SEAL.sub(lambda found: f"{found[1]}{_seal_of(page)}\n", page, count=1)


def marks(export: str, indent: str = "") -> list[str]:
    """The lines of front matter by which a page is known, and the export that it belongs to; `sealed` fills in the
    seal. `export` is on one line."""
    return [f"{indent}{_WRITTEN_BY}", f"{indent}export: {export}", f"{indent}seal: {_UNSEALED}"]


def export_of(page: str) -> str | None:
    """The export that a page of ours belongs to; None for a page of somebody else."""
    if not is_sealed_page(page):
        return None
    named = _EXPORT.search(page)
    return named[1] if named else ""


def is_sealed_page(text: str) -> bool:
    """Whether the front matter of a text says that this program wrote it."""
    head = _FRONT_MATTER.match(text.replace("\r\n", "\n") if "\r\n" in text[:400] else text)
    return head is not None and _OURS.search(head.group()) is not None


def is_as_written(page: str) -> bool:
    """Whether one of our pages is still as it was written."""
    flat = page.replace("\r\n", "\n")
    found = _SEAL.search(flat)
    return found is not None and found[2] == _seal_of(flat)


def _seal_of(page: str) -> str:
    bare = _SEAL.sub(lambda found: f"{found[1]}{_UNSEALED}\n", page, count=1)
    return hashlib.sha256(bare.encode("utf-8", "surrogateescape")).hexdigest()[:32]
