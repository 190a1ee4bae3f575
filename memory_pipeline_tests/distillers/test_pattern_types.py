"""The kind of pattern that memories make together, from their types and their wording."""

from __future__ import annotations

import pytest

from memory_pipeline.distillers.pattern_types import pattern_type_of
from memory_pipeline.records import Memory
from memory_pipeline_tests.build import FIRST, memory


def typed(*told: tuple[str, str]) -> list[Memory]:
    return [memory(f"m{n}", text, FIRST, memory_type=kind) for n, (kind, text) in enumerate(told)]


RULE = "Restart the worker after changing its environment, otherwise it keeps the old values."


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([("error_fix", "x"), ("error_fix", "y"), ("fact", "z")], "failure"),
        ([("warning", "x"), ("warning", "y"), ("warning", "z")], "gotcha"),
        ([("decision", "We keep DuckDB."), ("decision", "DuckDB stays."), ("fact", "z")], "decision"),
        ([("lesson", RULE), ("lesson", RULE), ("lesson", RULE)], "workflow"),
        ([("other", RULE), ("other", RULE), ("other", "A note.")], "workflow"),
        ([("other", "The backup fails silently when the disk is full.")] * 3, "gotcha"),
        ([("lesson", "The backup fails silently when the disk is full.")] * 3, "gotcha"),
        ([("other", "We decided to keep the old printer."), ("other", "Decision: keep the printer.")], "decision"),
        ([("other", "The router overheated and the network was down.")] * 3, "failure"),
        ([("other", "Group norm worked well on the small batches.")] * 3, "success"),
        ([("warning", "x"), ("fact", "y"), ("fact", "z")], "gotcha"),
        ([("decision", "x"), ("warning", "y"), ("error_fix", "z")], "failure"),
        ([("fact", "The wiki lives at wiki.example.org.")] * 3, "workflow"),
        ([("other", "**job**: POSTFLIGHT: failed (exit 1)")] * 3, "workflow"),
    ],
)
def test_most_of_the_members_that_show_a_kind_decide(members: list[tuple[str, str]], expected: str) -> None:
    assert pattern_type_of(typed(*members)) == expected
