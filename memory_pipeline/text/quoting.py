"""Quotes content of memories in Markdown and HTML, so that it is displayed and nothing in it has an effect.

Escaping is minimal: names with underscores, paths, quoted code and emphasis stay as written. Characters that would
form a tag, a link, an image, a code fence, a heading, a list or an entity are shown as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from memory_pipeline.text.hidden import visible

_TICKS = re.compile(r"`+")
#: What renderers turn into a link automatically.
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,30}://|www\.|(?:mailto|xmpp):)[^\s<>`|\[\]\\]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",
    re.IGNORECASE,
)
_AFTER_ADDRESS = ".,;:!?)\"'*_~"
#: A backslash that would escape, an entity, and brackets that would form a link, an image or its definition.
_ACTIVE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|`|<(?=[a-z/!?]|$)|&(?=#?\w+;)|\](?=[(\[])|\[(?=\[)|!(?=\[)", re.IGNORECASE
)
#: What stands for a name in a path or a command; it is shown as code.
_PLACEHOLDER = re.compile(r"<[a-z][\w .-]{0,40}>", re.IGNORECASE)
_ESCAPED = {"\\": "\\\\", "`": "\\`", "<": "&lt;", "&": "&amp;", "]": "]\\", "[": "[\\", "!": "!\\"}
#: What turns a line into a heading, quotation, list, fence, rule or table row when it comes first.
_OPENING = re.compile(r"(\d{1,9})([.)])(?=\s|$)|(?:#|>|[-+*](?=\s|$)|~{3}|=+\s*$|([-_*])(?:\s*\3)+\s*$|\||:?-+:?\s*\|)")
#: The definition of a link or a footnote.
_DEFINES = re.compile(r"\[(?:[^\]\\]|\\.)*\]:")
_SHOWN_IDS = 5
#: A page that loads and runs nothing, whatever else goes wrong.
INERT_PAGE = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"


def plain(text: object, *, in_table: bool = False) -> str:
    """Text on one line that Markdown shows as it is."""
    flat = " ".join(visible(str(text)).split())
    made = ""
    for piece, is_code in _pieces(flat, in_table):
        if is_code and made.endswith("`") and not made.endswith("\\`"):
            made += " "
        made += piece
    if _DEFINES.match(made):
        return ("\\" + made).replace("|", "&#124;") if in_table else "\\" + made
    opening = _OPENING.match(made)
    if opening and opening.group(1):
        made = f"{opening.group(1)}\\{made[opening.end(1) :]}"
    elif opening:
        made = "\\" + made
    return made.replace("|", "&#124;") if in_table else made


def clipped(text: object, longest: int) -> str:
    """The text on one line, shortened to a number of characters."""
    flat = " ".join(visible(str(text)).split())
    return flat if len(flat) <= longest else f"{flat[: longest - 3]}..."


def code(text: str) -> str:
    """A name, an id or a path as Markdown code; one that cannot be code is shown as plain text."""
    flat = " ".join(visible(text).split())
    return f"`{flat}`" if flat and not re.search(r"[`<|]|\]\(", flat) else plain(flat, in_table=True)


def named(ids: Sequence[str], most: int = _SHOWN_IDS) -> str:
    """The source of a quotation: the first ids as code, and how many more there are."""
    names = ", ".join(code(name) for name in ids[:most])
    return names if len(ids) <= most else f"{names} and {len(ids) - most} more"


def _pieces(text: str, in_table: bool) -> Iterator[tuple[str, bool]]:
    """The text in pieces that are safe on their own, and whether a piece is code."""
    position, runs = 0, list(_TICKS.finditer(text))
    last = {len(run.group()): number for number, run in enumerate(runs)}
    for number, opening in enumerate(runs):
        length = len(opening.group())
        if opening.start() < position or last[length] == number:
            continue
        closing = next(runs[n] for n in range(number + 1, len(runs)) if len(runs[n].group()) == length)
        if not _may_be_code(text[opening.end() : closing.start()], in_table):
            continue
        yield from _prose(text[position : opening.start()])
        yield text[opening.start() : closing.end()], True
        position = closing.end()
    yield from _prose(text[position:])


def _may_be_code(inside: str, in_table: bool) -> bool:
    without = _PLACEHOLDER.sub("", inside)
    return bool(inside.strip()) and "<" not in without and "](" not in inside and not (in_table and "|" in inside)


def _prose(text: str) -> Iterator[tuple[str, bool]]:
    position = 0
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(_AFTER_ADDRESS)
        yield from _words(text[position : match.start()])
        yield f"`{address}`", True
        position = match.start() + len(address)
    yield from _words(text[position:])


def _words(text: str) -> Iterator[tuple[str, bool]]:
    position = 0
    for match in _PLACEHOLDER.finditer(text):
        if f"</{match.group()[1:-1].partition(' ')[0]}" in text:  # a tag, and no name
            continue
        yield _inert(text[position : match.start()]), False
        yield f"`{match.group()}`", True
        position = match.end()
    yield _inert(text[position:]), False


def _inert(text: str) -> str:
    return _ACTIVE.sub(lambda match: _ESCAPED[match.group()], text)


_ITEM = re.compile(r"([ \t]{0,12})([-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
_ROW, _RULE = re.compile(r"[ \t]*\|[^\n]*\|[ \t]*"), re.compile(r":?-{2,}:?")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_FENCES = re.compile(r"`{3,}")
_BRACKETS = str.maketrans("[]", "()")
_NOT_PRINTED = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")


def quoted(text: str) -> str:
    """A text with its paragraphs, lists and blocks of code; everything else in it is shown as it is."""
    return "\n".join(_quoted_lines(visible(text).strip().split("\n")))


def _quoted_lines(lines: Sequence[str]) -> Iterator[str]:
    index = 0
    while index < len(lines):
        opening = _FENCE.match(lines[index])
        fence = opening[1] if opening else None  # a block of code that nothing closes is none
        end = next((n for n in range(index + 1, len(lines)) if lines[n].strip() == fence), None) if fence else None
        if end is not None:
            inside = lines[index + 1 : end]
            longest = max((len(run) for line in inside for run in _FENCES.findall(line)), default=2)
            fence = "`" * (longest + 1)
            yield from (f"{fence}text", *inside, fence)
            index = end + 1
            continue
        item = _ITEM.match(lines[index])
        if _ROW.fullmatch(lines[index]):
            yield "|".join(_cell(cell.replace("\\|", "|")) for cell in _BETWEEN_CELLS.split(lines[index].strip()))
        elif item:
            yield f"{item[1].expandtabs(4)}{item[2]} {plain(lines[index][item.end() :])}"
        else:
            yield plain(lines[index])
        index += 1


def _cell(cell: str) -> str:
    flat = cell.strip()
    return f" {flat if _RULE.fullmatch(flat) else plain(flat, in_table=True)} " if flat else cell


def yaml_text(text: str) -> str:
    """A text on one line as a scalar of YAML."""
    flat = json.dumps(" ".join(visible(text).split()), ensure_ascii=False)
    return _NOT_PRINTED.sub(lambda match: json.dumps(match.group())[1:-1], flat)


def yaml_list(texts: Sequence[str]) -> str:
    """Texts as a list of YAML on one line."""
    return f"[{', '.join(map(yaml_text, texts))}]"


def link_text(text: str) -> str:
    """A title inside of a link: without what would end the link."""
    return " ".join(re.sub(r"[|`<>\\^#]", " ", visible(text).translate(_BRACKETS)).split()) or "Memory"
