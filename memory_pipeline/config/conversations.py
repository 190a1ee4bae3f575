"""Settings of conversations: how they are read, and where what is kept of them goes."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal

from pydantic import field_validator

from memory_pipeline.config.section import Section, setting


class Conversations(Section):
    """`conversations`: how what was said is read."""

    human_names: tuple[str, ...] = setting(
        (), "Names of the human, where turns begin with names; beside those that USER.md tells."
    )
    agent_names: tuple[str, ...] = setting(
        (), "Names of the agent, where turns begin with names; beside those that SOUL.md and IDENTITY.md tell."
    )


class Destinations(Section):
    """`compression.destinations`: where what is kept of conversations goes."""

    user: str = setting("USER.md", "Page for what is about the human; if empty, none is written.")
    relational: str = setting("RELATIONAL.md", "Page for how the two work together; if empty, none is written.")
    soul: str = setting("SOUL.md", "Page for what is about the agent; if empty, none is written.")
    embeddings: Literal["memories", ""] = setting(
        "memories", "Where what the work depends on goes: `memories`, in the store; if empty, nowhere."
    )

    @field_validator("user", "relational", "soul")
    @classmethod
    def _is_in_the_workspace(cls, name: str) -> str:
        if not name:
            return name
        parts = PurePosixPath(name).parts
        if PureWindowsPath(name).is_absolute() or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name:
            raise ValueError("write a path inside of the pages, like USER.md or notes/USER.md")
        if not name.endswith(".md") or parts[-1] == ".md":
            raise ValueError("name a file of Markdown, like USER.md")
        return name
