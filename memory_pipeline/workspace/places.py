"""The originals of files of others, and where the pages of a project stand."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

from memory_pipeline.files.shared_blocks import FILES, WRITTEN
from memory_pipeline.files.writing import directories, nobody, real_path, writing_whole

#: Suffixes of the directories beside a store: its pages, and the first originals of files that exports changed.
PAGES, ORIGINALS = ".pages", ".originals"
MEMORY_FILE, PLAYBOOK_FILE, SERIES_FILE = "MEMORY.md", "memory/playbook.md", "memory/series.md"
#: The folder of the rollups of each level; a day's stands in its log.
ROLLUP_FOLDERS = {"day": "DailyLogs", "week": "weekly", "month": "monthly", "year": "yearly"}
_UNSAFE = re.compile(r"[^\w-]+")
_LONGEST_NAME = 80


def pages_of(store: Path, project: str) -> Path:
    """The directory of a project's pages."""
    return store.with_suffix(PAGES) / folder_of(project)


def daily_log(day: date) -> str:
    """The log of a day, among the pages of a project."""
    return f"{ROLLUP_FOLDERS['day']}/{day}.md"


def daily_summary(day: date) -> str:
    """The page that says what was kept of a day's conversations."""
    return f"daily/{day}.md"


def folder_of(project: str) -> str:
    """A project as the name of a directory: different projects have different ones, whatever they are called."""
    safe = _UNSAFE.sub("-", project.casefold()).strip("-_")[:_LONGEST_NAME]
    if safe and safe == project:
        return safe
    return f"{safe or 'project'}-{hashlib.sha256(project.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def written_files(store: Path) -> Iterator[Path]:
    """Every file with words of memories that was written for people and agents: pages, the files of exports and their
    first originals, and the records of flushes."""
    for suffix in (PAGES, ORIGINALS, WRITTEN):
        yield from (path for path in sorted(store.with_suffix(suffix).rglob("*")) if path.is_file())
    exported: list[str] = []
    with suppress(OSError):
        text = (store.with_suffix(WRITTEN) / FILES).read_text(encoding="utf-8", errors="surrogateescape")
        exported = [name for name in dict.fromkeys(text.split("\n")) if name]
    pages = store.with_suffix(PAGES)
    yield from (path for path in map(Path, exported) if path.is_file() and not path.is_relative_to(pages))


def original_of(store: Path, path: Path) -> Path:
    """Where the first original of a file is kept."""
    real = real_path(path)
    return store.with_suffix(ORIGINALS).joinpath(*real.relative_to(real.anchor).parts)


def keep_original(store: Path, path: Path, text: str) -> None:
    """Keep the text of a file that is to be changed, unless one of it is kept. Raises OutputError if it cannot be."""
    kept = original_of(store, path)
    if kept.exists():
        return
    with directories(kept.parent), writing_whole(kept, nobody, private=True) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
