"""Transcripts of Claude Code: which lines are words of the human or of the agent, and which are nobody's.

A message is written as a line for each of its blocks; resumed and forked sessions repeat earlier lines under their own
ids (`uuid`), so that a repeated line is the memory that is known already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory_pipeline.ingest.candidates import Reading, RowError, Skipped
from memory_pipeline.ingest.foreign import Blocks, foreign_id
from memory_pipeline.ingest.text_files import json_records, opened
from memory_pipeline.ingest.turns import AGENT, HUMAN, OF_SYSTEM, RESULTS, Said, Speaker, Transcripts, texts_in
from memory_pipeline.ingest.values import MAX_LINE_BYTES, at, text_at

_SUBAGENTS = "lines of subagents"
_COMMANDS = "commands and what they printed"
_OTHER = "lines of other kinds"
_OF_PROGRAMS = "turns of sessions that a program ran"
_BY_KIND = {
    "system": OF_SYSTEM,
    **dict.fromkeys(("queue-operation", "last-prompt", "api-request-blob"), "lines that repeat what was said"),
    **dict.fromkeys(
        ("summary", "ai-title", "custom-title", "file-history-snapshot"), "titles and other notes of the program"
    ),
}
_NOBODYS = {
    **dict.fromkeys(("isCompactSummary", "isVisibleInTranscriptOnly"), "texts about a compaction"),
    **dict.fromkeys(("isMeta", "isSynthetic", "isApiErrorMessage"), OF_SYSTEM),
}
_COMPACTED = "This session is being continued from a previous conversation"
_PRINTED_IN = (
    "local-command-stdout local-command-stderr bash-input bash-stdout bash-stderr task-notification user-memory-input "
    "agent-notification teammate-message user-prompt-submit-hook session-start-hook session-end-hook stop-hook "
    "subagent-stop-hook pre-tool-use-hook post-tool-use-hook pre-compact-hook notification-hook"
).split()
#: Texts that the program puts into the human's messages, by the tag around them.
_REMINDERS = Blocks(
    anywhere="system-reminder ide_opened_file ide_selection ide_diagnostics local-command-caveat".split()
)
_RESULTS = Blocks(_PRINTED_IN)
#: What a text begins with that the human did not say.
_PRINTED = re.compile(
    rf"\s*(?:<(?:{'|'.join(_PRINTED_IN)}|command-name|command-message|command-args)\b"
    r"|[A-Z][A-Za-z]{2,30}(?::[\w|*-]{1,60})? hook (?:feedback|success|additional context|blocking error|error)\b"
    r"|Caveat: The messages below were generated|\[Request interrupted by user|\[Image: source)"
)
#: A command as the program writes it, with what the human typed behind it.
_COMMAND = re.compile(
    r"\s*(?:<(command-(?:name|message|contents)|skill-format)>[^<]{0,1000}</\1>\s*){0,4}"
    r"<command-args>(?P<typed>(?:(?!</command-args>).){1,20000})</command-args>",
    re.DOTALL,
)
_LEAST_WORDS = 3
_BEGINNING = 20_000


def read_transcript(transcripts: Transcripts, project_of: Callable[[object], str]) -> Reading:
    """The turns of a transcript. `project_of`: the project of a line by its `cwd`."""
    skipped, name = transcripts.file.skipped, transcripts.file.name
    is_scripted = False

    def read_turn(line: Mapping[str, Any]) -> Said | None:
        nonlocal is_scripted
        turn = _read_line(line, skipped)
        is_scripted = _is_scripted(line, is_scripted)
        # The prompt of a program is no human's, and makes no rule, whoever asks.
        is_read = transcripts.file.is_own and turn is not None and turn[0] == "agent"
        if turn and is_scripted and not is_read and turn[1].strip():
            skipped.add(_OF_PROGRAMS)
            return None
        native_id = foreign_id(transcripts.connector, line["uuid"]) if text_at(line, "uuid") else None
        return Said(*turn, line.get("timestamp"), native_id, project_of(line.get("cwd"))) if turn else None

    with opened(transcripts.file.path) as file:
        records = json_records(file, name, MAX_LINE_BYTES, skipped, _why_left_out)
        yield from transcripts.read(records, name, read_turn)


def _is_scripted(line: Mapping[str, Any], before: bool) -> bool:
    """True if a program runs the session (`claude -p`, an SDK), as a line says; else as the lines `before` did.

    Editors and the desktop application are programs too, but a human types there: their `entrypoint` tells them apart.
    """
    if at(line, "origin", "kind") == "human":
        return False
    if entrypoint := text_at(line, "entrypoint"):
        return entrypoint.startswith("sdk")
    sources = {str(line.get(name)) for name in ("promptSource", "turnOrigin")}
    if line.get("type") != "user" or sources <= {"None", "system", "task_notification"}:
        return before
    return "sdk" in sources


def _read_line(line: Mapping[str, Any], skipped: Skipped) -> tuple[Speaker, str] | None:
    """The speaker and the words of a line; None for nobody's words. Raises RowError for one that makes no sense."""
    kind = line.get("type")
    if not isinstance(kind, str):
        raise RowError("the line has no type")
    if line.get("isSidechain") is True or line.get("agentId"):
        skipped.add(_SUBAGENTS)
        return None
    if kind == "attachment":
        return _typed_meanwhile(line.get("attachment"), skipped)
    if kind not in ("user", "assistant"):
        skipped.add(_BY_KIND.get(kind, _OTHER))
        return None
    why = next((why for mark, why in _NOBODYS.items() if line.get(mark) is True), None)
    if why := why or (_why_no_human(line) if kind == "user" else None):
        skipped.add(why)
        return None
    message = line.get("message")
    if not isinstance(message, Mapping):
        raise RowError("the line has no message")
    if message.get("model") == "<synthetic>" or message.get("role", kind) != kind:
        skipped.add(OF_SYSTEM)
        return None
    texts = texts_in(message.get("content"), skipped)
    return (AGENT, "\n".join(texts)) if kind == "assistant" else _read_human_turn(texts, skipped)


def _typed_meanwhile(attachment: object, skipped: Skipped) -> tuple[Speaker, str] | None:
    """The words that the human typed while the agent was at work, as no other attachment is."""
    if (
        at(attachment, "type") == "queued_command"
        and at(attachment, "commandMode") in (None, "prompt")
        and at(attachment, "isMeta") is not True
        and _why_no_human(attachment) is None
    ):
        return _read_human_turn(texts_in(at(attachment, "prompt"), skipped), skipped)
    skipped.add(_OTHER)
    return None


def _read_human_turn(texts: Sequence[str], skipped: Skipped) -> tuple[Speaker, str]:
    return HUMAN, "\n".join(filter(None, (humans_own(text, skipped) for text in texts)))


def _why_no_human(line: object) -> str | None:
    """The reason why no human typed what stands in a line, if it says so."""
    kind = at(line, "origin", "kind")
    is_of_system = kind is not None or at(line, "promptSource") == "system"
    return OF_SYSTEM if is_of_system and kind != "human" else None


def humans_own(words: str, skipped: Skipped) -> str:
    """The words that the human typed, without what the program put around it."""
    words, reminders = _REMINDERS.taken_off(words)
    skipped.add(OF_SYSTEM, reminders)
    if words.lstrip().startswith(_COMPACTED):
        skipped.add("texts about a compaction")
        return ""
    if _PRINTED.match(words):
        skipped.add(_COMMANDS)
        command = _COMMAND.match(words)
        return command["typed"] if command and len(command["typed"].split()) >= _LEAST_WORDS else ""
    words, results = _RESULTS.taken_off(words)
    skipped.add(_COMMANDS, results)
    return words


def _why_left_out(line: str) -> str | None:
    """The kind of a line that is too long to be read, by its beginning."""
    beginning = line[:_BEGINNING]
    if '"tool_result"' in beginning or '"toolUseResult"' in beginning:
        return RESULTS
    kind = re.search(r'"type"\s*:\s*"([\w-]{1,40})"', beginning)
    return _BY_KIND.get(kind[1]) if kind else None
