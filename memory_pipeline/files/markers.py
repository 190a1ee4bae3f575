"""Blocks between markers and sealed pages, in Markdown that others read and write too.

A block stands between `<!-- memory-pipeline:NAME:start SEAL -->` and `:end`, each on a line of its own; every byte
outside is somebody else's. The seal, a hash of the lines between, tells that nobody has changed them since a program
wrote them. A page is a whole file whose front matter says that this program wrote it, with a seal: the hash of
the page, by which a later export knows whether a person has changed it. Neither is read back as a memory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memory_pipeline.errors import OutputError

_WRITTEN_BY = "written_by: memory-pipeline"
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(?:(?!---[ \t]*\n)[^\n]*\n){0,80}---[ \t]*(?:\n|\Z)")
_OURS = re.compile(rf"^[ \t]*{re.escape(_WRITTEN_BY)}[ \t]*$", re.MULTILINE)
_SEAL = re.compile(r"^([ \t]*seal: )([0-9a-f]{32})[ \t]*\n", re.MULTILINE)
_EXPORT = re.compile(r"^[ \t]*export: ([^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_UNSEALED = "0" * 32
_PROGRAM = "memory-pipeline"
#: Programs that keep blocks between markers where agents write: a consolidator of OpenClaw, and this one.
MANAGERS = ("openclaw:dreaming", _PROGRAM)
#: How the first line in most blocks begins.
HEAD = "> From the memory of project "
#: What becomes of the lines between markers, behind `Every night` and the like.
MADE_AGAIN = "makes these lines again; what you write between the marks is moved below them."
#: What can stand in a block of memories: its head, sections, entries, and where there is more of it.
_ENTRY = re.compile(r"\s*$|> |## [A-Z][a-z]+\s*$|- |More of it: ")
_FENCE = re.compile(r"(?<![^\r\n\ufeff]) {0,3}(`{3,}|~{3,})([^\r\n]*)")
_BOM = "\ufeff"


def start_marker(name: str, seal: str = "") -> str:
    """The line before a block, with its seal if it has one."""
    return f"<!-- memory-pipeline:{name}:start {f'{seal} ' if seal else ''}-->"


def end_marker(name: str) -> str:
    """The line after a block."""
    return f"<!-- memory-pipeline:{name}:end -->"


def block_in(text: str, name: str) -> str | None:
    """The text between the markers, with line ends as `\\n`; None without them. Errors as in `with_block`."""
    place = _find_place(text, name)
    return None if place is None else text[place.start : place.end].replace("\r\n", "\n").strip("\n")


def seal_of_block(body: str) -> str:
    """The seal of what stands between markers: blanks at the ends of lines and empty lines have no part in it."""
    lines = [line.rstrip() for line in body.split("\n") if line.strip()]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def seal_in(text: str, name: str) -> str:
    """The seal that the start of a block has; empty without a block or a seal. Errors as in `with_block`."""
    place = _find_place(text, name)
    return "" if place is None else place.seal


def outside(text: str, name: str) -> str:
    """The text without the block and its markers."""
    place = _find_place(text, name)
    if place is None:
        return text
    return text[: place.mark] + text[place.end + len(end_marker(name)) :]


def without_blocks(text: str, programs: Sequence[str] = (_PROGRAM,)) -> str:
    """The text in which the lines of all blocks of programs are empty, so that line numbers stay; line ends are `\\n`.

    Of a start without an end, which would swallow the file, no more is emptied than what this program can have written
    after it: a copy may be cut off. An end belongs to the last start before it.
    """
    if not any(f"{program}:" in text for program in programs):
        return text
    marker = re.compile(
        rf"[ \t>]*\ufeff?<!--\s*({'|'.join(map(re.escape, programs))}):([\w-]+):(start|end)(?: [0-9a-f]{{1,64}})?"
        r"\s*-->\s*$"
    )
    lines = text.split("\n")
    opened: dict[tuple[str, str], int] = {}
    blocks, lonely = [], []
    for number, line in enumerate(lines):
        match = marker.match(line) if "<!--" in line else None
        if match is None:
            continue
        name = (match[1], match[2])
        before = opened.pop(name, None)
        if match[3] == "start":
            lonely += [] if before is None else [before]
            opened[name] = number
        elif before is not None:
            blocks.append((before, number))
    blocks += [(number, _find_cut_end(lines, number)) for number in sorted([*lonely, *opened.values()])]
    for first, last in blocks:
        lines[first : last + 1] = [""] * (last + 1 - first)
    return "\n".join(lines)


def _find_cut_end(lines: Sequence[str], start: int) -> int:
    """The last line of a block that has no end; that of its marker unless it begins as ours do."""
    if start + 1 >= len(lines) or not lines[start + 1].startswith(HEAD):
        return start
    of_entries = f"<!-- {_PROGRAM}:memory:start" in lines[start]
    end = start + 1
    while end + 1 < len(lines):
        line = lines[end + 1]
        is_last = end + 2 == len(lines)  # it may be cut off itself
        if not (is_last or _ENTRY.match(line) or not (of_entries or line.startswith("# "))) or "<!--" in line:
            break
        end += 1
    return end


def with_block(text: str, name: str, body: str, seal: str = "") -> str:
    """The text with another body and seal in the block; without a block, a body that is not empty is added at the end.

    Line ends are those of the text. Raises OutputError if a marker is missing or there are several: what is between
    cannot be told then. Markers in a block of code are a person's example.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    inside = f"{ends}{body.strip(chr(10)).replace(chr(10), ends)}{ends}" if body.strip("\n") else ends
    place = _find_place(text, name)
    if place is not None:
        blanks = text[place.mark : place.start].partition("-->")[2]
        return f"{text[: place.mark]}{start_marker(name, seal)}{blanks}{inside}{text[place.end :]}"
    if inside == ends:
        return text
    gap = ""
    if text not in ("", _BOM):
        gap = ends if text.endswith(("\n", "\r")) else 2 * ends
    return f"{text}{gap}{start_marker(name, seal)}{inside}{end_marker(name)}{ends}"


def parted(text: str, name: str, is_ours: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """The text in which every line of the block that is not ours stands directly below it, as it was, and these lines.
    Blank lines between two of them go with them. Lines that stand outside already, exactly so and one after the other,
    are not moved there again.

    `is_ours`: tells a line of this program, which it is given without its end and the blanks before that. Errors as in
    `with_block`.
    """
    place = _find_place(text, name)
    if place is None:
        return text, ()
    lines = _split(text[place.start : place.end])
    whose = "".join("." if not line.strip() else "o" if is_ours(line.rstrip()) else "p" for line in lines)
    ends = "\r\n" if "\r\n" in text else "\n"
    standing = _flat(_split(outside(text, name)))
    ours, others, last = "", list[str](), 0
    for run in re.finditer(r"p(?:[.p]*p)?", whose):
        before, group = slice(last, run.start()), lines[slice(*run.span())]
        ours += "".join(lines[before])  # what stood around our lines stays there, and keeps paragraphs apart
        if _flat(group) not in standing:
            others += [*([ends] if others and "." in whose[before] else []), *group]
        last = run.end()
    ours += "".join(lines[last:])
    end = re.compile(rf"{re.escape(end_marker(name))}[ \t]*(?:\r\n|\n|\r|\Z)").match(text, place.end)
    assert end is not None
    marker, after = end.group(), text[end.end() :]
    if not others:
        return f"{text[: place.start]}{ours}{marker}{after}", ()
    gap = ends if after and not after.startswith(("\n", "\r")) else ""
    marker += "" if marker.endswith(("\n", "\r")) else ends
    moved = tuple(line.rstrip("\r\n") for line in others if line.strip())
    return f"{text[: place.start]}{ours}{marker}{''.join(others)}{gap}{after}", moved


def _split(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _flat(lines: Sequence[str]) -> str:
    """Lines, without empty ones, as a text in which others are found as whole lines."""
    return "\n" + "".join(line.rstrip("\r\n") + "\n" for line in lines if line.strip())


def without_block(text: str, name: str) -> str:
    """The text without the block, its markers and the blank line before it; a text with nothing else becomes empty.

    Errors as in `with_block`.
    """
    place = _find_place(text, name)
    if place is None:
        return text
    before = text[: place.mark]
    after = text[place.end + len(end_marker(name)) :].lstrip(" \t")
    ends = "\r\n" if after.startswith("\r\n") else "\n"
    after = after.removeprefix(ends)
    gap = before.removesuffix(ends)
    if gap.endswith(("\n", "\r")) and (not after or after.startswith(("\n", "\r"))):
        before = gap
    if not before and after.startswith(f"{ends}<!-- {_PROGRAM}:"):  # the blank line was that of the next block
        after = after.removeprefix(ends)
    return before + after


class _Place(NamedTuple):
    """The place of a block: that of its marker, the beginning and the end of its inside, and its seal."""

    mark: int
    start: int
    end: int
    seal: str


def _find_place(text: str, name: str) -> _Place | None:
    """The place of a block; None if there is neither marker."""
    markers = (
        _find_lines(text, rf"<!-- {_PROGRAM}:{re.escape(name)}:start (?:([0-9a-f]{{1,64}}) )?-->"),
        _find_lines(text, re.escape(end_marker(name))),
    )
    code = _find_code(text) if any(markers) else []
    starts, finishes = (
        [match for match in matches if not any(a < match.start() < b for a, b in code)] for matches in markers
    )
    if not starts and not finishes:
        if sum(map(len, markers)) < 2:
            return None
        raise OutputError(
            f"'{start_marker(name)}' stands there only inside of a block of code, where it may be an example; write it "
            f"and '{end_marker(name)}' on lines of their own where the block should be, or close the code before it"
        )
    if len(starts) != 1 or len(finishes) != 1 or finishes[0].start() < starts[0].end():
        raise OutputError(
            f"the markers '{start_marker(name)}' and '{end_marker(name)}' do not stand there once each and in this "
            "order; put them right, or take both out"
        )
    return _Place(starts[0].start(), starts[0].end(), finishes[0].start(), starts[0][1] or "")


def _find_lines(text: str, marker: str) -> list[re.Match[str]]:
    return [*re.finditer(rf"(?<![^\r\n\ufeff]){marker}(?=[ \t]*(?:[\r\n]|\Z))", text)]


def _find_code(text: str) -> list[tuple[int, int]]:
    """The beginning and end of each block of code between fences; one that nothing closes is none."""
    blocks = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = None if fence[1][0] == "`" in fence[2] else fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append((opened.start(), fence.end()))
            opened = None
    return blocks


def sealed(page: str) -> str:
    """A page whose front matter has the lines of `marks`, with its seal."""
    return _SEAL.sub(lambda match: f"{match[1]}{_compute_seal(page)}\n", page, count=1)


def marks(export: str, indent: str = "") -> list[str]:
    """The front matter by which a page and its `export`, on one line, are known; `sealed` fills in the seal."""
    return [f"{indent}{_WRITTEN_BY}", f"{indent}export: {export}", f"{indent}seal: {_UNSEALED}"]


def export_of(page: str) -> str | None:
    """The export that a page of ours belongs to; None for a page of somebody else."""
    if not is_sealed_page(page):
        return None
    named = _EXPORT.search(page)
    return named[1] if named else ""


def is_sealed_page(text: str) -> bool:
    """True if the front matter of a text says that this program wrote it."""
    head = _FRONT_MATTER.match(text.replace("\r\n", "\n") if "\r\n" in text[:400] else text)
    return head is not None and _OURS.search(head.group()) is not None


def is_as_written(page: str) -> bool:
    """True if one of our pages is still as it was written."""
    flat = page.replace("\r\n", "\n")
    match = _SEAL.search(flat)
    return match is not None and match[2] == _compute_seal(flat)


def _compute_seal(page: str) -> str:
    bare = _SEAL.sub(lambda match: f"{match[1]}{_UNSEALED}\n", page, count=1)
    return hashlib.sha256(bare.encode("utf-8", "surrogateescape")).hexdigest()[:32]
