"""Settings of conversations and of live contexts: how they are read, how full a context may be, where what is kept
goes.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal

from pydantic import field_validator, model_validator

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


_INTERVAL = re.compile(r"(\d{1,4})\s?(m|h|d)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
#: The next larger window that is in use.
_MILLION = 1_000_000
_WINDOW = re.compile(r"^[^=\s]+=\d{3,9}$")


class Compaction(Section):
    """`compaction`: how full the context of a session may be, and what is kept of it before it is compacted."""

    window_tokens: int = setting(
        200_000, "Context window of a model of which nothing else is known, in tokens.", ge=1000, le=1_000_000_000
    )
    windows: tuple[str, ...] = setting(
        (),
        "Context windows of models, as `MODEL=TOKENS`; the model's name may be its beginning: `claude-opus=1000000`.",
    )
    warning: float = setting(0.80, "Share of the window at which a session is flushed.", gt=0, le=1)
    threshold: float = setting(0.90, "Share of the window at which a session is compacted.", gt=0, le=1)
    emergency: float = setting(0.975, "Share of the window at which a session is flushed at once.", gt=0, le=1)
    usage_files: tuple[str, ...] = setting((), "Files in which agents report how full the contexts of sessions are.")

    @field_validator("windows")
    @classmethod
    def _are_windows(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _WINDOW.match(value):
                raise ValueError(f"{value!r} is no window; write it as MODEL=TOKENS, like claude-opus=1000000")
        return values

    @model_validator(mode="after")
    def _rise(self) -> Compaction:
        if not self.warning <= self.threshold <= self.emergency:
            raise ValueError(
                f"warning {self.warning:g}, threshold {self.threshold:g} and emergency {self.emergency:g} must rise"
            )
        return self

    def window_of(self, model: str, tokens: int = 0) -> int:
        """The context window of a model: the longest of `windows` with which its name begins, a million for a name
        with `[1m]`, else `window_tokens`. A context that holds more `tokens` than that has a larger one."""
        named = [(name, int(size)) for name, _, size in (one.rpartition("=") for one in self.windows)]
        fitting = [(len(name), size) for name, size in named if model.startswith(name)]
        window = max(fitting)[1] if fitting else _MILLION if "[1m]" in model else self.window_tokens
        return window if tokens <= window else max(tokens, _MILLION)


def check_interval(text: str) -> timedelta:
    """A time such as `90m`, `2h` or `1d`. Raises ValueError for anything else, and for less than a minute."""
    found = _INTERVAL.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise ValueError("write a number with m, h or d, such as 90m, 2h or 1d")
    return int(found[1]) * _UNITS[found[2]]
