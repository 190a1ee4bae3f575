"""Which files of a directory are read: the patterns of a source, and the files that hold no memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pathspec import GitIgnoreSpec

from memory_pipeline.config.memory_sources import NO_MEMORIES


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

    @cached_property
    def _excluded(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines([*NO_MEMORIES, *self.exclude])

    @cached_property
    def _included(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.include)


#: Every file that holds memories.
ALL_FILES = FileChoice()
