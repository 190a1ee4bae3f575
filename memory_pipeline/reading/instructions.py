"""The instructions of readers, a file each: of notes, of a conversation, of a session that still goes on, of patterns,
of a period, and of drafts. How to write a statement, and which checks follow, is the same for the first three.

Versions change with the instructions, the fields of the answer, and the check.
"""

from __future__ import annotations

import re
from importlib import resources


def _read(name: str) -> str:
    """The text of `prompts/NAME.md`, with the texts of the other files that it names in braces."""
    text = (resources.files(__package__) / "prompts" / f"{name}.md").read_text("utf-8").removesuffix("\n")
    return re.sub(r"\{([a-z_]+)\}", lambda named: _read(named[1]), text)


NOTES, NOTES_VERSION = _read("notes"), "notes-15"
CONVERSATION, CONVERSATION_VERSION = _read("conversation"), "conversation-11"
SESSION, SESSION_VERSION = _read("session"), "session-11"
PRINCIPLES, PRINCIPLES_VERSION = _read("principles"), "principles-4"
PERIOD, PERIOD_VERSION = _read("period"), "period-2"
FAITHFULNESS, FAITHFULNESS_VERSION = _read("faithfulness"), "faithfulness-1"
