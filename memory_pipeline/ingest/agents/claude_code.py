"""Reads what Claude Code keeps of itself: the transcripts of its sessions, and its memory directories.

A path may be the directory of all projects (`~/.claude/projects`, or `~/.claude`), that of one project, a memory
directory, or one transcript.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.markers import without_blocks
from memory_pipeline.files.places import QUESTIONS
from memory_pipeline.files.writing import resolve_links
from memory_pipeline.ingest.agents.claude_transcripts import read_transcript
from memory_pipeline.ingest.candidates import UNREADABLE, Candidate, Reading, Rejected, Skipped
from memory_pipeline.ingest.file_choice import ALL_FILES, FileChoice, readable_name
from memory_pipeline.ingest.foreign import file_time, foreign_id, project_name, project_of_directory
from memory_pipeline.ingest.importer import FilesImporter
from memory_pipeline.ingest.markdown import Page, parse_note, parts_of, parts_of_entry, split_front_matter
from memory_pipeline.ingest.openclaw_files import is_written_by_program, text_of
from memory_pipeline.ingest.turns import Transcripts, without_put_in
from memory_pipeline.ingest.values import MAX_ENTRY_TOKENS, MAX_LINE_BYTES
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import Source
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.redaction import redact

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


@dataclass(frozen=True)
class _File:
    """A file to be read: a transcript, or one of a memory directory. `folder`: its project's directory."""

    path: Path
    name: str
    folder: Path

    @property
    def is_transcript(self) -> bool:
        return self.path.suffix == ".jsonl"


class ClaudeCodeImporter(FilesImporter):
    """Claude Code's projects directory, or a part of it. Turns have the ids of their lines."""

    name = "claude-code"
    about = "Claude Code's transcripts and memory files: `~/.claude/projects`, one project in it, or one transcript."
    takes = "a projects directory, the directory of one project, or a transcript"
    takes_directory = None

    def read_chosen(
        self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped, choice: FileChoice
    ) -> Reading:
        """Every turn and every memory of the chosen files. Raises InputError if the path has none."""
        files = list(_files(path, choice, skipped))
        if not files and choice.among is None:
            raise InputError(
                f"'{path}' has no transcripts (*.jsonl) and no memory/*.md; give ~/.claude/projects, or the directory "
                "of one project in it"
            )
        rules = settings.import_
        for file in files:
            if not file.is_transcript:
                key = f"{readable_name(file.folder.name)}/{readable_name(file.path.stem)}"
                yield from read_memory_file(
                    file.path, file.name, key, _project_of_folder(file.folder), MAX_ENTRY_TOKENS, default_zone,
                    now, skipped, mask=rules.redact,
                )  # fmt: skip
                continue
            undated = file_time(file.path, now, default_zone)
            transcripts = Transcripts(self.name, default_zone, now, settings, skipped, undated)
            try:
                yield from read_transcript(
                    file.path, file.name, MAX_LINE_BYTES, transcripts, project_by_place(file.folder)
                )
            except (InputError, OSError) as error:
                yield Rejected(file.name, 0, f"{UNREADABLE}: {error}")

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """Every transcript and memory file that is chosen."""
        return ((file.name, file.path) for file in _files(path, choice, skipped))

    def evidence(self, path: Path) -> str | None:
        """A line of a transcript, or a fact with a type of Claude Code's."""
        for number, file in enumerate(_files(path, ALL_FILES, Skipped())):
            if number == _FIRST_LINES:
                break
            if file.is_transcript and _first_line(file.path, _is_transcript_line):
                return f"lines of a Claude Code session (with 'sessionId') in {file.name}"
            if not file.is_transcript and file.path.name != INDEX and _is_fact(file.path):
                return f"a fact of Claude Code's memory, with its type, in {file.name}"
        return None

    def is_home(self, path: Path) -> bool:
        """A directory of folders that are named for directories, as the program names them."""
        top = path / _PROJECTS if (path / _PROJECTS).is_dir() else path
        return path.is_dir() and any(_IS_PLACE.match(entry.name) and _is_project(entry) for entry in top.glob("*"))

    def is_said_for_good(self, file: str) -> bool:
        """Transcripts are deleted by their program; what was said in them was said."""
        return file.endswith(".jsonl")

    def warnings(self, unread: Mapping[str, datetime], now: datetime) -> Sequence[str]:
        """Transcripts that are deleted soon."""
        old = [at for name, at in unread.items() if name.endswith(".jsonl") and now - at > _WARN_AFTER]
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
        is_one = any(file.folder == folder for file in _files(path, ALL_FILES, Skipped()))
        return _project_of_folder(folder) if is_one else self.name

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """Of notes without an id: derived from the file's name and the words, as in a workspace."""
        from memory_pipeline.ingest.openclaw import entry_id

        file = PurePosixPath(candidate.source.file or "").name
        return entry_id(project, file, content).replace("openclaw:", f"{self.name}:", 1)


def _files(path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[_File]:
    """The chosen files in the order of their names, each once, none of them outside of the path."""
    if path.is_file():
        yield _File(path, readable_name(path.name), path.parent)
        return
    base, seen, folders = resolve_links(path), set(), {path: None}
    for file, folder in _found(path):
        folders[folder] = None
        try:
            real = resolve_links(file)
            if not file.is_file() or real in seen:
                continue
        except OSError:
            continue
        seen.add(real)
        name = readable_name(file.relative_to(path).as_posix())
        if not real.is_relative_to(base):
            skipped.add("links out of the directory")
        elif choice.takes(name):
            yield _File(file, name, folder)
        else:
            choice.count_left_out(name, skipped)
    if choice.among is None:
        subagents = sum(1 for folder in folders for _ in folder.glob("*/subagents/*.jsonl"))
        if subagents:
            skipped.add("files of subagents", subagents)


def _found(path: Path) -> Iterator[tuple[Path, Path]]:
    """Every file that may be read, with its project's directory."""
    if path.name == _MEMORY and not any(path.glob("*.jsonl")):
        yield from ((file, path.parent) for file in sorted(path.rglob("*.md")))
        return
    top = path / _PROJECTS if (path / _PROJECTS).is_dir() else path
    folders = sorted(entry for entry in top.glob("*") if _is_project(entry))
    is_one = not folders or (top == path and path.name != _PROJECTS and any(path.glob("*.jsonl")))
    for folder in [path] if is_one else folders:
        sessions = sorted(file for file in folder.glob("*.jsonl") if not file.name.startswith("agent-"))
        yield from ((file, folder) for file in sessions)
        yield from ((file, folder) for file in sorted((folder / _MEMORY).rglob("*.md")))


def _is_project(entry: Path) -> bool:
    # What this program asked Claude Code about memories is no memory.
    return entry.is_dir() and QUESTIONS not in entry.name and (any(entry.glob("*.jsonl")) or (entry / _MEMORY).is_dir())


def project_by_place(folder: Path) -> Callable[[object], str | None]:
    """The project of a line by its working directory: that at which the session began, for one that lies in it."""

    @lru_cache(maxsize=256)
    def project(told: str) -> str:
        pure = PureWindowsPath(told) if "\\" in told or told[1:2] == ":" else PurePosixPath(told)
        begun = next((one for one in (pure, *pure.parents) if _folder_name(str(one)) == folder.name), pure)
        return project_name(begun.name)

    def by_place(told: object) -> str | None:
        is_path = isinstance(told, str) and 0 < len(told) < 4096
        return project(told) if is_path and isinstance(told, str) else _project_of_folder(folder)

    return by_place


def _folder_name(directory: str) -> str:
    """The name of a working directory's folder: every character but letters and digits is a hyphen."""
    return _NO_ALPHANUMERIC.sub("-", directory)


@lru_cache(maxsize=256)
def _project_of_folder(folder: Path) -> str:
    """The project of a folder whose name is a working directory with hyphens: as a transcript in it or the disk gives
    the directory, else what stands behind its last hyphen."""
    for transcript in sorted(folder.glob("*.jsonl")):
        place = _first_line(transcript, lambda line: _place_in(line, folder.name))
        if place:
            return project_by_place(folder)(place) or "default"
    found = _directory_on_disk(Path("/"), folder.name) if folder.name.startswith("-") else None
    if found is None and _IS_PLACE.match(folder.name):
        return project_name(folder.name.rpartition("-")[2])
    return project_of_directory(found or folder)


def _directory_on_disk(directory: Path, name: str) -> Path | None:
    """The directory whose path gives this folder's name, if it exists and can be listed."""
    try:
        entries = sorted(entry for entry in directory.iterdir() if entry.is_dir())
    except OSError:
        return None
    for entry in entries:
        told = _folder_name(str(entry))
        if told == name:
            return entry
        if name.startswith(f"{told}-") and (found := _directory_on_disk(entry, name)):
            return found
    return None


def _place_in(line: Mapping[str, object], folder: str) -> str | None:
    place = line.get("cwd")
    return place if isinstance(place, str) and _folder_name(place) == folder else None


def _is_transcript_line(line: Mapping[str, object]) -> str | None:
    """Whether a line is one of a transcript."""
    session = line.get("sessionId")
    return session if isinstance(session, str) and line.get("type") in _KINDS else None


def _first_line(path: Path, tell: Callable[[Mapping[str, object]], str | None]) -> str | None:
    """What the first line tells that tells anything; only the beginning of the file is read."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            for _ in range(_FIRST_LINES):
                raw = file.readline(_LINE_BYTES)
                if not raw:
                    break
                try:
                    line = json.loads(raw)
                except (ValueError, RecursionError):
                    continue
                if isinstance(line, Mapping) and (found := tell(line)):
                    return found
    except OSError:
        pass
    return None


def _is_fact(path: Path) -> bool:
    """Whether a file has front matter with a type of Claude Code's."""
    try:
        with path.open("rb") as file:
            page = split_front_matter(file.read(_LINE_BYTES).decode("utf-8", "replace").replace("\r\n", "\n"))
    except OSError:
        return False
    if page is None or "name" not in page.fields:
        return False
    metadata = page.fields.get("metadata")
    told = metadata.get("type") if isinstance(metadata, Mapping) else page.fields.get("type")
    return isinstance(told, str) and told in TYPES


def read_memory_file(
    path: Path,
    name: str,
    key: str,
    project: str | None,
    max_tokens: int,
    zone: tzinfo,
    now: datetime,
    skipped: Skipped,
    *,
    mask: bool,
) -> Reading:
    """The memories of a file. `key`: what its ids begin with; `mask`: mask secrets before the file is split."""
    try:
        text = text_of(path, skipped)
    except (OSError, InputError) as error:
        yield Rejected(name, 0, f"{UNREADABLE}: {error}")
        return
    if is_written_by_program(text):
        skipped.add("files that a program wrote")
        return
    text = without_blocks(text)
    moment, quality = file_time(path, now, zone)
    text, masked = redact(text) if mask else (text, {})
    as_found = Candidate(
        content="",
        source=Source("claude-code", name, 1),
        project_id=project,
        created_at=moment.astimezone(UTC),
        utc_offset=minutes_ahead(moment),
        created_at_quality=quality,
        masked=tuple(sorted(masked.items())),
    )
    page = split_front_matter(text)
    stated = _stated_type(page.fields) if page else None
    if page and (stated or "name" in page.fields):
        yield from _fact(page, stated, as_found, foreign_id("claude-code", key), max_tokens, skipped)
    else:
        text = "\n" * (page.first_line - 1) + page.body if page else text
        yield from _entries(text, path, as_found, max_tokens, skipped)


def _stated_type(fields: Mapping[str, Any]) -> str | None:
    """The type that a file states, in its `metadata` or beside it."""
    metadata = fields.get("metadata")
    for told in (metadata.get("type") if isinstance(metadata, Mapping) else None, fields.get("type")):
        if isinstance(told, str) and told.strip():
            return told.strip().lower()[:40]
    return None


def _fact(
    page: Page, stated: str | None, as_found: Candidate, native_id: str, max_tokens: int, skipped: Skipped
) -> Reading:
    """The one memory of a file with front matter, in parts if it is long. Without a text of its own, its description
    is what it says."""
    body = page.body.strip()
    described = page.fields.get("description")
    words = body or (described.strip() if isinstance(described, str) else "")
    first = page.first_line + len(page.body[: len(page.body) - len(page.body.lstrip())].split("\n")) - 1
    if not words:
        file = as_found.source.file or ""
        yield Rejected(file, 1, "the file has front matter, but no text and no description")
        return
    kind = TYPES.get(stated or "") or kind_of(words, (stated or "",), "fact")
    name = page.fields.get("name")
    slug = "-".join(re.findall(r"[^\W_]+", name.lower()))[:60].strip("-") if isinstance(name, str) else ""
    for number, part in enumerate(parts_of(words, max_tokens, skipped), start=1):
        yield replace(
            as_found,
            content=part,
            source=replace(as_found.source, line=first if body else 1),
            native_id=native_id if number == 1 else f"{native_id}~{number}",
            memory_type=kind,
            categories=(slug,) if slug else (),
            tags=(stated,) if stated else (),
            masked=as_found.masked if number == 1 else (),
        )


def _entries(text: str, path: Path, as_found: Candidate, max_tokens: int, skipped: Skipped) -> Reading:
    """The entries of a file without front matter; lines of an index that lead to a file of their own are none."""
    masked = as_found.masked
    for entry in parse_note(without_put_in(text, skipped)).entries:
        if path.name == INDEX and _leads_to_file(entry.text, path.parent):
            skipped.add("lines of an index")
            continue
        for part in parts_of_entry(entry, max_tokens, skipped):
            yield replace(
                part.describe(as_found),
                source=replace(as_found.source, line=entry.first_line),
                memory_type=kind_of(part.content, entry.above, "fact"),
                masked=masked,
            )
            masked = ()


def _leads_to_file(text: str, directory: Path) -> bool:
    """Whether a line links to a file of the directory, which says more than the line."""
    for target, name in _LINK.findall(text):
        stem = target or f"{name}.md"
        if "\0" not in stem and len(stem) < 255 and (directory / Path(stem).name).is_file():
            return True
    return False
