"""The playbook as Markdown: a rule once, with its cases below it."""

from __future__ import annotations

from memory_pipeline.records import PlaybookEntry
from memory_pipeline.workspace.playbook_pages import playbook_block
from memory_pipeline_tests.build import FIRST


def entry(memory_id: str, content: str, confidence: float, category: str = "cache") -> PlaybookEntry:
    return PlaybookEntry(
        id=f"entry-{memory_id}",
        project_id="p",
        category=category,
        content=content,
        confidence=confidence,
        source_ids=(memory_id,),
        created_at=FIRST,
        updated_at=FIRST,
    )


RULE = entry("principle-1", "Clear the cache after replacing images or renaming a category.", 0.9)
CASES = [
    entry("pattern-1", "Clear the CDN cache after replacing images, or the old ones stay.", 0.8),
    entry("pattern-2", "Clear the menu cache after renaming a category.", 0.7, category="menu"),
]
OTHER = entry("pattern-3", "Warm the cache before a sale.", 0.95)


def test_the_patterns_of_a_principle_stand_below_it_once_and_in_its_category() -> None:
    text = playbook_block("p", [*CASES, OTHER, RULE], {"principle-1": {"pattern-1", "pattern-2"}})
    assert [line for line in text.split("\n") if line.startswith(("> Clear", "> - Clear", "> Warm"))] == [
        f"> {OTHER.content}",
        f"> {RULE.content}",
        f"> - {CASES[0].content} (from `pattern-1`)",
        f"> - {CASES[1].content} (from `pattern-2`)",
    ]


def test_without_a_principle_each_pattern_is_an_entry_of_its_own_category() -> None:
    text = playbook_block("p", [*CASES, OTHER])
    assert [line for line in text.split("\n") if line.startswith("## ")] == ["## cache", "## menu"]
