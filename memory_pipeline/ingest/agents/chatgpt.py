"""Reads the export of ChatGPT: `conversations.json`, its parts, or the archive as it comes.

The file is one line of any length; it is read as a stream, one message at a time.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from typing import IO, Any

import ijson

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.agents.chatgpt_tree import Conversation
from memory_pipeline.ingest.candidates import UNREADABLE, Reading, Rejected, RowError, Skipped
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.file_choice import ALL_FILES, FileChoice, readable_name
from memory_pipeline.ingest.foreign import file_of_part, file_time, foreign_id, part_name
from memory_pipeline.ingest.importer import FilesImporter
from memory_pipeline.ingest.json_stream import Event, events, pass_over, value_of
from memory_pipeline.ingest.turns import Transcripts, Turn

_PART = re.compile(r"(?:.*/)?conversations(?:-\d{1,6})?\.json")
_FIELDS = frozenset(("id", "conversation_id", "current_node", "create_time", "is_do_not_remember"))
_BEGINNING = 100_000


class ChatGptImporter(FilesImporter):
    """An export of ChatGPT. Turns have the ids of their messages."""

    name = "chatgpt"
    about = "ChatGPT's data export: the archive as it comes, `conversations.json`, or its parts."
    takes = "the export's archive, its directory, or a conversations.json"
    takes_directory = None

    def read_chosen(
        self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped, choice: FileChoice
    ) -> Reading:
        """Every turn in the chosen files. Raises InputError if the path has none."""
        files = list(self.files(path, choice, skipped))
        if not files and choice.among is None:
            raise InputError(f"'{path}' has no conversations.json; give the export of ChatGPT, as it comes or unpacked")
        for name, file in files:
            undated = file_time(file, now, default_zone)
            transcripts = Transcripts(self.name, default_zone, now, settings, skipped, undated)
            try:
                with _opened(file) as parts:
                    for part in parts:
                        yield from _read_part(part, name, transcripts, undated)
            except (InputError, OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
                yield Rejected(name, 0, f"{UNREADABLE}: {error}")

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
            except (InputError, OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
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


def _read_part(file: IO[bytes], name: str, transcripts: Transcripts, undated: tuple[datetime, str]) -> Reading:
    """The turns of one list of conversations. Where it is no JSON, what was read until then stays."""
    number = 0
    try:
        for item in _conversations(events(file)):
            number += 1
            if isinstance(item, str):
                yield Rejected(name, number, item)
                continue
            with closing(item):
                yield from _turns_of(item, number, name, transcripts, undated)
    except (ijson.JSONError, ValueError) as error:  # a number of thousands of digits is a ValueError
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        yield Rejected(
            name, number, f"the file is no JSON behind conversation {number}, so the rest is not read: {why}"
        )


def _turns_of(
    conversation: Conversation, number: int, name: str, transcripts: Transcripts, undated: tuple[datetime, str]
) -> Reading:
    skipped = transcripts.skipped
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
    transcripts.undated = undated
    try:
        began = parse_moment(conversation.created, transcripts.zone, transcripts.now)
        transcripts.undated = (began, "date") if began else undated
    except RowError:
        pass  # each message has its own time
    for line, item in enumerate(conversation.shown(skipped), start=1):
        if isinstance(item, str):
            yield Rejected(file, line, item)
            continue
        message, words = item
        yield from transcripts.memories(
            Turn(
                speaker=message.speaker,
                words=words,
                file=file,
                line=line,
                told_at=message.at,
                native_id=foreign_id(transcripts.connector, message.message_id) if message.message_id else None,
            )
        )


def _conversations(told: Iterator[Event]) -> Iterator[Conversation | str]:
    """Each conversation of a list, or of the list `conversations` of an object; a text says what is none."""
    kind, _ = next(told, ("", None))
    if kind == "start_map":
        for kind, key in told:
            if kind == "end_map":
                return
            kind, _ = next(told)
            if key == "conversations" and kind == "start_array":
                yield from _list(told)
            else:
                pass_over(kind, told)
    elif kind == "start_array":
        yield from _list(told)
    else:
        yield "the file holds no list of conversations"


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


def _list(told: Iterator[Event]) -> Iterator[Conversation | str]:
    for kind, _ in told:
        if kind == "end_array":
            return
        if kind == "start_map":
            yield _conversation(told)
        else:
            pass_over(kind, told)
            yield "the conversation is not an object"


def _conversation(told: Iterator[Event]) -> Conversation:
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
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if _PART.fullmatch(name))
        if not names:
            raise InputError("the archive has no conversations.json")

        def parts() -> Iterator[IO[bytes]]:
            for name in names:
                with archive.open(name) as file:
                    yield file

        yield parts()
