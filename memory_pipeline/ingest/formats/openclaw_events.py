"""Events of an OpenClaw session, from its database or its older JSONL: which are words of the human or the agent.

What the gateway puts around a human's words is taken off. What it says itself (heartbeats, cron jobs, boot texts,
messages between sessions) and what an agent answers to that is nobody's words; so are drafts that were given up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memory_pipeline.ingest.candidates import Reading, Rejected, Skipped
from memory_pipeline.ingest.foreign import Blocks, foreign_id, project_name
from memory_pipeline.ingest.turns import AGENT, HUMAN, OF_SYSTEM, RESULTS, Said, Speaker, Transcripts, texts_in
from memory_pipeline.ingest.values import at, text_at
from memory_pipeline.text.hidden import unwrapped

#: Number and content of each event of a session, or why it cannot be read; called anew for each pass.
Events = Callable[[], Iterator[tuple[int, Mapping[str, Any]] | Rejected]]

REPORTS = "texts of cron jobs, heartbeats and other sessions"
DRAFTS = "drafts that were given up"
_COMPACTIONS = "texts about a compaction"
_OTHER = "lines of other kinds"
_BY_TYPE = {"compaction": _COMPACTIONS, "branch_summary": _COMPACTIONS, "custom_message": OF_SYSTEM}
_FORMAT = "openclaw-sessions"
#: Models that stand for no model: the gateway's own lines, and copies of what was delivered.
_NO_MODELS = ("delivery-mirror", "gateway-injected", "<synthetic>")
#: A message of the gateway itself, by its beginning.
_OF_GATEWAY = re.compile(
    r"\s*(?:\[cron:|\[Subagent Context\]|\[System Message\]|\[Inter-session message|System(?: \(untrusted\))?: "
    r"|Read HEARTBEAT\.md if it exists|Follow the heartbeat monitor scratch|HEARTBEAT\b"
    r"|A new session was started via /new or /reset|Pre-compaction memory flush"
    r"|You are running a boot check|<task-notification\b)"
)
#: What plug-ins put before a human's words.
_REMEMBERED = Blocks(anywhere=("relevant-memories",))
#: Mails and pages, between marks, with the warning before them.
_EXTERNAL = re.compile(
    r"(?:^SECURITY NOTICE: The following content is from an EXTERNAL(?:(?!<<<).){0,4000})?"
    r"(?P<begin><<<EXTERNAL_UNTRUSTED_CONTENT\b[^<>\n]{0,200}>>>)"
    r"|(?P<end><<<END_EXTERNAL_UNTRUSTED_CONTENT\b[^<>\n]{0,200}>>>)",
    re.DOTALL | re.MULTILINE,
)
_SILENT = re.compile(r"[*_`\s]*(?:NO_REPLY|HEARTBEAT_OK|ANNOUNCE_SKIP|REPLY_SKIP)[*_`\s.!]*")
_COMMAND = re.compile(r"\s*/[a-z][\w:-]{0,40}(?:\s+\S+){0,2}\s*")
_WHOLE_ID = 32


def read_session(events: Events, session: str, file: str, transcripts: Transcripts) -> Reading:
    """The turns of a session. `file`: what its memories name as their file."""
    skipped = transcripts.file.skipped
    given_up = _given_up(events)
    project: str | None = None
    to_nobody = False

    def read_turn(event: Mapping[str, Any]) -> Said | None:
        nonlocal project, to_nobody
        kind, message = event.get("type"), event.get("message")
        if kind == "session":
            place = text_at(event, "cwd").rstrip("/\\")
            project = project_name(re.split(r"[/\\]", place)[-1]) if place else project
            return None
        if kind != "message" or not isinstance(message, Mapping):
            skipped.add(_BY_TYPE.get(kind, _OTHER) if isinstance(kind, str) else _OTHER)
            return None
        turn = _read_message(message, skipped)
        if turn is None:
            to_nobody = to_nobody or message.get("role") == "user"
            return None
        speaker, words = turn
        to_nobody = to_nobody and speaker != HUMAN
        why = REPORTS if to_nobody else DRAFTS if speaker == AGENT and event.get("id") in given_up else None
        if why:
            skipped.add(why)
            return None
        own = text_at(event, "id")  # one of its own kind, if it is long; short ones are counted within their session
        native_id = foreign_id(_FORMAT, *([own] if len(own) >= _WHOLE_ID else [session, own])) if own else None
        return Said(speaker, words, event.get("timestamp") or message.get("timestamp"), native_id, project)

    yield from transcripts.read(events(), file, read_turn)


def _read_message(message: Mapping[str, Any], skipped: Skipped) -> tuple[Speaker, str] | None:
    """The speaker and the words of a message; None if it is nobody's words."""
    role = message.get("role")
    if role not in ("user", "assistant"):
        skipped.add(RESULTS if role in ("toolResult", "tool") else OF_SYSTEM)
        return None
    if not _is_from_here(message) or message.get("model") in _NO_MODELS:
        skipped.add(REPORTS)
        return None
    texts = texts_in(message.get("content"), skipped)
    if role == "assistant":
        words = "\n".join(texts)
        if _SILENT.fullmatch(words):
            skipped.add(REPORTS)
            return None
        return AGENT, words
    words = without_what_was_brought(unwrapped("\n".join(texts)), skipped)
    if _OF_GATEWAY.match(words):
        skipped.add(REPORTS)
        return None
    if _COMMAND.fullmatch(words):
        skipped.add("commands and what they printed")
        return HUMAN, ""
    return HUMAN, words


def without_what_was_brought(words: str, skipped: Skipped) -> str:
    """A message without memories that a plug-in put in, and without mails and pages, which nobody said here. What is
    brought ends at the last mark before the next one begins, and without any at the end of the message."""
    words, blocks = _REMEMBERED.taken_off(words)
    parts: list[str] = []
    done, begun = 0, None
    for mark in _EXTERNAL.finditer(words):
        if mark["begin"]:
            if begun is None or done > begun:
                parts.append(words[done : mark.start()])
                begun = mark.start()
                blocks += 1
        elif begun is not None:
            done = mark.end()
    if begun is None or done > begun:
        parts.append(words[done:])
    skipped.add(OF_SYSTEM, blocks)
    return "".join(parts) if blocks else words


def _is_from_here(message: Mapping[str, Any]) -> bool:
    """True if a message came from its own human or agent, not from another session, a program or another store."""
    ours = message.get("__openclaw")
    is_mirrored = at(ours, "mirrorOrigin") or at(ours, "beforeAgentRunBlocked")
    return at(message, "provenance", "kind") in (None, "external_user") and not is_mirrored


def _given_up(events: Events) -> frozenset[str]:
    """The events beside the branch that ends in the last event; none if that branch does not lead back to the first."""
    parents: dict[str, str | None] = {}
    last = first = None
    for item in events():
        if isinstance(item, Rejected):
            continue
        own = text_at(item[1], "id")
        if item[1].get("type") == "session" or not own:
            continue
        parents[own] = text_at(item[1], "parentId") or None
        first, last = first or own, own
    path: set[str] = set()
    place = last
    while place is not None and place in parents and place not in path:
        path.add(place)
        place = parents[place]
    return frozenset(parents.keys() - path) if place is None and first in path else frozenset()
