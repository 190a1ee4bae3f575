"""The parts that the importers of other programs share: ids, names of projects, times of files, and the marks that
these programs put into notes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.files.writing import real_path
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import FAR, time_or_none
from memory_pipeline.ingest.values import NEVER_ARCHIVED
from memory_pipeline.records import EXPIRED, MAX_ID
from memory_pipeline.text.hidden import METADATA

_DIGEST = 32


def foreign_id(format_name: str, *native: object) -> str:
    """The id of what another program calls by `native`: `<format>:<native id>`, in a form that every import takes."""
    name = ":".join([format_name, *(str(part) for part in native)])
    return shortened(name, "".join(c if c.isprintable() else "_" for c in name).strip())


def shortened(name: str, printable: str | None = None) -> str:
    """An id, or, if it is too long or not `printable` as it is, the beginning of it and a hash of the whole."""
    printable = name if printable is None else printable
    if printable == name and len(name) <= MAX_ID:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{printable[: MAX_ID - _DIGEST - 1]}~{digest}"


def project_name(name: str) -> str:
    """A directory's name as that of a project: in lower case, with hyphens; `default` if nothing is left of it."""
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "default"


def project_of_directory(path: Path) -> str:
    """The project that a directory is named after."""
    return project_name(real_path(path).name)


def slug(words: str) -> str:
    """A heading or a name as a category: its words in lower case, with hyphens."""
    return "-".join(re.findall(r"[^\W_]+", words.lower()))[:60].strip("-")


def newest_time(created: datetime | None, updated: datetime | None) -> datetime | None:
    """The time of words that another program created, and may have updated since; None if it does not tell."""
    return max(created, updated or created).astimezone(UTC) if created else None


def archive_expired(
    ends: object, zone: tzinfo, created: datetime | None, now: datetime, importance: float = 1.0
) -> dict[str, Any]:
    """The archive fields of a memory of this importance whose time was over then; none if it is not over. `ends`: what
    its program says of that; what cannot be read is no time. What is critical does not expire."""
    until = time_or_none(ends, zone, FAR)
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
    blanked = _without_external(METADATA.sub(lambda match: "\n" * match[0].count("\n"), text))
    skipped.add(WRAPPERS, count_lines(text) - count_lines(blanked))
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


def count_lines(text: str) -> int:
    """The number of lines with anything in them."""
    return sum(bool(line.strip()) for line in text.split("\n"))


def without_scores(text: str) -> str:
    """The text without the scores that another program put behind it."""
    return _SCORES.sub("", text) if "[score=" in text else text


def why_no_memory(text: str) -> str | None:
    """The reason why the text of an entry is no memory; None if it is one."""
    if not any(map(str.isalnum, text)):
        return WORDLESS
    return SESSION_IDS if _SESSION_ID.fullmatch(text) else None


class Blocks:
    """Blocks of a program, known by the names of their tags. `anywhere`: those that may begin within a line."""

    def __init__(self, names: Iterable[str] = (), anywhere: Iterable[str] = ()) -> None:
        self._anywhere = frozenset(anywhere)
        every = "|".join(map(re.escape, sorted({*names, *self._anywhere})))
        ends = r"(?:(?=(?P<ends_line>[^\S\n]{0,200}$))|)"
        self._tag = re.compile(rf"<(/?)({every})(?:\s[^<>]{{0,200}})?>{ends}", re.MULTILINE)

    def taken_off(self, text: str) -> tuple[str, int]:
        """The text without its blocks, and their number.

        A block ends where as many tags are closed as were opened at the beginning of a line; where another closing tag
        stands in a line of its own before the next block, the first one was quoted. A block that begins a line and
        never ends goes on to the end of the text: words behind it cannot be told from the program's. A tag within a
        line that is never closed is only mentioned.
        """
        tags = list(self._tag.finditer(text))
        is_closed: dict[str, bool] = {}
        closed = set()
        for tag in reversed(tags):
            if is_closed.get(tag[2]):
                closed.add(tag)
            if tag[1] or _begins_line(text, tag, 0):
                is_closed[tag[2]] = bool(tag[1])
        parts: list[str] = []
        name, done, number, depth = "", 0, 0, 0
        for tag in tags:
            is_own, begins = tag[2] == name, _begins_line(text, tag, done)
            if depth and is_own:
                depth += -1 if tag[1] else begins
                done = done if depth else tag.end()
            elif not depth and not tag[1] and (begins or (tag[2] in self._anywhere and tag in closed)):
                parts.append(text[done : tag.start()])
                name, depth, number = tag[2], 1, number + 1
            elif not depth and is_own and tag[1] and begins and tag["ends_line"] is not None:
                done = tag.end()
        return "".join([*parts, "" if depth else text[done:]]), number


def _begins_line(text: str, tag: re.Match[str], done: int) -> bool:
    """True if nothing stands before a tag in its line, or between it and what was taken off."""
    start = tag.start()
    return not text[max(done, start - 200) : start].rpartition("\n")[2].strip()
