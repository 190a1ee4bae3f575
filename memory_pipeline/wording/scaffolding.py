"""Recognises what a chat program or a terminal puts around what somebody says: sender blocks, metadata, prompts.

Such scaffolding is the same around different messages, so it takes no part in comparing them: it is neither embedded
nor a statement. It stays in the memory, word for word.
"""

from __future__ import annotations

import re

from memory_pipeline.wording.memo import remembered

#: Longer texts are documents; in them nothing is looked for.
_LONGEST = 50_000
#: What a text must contain for any of these to find something in it.
_HINT = re.compile(
    r"untrusted|message_id|system-reminder|local-command|command-name|@[\w.-]+:|^\s*(?:PS [A-Z]:\\|➜)|id:", re.M
)
#: `Conversation info (untrusted metadata):` with the JSON after it, fenced or bare.
METADATA = re.compile(
    r"^[ \t]*[A-Z][\w ,'-]{2,60}\(untrusted[^)\n]{0,40}\):?[ \t]*\n?"
    r"(?:[ \t]*```(?:json)?[^\n]*\n.{0,4000}?\n[ \t]*```[ \t]*|[ \t]*\{.{0,4000}?\n?[ \t]*\})[ \t]*$\n?",
    re.MULTILINE | re.DOTALL,
)
_TAGGED = re.compile(r"<(system-reminder|local-command-\w+|command-\w+)>.{0,8000}?</\1>\s*", re.DOTALL)
_MESSAGE_ID = re.compile(r"[ \t]*\[?\bmessage_id:[ \t]*[^\]\n]{1,200}\]?[ \t]*")
#: `[Telegram Bob id:123 2026-05-01 10:00] `: the channel, who and when, before a message.
_ENVELOPE = re.compile(r"^[ \t]*\[[A-Z][\w ]{1,30}[^\]\n]{0,120}\bid:[^\]\n]{1,80}\][ \t]*", re.MULTILINE)
#: The day and time before a message, in brackets, with or without the channel.
_STAMPED = re.compile(r"\s*\[[^\]\n]{0,200}\d{4}-\d{2}-\d{2}[^\]\n]{0,80}\][ \t]*")
#: The last characters of a message, in which its id may stand.
_END = 300
_LAST_ID = re.compile(r"\n?\[message_id:[^\]\n]{0,200}\]\s*\Z")
#: From a prompt to the next empty line: what was pasted from a terminal.
_TERMINAL = re.compile(
    r"^[ \t]*(?:[\w.-]+@[\w.-]+:[^\n$#]{0,120}[$#]|PS [A-Z]:\\[^\n>]{0,120}>|➜)[ \t][^\n]*(?:\n(?![ \t]*\n)[^\n]+)*\n?",
    re.MULTILINE,
)


@remembered
def without_scaffolding(text: str) -> str:
    """The text without the scaffolding around what is said; a text of nothing else stays as it is."""
    if len(text) > _LONGEST or not _HINT.search(text):
        return text
    left = text
    for pattern in (METADATA, _TAGGED, _MESSAGE_ID, _ENVELOPE, _TERMINAL):
        left = pattern.sub("", left)
    return left.strip("\n") if left.strip() and left != text else text


def unwrapped(message: str) -> str:
    """A message as it was sent: without the blocks about its sender and the envelope before it, and its id at the end
    of it."""
    start = 0
    while found := METADATA.match(message, start):
        start = found.end()
        while start < len(message) and message[start] in "\r\n":
            start += 1
    envelope = _STAMPED.match(message, start) or _ENVELOPE.match(message, start)
    words = message[envelope.end() if envelope else start :]
    return words[:-_END] + _LAST_ID.sub("", words[-_END:])
