"""The result of an export."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field

from memory_pipeline.documents import Document


class Exported(Document):
    """What an export wrote."""

    format: str = Field(description="The format.")
    path: str = Field(description="The file, or the directory.")
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
    left_out: dict[str, int] = Field(description="Memories that are not in it, by the reason.")
    tokens: int = Field(description="Tokens of what an agent loads at its start; 0 if that is not known.")

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
