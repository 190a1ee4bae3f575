"""Turns of conversations: what a human or an agent said, as memories, whatever program wrote the transcript.

Only words that somebody said become memories. Calls of tools and their results, thoughts, images, texts of the system
and what this program put in are counted by kind and left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple, TypeVar

from memory_pipeline.files.markers import MANAGERS, without_blocks
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError, Skipped, dated
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.importer import OneFile
from memory_pipeline.ingest.markdown import parts_of
from memory_pipeline.ingest.openclaw_files import is_our_page
from memory_pipeline.ingest.values import MAX_ENTRY_TOKENS
from memory_pipeline.records import Source
from memory_pipeline.text.normalise import clean_text

Speaker = Literal["human", "agent"]
#: The tags of those who speak: each turn has one of them.
HUMAN: Speaker = "human"
AGENT: Speaker = "agent"

_SPEAKERS: Mapping[str, Speaker] = {
    **dict.fromkeys(("user", "human"), HUMAN),
    **dict.fromkeys(("assistant", "agent", "ai", "model", "bot"), AGENT),
}
#: Roles of messages that nobody said.
_NOBODY = frozenset(
    "system developer tool function toolresult tool_result toolcall tool_call context observation critic".split()
)

OF_SYSTEM = "texts of the system"
OUR_OWN = "texts of this program"
CALLS, RESULTS, THOUGHTS = "calls of tools", "results of tools", "thoughts of the agent"
_OTHER_BLOCKS = "blocks of other kinds"
_KINDS_OF_BLOCKS = {
    **dict.fromkeys(("tool_use", "toolCall", "tool_call", "toolUse", "server_tool_use", "mcp_tool_use"), CALLS),
    **dict.fromkeys(("tool_result", "toolResult", "mcp_tool_result", "web_search_tool_result"), RESULTS),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), THOUGHTS),
    **dict.fromkeys(
        ("image", "input_image", "image_url", "document", "file", "audio", "video"), "images and other files"
    ),
}
_WORDS = frozenset(("text", "input_text", "output_text", ""))
#: What a hook of this program, or another consolidator, put into a message.
_MARK = re.compile(r"<!--\s{0,4}((?:openclaw:dreaming|memory-pipeline):[\w-]{1,80}):(start|end)\s{0,4}-->")
_BROKEN = re.compile(r"[\x00\ud800-\udfff]")


def speaker_of(role: object) -> Speaker | None:
    """The speaker of a role; None if nobody does, or it is not known who."""
    return _SPEAKERS.get(role.strip().lower()) if isinstance(role, str) else None


def is_nobody(role: object) -> bool:
    """True if what stands in a role is nobody's words: the system's, or a tool's."""
    return isinstance(role, str) and role.strip().lower().replace("-", "_") in _NOBODY


def texts_in(content: object, skipped: Skipped) -> list[str]:
    """The texts of a message: the one that it is, or those among its blocks. Other blocks are counted by kind.

    Raises RowError if it is neither.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        raise RowError("content is neither a text nor a list of blocks")
    texts = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
            continue
        kind = block.get("type", "") if isinstance(block, Mapping) else None
        text = block.get("text") if isinstance(block, Mapping) else None
        if isinstance(kind, str) and kind in _WORDS and isinstance(text, str):
            texts.append(text)
        else:
            skipped.add(_KINDS_OF_BLOCKS.get(kind, _OTHER_BLOCKS) if isinstance(kind, str) else _OTHER_BLOCKS)
    return [text for text in texts if text.strip()]


def without_put_in(text: str, skipped: Skipped) -> str:
    """The text without the blocks that this program or a consolidator put in between its markers, whose lines stay
    empty; of a block without an end, what can only be ours."""
    if ":start" not in text:
        return text
    whole, text = text, without_blocks(text, MANAGERS)
    if text != whole:
        skipped.add(OUR_OWN)
    parts: list[str] = []
    done, opened = 0, ("", 0)
    for mark in _MARK.finditer(text):
        if mark[2] == "start" and not opened[0]:
            opened = (mark[1], mark.start())
        elif mark[2] == "end" and mark[1] == opened[0]:
            parts += [text[done : opened[1]], "\n" * text.count("\n", opened[1], mark.end())]
            done, opened = mark.end(), ("", 0)
            skipped.add(OUR_OWN)
    return "".join([*parts, text[done:]])


class Said(NamedTuple):
    """The words of somebody in a conversation. `told_at`: their time, as the transcript gives it; `native_id`: the
    message's own id, after the name of its format."""

    speaker: Speaker
    words: str
    told_at: object = None
    native_id: str | None = None
    project: str | None = None


_Line = TypeVar("_Line")


@dataclass
class Transcripts:
    """Makes memories of the turns in a file. `undated`: the time of turns that tell none, if not that of the file."""

    connector: str
    file: OneFile
    undated: tuple[datetime, str] | None = None

    def read(
        self, lines: Iterable[tuple[int, _Line] | Rejected], file: str, read_turn: Callable[[_Line], Said | None]
    ) -> Reading:
        """The memories of a conversation, `file`, and the lines that cannot be understood. `read_turn`: the turn in a
        line; None for nobody's words. It raises RowError."""
        for item in lines:
            if isinstance(item, Rejected):
                yield item
                continue
            number, line = item
            try:
                turn = read_turn(line)
            except RowError as error:
                yield Rejected(file, number, str(error))
                continue
            if turn:
                yield from self.memories(turn, file, number)

    def memories(self, turn: Said, file: str, line: int) -> Reading:
        """The memory of a turn, or several of a long one; the reason, if its time or its words cannot be used."""
        if not turn.words.strip():
            return
        self.file.skipped.add("characters that are none", len(_BROKEN.findall(turn.words)))
        try:
            moment = parse_moment(turn.told_at, self.file.zone, self.file.now, "timestamp")
            when = (moment, "exact") if moment else self.undated or self.file.undated
            yield from self.in_parts(
                Candidate(
                    content=turn.words,
                    source=Source(self.connector, file, line),
                    native_id=turn.native_id,
                    project_id=turn.project,
                    memory_type="conversation",
                    tags=(turn.speaker,),
                    **dated(*when),
                )
            )
        except RowError as error:
            yield Rejected.of(file, line, str(error), turn.words)

    def in_parts(self, candidate: Candidate) -> Iterator[Candidate]:
        """The words that were said, without what this program put in, in parts that are not too long."""
        words = clean_text(without_put_in(candidate.content, self.file.skipped)).strip()
        if not words:
            return
        if is_our_page(words):
            self.file.skipped.add(OUR_OWN)
            return
        if len(words) > MAX_ENTRY_TOKENS * 4:
            words = self.file.masked(words)
        native = candidate.native_id
        for number, part in enumerate(parts_of(words, self.file.skipped), start=1):
            own = native if native is None or number == 1 else f"{native}~{number}"
            yield replace(candidate, content=part, native_id=own)
