"""The memory directory of Claude Code: an index, `MEMORY.md`, and one file a fact with its type in front matter.

Earlier versions wrote notes into `MEMORY.md` itself and into files by topic; these are read entry by entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import UNREADABLE, Candidate, Reading, Rejected, Skipped
from memory_pipeline.ingest.foreign import file_time, foreign_id
from memory_pipeline.ingest.markdown import Page, parse_note, parts_of, parts_of_entry, split_front_matter
from memory_pipeline.ingest.openclaw_files import is_written_by_program, text_of
from memory_pipeline.ingest.turns import without_put_in
from memory_pipeline.markers import without_blocks
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import Source
from memory_pipeline.wording.kinds import kind_of
from memory_pipeline.wording.redaction import redact

INDEX = "MEMORY.md"
#: The types of facts in Claude Code, and the memory type of each; None for one that the words tell.
TYPES: Mapping[str, str | None] = {"user": "fact", "feedback": "feedback", "project": None, "reference": "fact"}
_LINK = re.compile(r"\[[^\]\n]{1,300}\]\(([^)\n]{1,300}\.md)\)|\[\[([^\]\n]{1,300})\]\]")


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
