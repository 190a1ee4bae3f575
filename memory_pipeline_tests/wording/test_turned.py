"""What a heading turns is never shown without it."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.turned import with_heading


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("anti-patterns-never-do-these", "Anti patterns never do these: Cut memories for speed."),
        ("rejected-alternatives", "Rejected alternatives: Cut memories for speed."),
        ("what-not-to-do", "What not to do: Cut memories for speed."),
        ("don-ts", "Don ts: Cut memories for speed."),
        ("best-practices", "Cut memories for speed."),
        ("nevermore", "Cut memories for speed."),
    ],
)
def test_a_heading_that_turns_a_note_goes_with_it(heading: str, told: str) -> None:
    assert with_heading("Cut memories for speed.", ("brain", heading)) == told
    assert with_heading(told, ("brain", heading)) == told


def test_a_note_that_says_so_itself_needs_no_heading() -> None:
    for text in ("Never cut memories.", "Don't cut memories.", "- Avoid cuts."):
        assert with_heading(text, ("anti-patterns",)) == text
