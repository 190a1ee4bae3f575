"""What a model may answer about turns of a conversation, for tests with a server of messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from memory_pipeline_tests.messages_server import Body, Said
from memory_pipeline_tests.reading.answering import answer, read_question, statement

#: What is kept of a turn: the words that a turn has, the kind, and further fields of the statement.
Wanted = tuple[str, str, dict[str, Any]]


def is_about_turns(body: Body) -> bool:
    """Whether a request asks about turns of a conversation, or about notes."""
    return "\n\nItems:\n" in body["messages"][0]["content"]


def attentive(*wanted: Wanted) -> Callable[[Body, int], Said]:
    """A model that keeps what it is told of every turn that has the words."""

    def script(body: Body, number: int = 0) -> Said:
        asked = read_question(body["messages"][0]["content"])
        kept = [
            statement(changes.pop("text", quote), {item["n"]: quote}, kind, **changes)
            for item in asked.items
            for quote, kind, given in wanted
            for changes in [dict(given)]
            if quote in item["text"]
        ]
        return Said(json.dumps(answer(*kept)))

    return script
