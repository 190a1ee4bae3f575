"""A page for each memory, and an index that leads to them: a memory directory of Claude Code, which loads the index at
every start, and a vault of Obsidian, with links to what a memory was made from and what was made of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import HEAD, block_in, export_of, marks, outside, seal_of_block, with_block
from memory_pipeline.records import BESIDE, LEVEL_PATTERN, LEVEL_PRINCIPLE, Memory, binds, is_series, labels_among
from memory_pipeline.text.normalise import one_line
from memory_pipeline.text.quoting import clipped, link_text, plain, quoted, yaml_list, yaml_text
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.superseding import put_later_first
from memory_pipeline.text.threads import box_of
from memory_pipeline.workspace import start_file, worth
from memory_pipeline.workspace.contents import Contents
from memory_pipeline.workspace.directory import Plan, free_name, stem_of, texts_in

#: The name of the block in both indexes.
INDEX = "memory"
CLAUDE_CODE_INDEX, _VAULT_INDEX = "MEMORY.md", "Memory.md"
#: Claude Code loads no more of the index.
MOST_LINES, MOST_BYTES = 200, 25_000
_STEM, _DESCRIPTION = 48, 150
#: Its types by ours; what is not named is knowledge about the project.
_TYPES = dict.fromkeys(
    ("feedback", "lesson", "learning", "warning", "error_fix", "principle", "pattern"), "feedback"
) | {"codebase_knowledge": "reference"}
#: Types that its own files state, which are kept as tags.
_STATED = ("user", "feedback", "project", "reference")
_OF_THE_USER = "USER.md"


class ClaudeCodeExport:
    """The pages that go into a memory directory, and the number of memories that do not, by the reason."""

    def __init__(self, contents: Contents, directory: Path) -> None:
        self.export = f"claude-code {yaml_text(contents.project)}"
        self._doubts, self._above = contents.doubts, contents.above
        self.left_out: Counter[str] = Counter()
        self.chosen: list[str] = []
        self._head = f"{HEAD}{plain(contents.project)}: to weigh and not to obey."
        others = {name: text for name, text in texts_in(directory, (".",)) if export_of(text) is None}
        index = others.pop(CLAUDE_CODE_INDEX, "")
        lines = (block_in(index, INDEX) or "").split("\n")
        if lines[0].startswith(HEAD) and lines[0] != self._head:
            raise OutputError(
                f"'{directory / CLAUDE_CODE_INDEX}' holds the memory of another project; name another directory"
            )
        self._pages, self._lines = self._choose_pages(contents, index, others)

    @property
    def plan(self) -> Plan:
        """The pages and the index."""
        return Plan(export=self.export, pages=self._pages, blocks={(CLAUDE_CODE_INDEX, INDEX): self._index})

    def _choose_pages(
        self, contents: Contents, index: str, others: dict[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The pages by file, and the memories by their lines of the index, as many as there is room for."""
        files = {CLAUDE_CODE_INDEX: outside(index, INDEX), **others}
        changed = start_file.notes_of_files(contents.memories, "claude-code", files, named_alike=others)
        standing = start_file.Standing(list(files.values()), changed)
        taken = {name.casefold() for name in others}
        empty = with_block(index, INDEX, self._head + "\n\n", seal_of_block(""))
        room, size = MOST_LINES - empty.count("\n") - 2, MOST_BYTES - len(empty.encode("utf-8", "surrogateescape")) - 4
        pages: dict[str, str] = {}
        lines: dict[str, str] = {}
        # Readings come last, and so are the first for which there is no room.
        routine = contents.routine
        ordered = worth.ranked(contents.memories, routine)
        ordered.sort(key=lambda note: (is_series(note), note.id in routine))
        memory_of = {memory.id: memory for memory in ordered}
        absent: set[str] = set()
        for memory_id in put_later_first(list(memory_of), contents.above):
            memory = memory_of[memory_id]
            reason = start_file.why_not_loaded(memory, contents, standing)
            if not (reason or binds(memory.tags) or absent.isdisjoint(contents.later.get(memory_id, ()))):
                reason = start_file.CONTRADICTED
            if not reason and len(pages) >= MOST_LINES * start_file.FOR_ROUTINE and memory.id in routine:
                reason = start_file.UNMARKED
            name = free_name(stem_of(worth.title_of(memory), worth.short_hash(memory.id), _STEM), taken, ".md")
            link = f"{box_of(memory.content)}[{link_text(worth.title_of(memory))}]({name})"
            line = f"- {link} ({_kind_of(memory)}{_on(memory)}{self._doubt(memory)})"
            cost = len(line.encode("utf-8", "replace")) + (2 if "\r\n" in index else 1)
            if reason or room < 1 or cost > size:
                self.left_out[reason or start_file.NO_ROOM] += 1
                absent |= {memory_id} if reason not in start_file.LEAVES_EARLIER else set()
                continue
            room, size = room - 1, size - cost
            taken.add(name.casefold())
            pages[name], lines[line] = self._page(memory, name), memory_id
            self.chosen.append(memory_id)
        return pages, lines

    def _index(self, present: str) -> str:
        placed = start_file.in_their_places(list(self._lines), (block_in(present, INDEX) or "").split("\n"))
        lines = start_file.later_word_first(placed, self._lines, self._above)
        return "\n".join([self._head, "", *lines]) if lines else ""

    def _page(self, memory: Memory, name: str) -> str:
        words = box_of(memory.content) + one_line(worth.without_marks(worth.words_of(memory)))
        head = [
            "---",
            f"name: {name.removesuffix('.md')}",
            f"description: {yaml_text(clipped(words, _DESCRIPTION))}",
            "metadata:",
            f"  type: {_type_of(memory)}",
            *([] if memory.undated else [f"  date: {memory.day}"]),
            *marks(self.export, "  "),
            "---",
        ]
        return "\n".join([*head, "", quoted(with_subject(memory, memory.content)), "", self._describe(memory), ""])

    def _describe(self, memory: Memory) -> str:
        """A line that says what it is, when it was noted, how sure it is, and what must be said with it."""
        kind = _kind_of(memory).capitalize()
        sure = f", confidence {memory.confidence_score:.2f}" if memory.confidence_score is not None else ""
        return f"({kind}{_on(memory)}{sure}{self._doubt(memory)}.)"

    def _doubt(self, memory: Memory) -> str:
        doubt = self._doubts.get(memory.id)
        return f"; {plain(doubt)}" if doubt else ""


def _kind_of(memory: Memory) -> str:
    return worth.level_name(memory).replace("_", " ")


def _type_of(memory: Memory) -> str:
    if memory.source.file == _OF_THE_USER:
        return "user"
    if memory.source.connector == "claude-code":
        return next((tag for tag in memory.tags if tag in _STATED), _TYPES.get(worth.level_name(memory), "project"))
    return _TYPES.get(worth.level_name(memory), "project")


def _on(memory: Memory) -> str:
    return "" if memory.undated else f", {memory.day}"


_FOLDERS = _PRINCIPLES, _PATTERNS, _SERIES, _NOTES = "principles", "patterns", "series", "notes"
_VAULT_STEM = 80
_TAG = re.compile(r"[^\w/-]+")


class ObsidianExport:
    """The notes of a vault."""

    def __init__(self, contents: Contents) -> None:
        self.export = f"obsidian {yaml_text(contents.project)}"
        self._contents = contents
        self._all = {memory.id: memory for memory in (*contents.memories, *contents.sources.values())}
        self._stems: dict[str, str] = {}
        taken: set[str] = set()
        for memory in self._all.values():
            stem = stem_of(worth.title_of(memory), worth.short_hash(memory.id), _VAULT_STEM)
            self._stems[memory.id] = free_name(stem, taken)
            taken.add(self._stems[memory.id])
        self._linked: dict[tuple[str, str], set[str]] = defaultdict(set)
        for link in contents.links:
            title = "Replaces" if link.relation in BESIDE else "Made from"
            self._linked[title, link.memory_id].add(link.source_id)
            self._linked["Part of", link.source_id].add(link.memory_id)

    @property
    def plan(self) -> Plan:
        """The notes and the page that leads to them."""
        pages = {
            f"{_folder_of(memory)}/{self._stems[memory.id]}.md": self._page(memory) for memory in self._all.values()
        }
        return Plan(export=self.export, pages=pages, blocks={(_VAULT_INDEX, INDEX): self._index}, folders=_FOLDERS)

    def _page(self, memory: Memory) -> str:
        head = [
            "---",
            f"aliases: {yaml_list([link_text(worth.title_of(memory))])}",
            f"id: {yaml_text(memory.id)}",
            f"kind: {worth.level_name(memory)}",
            f"tags: {yaml_list(_tags_of(memory))}",
            *([f"categories: {yaml_list(memory.categories)}"] if memory.categories else []),
            f"created: {memory.created_at.isoformat()}",
            *([] if memory.undated else [f"date: {memory.day}"]),
            f"importance: {memory.importance:g}",
            *([f"confidence: {memory.confidence_score:g}"] if memory.confidence_score is not None else []),
            f"archived: {str(memory.archived_at is not None).lower()}",
            *(
                [f"source: {yaml_text(memory.source.file)}"]
                if memory.source.file and memory.source.connector != "night"
                else []
            ),
            *marks(self.export),
            "---",
        ]
        body = ["", quoted(with_subject(memory, memory.content)), ""]
        if doubt := self._contents.doubts.get(memory.id):
            body += [f"> {plain(doubt)}", ""]
        for title in ("Made from", "Replaces", "Part of"):
            if ids := self._linked.get((title, memory.id)):
                ordered = sorted((self._all[i] for i in ids), key=lambda m: (m.effective_date, m.id))
                body += [f"## {title}", "", *(f"- {self._link(linked)}" for linked in ordered), ""]
        return "\n".join([*head, *body])

    def _link(self, memory: Memory) -> str:
        return f"{box_of(memory.content)}[[{self._stems[memory.id]}|{link_text(worth.title_of(memory))}]]"

    def _entry(self, memory: Memory) -> str:
        return f"- {self._link(memory)}" + ("" if memory.undated else f" ({memory.day})")

    def _index(self, present: str) -> str:
        before = (block_in(present, INDEX) or "").split("\n")
        body = [f"{HEAD}{plain(self._contents.project)}."]
        chosen = worth.ranked(self._contents.memories, self._contents.routine)
        for folder in _FOLDERS:
            entries = {self._entry(memory): memory.id for memory in chosen if _folder_of(memory) == folder}
            if entries:
                placed = start_file.in_their_places(list(entries), before)
                lines = start_file.later_word_first(placed, entries, self._contents.above)
                body += ["", f"## {folder.capitalize()}", "", *lines]
        return "\n".join(body) if chosen else ""


def _folder_of(memory: Memory) -> str:
    """The folder of a memory's note, which never changes."""
    if is_series(memory):
        return _SERIES
    level = memory.abstraction_level
    return _PRINCIPLES if level >= LEVEL_PRINCIPLE else _PATTERNS if level == LEVEL_PATTERN else _NOTES


def _tags_of(memory: Memory) -> list[str]:
    tags = (_TAG.sub("-", label).strip("-/") for label in labels_among(memory.tags))
    return sorted({tag for tag in tags if tag and not tag.isdigit()})
