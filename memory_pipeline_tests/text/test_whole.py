"""Texts that a program has cut off."""

from __future__ import annotations

import pytest

from memory_pipeline.text.whole import is_cut_off


@pytest.mark.parametrize(
    "text",
    [
        "**CR coverage**: Topics 1 and 2 both directly target Context Relevance. RE",
        "Discovered research topics (via fallback). Summary: eline stages and so on.",
        "**CR_SECTION_QUALITY** — reorder sections by relevance rank (decision_context, episo",
        "Three synergistic mechanisms that map to the pipeline:",
        'He said "keep it',
        "The fan of **rack three",
    ],
)
def test_a_text_that_lost_its_beginning_or_its_end_is_known(text: str) -> None:
    assert is_cut_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "Fixed the import of the backup",
        "The port is 5432. It is open to the office only",
        "Use `a(b` in the shell, and `c[d` elsewhere.",
        "Summary: Three seeds before reporting a gain.",
        "**Root cause:** the lock was stale (see OPS-142).",
        "Restart it. Done.",
        "",
    ],
)
def test_a_whole_text_is_not_taken_for_one(text: str) -> None:
    assert not is_cut_off(text)
