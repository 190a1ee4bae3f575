"""How full the context of a Claude Code session is, from its transcript, which is read on from where it was left.

The last answer of the main line says what went into it (`input` + `cache_read` + `cache_creation`). That answer, and
what came after it, is estimated. After a compaction, nothing that was counted before it is true any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from memory_pipeline.compaction.usage import (
    PICTURE_TOKENS,
    ContextUsage,
    estimated_tokens,
    moment_of,
    text_in,
    whole_number,
)
from memory_pipeline.config.compaction import Compaction

#: A longer line is a picture or a result that its program cuts before the model reads it; tokens of such a line.
_LONGEST_LINE, _CUT_TOKENS = 4_000_000, 25_000
_FIRST_BYTES = 256
_SYNTHETIC = "<synthetic>"


@dataclass(frozen=True, slots=True)
class Followed:
    """What was read of a transcript up to `offset`, in numbers alone.

    `begins`: a hash of its first bytes, by which another file of the same name is known; `counted`: what the last
    answer says, None before the first one of a context; `answer`: that answer's id; `after`: the estimate of it and of
    what came after it; `since`: where the last compaction ends.
    """

    begins: str = ""
    offset: int = 0
    counted: int | None = None
    answer: str = ""
    after: int = 0
    compactions: int = 0
    since: int = 0
    session: str = ""
    model: str = ""
    cwd: str = ""
    at: str = ""

    def as_json(self) -> dict[str, Any]:
        """Its fields, for a cursor."""
        return asdict(self)

    @classmethod
    def of_json(cls, told: object) -> Followed:
        """What a cursor kept; nothing for what is none."""
        try:
            return cls(**told) if isinstance(told, Mapping) else cls()
        except TypeError:
            return cls()


def follow(path: Path, before: Followed | None = None) -> Followed:
    """Read a transcript on from where `before` left it; from its beginning if it is another file now. A last line
    that is not written to its end waits. Raises OSError if the file cannot be read."""
    with path.open("rb") as file:
        begins = hashlib.sha256(file.read(_FIRST_BYTES).partition(b"\n")[0]).hexdigest()[:16]
        size = path.stat().st_size
        seen = before if before and before.begins == begins and before.offset <= size else Followed(begins=begins)
        file.seek(seen.offset)
        while True:
            line, length, is_whole = _next_line(file)
            if not is_whole:
                return seen
            seen = replace(_with_line(seen, line, length), offset=seen.offset + length)


def _next_line(file: BinaryIO) -> tuple[bytes | None, int, bool]:
    """A line, None in the place of one that is too long, with its length and whether it has its end."""
    line = file.readline(_LONGEST_LINE)
    length, is_long = len(line), False
    last = line
    while last and not last.endswith(b"\n"):
        last = file.readline(_LONGEST_LINE)
        length += len(last)
        is_long = is_long or bool(last)
    return (None if is_long else line), length, last.endswith(b"\n")


def _with_line(seen: Followed, line: bytes | None, length: int) -> Followed:
    if line is None:
        return replace(seen, after=seen.after + min(_CUT_TOKENS, length // 4))
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return seen
    if not isinstance(told, Mapping) or told.get("isSidechain") is True or told.get("agentId"):
        return seen
    seen = replace(
        seen,
        session=text_in(told, "sessionId") or seen.session,
        cwd=text_in(told, "cwd") or seen.cwd,
        at=text_in(told, "timestamp") or seen.at,
    )
    kind = told.get("type")
    if kind == "system" and told.get("subtype") == "compact_boundary":
        facts = told.get("compactMetadata")
        left = whole_number(facts.get("postTokens")) if isinstance(facts, Mapping) else None
        return replace(
            seen,
            counted=left,
            answer="",
            after=0,
            compactions=seen.compactions + 1,
            since=seen.offset + length,
        )
    message = told.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, Mapping):
        return seen
    if told.get("isCompactSummary") is True and seen.counted is not None:
        return seen  # the count after the compaction has it
    size = _tokens_in(message.get("content"))
    if kind == "user" or message.get("model") == _SYNTHETIC or told.get("isApiErrorMessage") is True:
        return replace(seen, after=seen.after + size)
    counted = _counted(message.get("usage"))
    answer = text_in(message, "id") or text_in(told, "uuid")
    if counted is None or (answer and answer == seen.answer):
        return replace(seen, after=seen.after + size)
    return replace(seen, counted=counted, answer=answer, after=size, model=text_in(message, "model") or seen.model)


def _counted(usage: object) -> int | None:
    """What went into an answer; None if it does not say, or nothing did."""
    if not isinstance(usage, Mapping):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(whole_number(usage.get(name)) or 0 for name in names) or None


def _tokens_in(content: object) -> int:
    """About how many tokens the content of a message has."""
    if isinstance(content, str):
        return estimated_tokens(content)
    if isinstance(content, list):
        return sum(_tokens_in(block) for block in content)
    if not isinstance(content, Mapping):
        return 0
    kind = content.get("type")
    if kind in ("image", "document"):
        return PICTURE_TOKENS
    if kind in ("thinking", "redacted_thinking"):  # not sent again
        return 0
    if kind == "tool_result":
        return min(_CUT_TOKENS, _tokens_in(content.get("content")))
    if kind == "tool_use":
        return estimated_tokens(json.dumps(content.get("input"), ensure_ascii=False, default=str))
    text = content.get("text")
    return estimated_tokens(text) if isinstance(text, str) else 0


def usage_in(path: Path, seen: Followed, settings: Compaction, project: str = "") -> ContextUsage | None:
    """How full the context is as what was read says; None before there is anything in it."""
    if not seen.offset or (seen.counted is None and not seen.after):
        return None
    tokens = (seen.counted or 0) + seen.after
    return ContextUsage(
        session=seen.session or path.stem,
        agent="claude-code",
        tokens=tokens,
        window=settings.window_of(seen.model, seen.counted or 0),
        at=moment_of(seen.at) or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        compactions=seen.compactions,
        estimated=seen.after if seen.counted is not None else tokens,
        bytes_since=seen.offset - seen.since,
        model=seen.model,
        project=project,
        place=str(path),
        transcript=str(path),
    )
