"""Reads the export of ChatGPT: `conversations.json`, its parts, or the archive as it comes.

The file is one line of any length; it is read as a stream, one conversation at a time.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest import turns
from memory_pipeline.ingest.candidates import Reading, Rejected, RowError, Skipped
from memory_pipeline.ingest.dates import time_or_none
from memory_pipeline.ingest.foreign import foreign_id
from memory_pipeline.ingest.importer import ALL_FILES, FilesImporter, OneFile, readable_name
from memory_pipeline.ingest.text_files import Broken, Unreadable, json_items
from memory_pipeline.ingest.values import at, text_at

DRAFTS = "messages of branches that were given up"
_FILES = "images and other files"
_OF_KIND = {
    "code": turns.CALLS,
    **dict.fromkeys(("execution_output", "system_error", "computer_output", "sonic_webpage"), turns.RESULTS),
    **dict.fromkeys(("tether_quote", "tether_browsing_display"), turns.RESULTS),
    **dict.fromkeys(("thoughts", "reasoning_recap"), turns.THOUGHTS),
    **dict.fromkeys(("user_editable_context", "model_editable_context"), turns.OF_SYSTEM),
}
#: Marks of citations, which lead to nothing outside of ChatGPT.
_CITATIONS = re.compile(r"\ue200[^\ue200\ue201]{0,400}\ue201|【[^【】\n]{0,40}†[^【】\n]{0,80}】")
_PART = re.compile(r"(?:.*/)?conversations(?:-\d{1,6})?\.json")
_BEGINNING = 100_000


class ChatGptImporter(FilesImporter):
    """An export of ChatGPT. Turns have the ids of their messages."""

    name = project = "chatgpt"
    about = "ChatGPT's data export: the archive as it comes, `conversations.json`, or its parts."
    takes = "the export's archive, its directory, or a conversations.json"
    takes_directory = None
    said_for_good = ("",)  # a later export replaces the file
    lacks = "no conversations.json; give the export of ChatGPT, as it comes or unpacked"

    def read_file(self, file: OneFile) -> Reading:
        """Every turn."""
        transcripts = turns.Transcripts(self.name, file)
        is_empty = True
        with _opened(file.path) as parts:
            for part in parts:
                number = 0
                for item in json_items(part, "", "conversations"):
                    is_empty = False
                    if isinstance(item, Broken):  # what was read until then stays
                        yield Rejected(file.name, number + 1, f"the rest is not read: {item.reason}")
                        continue
                    number, conversation = item
                    yield from _read_turns(conversation, number, file, transcripts)
        if is_empty:
            raise InputError("it holds no conversation of ChatGPT")

    def found(self, directory: Path) -> list[Path]:
        return [file for file in sorted(directory.glob("conversations*.json")) if _PART.fullmatch(file.name)]

    def sign_of(self, path: Path) -> str | None:
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
        return source_file.rpartition("#")[0] or source_file


def _read_turns(conversation: object, number: int, file: OneFile, transcripts: turns.Transcripts) -> Reading:
    name, skipped = file.name, file.skipped
    if not isinstance(conversation, Mapping):
        why = f"cannot be read: {conversation.reason}" if isinstance(conversation, Unreadable) else "is not an object"
        yield Rejected(name, number, f"the conversation {why}")
        return
    if conversation.get("is_do_not_remember") is True:
        skipped.add("conversations that are not to be remembered")
        return
    session = text_at(conversation, "id") or text_at(conversation, "conversation_id") or str(number)
    nodes = conversation.get("mapping")
    if not isinstance(nodes, Mapping):
        yield Rejected(name, number, f"conversation {session[:80]} has no mapping of its messages")
        return
    part = f"{name}#{readable_name(session.replace('#', '-'))[:200]}"
    began = time_or_none(conversation.get("create_time"), file.zone, file.now)  # each message has its own time
    transcripts.undated = (began, "date") if began else None
    branch = _branch(nodes, conversation.get("current_node"))
    if branch is None:
        why = "the messages of the conversation lead in a circle, so that nobody knows where it began"
        yield Rejected(part, 1, why)
        return
    line = 0
    for node in branch:
        try:
            turn = _read_message(nodes[node], skipped)
            line += turn is not None
        except RowError as error:
            line += 1
            yield Rejected(part, line, str(error))
            continue
        if turn:
            yield from transcripts.memories(turn, part, line)
    for node in nodes.keys() - set(branch):
        with suppress(RowError):
            skipped.add(DRAFTS, _read_message(nodes[node], Skipped()) is not None)


def _branch(nodes: Mapping[str, object], current: object) -> list[str] | None:
    """The nodes from the root to the current one, or else to the last one; None if they lead in a circle."""
    place = current if isinstance(current, str) and current in nodes else next(iter([*nodes][-1:]), None)
    path: dict[str, None] = {}
    while isinstance(place, str) and place in nodes:
        if place in path:
            return None
        path[place] = None
        place = at(nodes[place], "parent")
    return list(reversed(path))


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


def _read_message(node: object, skipped: Skipped) -> turns.Said | None:
    """The turn in the message of a node; None if it is nobody's. Raises RowError for one that makes no sense."""
    message = at(node, "message")
    if message is None:
        return None
    if not isinstance(message, Mapping):
        raise RowError("the message is not an object")
    content, role = message.get("content"), at(message, "author", "role")
    speaker = turns.speaker_of(role)
    if speaker is None and not turns.is_nobody(role):
        raise RowError("the message has no author that is known")
    is_hidden = at(message, "metadata", "is_visually_hidden_from_conversation") is True
    if speaker is None or is_hidden or message.get("weight") == 0:
        skipped.add(turns.RESULTS if role == "tool" else turns.OF_SYSTEM)
        return None
    if speaker == turns.AGENT and message.get("recipient") not in (None, "all"):
        skipped.add(turns.CALLS)
        return None
    if not isinstance(content, Mapping):
        raise RowError("the message has no content")
    words = _read_words(content, skipped)
    if not words.strip():
        return None
    own = text_at(message, "id")
    return turns.Said(
        speaker, words, message.get("create_time"), foreign_id(ChatGptImporter.name, own) if own else None
    )


def _read_words(content: Mapping[str, Any], skipped: Skipped) -> str:
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
        elif at(part, "content_type") == "audio_transcription" and isinstance(at(part, "text"), str):
            texts.append(part["text"])
        elif part is not None:
            skipped.add(_FILES)
    return without_citations("\n".join(text for text in texts if text.strip()))


def without_citations(text: str) -> str:
    return _CITATIONS.sub("", text)
