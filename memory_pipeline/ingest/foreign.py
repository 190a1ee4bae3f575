"""What the importers of other programs share: ids, names of projects, times of files, and the marks that these programs
put into notes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.files.writing import real_path
from memory_pipeline.ingest.candidates import RowError, Skipped
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.values import NEVER_ARCHIVED
from memory_pipeline.moments import FIRST_MEMORY
from memory_pipeline.records import EXPIRED
from memory_pipeline.records.identifiers import MAX_ID
from memory_pipeline.text.hidden import METADATA

_DIGEST = 32
_FAR = datetime(9000, 1, 1, tzinfo=UTC)


def foreign_id(format_name: str, *native: object) -> str:
    """The id of what another program calls by `native`: `<format>:<native id>`, in a form that every import takes."""
    told = ":".join([format_name, *(str(part) for part in native)])
    kept = "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "_" for c in told).strip()
    if kept == told and len(told) <= MAX_ID:
        return told
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{kept[: MAX_ID - _DIGEST - 1]}~{digest}"


def project_name(name: str) -> str:
    """A directory's name as that of a project: in lower case, with hyphens; `default` if nothing is left of it."""
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "default"


def project_of_directory(path: Path) -> str:
    """The project that a directory is named after."""
    return project_name(real_path(path).name)


def slug(words: str) -> str:
    """A heading or a name as a category: its words in lower case, with hyphens."""
    return "-".join(re.findall(r"[^\W_]+", words.lower()))[:60].strip("-")


def part_name(file: str, part: str) -> str:
    """The name of one conversation in a file of several, as the sources of its memories give it."""
    return f"{file}#{part}"


def file_of_part(name: str) -> str:
    """The file that holds a part."""
    return name.rpartition("#")[0] or name


def file_time(path: Path, now: datetime, zone: tzinfo) -> tuple[datetime, str]:
    """When a file was last changed, in a zone, and the quality of that time; the time of the import if the file's is
    none."""
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)
    except (OSError, OverflowError, ValueError):  # removed since, or a time beyond the calendar
        return now, "import"
    return (written.astimezone(zone), "mtime") if FIRST_MEMORY <= written <= now else (now, "import")


def newest_of(created: datetime | None, updated: datetime | None) -> datetime | None:
    """When what another program created, and may have updated since, was said; None if it does not tell."""
    return max(created, updated or created).astimezone(UTC) if created else None


def time_to_come(value: object, zone: tzinfo) -> datetime | None:
    """A time at which something ends; what cannot be read is no time."""
    try:
        return parse_moment(value, zone, _FAR)
    except RowError:
        return None


def archive_expired(
    until: datetime | None, created: datetime | None, now: datetime, importance: float = 1.0
) -> dict[str, Any]:
    """The archive fields of a memory of this importance whose time was over then; none if it is not over. What is
    critical does not expire."""
    if until is None or until > now or importance >= NEVER_ARCHIVED:
        return {}
    return {
        "archived_by": EXPIRED,
        "archived_at": max(until, created or now).astimezone(UTC),
        "importance_before": importance,
        "importance": min(importance, 0.5),
    }


WRAPPERS = "lines that another program put around messages"
SESSION_IDS = "keys and ids of sessions"
WORDLESS = "entries without words"
EMPTY_LABELS = "labels with nothing below them"

_SCORES = re.compile(r"[ \t]*\[score=\d+(?:\.\d+)?(?: \w+=[^\s\]]+)+\][ \t]*$", re.MULTILINE)
_EXTERNAL = re.compile(
    r"(?:^[ \t]*Untrusted context \(metadata[^\n]{0,200}\n\s{0,20})?"
    r"<<<EXTERNAL_UNTRUSTED_CONTENT((?: id=\"[^\"\n]{1,80}\")?)>>>",
    re.MULTILINE,
)
#: Characters behind the start of a stranger's text in which its end is looked for.
_LONGEST_EXTERNAL = 200_000
_SESSION_ID = re.compile(
    r"\W*(?:\*\*)?session (?:key|id)(?:\*\*)?\W.*"
    r"|\W*(?:agent:[\w-]+:\S+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\W*",
    re.IGNORECASE,
)


def blank_wrappers(text: str, skipped: Skipped) -> str:
    """The text with wrappers blanked, so that line numbers stay the same."""
    if "(untrusted" not in text and "EXTERNAL_UNTRUSTED" not in text:
        return text
    blanked = _without_external(METADATA.sub(lambda found: "\n" * found[0].count("\n"), text))
    skipped.add(WRAPPERS, _lines_in(text) - _lines_in(blanked))
    return blanked


def _without_external(text: str) -> str:
    """The text without the texts of strangers; of one that never ends, without its mark."""
    pieces: list[str] = []
    done = 0
    for start in _EXTERNAL.finditer(text):
        if start.start() < done:
            continue
        closing = f"<<<END_EXTERNAL_UNTRUSTED_CONTENT{start[1]}>>>"
        place = text.find(closing, start.end(), start.end() + _LONGEST_EXTERNAL)
        end = start.end() if place < 0 else place + len(closing)
        pieces += [text[done : start.start()], "\n" * text.count("\n", start.start(), end)]
        done = end
    return "".join([*pieces, text[done:]])


def _lines_in(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def without_scores(text: str) -> str:
    """The text without the scores that another program put behind it."""
    return _SCORES.sub("", text) if "[score=" in text else text


def why_no_memory(text: str) -> str | None:
    """Why the text of an entry is no memory; None if it is one."""
    if not any(map(str.isalnum, text)):
        return WORDLESS
    return SESSION_IDS if _SESSION_ID.fullmatch(text) else None


class Blocks:
    """Blocks of a program, known by the names of their tags. `anywhere`: those that may begin within a line."""

    def __init__(self, names: Iterable[str] = (), anywhere: Iterable[str] = ()) -> None:
        self._anywhere = frozenset(anywhere)
        every = "|".join(map(re.escape, sorted({*names, *self._anywhere})))
        self._tag = re.compile(rf"<(/?)({every})(?:\s[^<>]{{0,200}})?>")

    def taken_off(self, text: str) -> tuple[str, int]:
        """The text without its blocks, and their number.

        A block ends where as many tags are closed as were opened at the beginning of a line; where another closing tag
        stands in a line of its own before the next block, the first one was quoted. A block that begins a line and
        never ends goes on to the end of the text: words behind it cannot be told from the program's. A tag within a
        line that is never closed is only mentioned.
        """
        if "<" not in text:
            return text, 0
        tags = [_Tag.of(found, text) for found in self._tag.finditer(text)]
        of_name: dict[str, list[_Tag]] = {}
        for tag in tags:
            of_name.setdefault(tag.name, []).append(tag)
        for own in of_name.values():
            _number(own)
        kept: list[str] = []
        done = number = 0
        for tag in tags:
            if tag.start < done or not tag.opens:
                continue
            tag.begins_line |= done > 0 and not text[done : tag.start].strip()
            end = self._end(of_name[tag.name], tag, len(text))
            if end is not None:
                kept.append(text[done : tag.start])
                done = end
                number += 1
        return "".join([*kept, text[done:]]), number

    def _end(self, tags: Sequence[_Tag], first: _Tag, length: int) -> int | None:
        """Where the block ends that begins with a tag; None if none does. `tags`: all of the same name."""
        if not first.begins_line and first.name not in self._anywhere:
            return None
        at, depth = first.number + 1, 1
        if not first.begins_line:
            at = first.deciding
            if at == len(tags) or tags[at].opens:
                return None
        while at < len(tags) and depth > 0:
            depth += tags[at].begins_line if tags[at].opens else -1
            at += 1
        if depth > 0:
            return length
        last = tags[at - 1]
        while at < len(tags) and not tags[at].opens:
            last = tags[at] if tags[at].begins_line and tags[at].ends_line else last
            at += 1
        return last.end


@dataclass(slots=True)
class _Tag:
    """A tag in a text. `number`: its place among those of its name; `deciding`: that of the next one that closes a
    block or begins one with its line."""

    name: str
    opens: bool
    start: int
    end: int
    begins_line: bool
    ends_line: bool
    number: int = 0
    deciding: int = 0

    @classmethod
    def of(cls, found: re.Match[str], text: str) -> _Tag:
        start, end = found.span()
        before = text[max(0, start - 200) : start].rpartition("\n")[2]
        behind = text[end : end + 200].partition("\n")[0]
        return cls(found[2], not found[1], start, end, not before.strip(), not behind.strip())


def _number(tags: Sequence[_Tag]) -> None:
    """Give the tags of one name, in order, their places."""
    deciding = len(tags)
    for number in range(len(tags) - 1, -1, -1):
        tag = tags[number]
        tag.number, tag.deciding = number, deciding
        if not tag.opens or tag.begins_line:
            deciding = number
