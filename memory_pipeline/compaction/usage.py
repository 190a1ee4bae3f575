"""How full the contexts of sessions are, from what agents report: a usage file, the API, or their own files.

A count that was made before a compaction says nothing about the context after it, and no count is counted twice: what
an agent has not counted yet is estimated from its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from memory_pipeline.config.compaction import Compaction
from memory_pipeline.errors import InputError
from memory_pipeline.files import cause_and_mend
from memory_pipeline.records.conversation import MOST_TOKENS

Agent = Literal["claude-code", "openclaw", "usage-file", "api"]
Level = Literal["fine", "warning", "compaction", "emergency", "bytes"]
_LARGEST_FILE = 10_000_000
#: Bytes of English text that make a token, and tokens of a picture.
_BYTES_PER_TOKEN, PICTURE_TOKENS = 4, 1600
#: Bytes of a transcript since its last compaction at which its session is flushed, whatever its count of tokens says.
MOST_BYTES = 8_000_000
#: Times before this are counted in seconds, later ones in milliseconds.
_MOST_SECONDS = 10**11


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    """How full the context of a session is.

    `compactions`: how often it was compacted before; `estimated`: how many of the tokens are estimated; `bytes_since`:
    bytes of its transcript since the last compaction; `place`: the file that tells it, `transcript` the one with its
    words. `is_stale`: its agent says that the count is an old one.
    """

    session: str
    agent: Agent
    tokens: int
    window: int
    at: datetime
    compactions: int = 0
    estimated: int = 0
    bytes_since: int = 0
    model: str = ""
    project: str = ""
    place: str = ""
    transcript: str = ""
    is_stale: bool = False

    @property
    def share(self) -> float:
        """The share of the window that is in use."""
        return self.tokens / self.window


def level_of(usage: ContextUsage, settings: Compaction) -> Level:
    """How full a context is. By its bytes, only if its tokens say nothing else."""
    for level, share in (
        ("emergency", settings.emergency),
        ("compaction", settings.threshold),
        ("warning", settings.warning),
    ):
        if usage.share >= share and not usage.is_stale:
            return level  # type: ignore[return-value]
    return "bytes" if usage.bytes_since >= MOST_BYTES else "fine"


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has; more for scripts whose characters have more bytes."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def read_usage_file(path: Path, settings: Compaction) -> list[ContextUsage]:
    """What a usage file says: a JSON object, a list of them, or one a line.

    Each has `session` and `tokens`, and may have `window`, `at` (ISO time, or seconds or milliseconds since 1970; by
    default that of the file), `model`, `compactions`, `project` and `transcript`. Of several about one session, the
    newest counts. Raises InputError for a file that cannot be read.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(f"'{path}' is larger than {_LARGEST_FILE} bytes; that is no usage file")
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    except UnicodeDecodeError:
        raise InputError(f"'{path}' is not UTF-8") from None
    newest: dict[str, ContextUsage] = {}
    for number, told in enumerate(_objects(path, text), start=1):
        usage = _told(path, number, told, written, settings)
        before = newest.get(usage.session)
        if before is None or before.at <= usage.at:
            newest[usage.session] = usage
    return list(newest.values())


def _objects(path: Path, text: str) -> Iterator[Mapping[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = [_line(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for one in whole if isinstance(whole, list) else [whole]:
        if not isinstance(one, Mapping):
            raise InputError(f"'{path}' is no usage file: it has something that is no JSON object")
        yield one


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"line {number} of the usage file '{path}' is not JSON") from None


def _told(path: Path, number: int, told: Mapping[str, Any], written: datetime, settings: Compaction) -> ContextUsage:
    where = f"entry {number} of the usage file '{path}'"
    session = text_in(told, "session")
    if not session:
        raise InputError(f"{where} names no session; write it as 'session'")
    tokens = whole_number(told.get("tokens"))
    if tokens is None:
        raise InputError(f"{where} has no number of tokens from 0 to {MOST_TOKENS}; write it as 'tokens'")
    model = text_in(told, "model")
    window = whole_number(told.get("window"))
    if told.get("window") is not None and not window:
        raise InputError(f"{where} has a window of {told['window']!r}; write the number of tokens")
    at = moment_of(told.get("at"))
    if told.get("at") is not None and at is None:
        raise InputError(f"{where} has the time {told['at']!r}; write it like 2026-03-14T09:30Z")
    return ContextUsage(
        session=session,
        agent="usage-file",
        tokens=tokens,
        window=window or settings.window_of(model, tokens),
        at=at or written,
        compactions=whole_number(told.get("compactions")) or 0,
        model=model,
        project=text_in(told, "project"),
        place=str(path),
        transcript=text_in(told, "transcript"),
    )


def text_in(told: Mapping[str, Any], name: str) -> str:
    """A text in what a program wrote; empty if it is none."""
    value = told.get(name)
    return value.strip() if isinstance(value, str) and value.isprintable() else ""


def whole_number(value: object) -> int | None:
    """A number of tokens, or None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value)


def moment_of(value: object) -> datetime | None:
    """A time as programs write it: ISO, or seconds or milliseconds since 1970. None for anything else."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / (1000 if value > _MOST_SECONDS else 1), UTC)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
