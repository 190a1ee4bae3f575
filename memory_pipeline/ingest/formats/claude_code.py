"""Reads what Claude Code keeps of itself: the transcripts of its sessions, and its memory directories.

A path may be the directory of all projects (`~/.claude/projects`, or `~/.claude`), that of one project, a memory
directory, or one transcript.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from memory_pipeline.files.places import QUESTIONS
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, Skipped, dated
from memory_pipeline.ingest.foreign import foreign_id, project_name, project_of_directory, slug
from memory_pipeline.ingest.formats.claude_transcripts import read_transcript
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, FilesImporter, OneFile, entry_id, readable_name
from memory_pipeline.ingest.markdown import Page, parse_note, parts_of, parts_of_entry, split_front_matter
from memory_pipeline.ingest.openclaw_files import note_text
from memory_pipeline.ingest.text_files import beginning, first_objects
from memory_pipeline.ingest.turns import Transcripts, without_put_in
from memory_pipeline.ingest.values import text_at
from memory_pipeline.records import Source
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.kinds import kind_of

INDEX = "MEMORY.md"
#: The types of facts in Claude Code, and the memory type of each; None for one that the words tell.
TYPES: Mapping[str, str | None] = {"user": "fact", "feedback": "feedback", "project": None, "reference": "fact"}
_LINK = re.compile(r"\[[^\]\n]{1,300}\]\(([^)\n]{1,300}\.md)\)|\[\[([^\]\n]{1,300})\]\]")
_MEMORY, _PROJECTS = "memory", "projects"
_NO_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")
_KINDS = ("user", "assistant", "system", "summary", "attachment", "queue-operation", "file-history-snapshot")
#: The name of a folder that stands for a directory: `-home-dana-app`, `C--Users-Dana-app`.
_IS_PLACE = re.compile(r"-|[A-Za-z]--")
#: Claude Code deletes transcripts after this many days (`cleanupPeriodDays`), without a word.
_DELETED_AFTER, _WARN_AFTER = timedelta(days=30), timedelta(days=20)
_FIRST_LINES, _LINE_BYTES = 200, 100_000


class ClaudeCodeImporter(FilesImporter):
    """Claude Code's projects directory, or a part of it. Turns have the ids of their lines."""

    name = "claude-code"
    about = "Claude Code's transcripts and memory files: `~/.claude/projects`, one project in it, or one transcript."
    takes = "a projects directory, the directory of one project, or a transcript"
    takes_directory = None
    said_for_good = (".jsonl",)
    lacks = (
        "no transcripts (*.jsonl) and no memory/*.md; give ~/.claude/projects, or the directory of one project in it"
    )

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """Every transcript and memory file that is chosen."""
        yield from super().files(path, choice, skipped)
        if choice.among is None and path.is_dir():
            folders = {path, *map(_find_folder, self.found(path))}
            subagents = sum(1 for folder in folders for _ in folder.glob("*/subagents/*.jsonl"))
            skipped.add("files of subagents", subagents)

    def found(self, directory: Path) -> Iterator[Path]:
        """The transcripts and memory files of each project."""
        if directory.name == _MEMORY and not any(directory.glob("*.jsonl")):
            yield from sorted(directory.rglob("*.md"))
            return
        top = directory / _PROJECTS if (directory / _PROJECTS).is_dir() else directory
        folders = sorted(entry for entry in top.glob("*") if _is_project(entry))
        is_one = not folders or (top == directory and top.name != _PROJECTS and any(directory.glob("*.jsonl")))
        for folder in [directory] if is_one else folders:
            yield from (file for file in sorted(folder.glob("*.jsonl")) if not file.name.startswith("agent-"))
            yield from sorted((folder / _MEMORY).rglob("*.md"))

    def read_file(self, file: OneFile) -> Reading:
        """Every turn of a transcript, or every memory of a memory file."""
        folder = _find_folder(file.path)
        if not _is_transcript(file.path):
            return _memories(file, folder)
        return read_transcript(Transcripts(self.name, file), partial(project_at, folder))

    def sign_of(self, path: Path) -> str | None:
        """A line of a transcript, or a fact with a type of Claude Code's."""
        for name, file in islice(self.files(path, ALL_FILES, Skipped()), _FIRST_LINES):
            if _is_transcript(file):
                if _read_first(file, lambda line: text_at(line, "sessionId") if line.get("type") in _KINDS else ""):
                    return f"lines of a Claude Code session (with 'sessionId') in {name}"
            elif file.name != INDEX and _is_fact(file):
                return f"a fact of Claude Code's memory, with its type, in {name}"
        return None

    def is_home(self, path: Path) -> bool:
        """A directory of folders that are named for directories, as the program names them."""
        top = path / _PROJECTS if (path / _PROJECTS).is_dir() else path
        return path.is_dir() and any(_IS_PLACE.match(entry.name) and _is_project(entry) for entry in top.glob("*"))

    def warnings(self, unread: Mapping[str, datetime], now: datetime) -> Sequence[str]:
        """Transcripts that are deleted soon."""
        old = [changed for name, changed in unread.items() if name.endswith(".jsonl") and now - changed > _WARN_AFTER]
        if not old:
            return ()
        days = (_DELETED_AFTER - (now - min(old))).days
        when = f"in {how_many(days, 'day')}" if days > 0 else "any time now"
        return (
            f"no night has read {how_many(len(old), 'transcript')} older than {_WARN_AFTER.days} days; Claude Code "
            f"deletes them after {_DELETED_AFTER.days} days (its setting cleanupPeriodDays), the first {when}: run a "
            "night, or import them",
        )

    def default_project(self, path: Path) -> str:
        """The project of a single project's directory; `claude-code` for the directory of all projects."""
        folder = path.parent if path.is_file() or path.name == _MEMORY else path
        is_one = any(_find_folder(file) == folder for _, file in self.files(path, ALL_FILES, Skipped()))
        return _find_project(folder) if is_one else self.name

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """Of notes without an id: derived from the file's name and the words, as in a workspace."""
        return entry_id(project, PurePosixPath(candidate.source.file or "").name, content, self.name)


def _is_transcript(file: Path) -> bool:
    return file.suffix == ".jsonl"


def _find_folder(file: Path) -> Path:
    """The directory of the project that a transcript or a memory file belongs to."""
    memory = None if _is_transcript(file) else next((parent for parent in file.parents if parent.name == _MEMORY), None)
    return (memory or file).parent


def _is_project(entry: Path) -> bool:
    # What this program asked Claude Code about memories is no memory.
    return entry.is_dir() and QUESTIONS not in entry.name and (any(entry.glob("*.jsonl")) or (entry / _MEMORY).is_dir())


def project_at(folder: Path, directory: object) -> str:
    """The project of a line by its working directory: that at which the session began, for one that lies in it."""
    if isinstance(directory, str) and 0 < len(directory) < 4096:
        return _project_of_place(directory, folder.name)
    return _find_project(folder)


@lru_cache(maxsize=256)
def _project_of_place(directory: str, folder: str) -> str:
    pure = PureWindowsPath(directory) if "\\" in directory or directory[1:2] == ":" else PurePosixPath(directory)
    begun = next((parent for parent in (pure, *pure.parents) if _folder_name(str(parent)) == folder), pure)
    return project_name(begun.name)


def _folder_name(directory: str) -> str:
    """The name of a working directory's folder: every character but letters and digits is a hyphen."""
    return _NO_ALPHANUMERIC.sub("-", directory)


@lru_cache(maxsize=256)
def _find_project(folder: Path) -> str:
    """The project of a folder whose name is a working directory with hyphens: as a transcript in it or the disk gives
    the directory, else what stands behind its last hyphen."""
    for transcript in sorted(folder.glob("*.jsonl")):
        place = _read_first(
            transcript, lambda line: cwd if _folder_name(cwd := text_at(line, "cwd")) == folder.name else ""
        )
        if place:
            return _project_of_place(place, folder.name)
    directory = _find_directory(Path("/"), folder.name) if folder.name.startswith("-") else None
    if directory is None and _IS_PLACE.match(folder.name):
        return project_name(folder.name.rpartition("-")[2])
    return project_of_directory(directory or folder)


def _find_directory(directory: Path, name: str) -> Path | None:
    """The directory whose path gives this folder's name, if it exists and can be listed."""
    try:
        entries = sorted(entry for entry in directory.iterdir() if entry.is_dir())
    except OSError:
        return None
    for entry in entries:
        folder = _folder_name(str(entry))
        if folder == name:
            return entry
        if name.startswith(f"{folder}-") and (below := _find_directory(entry, name)):
            return below
    return None


def _read_first(path: Path, read: Callable[[Mapping[str, object]], str]) -> str:
    """The first text that `read` finds in a line; only the beginning of the file is read."""
    lines = first_objects(path, _FIRST_LINES, _LINE_BYTES) if path.is_file() else ()
    return next(filter(None, map(read, lines)), "")


def _is_fact(path: Path) -> bool:
    """True if a file has front matter with a type of Claude Code's."""
    page = split_front_matter(beginning(path, _LINE_BYTES))
    return page is not None and "name" in page.fields and _stated_type(page.fields) in TYPES


def _memories(file: OneFile, folder: Path) -> Reading:
    text = note_text(file)
    if text is None:
        return
    text = file.masked(text)
    as_found = Candidate(
        content="",
        source=Source(ClaudeCodeImporter.name, file.name, 1),
        project_id=_find_project(folder),
        **dated(*file.undated),
    )
    page = split_front_matter(text)
    stated = _stated_type(page.fields) if page else None
    if page and (stated or "name" in page.fields):
        key = f"{readable_name(folder.name)}/{readable_name(file.path.stem)}"
        yield from _fact(page, stated, as_found, foreign_id(ClaudeCodeImporter.name, key), file.skipped)
    else:
        yield from _entries(page.below if page else text, file.path, as_found, file.skipped)


def _stated_type(fields: Mapping[str, Any]) -> str | None:
    """The type that a file states, in its `metadata` or beside it."""
    stated = text_at(fields, "metadata", "type") or text_at(fields, "type")
    return stated.lower()[:40] or None


def _fact(page: Page, stated: str | None, as_found: Candidate, native_id: str, skipped: Skipped) -> Reading:
    """The one memory of a file with front matter, in parts if it is long; without a text, its description."""
    body = page.body.strip()
    words = body or text_at(page.fields, "description")
    first = page.first_line + len(page.body[: len(page.body) - len(page.body.lstrip())].split("\n")) - 1
    if not words:
        file = as_found.source.file or ""
        yield Rejected(file, 1, "the file has front matter, but no text and no description")
        return
    kind = TYPES.get(stated or "") or kind_of(words, (stated or "",), "fact")
    category = slug(text_at(page.fields, "name"))
    for number, part in enumerate(parts_of(words, skipped), start=1):
        yield replace(
            as_found,
            content=part,
            source=replace(as_found.source, line=first if body else 1),
            native_id=native_id if number == 1 else f"{native_id}~{number}",
            memory_type=kind,
            categories=(category,) if category else (),
            tags=(stated,) if stated else (),
        )


def _entries(text: str, path: Path, as_found: Candidate, skipped: Skipped) -> Reading:
    """The entries of a file without front matter; lines of an index that lead to a file of their own are none."""
    for entry in parse_note(without_put_in(text, skipped)).entries:
        if path.name == INDEX and _leads_to_file(entry.text, path.parent):
            skipped.add("lines of an index")
            continue
        for _, fields in parts_of_entry(entry, skipped):
            source = replace(as_found.source, line=entry.first_line)
            yield replace(
                as_found, source=source, memory_type=kind_of(fields["content"], entry.above, "fact"), **fields
            )


def _leads_to_file(text: str, directory: Path) -> bool:
    """True if a line links to a file of the directory, which says more than the line."""
    names = (target or f"{name}.md" for target, name in _LINK.findall(text))
    return any("\0" not in name and len(name) < 255 and (directory / Path(name).name).is_file() for name in names)
