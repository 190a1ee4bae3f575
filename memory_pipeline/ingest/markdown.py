"""Markdown as entries: bullets, paragraphs and tables, under front matter, in parts that are short enough to be one
memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import begins_with_time
from memory_pipeline.ingest.values import MAX_ENTRY_TOKENS, MAX_LABELS, MAX_NAME
from memory_pipeline.text.normalise import clean_text
from memory_pipeline.text.sentences import split_statements
from memory_pipeline.text.subject import NO_LEAD_IN, LeadIn, join_lead_in, lead_in_from

#: A procedure of at most this many characters stays one entry: its steps mean little separately.
PROCEDURE_CHARS = 1200
#: A bullet with bullets of its own stays one entry if it takes at most this many bytes, about 80 tokens.
_SHORT_ITEM_BYTES = 320
#: A full timestamp starts a new entry even in the middle of a line: some logs are appended without a newline.
_FULL_STAMP = re.compile(r"(?<!^)(?<!\()(?<!\[)(?=\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?(?: [A-Z]{3,4})? (?:-|–|—) )")
_LINE_STAMP = re.compile(r"^\s*[\[(]?(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2})?[^\w]")
#: A short line that only announces what follows: it ends in a colon, or all of it is bold.
_LABEL = re.compile(
    r"^\s*(?:(?:\*\*|__)?[^\n]{1,80}?[:：](?:\*\*|__)?|(\*\*|__)(?!\s)[^\n*]{1,80}[^\s.!?。！？*]\1)\s*$"
)
_BOLD_LABEL = re.compile(r"\s*(\*\*|__)[^\n*]{1,80}(?:[:：]\1|\1[:：])\s*$")
_WORD = re.compile(r"\w")
#: What stands in the place of a secret.
_MASKED = re.compile(r"\[REDACTED:\w+\]")
_EMPTY_LABEL = re.compile(r"[:：]\W*$")
_BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d{1,9}[.)])\s+")
_LISTS = ("bullet_list", "ordered_list")
#: What a label, also as the last item of a list, is said with.
_SHOWN = ("table", "fence", "code_block", "blockquote")
#: A line without emphasis that ends in a colon and has nothing below it is a label if it is this short.
_LONGEST_PLAIN_LABEL = 40
#: The line with which a turn of a conversation begins: `user: ...`, `**Assistant:** ...`.
_TURN = r"[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?[*_]{0,2}(?:%s)[*_]{0,2}:[*_]{0,2}\s"
TURN_LINE = re.compile(_TURN % "user|assistant|human|ai", re.IGNORECASE)
#: The same of the human alone; and where the human has turns, those of who else speaks: elsewhere `Agent:` is a label.
HUMAN_LINE = re.compile(_TURN % "user|human", re.IGNORECASE)
AGENT_LINE = re.compile(_TURN % "agent|bot", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its own text without list mark, its first and last line (1-based), the headings above it, and the
    words that lead in to it."""

    text: str
    first_line: int
    last_line: int
    path: tuple[str, ...]
    lead: LeadIn = NO_LEAD_IN

    @property
    def content(self) -> str:
        """Its text, with its lead-in where the two are one."""
        return join_lead_in(self.lead, self.text)

    @property
    def above(self) -> tuple[str, ...]:
        """The headings above it, and the label in front of it."""
        return (*self.path, self.lead.words.strip("*_:： ")) if self.lead.is_label else self.path


@dataclass
class Note:
    """A note: its entries in order, its headings with their levels, and the role of every line outside an entry."""

    entries: list[Entry] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    structure: dict[int, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The heading that stands above the whole note; empty if none does."""
        tops = [title for level, title in self.headings if level == 1]
        return tops[0] if len(tops) == 1 and self.headings[0][0] == 1 else ""

    def mark(self, start: int, end: int, role: str) -> None:
        """Give lines, counted from 0, a role."""
        self.structure.update(dict.fromkeys(range(start + 1, end + 1), role))


_ENDS_SENTENCE = frozenset(".!?…。！？")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # A paragraph above a rule is a paragraph in these logs, and `[x]: y`, which may be a masked secret, a line of one.
    return MarkdownIt("commonmark").enable("table").disable(["lheading", "reference"])


def parse_note(text: str) -> Note:
    """Split a note into entries. Lines are numbered from 1; blank lines belong to nothing."""
    reader = _Reader(text.split("\n"))
    reader.read_blocks(SyntaxTreeNode(_parser().parse(text)).children, NO_LEAD_IN)
    reader.note.entries.sort(key=lambda entry: entry.first_line)
    return reader.note


class _Reader:
    """Reads the blocks of a note, from top to bottom."""

    def __init__(self, lines: list[str]) -> None:
        self.note = Note()
        self._lines = lines
        self._headings: list[tuple[int, str]] = []

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._headings)

    def read_blocks(self, blocks: Sequence[SyntaxTreeNode], around: LeadIn) -> None:
        """Read blocks in order; `around` leads in to all of them. A paragraph leads in to the block directly below
        it; one that ends in a colon, to all that stands under the headings below its own."""
        waiting: list[Entry] = []
        outside, below, list_end = around, 0, 0
        for block in blocks:
            if block.map is None:
                continue
            start, end = self._span(block)
            if block.type in _SHOWN and not waiting and self._ends_with_empty_label(list_end):
                waiting = [self.note.entries.pop()]
            above = waiting[-1] if waiting else None
            waiting, list_end = [], end if block.type in _LISTS else 0
            if block.type == "paragraph":
                waiting = self._paragraph(start, end, around)
                if above is not None and waiting and _is_label(above):
                    waiting[0] = replace(waiting[0], lead=self._make_lead_in(above))
                elif above is not None:
                    self.note.entries.append(above)
            elif block.type in _LISTS:
                waiting = self._list(block, above, around)
            elif block.type in _SHOWN:
                lead = around
                if above is not None and _is_label(above):
                    start = above.first_line - 1
                elif above is not None:
                    lead = replace(lead_in_from(above.text, above.lead), joins=False)
                    self.note.entries.append(above)
                self.note.entries.append(self._entry(start, end, lead))
            elif (
                block.type == "hr"
                and above is not None
                and above.first_line == above.last_line == start  # one line without an end, directly above
                and above.text[-1:] not in _ENDS_SENTENCE
            ):
                waiting = [above]
                self.note.mark(start, end, "rule")
            else:
                level = int(block.tag[1]) if block.type == "heading" else 0
                if level and level < below:
                    around, below = outside, 0
                if above is not None and level and self._leads_in_to_headings(above, level):
                    around, below = self._make_lead_in(above), level
                else:
                    self._close(above)
                if block.type == "heading":
                    title = self._lines[start].lstrip("# \t").rstrip("# \t\r")
                    self._headings = [heading for heading in self._headings if heading[0] < level] + [(level, title)]
                    self.note.headings.append((level, title))
                self.note.mark(start, end, {"heading": "heading", "hr": "rule"}.get(block.type, "html"))
            self.note.entries += waiting[:-1]
            waiting = waiting[-1:]
        self._close(waiting[-1] if waiting else None)

    def _ends_with_empty_label(self, list_end: int) -> bool:
        """True if the last item of a list that ends with this line, the last that was read, is a label of what
        follows."""
        last = self.note.entries[-1] if list_end and self.note.entries else None
        return last is not None and last.last_line == list_end and bool(_EMPTY_LABEL.search(last.text))

    def _leads_in_to_headings(self, above: Entry, level: int) -> bool:
        """True if a paragraph, no bold label, ends in a colon above a heading of a lower level than its own."""
        own = self._headings[-1][0] if self._headings else 0
        leads_in = _EMPTY_LABEL.search(above.text) is not None and not _is_bold_label(above.text)
        return 0 < own < level and leads_in

    def _close(self, entry: Entry | None) -> None:
        """A paragraph that leads in to nothing is an entry of its own, if it is no empty label."""
        if entry is None:
            return
        is_short = len(entry.text) <= _LONGEST_PLAIN_LABEL
        if _is_label(entry) and _EMPTY_LABEL.search(entry.text) and (is_short or _is_bold_label(entry.text)):
            self.note.mark(entry.first_line - 1, entry.last_line, "empty label")
        else:
            self.note.entries.append(entry)

    def _make_lead_in(self, above: Entry) -> LeadIn:
        """The lead-in that a paragraph is. It is no entry of its own if what follows says all of it."""
        lead = lead_in_from(above.text, above.lead, is_label=_is_label(above))
        if lead.says_all:
            self.note.mark(above.first_line - 1, above.last_line, "lead-in")
        else:
            self.note.entries.append(above)
        return lead

    def _list(self, block: SyntaxTreeNode, above: Entry | None, around: LeadIn) -> list[Entry]:
        """List items become separate entries; a short numbered list below a label stays one procedure.

        Returns the last entry if a time or a speaker began it within the last item: what follows may hang on it.
        """
        lead, (start, end) = around, self._span(block)
        first = self._entry(start, start + 1, NO_LEAD_IN)
        is_log_line = above is not None and _begins_entry(above.text) and _begins_entry(first.text)
        if above is not None and (is_log_line or not _WORD.search(_MASKED.sub("", above.text))):
            self.note.entries.append(above)
        elif above is not None:
            length = len("\n".join(self._lines[start:end]))
            if block.type == "ordered_list" and _is_label(above) and length <= PROCEDURE_CHARS:
                self.note.entries.append(self._entry(above.first_line - 1, end, around))
                return []
            lead = self._make_lead_in(above)
        label: Entry | None = None
        waiting: list[Entry] = []
        within = lead
        for item in block.children:
            self.note.entries += waiting
            own = self._entry(*self._span(item), lead)
            if _is_bold_label(own.text):
                self._close(label)
                label, waiting = own, []
                continue
            if label is not None:
                within, label = self._make_lead_in(label), None
            entries = self._item(item, within)
            self.note.entries += entries[:1]
            waiting = entries[1:]
        self._close(label)
        self.note.entries += waiting[:-1]
        return waiting[-1:]

    def _item(self, item: SyntaxTreeNode, lead: LeadIn) -> list[Entry]:
        """The entries of an item: one, or several if it is long and leads in to a list of its own."""
        start, end = self._span(item)
        size = len("\n".join(self._lines[start:end]).encode())
        if size <= _SHORT_ITEM_BYTES or not any(child.type in _LISTS for child in item.children):
            return self._paragraph(start, end, lead)
        self.read_blocks(item.children, lead)
        return []

    def _paragraph(self, start: int, end: int, lead: LeadIn) -> list[Entry]:
        """One entry, or several if a time or a speaker begins a new one, which then hangs on nothing."""
        cuts = [start, *(n for n in range(start + 1, end) if _begins_entry(self._lines[n])), end]
        entries = []
        for first, last in pairwise(cuts):
            entry = self._entry(first, last, lead if first == start else NO_LEAD_IN)
            entries += [replace(entry, text=piece.strip()) for piece in _FULL_STAMP.split(entry.text) if piece.strip()]
        return entries

    def _entry(self, start: int, end: int, lead: LeadIn) -> Entry:
        body = self._lines[start:end]
        mark = _BULLET.match(body[0])
        if mark:
            indents = [min(mark.end(), len(line) - len(line.lstrip())) for line in body]
            body = [body[0][mark.end() :], *(line[indents[n] :] for n, line in enumerate(body) if n)]
        return Entry("\n".join(body).strip(), start + 1, end, self._path, lead)

    def _span(self, node: SyntaxTreeNode) -> tuple[int, int]:
        """The first line of a node, and the one behind its last that is not blank."""
        assert node.map is not None
        start, end = node.map
        while end > start + 1 and not self._lines[end - 1].strip():
            end -= 1
        return start, end


def _is_label(entry: Entry) -> bool:
    return bool(_LABEL.match(entry.text)) and not _begins_entry(entry.text)


def _is_bold_label(text: str) -> bool:
    return bool(_BOLD_LABEL.match(text))


def _begins_entry(line: str) -> bool:
    return bool(_LINE_STAMP.match(line) or TURN_LINE.match(line + " ")) or begins_with_time(line)


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

    @property
    def below(self) -> str:
        """The text below with an empty line for each line above it, so that line numbers stay the same."""
        return "\n" * (self.first_line - 1) + self.body


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
        fields = _parse_lines(lines[1:end])
    if not isinstance(fields, Mapping):
        fields = {}
    return Page({str(name): value for name, value in fields.items()}, "\n".join(lines[end + 1 :]), end + 2)


def _parse_lines(lines: list[str]) -> dict[str, Any]:
    """The fields of lines `name: value`, those that are indented among the fields of the line above."""
    fields: dict[str, Any] = {}
    above = ""
    for line in lines:
        match = _FIELD.match(line.strip())
        if not match:
            continue
        name, value = match[1], match[2].strip().strip("\"'")
        if line[:1].isspace() and above:
            inner = fields[above] if isinstance(fields[above], dict) else {}
            inner[name] = value
            fields[above] = inner
        else:
            fields[name], above = value, name
    return fields


_CHARS_OF_TOKEN = 4


def parts_of(text: str, skipped: Skipped) -> list[str]:
    """The text, or, if it is longer than the limit, its statements packed into parts below the limit."""
    limit = MAX_ENTRY_TOKENS * _CHARS_OF_TOKEN
    if len(text) <= limit:
        return [text]
    skipped.split += 1
    parts: list[str] = []
    for statement in split_statements(text):
        for piece in (statement[i : i + limit] for i in range(0, len(statement), limit)):
            if parts and len(parts[-1]) + len(piece) < limit:
                parts[-1] += "\n" + piece
            else:
                parts.append(piece)
    return parts


def parts_of_entry(
    entry: Entry, skipped: Skipped, own_words: str | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of an entry: what each says itself, and the fields of a candidate that tell it with what it hangs on in
    the note. Only a whole entry is said with its lead-in. `own_words`: what is left of its text."""
    parts = parts_of(entry.text if own_words is None else own_words, skipped)
    for part in parts:
        yield (
            part,
            {
                "content": join_lead_in(entry.lead, part) if len(parts) == 1 else part,
                "own_words": clean_text(part).strip("\n"),
                "headings": tuple(heading[:MAX_NAME] for heading in entry.path)[-MAX_LABELS:],
                "lead_in": entry.lead.words[:MAX_NAME],
            },
        )
