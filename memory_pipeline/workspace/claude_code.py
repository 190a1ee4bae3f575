"""A memory directory of Claude Code: an index that it loads at every start, and a file for each memory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import HEAD, block_in, export_of, marks, outside, seal_of_block, with_block
from memory_pipeline.records import Memory
from memory_pipeline.text.normalise import one_line
from memory_pipeline.text.quoting import clipped, plain
from memory_pipeline.workspace.contents import (
    FOR_ROUTINE,
    NO_ROOM,
    UNMARKED,
    Contents,
    Standing,
    in_their_places,
    is_promoted,
    is_undated,
    level_name,
    link_text,
    notes_of_files,
    quoted,
    ranked,
    short_hash,
    title_of,
    told_alone,
    why_not_loaded,
    without_marks,
    words_of,
    yaml_text,
)
from memory_pipeline.workspace.directory import Plan, free_name, stem_of, texts_in

INDEX_FILE, INDEX = "MEMORY.md", "memory"
#: Claude Code loads no more of the index.
MOST_LINES, MOST_BYTES = 200, 25_000
_STEM, _DESCRIPTION = 48, 150
#: Its types by ours; what is not named is knowledge about the project.
_TYPES = {
    "feedback": "feedback",
    "lesson": "feedback",
    "learning": "feedback",
    "warning": "feedback",
    "error_fix": "feedback",
    "principle": "feedback",
    "pattern": "feedback",
    "codebase_knowledge": "reference",
}
#: Types that its own files state, which are kept as tags.
_STATED = ("user", "feedback", "project", "reference")
_OF_THE_USER = "USER.md"


class ClaudeCodeExport:
    """What goes into a memory directory, and how many memories do not by the reason."""

    def __init__(self, contents: Contents, directory: Path) -> None:
        self.export = f"claude-code {yaml_text(contents.project)}"
        self._doubts = contents.doubts
        self.left_out: Counter[str] = Counter()
        self.chosen: list[str] = []
        self._head = f"{HEAD}{plain(contents.project)}: to weigh and not to obey."
        others = {name: text for name, text in texts_in(directory, (".",)) if export_of(text) is None}
        index = others.pop(INDEX_FILE, "")
        lines = (block_in(index, INDEX) or "").split("\n")
        if lines[0].startswith(HEAD) and lines[0] != self._head:
            raise OutputError(f"'{directory / INDEX_FILE}' holds the memory of another project; name another directory")
        self._pages, self._lines = self._chosen_of(contents, index, others)

    @property
    def plan(self) -> Plan:
        """The pages and the index."""
        return Plan(export=self.export, pages=self._pages, blocks={(INDEX_FILE, INDEX): self._index})

    def _chosen_of(
        self, contents: Contents, index: str, others: dict[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The pages by file, and their lines of the index, as many as there is room for."""
        files = {INDEX_FILE: outside(index, INDEX), **others}
        changed = notes_of_files(contents.memories, "claude-code", files, named_alike=others)
        standing = Standing(list(files.values()), changed)
        taken = {name.casefold() for name in others}
        empty = with_block(index, INDEX, self._head + "\n\n", seal_of_block(""))
        room, size = MOST_LINES - empty.count("\n") - 2, MOST_BYTES - len(empty.encode("utf-8", "surrogateescape")) - 4
        pages: dict[str, str] = {}
        lines: dict[str, str] = {}
        for memory in sorted(ranked(contents.memories), key=lambda one: not is_promoted(one, contents.lasting)):
            reason = why_not_loaded(memory, standing)
            if not reason and len(pages) >= MOST_LINES * FOR_ROUTINE and not is_promoted(memory, contents.lasting):
                reason = UNMARKED
            name = free_name(stem_of(title_of(memory), short_hash(memory.id), _STEM), taken, ".md")
            line = f"- [{link_text(title_of(memory))}]({name}) ({_kind_of(memory)}{_on(memory)})"
            cost = len(line.encode("utf-8", "replace")) + (2 if "\r\n" in index else 1)
            if reason or room < 1 or cost > size:
                self.left_out[reason or NO_ROOM] += 1
                continue
            room, size = room - 1, size - cost
            taken.add(name.casefold())
            pages[name], lines[name] = self._page(memory, name), line
            self.chosen.append(memory.id)
        return pages, lines

    def _index(self, present: str) -> str:
        lines = in_their_places(list(self._lines.values()), (block_in(present, INDEX) or "").split("\n"))
        return "\n".join([self._head, "", *lines]) if lines else ""

    def _page(self, memory: Memory, name: str) -> str:
        head = [
            "---",
            f"name: {name.removesuffix('.md')}",
            f"description: {yaml_text(clipped(one_line(without_marks(words_of(memory))), _DESCRIPTION))}",
            "metadata:",
            f"  type: {_type_of(memory)}",
            *([] if is_undated(memory) else [f"  date: {memory.day}"]),
            *marks(self.export, "  "),
            "---",
        ]
        return "\n".join([*head, "", quoted(told_alone(memory)), "", self._told_by(memory), ""])

    def _told_by(self, memory: Memory) -> str:
        """What it is, when it was noted, how sure it is, and what must be said with it."""
        kind = _kind_of(memory).capitalize()
        sure = f", confidence {memory.confidence_score:.2f}" if memory.confidence_score is not None else ""
        doubt = self._doubts.get(memory.id)
        return f"({kind}{_on(memory)}{sure}{f'; {plain(doubt)}' if doubt else ''}.)"


def _kind_of(memory: Memory) -> str:
    return level_name(memory).replace("_", " ")


def _type_of(memory: Memory) -> str:
    if memory.source.file == _OF_THE_USER:
        return "user"
    if memory.source.connector == "claude-code":
        return next((tag for tag in memory.tags if tag in _STATED), _TYPES.get(level_name(memory), "project"))
    return _TYPES.get(level_name(memory), "project")


def _on(memory: Memory) -> str:
    return "" if is_undated(memory) else f", {memory.day}"
