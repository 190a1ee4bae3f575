"""Reads the notes of basic-memory: Markdown with front matter, observations, relations and prose.

`- [category] text #tag (context)` is an observation; a bullet with a tag and no category is one, too. Relations
(`- how [[Note]]`) join notes and say nothing by themselves; all other entries are read as notes are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError, dated
from memory_pipeline.ingest.dates import names_a_day, parse_moment, time_or_none
from memory_pipeline.ingest.foreign import foreign_id, project_of_directory, slug
from memory_pipeline.ingest.importer import FilesImporter, OneFile
from memory_pipeline.ingest.markdown import Page, parse_note, parts_of_entry, split_front_matter
from memory_pipeline.ingest.openclaw_files import note_text
from memory_pipeline.ingest.text_files import beginning
from memory_pipeline.records import Source
from memory_pipeline.text.kinds import kind_of

#: A single sign in brackets is a task's, and a clock time that of a transcript.
_OBSERVATION = re.compile(
    r"\[(?!(?:[\sxX]|[^\w\s])\]|\d{1,3}:\d\d[\d:.,\s-]{0,40}\])([^\[\]()\n]{1,80})\]\s+(\S.*)", re.DOTALL
)
_RELATION = re.compile(r"[^\[\]\n]{0,200}\[\[[^\[\]\n]{1,400}\]\](?:\s{0,8}\([^()\n]{0,400}\))?")
_TODO = re.compile(r"\[(?:[\sxX]|[^\w\s])\]\s")
#: The day, or the first one, for which an observation is said to hold.
_HOLDS = re.compile(r"@(?:[A-Za-z]{1,40})?[:\[(]?\"?(\d{4}-\d{2}-\d{2})(?![\d])")
_EFFECTIVE = re.compile(r"(?<![\w.@])@effective[:\[(]?\"?(\d{4}-\d{2}-\d{2})(?![\d])")
_DIRECTIVE = re.compile(r"\s{1,8}#bm:\w{1,40}$")
_TAG = re.compile(r"(?<![\w#&/])#([\w][\w/-]{0,60})")
_LINK = re.compile(r"\[\[([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{1,400}))?\]\]")
#: Headings that every note has; they say nothing about what stands below them.
_OF_FORMAT = frozenset({"observations", "relations"})
_DATES = ("created", "created_at", "date")
#: How many files are looked at to tell the format.
_LOOKED_AT = 40


class BasicMemoryImporter(FilesImporter):
    """A project of basic-memory, or one note of it."""

    name = "basic-memory"
    about = "A project of basic-memory: Markdown notes with front matter, observations and relations."
    takes = "a project's directory, or one note"
    takes_directory = None
    lacks = "no Markdown notes (*.md); give the project's own directory"

    def found(self, directory: Path) -> list[Path]:
        """The Markdown files below a directory, those in hidden directories left out."""
        notes = sorted(directory.rglob("*.md"))
        return [file for file in notes if not any(part.startswith(".") for part in file.relative_to(directory).parts)]

    def read_file(self, file: OneFile) -> Reading:
        """Every observation and every other entry of a note."""
        text = note_text(file)
        if text is None:
            return
        text = file.masked(text, keep_lines=True)
        page = split_front_matter(text) or Page({}, text, 1)
        try:
            moment, quality = _time(page.fields, file)
            tags = _tags(page.fields)
        except RowError as error:
            yield Rejected(file.name, 1, str(error))
            return
        key = values.text_at(page.fields, "permalink") or file.name.removesuffix(".md")
        subject = values.text_at(page.fields, "title")
        for entry in parse_note(page.body).entries:
            if entry.text.startswith(("```", "~~~")) or is_relation(entry.text):
                file.skipped.add("relations to other notes" if is_relation(entry.text) else "blocks of code")
                continue
            category, words, own_tags = split_observation(entry.text)
            holds = _HOLDS.match(words) or _EFFECTIVE.search(words)
            path = [heading for heading in entry.above if heading.strip().lower() not in _OF_FORMAT]
            for own_words, fields in parts_of_entry(entry, file.skipped, words.strip()):
                digest = hashlib.sha256(f"{category}\x1f{own_words}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
                yield Candidate(
                    source=Source(self.name, file.name, page.first_line + entry.first_line - 1),
                    native_id=foreign_id(self.name, f"{key}#{digest}"),
                    memory_type=kind_of(own_words, (subject, *path, category), "fact"),
                    categories=tuple(dict.fromkeys(filter(None, map(slug, (category, subject))))),
                    tags=tuple(dict.fromkeys((*tags, *own_tags)))[: values.MAX_LABELS],
                    effective_date=time_or_none(holds[1], moment.tzinfo or UTC, file.now) if holds else None,
                    **fields,
                    **dated(moment, quality),
                )

    def sign_of(self, path: Path) -> str | None:
        notes = [path] if path.is_file() else list(islice(path.rglob("*.md"), _LOOKED_AT)) if path.is_dir() else []
        return "a note with the permalink of basic-memory" if any(map(_has_permalink, notes)) else None

    def default_project(self, path: Path) -> str:
        """The directory's name."""
        return project_of_directory(path if path.is_dir() else path.parent)


def _has_permalink(path: Path) -> bool:
    if path.suffix != ".md" or not path.is_file():
        return False
    page = split_front_matter(beginning(path, 20_000))
    return page is not None and isinstance(page.fields.get("permalink"), str)


def is_relation(text: str) -> bool:
    """True if an entry only says how its note is related to another one."""
    return bool(_RELATION.fullmatch(text.strip()))


def split_observation(text: str) -> tuple[str, str, tuple[str, ...]]:
    """The category of an entry (empty without one), its words with links as the names they show, and its tags."""
    observed = _OBSERVATION.fullmatch(text)
    words = observed[2] if observed else _TODO.sub("", text, count=1)
    words = _DIRECTIVE.sub("", words.rstrip())
    tags = tuple(tag.lower() for tag in _TAG.findall(words))
    return observed[1].strip() if observed else "", _LINK.sub(lambda link: link[2] or link[1], words), tags


def _tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags of the front matter: a list, or names between commas."""
    given = fields.get("tags")
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",") if part.strip()]
    return tuple(tag.lstrip("#").lower() for tag in values.labels({"tags": given}, "tags"))


def _time(fields: Mapping[str, Any], file: OneFile) -> tuple[datetime, str]:
    """The time at which a note was created, by its front matter, else by its file."""
    given = values.first_of(fields, *_DATES)
    moment = parse_moment(given, file.zone, file.now, "created")
    if moment is None:
        return file.undated
    return moment, "date" if names_a_day(given) else "exact"
