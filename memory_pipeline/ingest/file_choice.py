"""Which files of a directory are read, and their names as text: file names are bytes and need not be UTF-8."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pathspec import GitIgnoreSpec

from memory_pipeline.config.memory_sources import COPIES, NO_MEMORIES
from memory_pipeline.ingest.candidates import Skipped


@dataclass(frozen=True)
class FileChoice:
    """Files by their path relative to the directory, with patterns as in `.gitignore`.

    `include`: only files that match (all, if empty). `exclude`: besides those that hold no memories; a pattern that
    begins with `!` takes a file back. `among`: only these files, whose choice was made before.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    among: frozenset[str] | None = None

    @classmethod
    def of(cls, files: Iterable[str]) -> FileChoice:
        """Exactly these files."""
        return cls(among=frozenset(files))

    def takes(self, relative: str) -> bool:
        """Whether a file is read."""
        if self.among is not None:
            return relative in self.among
        return not self._excluded.match_file(relative) and (not self.include or self._included.match_file(relative))

    def count_left_out(self, relative: str, skipped: Skipped) -> None:
        """Count a file that is not read, unless the choice was made before."""
        if self.among is None:
            skipped.add("backup copies" if is_copy(relative) else "files without memories, or excluded")

    @cached_property
    def _excluded(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines([*NO_MEMORIES, *COPIES, *self.exclude])

    @cached_property
    def _included(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.include)


#: Every file that holds memories.
ALL_FILES = FileChoice()
_COPIES = GitIgnoreSpec.from_lines(COPIES)


def is_copy(relative: str) -> bool:
    """Whether a file is a copy that was left beside another one, by its name."""
    return _COPIES.match_file(relative)


def readable_name(name: str) -> str:
    """A file name as text that can be stored: bytes that are not UTF-8 and line breaks are written as `\\xe9`."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
