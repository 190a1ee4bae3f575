"""What a model may answer about turns of a conversation, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from memory_pipeline_tests.messages_server import Body, Said

#: What is proposed of a turn: the words that a turn has, the kind, and further fields of the answer.
Proposed = tuple[str, str, dict[str, Any]]


def turns_of(body: Body) -> list[dict[str, Any]]:
    """The turns in a request."""
    found: list[dict[str, Any]] = json.loads(body["messages"][0]["content"])["turns"]
    return found


def is_about_turns(body: Body) -> bool:
    """Whether a request asks about turns of a conversation."""
    return '"turns"' in body["messages"][0]["content"]


def proposal(turn: int, quote: str, kind: str, **changes: Any) -> dict[str, Any]:
    """One extraction of an answer."""
    return {
        "turn": turn, "kind": kind, "quote": quote, "text": quote, "rationale": "", "significance": 0.6, **changes
    }  # fmt: skip


def answer(*extractions: dict[str, Any], suspicious: tuple[int, ...] = ()) -> Said:
    """An answer about turns."""
    return Said(json.dumps({"extractions": list(extractions), "suspicious": list(suspicious)}))


def attentive(*wanted: Proposed) -> Callable[[Body, int], Said]:
    """A model that proposes what it is told of every turn that has the words."""

    def script(body: Body, number: int = 0) -> Said:
        return answer(
            *(
                proposal(turn["number"], quote, kind, **changes)
                for turn in turns_of(body)
                for quote, kind, changes in wanted
                if quote in turn["words"]
            )
        )

    return script
