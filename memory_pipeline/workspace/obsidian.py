"""A vault of Obsidian: a note for each memory, with links to what it was made from and what was made of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from memory_pipeline.files.markers import HEAD, block_in, marks
from memory_pipeline.records import BESIDE, LEVEL_PATTERN, LEVEL_PRINCIPLE, Memory, labels_among
from memory_pipeline.records.cluster import is_series
from memory_pipeline.text.quoting import plain
from memory_pipeline.workspace.contents import (
    Contents,
    in_their_places,
    is_undated,
    level_name,
    link_text,
    quoted,
    ranked,
    short_hash,
    title_of,
    told_alone,
    yaml_list,
    yaml_text,
)
from memory_pipeline.workspace.directory import Plan, free_name, stem_of

INDEX_FILE, INDEX = "Memory.md", "memory"
_PRINCIPLES, _PATTERNS, _SERIES, _NOTES = "principles", "patterns", "series", "notes"
FOLDERS = (_PRINCIPLES, _PATTERNS, _SERIES, _NOTES)
_STEM = 80
_TAG = re.compile(r"[^\w/-]+")


class ObsidianExport:
    """The notes of a vault."""

    def __init__(self, contents: Contents) -> None:
        self.export = f"obsidian {yaml_text(contents.project)}"
        self._contents = contents
        self._all = {memory.id: memory for memory in (*contents.memories, *contents.sources.values())}
        self._stems = _stems_of(list(self._all.values()))
        self._made_from: Mapping[str, list[str]] = defaultdict(list)
        self._made_into: Mapping[str, list[str]] = defaultdict(list)
        self._beside: Mapping[str, list[str]] = defaultdict(list)
        for link in contents.links:
            if link.memory_id in self._all and link.source_id in self._all:
                (self._beside if link.relation in BESIDE else self._made_from)[link.memory_id].append(link.source_id)
                self._made_into[link.source_id].append(link.memory_id)

    @property
    def plan(self) -> Plan:
        """The notes and the page that leads to them."""
        pages = {
            f"{folder_of(memory)}/{self._stems[memory.id]}.md": self._page(memory) for memory in self._all.values()
        }
        return Plan(export=self.export, pages=pages, blocks={(INDEX_FILE, INDEX): self._index}, folders=FOLDERS)

    def _page(self, memory: Memory) -> str:
        head = [
            "---",
            f"aliases: {yaml_list([link_text(title_of(memory))])}",
            f"id: {yaml_text(memory.id)}",
            f"kind: {level_name(memory)}",
            f"tags: {yaml_list(_tags_of(memory))}",
            *([f"categories: {yaml_list(memory.categories)}"] if memory.categories else []),
            f"created: {memory.created_at.isoformat()}",
            *([] if is_undated(memory) else [f"date: {memory.day}"]),
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
        body = ["", quoted(told_alone(memory)), ""]
        if doubt := self._contents.doubts.get(memory.id):
            body += [f"> {plain(doubt)}", ""]
        body += self._links("Made from", self._made_from[memory.id])
        body += self._links("Replaces", self._beside[memory.id])
        body += self._links("Part of", self._made_into[memory.id])
        return "\n".join([*head, *body])

    def _links(self, title: str, ids: Sequence[str]) -> list[str]:
        if not ids:
            return []
        ordered = sorted({self._all[i].id: self._all[i] for i in ids}.values(), key=lambda m: (m.effective_date, m.id))
        return [f"## {title}", "", *(f"- {self._link(memory)}" for memory in ordered), ""]

    def _link(self, memory: Memory) -> str:
        return f"[[{self._stems[memory.id]}|{link_text(title_of(memory))}]]"

    def _entry(self, memory: Memory) -> str:
        return f"- {self._link(memory)}" + ("" if is_undated(memory) else f" ({memory.day})")

    def _index(self, present: str) -> str:
        before = (block_in(present, INDEX) or "").split("\n")
        body = [f"{HEAD}{plain(self._contents.project)}."]
        chosen = ranked(self._contents.memories)
        for folder in FOLDERS:
            entries = [self._entry(memory) for memory in chosen if folder_of(memory) == folder]
            if entries:
                body += ["", f"## {folder.capitalize()}", "", *in_their_places(entries, before)]
        return "\n".join(body) if chosen else ""


def folder_of(memory: Memory) -> str:
    """The folder of a memory's note, which never changes."""
    if is_series(memory):
        return _SERIES
    level = memory.abstraction_level
    return _PRINCIPLES if level >= LEVEL_PRINCIPLE else _PATTERNS if level == LEVEL_PATTERN else _NOTES


def _tags_of(memory: Memory) -> list[str]:
    found = (_TAG.sub("-", label).strip("-/") for label in labels_among(memory.tags))
    return sorted({tag for tag in found if tag and not tag.isdigit()})


def _stems_of(memories: Sequence[Memory]) -> dict[str, str]:
    stems: dict[str, str] = {}
    taken: set[str] = set()
    for memory in memories:
        stems[memory.id] = free_name(stem_of(title_of(memory), short_hash(memory.id), _STEM), taken)
        taken.add(stems[memory.id])
    return stems
