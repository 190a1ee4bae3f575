"""The prompts, one file each. Whoever changes a file, or the schema of the answers, raises VERSION."""

from __future__ import annotations

from importlib import resources

#: Enters the prompt hash and the id of every abstraction that a model writes.
VERSION = "6"


def read_prompt(name: str) -> str:
    """The text of `prompts/NAME.md`."""
    return (resources.files(__name__) / f"{name}.md").read_text("utf-8")
