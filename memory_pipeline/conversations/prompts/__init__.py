"""The prompts about conversations, one file each. Whoever changes a file, the schema of its answer, or the check of
that raises VERSION."""

from __future__ import annotations

from importlib import resources

#: Enters the hash of every prompt, by which answers are kept.
VERSION = "2"


def read_prompt(name: str) -> str:
    """The text of `prompts/NAME.md`."""
    return (resources.files(__name__) / f"{name}.md").read_text("utf-8").strip()
