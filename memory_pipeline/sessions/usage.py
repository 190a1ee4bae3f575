"""Measures how full the contexts of sessions are, from what agents report: a usage file, the API, or their own files.

A count that was made before a compaction says nothing about the context after it, and no count is counted twice: what
an agent has not counted yet is estimated from its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memory_pipeline.config.night import Compaction
from memory_pipeline.errors import InputError, first_line
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.ingest.dates import time_or_none
from memory_pipeline.ingest.formats.claude_code import project_at
from memory_pipeline.ingest.formats.openclaw_sessions import WITHOUT_HUMAN, deleted_sessions, find_agents
from memory_pipeline.ingest.sqlite_files import columns_of, reading
from memory_pipeline.ingest.values import at, json_or_none, text_at
from memory_pipeline.records.conversation import MOST_TOKENS
from memory_pipeline.text.counts import estimated_tokens

#: A longer line is a picture or a result that its program cuts before the model reads it; tokens of such a line.
_LONGEST_LINE, _CUT_TOKENS = 4_000_000, 25_000
_SYNTHETIC = "<synthetic>"
#: The counts of what went into an answer; together 0 if it does not say.
_READ_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_LARGEST = 50_000_000
#: The columns of OpenClaw's table of sessions that are read.
_NEEDED = {"session_key", "session_id", "entry_json"}
Agent = Literal["claude-code", "openclaw", "usage-file", "api"]
Level = Literal["fine", "warning", "compaction", "emergency"]
_LARGEST_FILE = 10_000_000
_PICTURE_TOKENS = 1600


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    """The fill of a session's context.

    `compactions`: how often it was compacted before; `estimated`: how many of the tokens are estimated; `transcript`:
    the file with its words. `is_stale`: its agent says that the count is an old one.
    """

    session: str
    agent: Agent
    tokens: int
    window: int
    at: datetime
    compactions: int = 0
    estimated: int = 0
    project: str = ""
    transcript: str = ""
    is_stale: bool = False

    @property
    def share(self) -> float:
        """The share of the window that is in use."""
        return self.tokens / self.window


def levels(settings: Compaction) -> dict[Level, float]:
    """The share of the window from which a context is at a level, the fullest first."""
    return {"emergency": settings.emergency, "compaction": settings.threshold, "warning": settings.warning}


def level_of(usage: ContextUsage, settings: Compaction) -> Level:
    """The level of a context; an old count says nothing."""
    reached = (level for level, share in levels(settings).items() if usage.share >= share and not usage.is_stale)
    return next(reached, "fine")


class _Reported(BaseModel):
    """An entry of a usage file."""

    session: str = Field(min_length=1)
    tokens: int = Field(strict=True, ge=0, le=MOST_TOKENS)
    window: int | None = Field(None, strict=True, gt=0, le=MOST_TOKENS)
    at: datetime | None = None
    model: str = ""
    compactions: int = Field(0, ge=0, le=MOST_TOKENS)
    project: str = ""
    transcript: str = ""


_USAGE = TypeAdapter(list[_Reported])


def read_usage_file(path: Path, settings: Compaction) -> list[ContextUsage]:
    """Reads a usage file: a JSON object, a list of them, or one a line.

    Each has `session` and `tokens`, and may have `window`, `at` (ISO time, or seconds or milliseconds since 1970; by
    default that of the file), `model`, `compactions`, `project` and `transcript`. Of several about one session, the
    newest counts. Raises InputError for a file that cannot be read.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(f"'{path}' is larger than {_LARGEST_FILE} bytes; that is no usage file")
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        text = path.read_bytes().decode("utf-8-sig")
        try:
            whole = json.loads(text)
        except ValueError:
            whole = [json.loads(line) for line in text.split("\n") if line.strip()]
        entries = _USAGE.validate_python(whole if isinstance(whole, list) else [whole])
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    except ValidationError as error:
        first = error.errors()[0]
        number, *field = first["loc"]
        place = f"entry {int(number) + 1}{f', {field[0]}' if field else ''}"
        raise InputError(f"'{path}' is no usage file that can be read: {place}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is no usage file, since it is no JSON: {first_line(error)}") from None
    usages = []
    for entry in entries:
        fields = entry.model_dump(exclude={"model"})
        fields["at"] = moment_of(entry.at) or written
        fields["window"] = entry.window or settings.window_of(entry.model, entry.tokens)
        usages.append(ContextUsage(agent="usage-file", **fields))
    return list({usage.session: usage for usage in sorted(usages, key=lambda usage: usage.at)}.values())


def text_in(entry: Mapping[str, Any], name: str) -> str:
    """A name in what a program wrote; empty if it is none."""
    text = text_at(entry, name)
    return text if text.isprintable() else ""


def whole_number(value: object) -> int | None:
    """A number of tokens, or None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value)


def moment_of(value: object) -> datetime | None:
    """A time as programs write it: ISO, or seconds or milliseconds since 1970. None for anything else."""
    moment = time_or_none(value, UTC)
    return moment and moment.astimezone(UTC)


def read_openclaw(path: Path, settings: Compaction) -> list[ContextUsage]:
    """The context usage of the sessions of OpenClaw's agents. `path`: OpenClaw's directory, its `agents`, or the
    directory of one agent. Sessions of cron jobs, heartbeats and subagents are left out.

    Raises InputError for a file that cannot be read.
    """
    usages: dict[tuple[str, str], ContextUsage] = {}
    for agent, database, _ in find_agents(path):
        for key, entry, file in _read_entries(agent, database):
            usage = _usage(key, entry, file, settings)
            if usage is not None:
                log = agent / "sessions" / f"{Path(usage.session).name}.jsonl"
                transcript = f"{file}#{usage.session}" if file == database else str(log) if log.is_file() else ""
                usages[agent.name, usage.session] = replace(usage, transcript=transcript)
    return list(usages.values())


def _read_entries(agent: Path, database: Path | None) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    """What an agent's file says of its sessions, under their keys, and then its database, which is the newer one."""
    file = agent / "sessions" / "sessions.json"
    if file.is_file():
        if file.stat().st_size > _LARGEST:
            raise InputError(f"'{file}' is larger than {_LARGEST} bytes")
        entries = json_or_none(file.read_bytes().decode("utf-8", "replace"))  # none, while it is being written
        for key, entry in entries.items() if isinstance(entries, Mapping) else ():
            if isinstance(entry, Mapping):
                yield str(key), entry, file
    if database is None:
        return
    with reading(database) as connection:
        if not set(columns_of(connection, "session_entries")) >= _NEEDED:
            return
        deleted = deleted_sessions(connection)
        for key, session, text in connection.execute("select session_key, session_id, entry_json from session_entries"):
            entry = json_or_none(text)
            if isinstance(entry, Mapping) and session not in deleted:
                yield str(key), {"sessionId": session, **entry}, database


def _usage(key: str, entry: Mapping[str, Any], file: Path, settings: Compaction) -> ContextUsage | None:
    session = text_in(entry, "sessionId")
    if not session or entry.get("spawnedBy") or any(part in key for part in WITHOUT_HUMAN):
        return None
    tokens = whole_number(entry.get("totalTokens"))
    return ContextUsage(
        session=session,
        agent="openclaw",
        tokens=tokens or 0,
        window=whole_number(entry.get("contextTokens")) or settings.window_of(text_in(entry, "model"), tokens or 0),
        at=moment_of(entry.get("updatedAt")) or datetime.fromtimestamp(file.stat().st_mtime, UTC),
        compactions=whole_number(entry.get("compactionCount")) or 0,
        is_stale=tokens is None or entry.get("totalTokensFresh") is False,
    )


def read_claude(path: Path, settings: Compaction) -> ContextUsage | None:
    """The context usage of a session of Claude Code, by its transcript; None before there is anything in it. A last
    line that is not written to its end waits. Raises OSError if the file cannot be read."""
    context = _Context()
    with path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            length, last = len(line), line
            while last and not last.endswith(b"\n"):
                last = file.readline(_LONGEST_LINE)
                length += len(last)
            if not last:
                break
            if length > len(line):
                context.after += min(_CUT_TOKENS, length // 4)
            else:
                context.add(line)
    if context.counted is None and not context.after:
        return None
    tokens = (context.counted or 0) + context.after
    return ContextUsage(
        session=context.session or path.stem,
        agent="claude-code",
        tokens=tokens,
        window=settings.window_of(context.model, context.counted or 0),
        at=moment_of(context.at) or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        compactions=context.compactions,
        estimated=context.after if context.counted is not None else tokens,
        project=project_at(path.parent, context.cwd),
        transcript=str(path),
    )


@dataclass
class _Context:
    """The state of reading a transcript. `counted`: what the last answer says, None before the first one of a context;
    `answer`: that answer's id; `after`: the estimate of it and of what came after it."""

    counted: int | None = None
    answer: str = ""
    after: int = 0
    compactions: int = 0
    session: str = ""
    model: str = ""
    cwd: str = ""
    at: str = ""

    def add(self, line: bytes) -> None:
        """Take a line into account."""
        record = json_or_none(line)
        if not isinstance(record, Mapping) or record.get("isSidechain") is True or record.get("agentId"):
            return
        self.session = text_in(record, "sessionId") or self.session
        self.cwd = text_in(record, "cwd") or self.cwd
        self.at = text_in(record, "timestamp") or self.at
        kind, message = record.get("type"), record.get("message")
        if kind == "system" and record.get("subtype") == "compact_boundary":
            self.counted = whole_number(at(record, "compactMetadata", "postTokens"))
            self.answer, self.after, self.compactions = "", 0, self.compactions + 1
        if kind not in ("user", "assistant") or not isinstance(message, Mapping):
            return
        if record.get("isCompactSummary") is True and self.counted is not None:
            return  # the count after the compaction has it
        self.after += _count_tokens(message.get("content"))
        if kind == "user" or message.get("model") == _SYNTHETIC or record.get("isApiErrorMessage") is True:
            return
        counted = sum(whole_number(at(message, "usage", name)) or 0 for name in _READ_TOKENS)
        answer = text_in(message, "id") or text_in(record, "uuid")
        if counted and not (answer and answer == self.answer):
            self.counted, self.answer, self.after = counted, answer, _count_tokens(message.get("content"))
            self.model = text_in(message, "model") or self.model


def _count_tokens(content: object) -> int:
    """About how many tokens the content of a message has."""
    if isinstance(content, str):
        return estimated_tokens(content)
    if isinstance(content, list):
        return sum(_count_tokens(block) for block in content)
    if not isinstance(content, Mapping):
        return 0
    kind = content.get("type")
    if kind in ("image", "document"):
        return _PICTURE_TOKENS
    if kind in ("thinking", "redacted_thinking"):  # not sent again
        return 0
    if kind == "tool_result":
        return min(_CUT_TOKENS, _count_tokens(content.get("content")))
    if kind == "tool_use":
        return estimated_tokens(json.dumps(content.get("input"), ensure_ascii=False, default=str))
    text = content.get("text")
    return estimated_tokens(text) if isinstance(text, str) else 0
