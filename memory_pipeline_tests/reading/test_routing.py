"""Where extractions go."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from memory_pipeline.reading.extraction import ROUTES
from memory_pipeline.records import ExtractionKind

_PAGE = Path(__file__).parents[2] / "docs" / "conversations.md"
_SHOWN = {
    "user": "`USER.md`",
    "relational": "`RELATIONAL.md`",
    "soul": "`SOUL.md`",
    "memory": "memory",
    "drop": "dropped",
}


def test_every_kind_of_both_speakers_has_a_route() -> None:
    assert set(ROUTES) == {(kind, speaker) for kind in get_args(ExtractionKind) for speaker in ("human", "agent")}


def test_only_a_humans_own_words_reach_the_file_about_the_human() -> None:
    assert {speaker for (_, speaker), route in ROUTES.items() if route.destination == "user"} == {"human"}


def test_the_page_shows_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", _PAGE.read_text("utf-8"), re.MULTILINE)
    shown = {}
    for (kind, speaker), route in ROUTES.items():
        words = _SHOWN[route.destination]
        words += ", inferred" if route.is_inferred else ""
        shown[kind, speaker] = words + (", and the daily log" if route.in_daily_log else "")
    expected = [(kind, shown[kind, "human"], shown[kind, "agent"]) for kind in get_args(ExtractionKind)]
    assert [(kind, human.strip(), agent.strip()) for kind, human, agent in rows] == expected
