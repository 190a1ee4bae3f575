"""One conversation of a ChatGPT export: a tree of messages, of which the branch that was shown last was said.

A conversation may be of any length: what its messages say is kept on disk beyond a limit until the branch is known.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_pipeline.ingest.candidates import RowError, Skipped
from memory_pipeline.ingest.json_stream import Unreadable
from memory_pipeline.ingest.turns import AGENT, CALLS, OF_SYSTEM, RESULTS, THOUGHTS, Speaker, is_nobody, speaker_of

DRAFTS = "messages of branches that were given up"
_FILES = "images and other files"
_OF_KIND = {
    "code": CALLS,
    "execution_output": RESULTS,
    "tether_quote": RESULTS,
    "tether_browsing_display": RESULTS,
    "system_error": RESULTS,
    "computer_output": RESULTS,
    "sonic_webpage": RESULTS,
    "thoughts": THOUGHTS,
    "reasoning_recap": THOUGHTS,
    "user_editable_context": OF_SYSTEM,
    "model_editable_context": OF_SYSTEM,
}
_SPOKEN = "audio_transcription"
#: Marks of citations, which lead to nothing outside of ChatGPT.
_CITATIONS = re.compile(r"\ue200[^\ue200\ue201]{0,400}\ue201|【[^【】\n]{0,40}†[^【】\n]{0,80}】")
#: Characters of a conversation that are kept in memory.
_MOST_IN_MEMORY = 16_000_000
#: Messages of a conversation that are read, and what each counts for beside its id, in characters.
_MOST_NODES, _NODE = 300_000, 100


@dataclass(frozen=True, slots=True)
class Message:
    """A message of somebody. `at`: its time as the export tells it."""

    number: int
    message_id: str | None
    speaker: Speaker
    at: object


@dataclass
class Conversation:
    """What is read of a conversation so far. `left_out`: by node, why its message is nobody's words; `wrong`: why it
    cannot be read."""

    session: str | None = None
    current: str | None = None
    created: object = None
    is_forgotten: bool = False
    has_tree: bool = False
    _parents: dict[str, str | None] = field(default_factory=dict)
    _messages: dict[str, Message] = field(default_factory=dict)
    _left_out: dict[str, Skipped] = field(default_factory=dict)
    _wrong: dict[str, str] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    _size: int = 0
    _weight: int = 0
    _disk: sqlite3.Connection | None = None

    def tell(self, name: str, value: object) -> None:
        """Take over a field of the conversation."""
        if name == "id" or (name == "conversation_id" and self.session is None):
            self.session = value if isinstance(value, str) and value.strip() else self.session
        elif name == "current_node":
            self.current = value if isinstance(value, str) else None
        elif name == "create_time":
            self.created = value
        elif name == "is_do_not_remember":
            self.is_forgotten = value is True

    def add(self, node_id: str, node: object) -> None:
        """Take over a node of the tree."""
        self._weight += len(node_id) + _NODE
        if self.is_too_large:
            self._parents, self._messages, self._left_out, self._wrong, self._texts = {}, {}, {}, {}, {}
            return
        parent = node.get("parent") if isinstance(node, Mapping) else None
        self._parents[node_id] = parent if isinstance(parent, str) else None
        skipped = Skipped()
        try:
            told = _told(node.get("message") if isinstance(node, Mapping) else None, skipped)
        except RowError as error:
            self._wrong[node_id] = str(error)
            return
        if skipped.counts:
            self._left_out[node_id] = skipped
        if told is None:
            return
        message_id, speaker, at, words = told
        number = len(self._parents)
        self._messages[node_id] = Message(number, message_id, speaker, at)
        self._keep(number, words)

    @property
    def is_too_large(self) -> bool:
        """Whether it has more messages than can be read."""
        return self._weight > _MOST_NODES * _NODE

    def shown(self, skipped: Skipped) -> Iterator[tuple[Message, str] | str]:
        """The messages of the branch that ends in the current node, in their order, each with its words; for one that
        cannot be read, why. What is left out is counted."""
        path, is_circle = self._path()
        if is_circle:
            yield "the messages of the conversation lead in a circle, so that nobody knows where it began"
            return
        for node_id in path:
            for why, number in self._left_out.get(node_id, Skipped()).counts.items():
                skipped.add(why, number)
            if node_id in self._wrong:
                yield self._wrong[node_id]
            elif node_id in self._messages:
                message = self._messages[node_id]
                yield message, self._words(message.number)
        if others := len(self._messages.keys() - set(path)):
            skipped.add(DRAFTS, others)

    def close(self) -> None:
        """Free what is on disk."""
        if self._disk:
            self._disk.close()

    def _path(self) -> tuple[list[str], bool]:
        """The nodes from the root to the current one, or else to the last one, and whether they have no root, but lead
        back to one of themselves."""
        at = self.current if self.current in self._parents else next(reversed(self._parents), None)
        path: dict[str, None] = {}
        while at is not None and at in self._parents and at not in path:
            path[at] = None
            at = self._parents[at]
        return list(reversed(path)), at in path

    def _keep(self, number: int, words: str) -> None:
        self._size += len(words)
        if self._size <= _MOST_IN_MEMORY:
            self._texts[number] = words
            return
        if self._disk is None:
            self._disk = sqlite3.connect("")  # SQLite's own temporary file, removed with the connection
            self._disk.execute("create table texts (number integer primary key, words blob)")
        self._disk.execute("insert into texts values (?, ?)", [number, words.encode("utf-8", "surrogatepass")])

    def _words(self, number: int) -> str:
        if number in self._texts or self._disk is None:
            return self._texts[number]
        (data,) = self._disk.execute("select words from texts where number = ?", [number]).fetchone()
        return bytes(data).decode("utf-8", "surrogatepass")


def _told(message: object, skipped: Skipped) -> tuple[str | None, Speaker, object, str] | None:
    """Id, speaker, time and words of a message; None if it is nobody's. Raises RowError for one that makes no sense."""
    if message is None:
        return None
    if isinstance(message, Unreadable):
        raise RowError(f"the message cannot be read: {message.reason}")
    if not isinstance(message, Mapping):
        raise RowError("the message is not an object")
    author, metadata, content = message.get("author"), message.get("metadata"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    if speaker_of(role) is None and not is_nobody(role):
        raise RowError("the message has no author that is known")
    speaker = speaker_of(role)
    is_hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation") is True
    if speaker is None or is_hidden or message.get("weight") == 0:
        skipped.add(RESULTS if role == "tool" else OF_SYSTEM)
        return None
    if speaker == AGENT and message.get("recipient") not in (None, "all"):
        skipped.add(CALLS)
        return None
    if not isinstance(content, Mapping):
        raise RowError("the message has no content")
    words = _words_of(content, skipped)
    if not words.strip():
        return None
    own = message.get("id")
    at = message.get("create_time")
    return own if isinstance(own, str) and own.strip() else None, speaker, at, words


def _words_of(content: Mapping[str, Any], skipped: Skipped) -> str:
    """The texts among the parts of a message, and what was spoken."""
    kind = content.get("content_type")
    if isinstance(kind, str) and kind in _OF_KIND:
        skipped.add(_OF_KIND[kind])
        return ""
    parts = content.get("parts")
    if parts is None and isinstance(content.get("text"), str):
        parts = [content["text"]]
    if parts is not None and not isinstance(parts, list):
        raise RowError("the parts of the message are not a list")
    texts = []
    for part in parts or ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("content_type") == _SPOKEN and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part is not None:
            skipped.add(_FILES)
    return without_citations("\n".join(text for text in texts if text.strip()))


def without_citations(text: str) -> str:
    """The text without the marks of its citations."""
    return _CITATIONS.sub("", text)
