"""Texts consolidated in one call, without a store of one's own."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import memory_pipeline
from memory_pipeline.errors import InputError
from memory_pipeline_tests.build import slowly

TEXTS = [
    "Restart the gateway after every key rotation.",
    "Anna likes tea.",
    "Restart the gateway after every key rotation!",
    "Postgres listens on port 5432 behind the proxy.",
    "Postgres listens on port 5433 behind the proxy.",
    "Anna likes tea.",
]


def test_texts_become_groups_and_contradictions_and_nothing_is_lost() -> None:
    made = memory_pipeline.consolidate(TEXTS)
    assert [group.ids for group in made.groups] == [(0, 2), (1, 5)]
    assert made.groups[1].text == "Anna likes tea."
    assert [(found.ids, found.kind, found.detail) for found in made.conflicts] == [
        ((3, 4), "contradiction", "5432 / 5433")
    ]
    assert made.stayed == {3: TEXTS[3], 4: TEXTS[4]}
    assert len(made.texts) == 4
    assert sorted([*made.stayed, *(place for group in made.groups for place in group.ids)]) == list(range(len(TEXTS)))


@pytest.mark.slow
def test_pairs_and_frames_keep_their_own_ids() -> None:
    pairs = [(("note", place), text) for place, text in enumerate(TEXTS[:3])]
    assert memory_pipeline.consolidate(pairs).groups[0].ids == (("note", 0), ("note", 2))
    frame = pd.DataFrame({"text": TEXTS[:3]}, index=["x", "y", "z"])
    made = memory_pipeline.consolidate(frame, {"embedding.model": "lexical"})
    assert made.groups[0].ids == ("x", "z") and made.stayed == {"y": TEXTS[1]}
    assert memory_pipeline.consolidate({"a": TEXTS[0], "b": TEXTS[2]}).groups[0].ids == ("a", "b")
    assert memory_pipeline.consolidate(pd.Series(TEXTS[:3], index=[7, 8, 9])).groups[0].ids == (7, 9)
    assert memory_pipeline.consolidate([]).texts == []


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ("one string", "give a list of strings"),
        (None, "texts is None; give a list of strings"),
        (["fine", "  "], "row 1 is no text"),
        (["fine", 3], "row 1 is no text"),
        ([("a", "x"), ("a", "y")], "the id 'a' comes twice"),
        (pd.DataFrame({"words": ["x"]}), "no column 'text'; it has words"),
    ],
)
def test_anything_else_is_refused_by_name(texts: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        memory_pipeline.consolidate(texts)


@pytest.mark.parametrize(
    ("texts", "conflict", "groups"),
    [
        (["The database port is 5432.", "The database port is 5433.", "The port of the database is 5432."], (0, 1), 0),
        *slowly(
            (
                [
                    "The brine has 20 percent salt.",
                    "The brine has 18 percent salt.",
                    "Note: the brine has 20 percent salt, as agreed.",
                ],
                (0, 1),
                1,
            )
        ),
        (["The database port is 5432.", "the database port is 5432", "The database port is 5433."], (0, 2), 1),
        (
            [
                "The gateway timeout is 30 seconds.",
                "The gateway timeout is 30 seconds. It was set by Dana after the outage.",
                "The gateway timeout is 60 seconds.",
            ],
            (0, 2),
            1,
        ),
    ],
)
def test_no_merge_hides_a_contradiction(texts: list[str], conflict: tuple[int, int], groups: int) -> None:
    made = memory_pipeline.consolidate(texts)
    assert [one.ids for one in made.conflicts] == [conflict]
    assert len(made.groups) == groups
