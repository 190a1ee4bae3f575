"""Reads the export of ChatGPT: `conversations.json`, its parts, or the archive as it comes.

The file is one line of any length; it is read as a stream, one message at a time.
"""

from __future__ import annotations

import pickle
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import ijson

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Reading, Rejected, RowError, Skipped
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.foreign import file_of_part, foreign_id, part_name
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, FilesImporter, OneFile, readable_name
from memory_pipeline.ingest.text_files import Event, Unreadable, events, items_of, pass_over, value_of
from memory_pipeline.ingest.turns import (
    AGENT,
    CALLS,
    OF_SYSTEM,
    RESULTS,
    THOUGHTS,
    Speaker,
    Transcripts,
    is_nobody,
    speaker_of,
)
from memory_pipeline.ingest.values import first_line

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
#: Messages of a conversation that are read, and what each counts for beside its id, in characters.
_MOST_NODES, _NODE = 300_000, 100
_PART = re.compile(r"(?:.*/)?conversations(?:-\d{1,6})?\.json")
_FIELDS = frozenset(("id", "conversation_id", "current_node", "create_time", "is_do_not_remember"))
_BEGINNING = 100_000


class ChatGptImporter(FilesImporter):
    """An export of ChatGPT. Turns have the ids of their messages."""

    name = "chatgpt"
    about = "ChatGPT's data export: the archive as it comes, `conversations.json`, or its parts."
    takes = "the export's archive, its directory, or a conversations.json"
    takes_directory = None
    lacks = "no conversations.json; give the export of ChatGPT, as it comes or unpacked"

    def read_file(self, file: OneFile) -> Reading:
        """Every turn."""
        transcripts = Transcripts.of(self.name, file)
        with _opened(file.path) as parts:
            for part in parts:
                yield from _read_part(part, file, transcripts)

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """The file, or the parts in a directory that are chosen."""
        if not path.is_dir():
            yield readable_name(path.name), path
            return
        for file in sorted(path.glob("conversations*.json")):
            if _PART.fullmatch(file.name) and file.is_file():
                name = readable_name(file.name)
                if choice.takes(name):
                    yield name, file
                else:
                    choice.count_left_out(name, skipped)

    def evidence(self, path: Path) -> str | None:
        """Conversations with a tree of messages."""
        for name, file in self.files(path, ALL_FILES, Skipped()):
            try:
                with _opened(file) as parts:
                    for part in parts:
                        beginning = part.read(_BEGINNING).lstrip(b"\xef\xbb\xbf \r\n\t")
                        if beginning[:1] in (b"[", b"{") and re.search(rb'"mapping"\s*:\s*\{', beginning):
                            return f"conversations of ChatGPT, as trees of messages, in {name}"
            except (InputError, OSError, EOFError, zlib.error):
                continue
        return None

    def file_of(self, source_file: str) -> str:
        """The file of a conversation."""
        return file_of_part(source_file)

    def is_said_for_good(self, file: str) -> bool:
        """A later export replaces the file; what was said was said."""
        return True

    def default_project(self, path: Path) -> str:
        """An export names no projects."""
        return self.name


def _read_part(part: IO[bytes], file: OneFile, transcripts: Transcripts) -> Reading:
    """The turns of one list of conversations. Where it is no JSON, what was read until then stays."""
    number = 0
    try:
        for number, item in enumerate(items_of(events(part), "", "conversations", take=_conversation), start=1):
            if item is None:
                yield Rejected(file.name, number, "the conversation is not an object")
                continue
            with closing(item):
                yield from _turns_of(item, number, file, transcripts)
    except (ijson.JSONError, ValueError) as error:  # a number of thousands of digits is a ValueError
        why = f"the file is no JSON behind conversation {number}, so the rest is not read: {first_line(error)}"
        yield Rejected(file.name, number, why)


def _turns_of(conversation: Conversation, number: int, of: OneFile, transcripts: Transcripts) -> Reading:
    name, skipped = of.name, of.skipped
    if conversation.is_forgotten:
        skipped.add("conversations that are not to be remembered")
        return
    session = conversation.session or str(number)
    if conversation.is_too_large:
        yield Rejected(name, number, f"conversation {session[:80]} has more messages than can be read")
        return
    if not conversation.has_tree:
        yield Rejected(name, number, f"conversation {session[:80]} has no mapping of its messages")
        return
    file = part_name(name, readable_name(session.replace("#", "-"))[:200])
    transcripts.undated = of.undated
    try:
        began = parse_moment(conversation.created, of.zone, of.now)
        transcripts.undated = (began, "date") if began else of.undated
    except RowError:
        pass  # each message has its own time
    for line, item in enumerate(conversation.shown(skipped), start=1):
        if isinstance(item, str):
            yield Rejected(file, line, item)
            continue
        native_id = foreign_id(transcripts.connector, item.message_id) if item.message_id else None
        yield from transcripts.memories(item.speaker, item.words, file, line, told_at=item.told_at, native_id=native_id)


def _node(kind: str, value: Any, told: Iterator[Event]) -> Any:
    """A node of the tree, without its other fields."""
    if kind != "start_map":
        return value_of(kind, value, told)
    node: dict[str, Any] = {}
    for kind, key in told:
        if kind == "end_map":
            break
        kind, value = next(told)
        if key in ("parent", "message"):
            node[key] = value_of(kind, value, told)
        else:
            pass_over(kind, told)
    return node


def _conversation(kind: str, _: Any, told: Iterator[Event]) -> Conversation | None:
    """A conversation that begins with an event; None for what is no object."""
    if kind != "start_map":
        pass_over(kind, told)
        return None
    conversation = Conversation()
    for kind, key in told:
        if kind == "end_map":
            break
        kind, value = next(told)
        if key == "mapping" and kind == "start_map":
            conversation.has_tree = True
            for inner, node_id in told:
                if inner == "end_map":
                    break
                conversation.add(node_id, _node(*next(told), told))
        elif key in _FIELDS and not kind.startswith("start_"):
            conversation.tell(key, value)
        else:
            pass_over(kind, told)
    return conversation


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[IO[bytes]]]:
    """The lists of conversations at a path: the file, or those in an archive, one after the other."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield iter((file,))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if _PART.fullmatch(name))
            if not names:
                raise InputError("the archive has no conversations.json")
            yield map(archive.open, names)
    except (zipfile.BadZipFile, RuntimeError) as error:  # it is damaged, or encrypted
        raise InputError(str(error)) from error


class Message(NamedTuple):
    """A message of somebody. `told_at`: its time as the export tells it."""

    message_id: str | None
    speaker: Speaker
    told_at: object
    words: str


@dataclass
class Conversation:
    """What is read of a conversation so far: its tree is in memory, its messages are in a file."""

    session: str | None = None
    current: str | None = None
    created: object = None
    is_forgotten: bool = False
    has_tree: bool = False
    _parents: dict[str, str | None] = field(default_factory=dict)
    _weight: int = 0

    def __post_init__(self) -> None:
        self._messages = sqlite3.connect("")  # SQLite's own file, on disk when it is large
        self._messages.execute("create table messages (node text primary key, message blob)")

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
            self._parents = {}
            return
        parent, message = (node.get("parent"), node.get("message")) if isinstance(node, Mapping) else (None, None)
        self._parents[node_id] = parent if isinstance(parent, str) else None
        packed = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._messages.execute("insert or replace into messages values (?, ?)", [node_id, packed])

    @property
    def is_too_large(self) -> bool:
        """Whether it has more messages than can be read."""
        return self._weight > _MOST_NODES * _NODE

    def shown(self, skipped: Skipped) -> Iterator[Message | str]:
        """The messages of the branch that ends in the current node, in their order; for one that cannot be read, why.
        What is left out is counted."""
        path, is_circle = self._path()
        if is_circle:
            yield "the messages of the conversation lead in a circle, so that nobody knows where it began"
            return
        yield from filter(None, (self._message(node_id, skipped) for node_id in path))
        others = self._parents.keys() - set(path)
        skipped.add(DRAFTS, sum(isinstance(self._message(node_id, Skipped()), Message) for node_id in others))

    def _message(self, node_id: str, skipped: Skipped) -> Message | str | None:
        query = "select message from messages where node = ?"
        (packed,) = self._messages.execute(query, [node_id]).fetchone()
        try:
            return _told(pickle.loads(packed), skipped)
        except RowError as error:
            return str(error)

    def close(self) -> None:
        """Free what is on disk."""
        self._messages.close()

    def _path(self) -> tuple[list[str], bool]:
        """The nodes from the root to the current one, or else to the last one, and whether they have no root, but lead
        back to one of themselves."""
        at = self.current if self.current in self._parents else next(reversed(self._parents), None)
        path: dict[str, None] = {}
        while at is not None and at in self._parents and at not in path:
            path[at] = None
            at = self._parents[at]
        return list(reversed(path)), at in path


def _told(message: object, skipped: Skipped) -> Message | None:
    """What a message says; None if it is nobody's. Raises RowError for one that makes no sense."""
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
    return Message(own if isinstance(own, str) and own.strip() else None, speaker, message.get("create_time"), words)


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
