"""Files that agents write about their sessions, line by line as they write them."""

from __future__ import annotations

from typing import Any


def said(number: int, role: str, words: str, counted: int = 0, **fields: Any) -> dict[str, Any]:
    """A line of a Claude Code transcript; an answer with `counted` tokens in its context."""
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": words}]}
    if role == "assistant":
        usage = {"input_tokens": 3, "cache_read_input_tokens": max(0, counted - 103)}
        usage |= {"cache_creation_input_tokens": 100 if counted else 0, "output_tokens": 9}
        message |= {"id": f"msg_{number}", "model": "claude-x", "usage": usage if counted else {}}
    return {
        "parentUuid": f"u{number - 1}",
        "isSidechain": False,
        "cwd": "/home/dana/app",
        "sessionId": "5f0e8400-e29b-41d4-a716-446655440000",
        "type": role,
        "message": message,
        "uuid": f"u{number}",
        "timestamp": f"2026-03-01T09:{number // 60:02d}:{number % 60:02d}.120Z",
        **fields,
    }


def compacted(number: int, after: int | None = None) -> dict[str, Any]:
    """The line of a compaction."""
    facts = {"trigger": "auto", "preTokens": 190_000} | ({} if after is None else {"postTokens": after})
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": f"c{number}",
        "sessionId": "5f0e8400-e29b-41d4-a716-446655440000",
        "timestamp": f"2026-03-01T09:{number // 60:02d}:{number % 60:02d}.500Z",
        "compactMetadata": facts,
    }
