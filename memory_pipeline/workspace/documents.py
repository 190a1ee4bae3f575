"""The result of an export."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.workspace.directory import FileChange, Outcome


class Exported(Document):
    """What an export wrote."""

    format: str = Field(description="The format.")
    path: str = Field(description="The file, or the directory.")
    contents: tuple[str, ...] = Field(default=(), description="What goes into a workspace, by name.")
    dry_run: bool = Field(default=False, description="Whether nothing was written.")
    project: str | None = Field(description="The project; null if the file holds all of them.")
    exported: int = Field(description="The number of memories in it.")
    written: tuple[str, ...] = Field(description="The files that were created or changed.")
    unchanged: int = Field(description="The number of files that were so already.")
    removed: tuple[str, ...] = Field(description="Files of an earlier export that no longer stand.")
    kept: tuple[str, ...] = Field(
        description="Files of an earlier export that a person has changed; they are left as they are."
    )
    moved: tuple[str, ...] = Field(
        default=(), description="What a person wrote between our marks, and where it stands now, in sentences."
    )
    changes: tuple[FileChange, ...] = Field(
        default=(), description="What happened to each file that is not as it was, or would."
    )
    left_out: dict[str, int] = Field(description="Memories that are not in it, by the reason.")
    tokens: int = Field(description="Tokens of what an agent loads at its start; 0 if that is not known.")

    @classmethod
    def of_directory(
        cls,
        name: str,
        path: Path,
        project: str,
        outcome: Outcome,
        exported: int,
        left_out: Mapping[str, int],
        tokens: int,
    ) -> Self:
        """An export that is a directory."""
        return cls(
            format=name,
            path=str(path),
            project=project,
            exported=exported,
            written=tuple(outcome.names("created", "changed")),
            unchanged=outcome.unchanged,
            removed=tuple(outcome.names("removed")),
            kept=tuple(outcome.names("kept")),
            moved=tuple(outcome.told),
            changes=tuple(outcome.changes),
            left_out=dict(sorted(left_out.items())),
            tokens=tokens,
        )

    @classmethod
    def of_file(cls, name: str, path: Path, project: str | None, exported: int, *, is_new: bool = True) -> Self:
        """An export that is one file of rows."""
        return cls(
            format=name,
            path=str(path),
            project=project,
            exported=exported,
            written=(path.name,) if is_new else (),
            unchanged=int(not is_new),
            removed=(),
            kept=(),
            left_out={},
            tokens=0,
        )
