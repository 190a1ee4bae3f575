"""Reads agents of Letta: memory blocks and messages of an agent file (`.af`), and archival passages of the API.

A block holds notes as Markdown, so each of its entries is a memory. The first version tells the times of its blocks;
the present one has no time of a block but that of the export, and no archival memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest import turns, values
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError, dated
from memory_pipeline.ingest.dates import parse_moment, time_or_none
from memory_pipeline.ingest.foreign import Blocks, foreign_id, project_name, slug
from memory_pipeline.ingest.importer import Importer, OneFile
from memory_pipeline.ingest.markdown import parse_note, parts_of_entry
from memory_pipeline.ingest.text_files import beginning, json_document
from memory_pipeline.ingest.values import at, json_or_none, listed, text_at
from memory_pipeline.records import Source
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.normalise import clean_text

_BEGINNING = 400_000
#: Agents that only tend the memory of another one.
_BACKGROUND = ("sleeptime_agent", "voice_sleeptime_agent")
#: The tool with which agents of the first kinds spoke; what they wrote beside it were thoughts.
_SPEAKS = "send_message"
_PUT_IN = Blocks(anywhere=("system-reminder",))


class LettaImporter(Importer):
    """An agent file of Letta, or passages."""

    name = "letta"
    about = "An agent file of Letta (`.af`): memory blocks and conversations; or archival passages as JSON."

    def read_file(self, file: OneFile) -> Reading:
        """Every entry of every block, every turn, and every passage."""
        document = _parsed(json_document(file.path))  # some are a text that is JSON itself
        if isinstance(document, list):
            yield from _passages(file, document)
            return
        first_version = isinstance(at(document, "core_memory"), list)
        if not first_version and not any(isinstance(at(document, name), list) for name in ("agents", "passages")):
            raise InputError(f"'{file.path}' is neither an agent file of Letta nor a list of passages; check the path")
        agents = (
            [document] if first_version else [agent for agent in listed(document, "agents") if isinstance(agent, dict)]
        )
        blocks = listed(document, "core_memory") if first_version else _list_blocks(file, document, agents)
        # When the file was exported: no block is younger.
        exported = _parse_time(file, document, "updated_at") or _parse_time(file, document, "created_at")
        undated = (exported, "mtime") if exported else file.undated
        for number, block in enumerate(blocks, 1):
            yield from _block(file, block, number, undated)
        yield from _passages(file, listed(document, "passages"))
        file.skipped.add("files that were attached", len(listed(document, "files")))
        transcripts = turns.Transcripts(self.name, file, undated)
        said = ((agent, message) for agent in agents for message in listed(agent, "messages"))
        for line, (agent, message) in enumerate(said, 1):
            if _is_background(agent):
                file.skipped.add("messages of background agents")
            else:
                yield from _turns(transcripts, message, line, _speaks_through_tool(agent, document))

    def sign_of(self, path: Path) -> str | None:
        """Agents with blocks, or passages."""
        start = beginning(path, _BEGINNING).lstrip()
        if not start.startswith(("{", '"{', "[")):
            return None
        plain = start.replace('\\"', '"')
        if '"agents"' in plain and ('"memory_blocks"' in plain or '"block_ids"' in plain):
            return "agents with memory blocks of Letta"
        if '"core_memory"' in plain and '"messages"' in plain:
            return "an agent with core memory of Letta"
        return "archival passages of Letta" if '"passage-' in plain and '"text"' in plain else None

    def default_project(self, path: Path) -> str:
        """The file's name."""
        return project_name(path.stem)


def _parse_time(file: OneFile, record: Mapping[str, Any], name: str) -> datetime | None:
    """A time as it stands there; None for none that can be read."""
    return time_or_none(record.get(name), file.zone, file.now)


def _list_blocks(file: OneFile, document: Mapping[str, Any], agents: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The blocks of the file and those within its agents, but for those of agents that only tend memories."""
    used = [block_id for agent in agents if not _is_background(agent) for block_id in listed(agent, "block_ids")]
    background = [block_id for agent in agents if _is_background(agent) for block_id in listed(agent, "block_ids")]
    blocks = [*listed(document, "blocks"), *(block for agent in agents for block in listed(agent, "memory_blocks"))]
    own = [block for block in blocks if at(block, "id") in used or at(block, "id") not in background]
    file.skipped.add("blocks of background agents", len(blocks) - len(own))
    return own


def _block(file: OneFile, block: object, line: int, undated: tuple[datetime, str]) -> Reading:
    try:
        if not isinstance(block, Mapping):
            raise RowError(f"the block is {values.shown(block)}, which is not an object")
        label = values.text_value(block, "label", values.MAX_NAME) or "block"
        text = block.get("value")
        if not isinstance(text, str):
            raise RowError(values.no_text("value", text))
        values.check_storable(text, "value")
    except RowError as error:
        yield Rejected.of(file.name, line, str(error), "")
        return
    if not text.strip():
        file.skipped.add("blocks without words")
        return
    created = _parse_time(file, block, "created_at")
    newest = _parse_time(file, block, "updated_at") if created else None
    moment, quality = (created, "exact") if created else undated
    for entry in parse_note(file.masked(clean_text(text))).entries:
        for own_words, fields in parts_of_entry(entry, file.skipped):
            digest = hashlib.sha256(own_words.encode()).hexdigest()[:12]
            yield Candidate(
                source=Source(LettaImporter.name, file.name, line),
                native_id=foreign_id(LettaImporter.name, project_name(file.path.stem), f"{label}#{digest}"),
                memory_type=kind_of(own_words, (label, *entry.above), "fact"),
                categories=tuple(filter(None, [slug(label)])),
                effective_date=max(moment, newest).astimezone(UTC) if newest else None,
                **fields,
                **dated(moment, quality),
            )


def _passages(file: OneFile, passages: list[Any]) -> Reading:
    for line, passage in enumerate(passages, 1):
        text = at(passage, "text")
        try:
            if not isinstance(text, str):
                raise RowError("the passage is no object with a text")
            native_id = values.identifier(passage.get("id"), "id")
            moment = parse_moment(passage.get("created_at"), file.zone, file.now)
            tags = values.labels(passage, "tags")
            yield Candidate(
                content=text,
                source=Source(LettaImporter.name, file.name, line),
                native_id=foreign_id(LettaImporter.name, native_id) if native_id else None,
                typed_under=tags,
                tags=tags,
                **dated(moment),
            )
        except RowError as error:
            yield Rejected.of(file.name, line, str(error), text)


def _turns(transcripts: turns.Transcripts, message: object, line: int, through_tool: bool) -> Reading:
    """The turns in a message, whose id is one of this file alone."""
    file = transcripts.file
    try:
        if not isinstance(message, Mapping):
            raise RowError(f"the message is {values.shown(message)}, which is not an object")
        for speaker, words in _read_message(file, message, through_tool):
            yield from transcripts.memories(turns.Said(speaker, words, message.get("created_at")), file.name, line)
    except RowError as error:
        yield Rejected.of(file.name, line, str(error), "")


def _read_message(file: OneFile, message: Mapping[str, Any], through_tool: bool) -> Iterator[tuple[turns.Speaker, str]]:
    role = message.get("role")
    speaker = turns.speaker_of(role)
    if speaker is None:
        file.skipped.add(turns.RESULTS if role in ("tool", "function") else turns.OF_SYSTEM)
        return
    texts = turns.texts_in(message.get("content", message.get("text")), file.skipped)
    words = without_reminders("\n".join(texts))
    for call in listed(message, "tool_calls") if speaker == turns.AGENT else ():
        spoken = _parsed(at(call, "function", "arguments")) if at(call, "function", "name") == _SPEAKS else None
        if isinstance(answer := at(spoken, "message"), str):
            yield turns.AGENT, answer
        else:
            file.skipped.add(turns.CALLS)
    if speaker == turns.AGENT and through_tool and words:
        file.skipped.add(turns.THOUGHTS)
        return
    packed = _parsed(words) if speaker != turns.AGENT and words.startswith("{") else None
    if isinstance(at(packed, "type"), str):  # the server packs what a human said, and notices of its own
        words = text_at(packed, "message") if at(packed, "type") == "user_message" else ""
        file.skipped.add(turns.OF_SYSTEM, not words)
    if words:
        yield speaker, words


def without_reminders(text: str) -> str:
    """A message without what the program put into it for the agent."""
    return _PUT_IN.taken_off(text)[0].strip()


def _is_background(agent: Mapping[str, Any]) -> bool:
    return at(agent, "agent_type") in _BACKGROUND


def _speaks_through_tool(agent: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    ids = listed(agent, "tool_ids")
    tools = listed(agent, "tools") or listed(document, "tools")
    return any(at(tool, "name") == _SPEAKS and (not ids or tool.get("id") in ids) for tool in tools)


def _parsed(text: object) -> Any:
    """JSON within a text; what is no text is as it is, and what is no JSON None."""
    return json_or_none(text) if isinstance(text, str) else text
