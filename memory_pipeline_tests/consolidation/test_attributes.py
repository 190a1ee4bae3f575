"""Lines belong to the thing that their heading names."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.consolidation.duplicates import find_duplicates
from memory_pipeline.store import SameContent, Store
from memory_pipeline_tests.build import FIRST, candidate, fill, run

PRICE = "**Preis**: im Schnitt 45 Euro pro Person"


@pytest.mark.parametrize(
    ("other", "line", "left"),
    [
        ("Zum Adler", PRICE, 2),
        ("Da Gino — 14:00", PRICE, 1),
        ("Zum Adler", "Wir haben 45 Euro bezahlt.", 2),
        ("Zum Adler", "Da Gino und Zum Adler haben montags zu.", 1),
    ],
)
def test_the_same_value_of_two_things_is_said_twice(store: Store, other: str, line: str, left: int) -> None:
    notes = [candidate(line, native_id=f"n{n}", headings=(name,)) for n, name in enumerate(("Da Gino", other))]
    fill(store, [*notes, *(candidate(f"Note {n} ist alt.", native_id=f"old{n}") for n in range(12))])
    run(store, date(2026, 3, 5))
    with store.reading() as tx:
        assert sum(memory.content == line for memory in tx.memories.all(include_archived=False)) == left


def test_different_values_of_two_things_are_no_contradiction(store: Store) -> None:
    notes = [
        candidate(f"Prix moyen: {price} euros par personne", native_id=name, headings=(name,))
        for name, price in (("Chez Paul", 45), ("Le Dôme", 60))
    ]
    fill(store, [*notes, *(candidate(f"Note {n} est vieille.", native_id=f"old{n}") for n in range(12))])
    run(store, date(2026, 3, 5))
    with store.reading() as tx:
        assert tx.conflicts.open() == []


def same(content: str, *headings: str) -> list[SameContent]:
    """Rows of one content, each below its heading, day by day."""
    return [
        SameContent("p", "hash", f"n{n}", True, content, (name,) if name else (), FIRST + timedelta(days=n))
        for n, name in enumerate(headings)
    ]


def grouped(rows: list[SameContent]) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.survivor_id, group.duplicate_ids) for group in find_duplicates(rows)]


def test_the_same_words_below_the_names_of_two_things_are_no_copies() -> None:
    rows = same("No fever.", "Box 3", "Box 7", "Box 3 (09:00)", "", "Box 7")
    assert grouped(rows) == [("n0", ("n2", "n3")), ("n1", ("n4",))]
    assert grouped(same("Has a key.", "Anna", "Bert")) == []


def test_below_headings_that_name_no_thing_they_are() -> None:
    rows = same("We use DuckDB for the store of the reports.", "Decisions", "Notes")
    assert grouped(rows) == [("n0", ("n1",))]
    assert grouped(same("Anna and Bert have a key.", "Anna", "Bert")) == [("n0", ("n1",))]


def test_what_is_said_below_very_many_headings_costs_no_comparison_of_all() -> None:
    names = [f"Run {n} of the {animal} farm" for n in range(40) for animal in ("goat", "duck")]
    rows = same("All is well.", *names, *names)
    assert len(grouped(rows)) >= 80 - 8


def test_a_task_that_is_open_again_is_no_copy_of_the_one_that_was_done() -> None:
    rows = same("Clean the trough", "", "", "", "")
    texts = ("[ ] Clean the trough", "[ ] Clean the trough", "[x] Clean the trough", "[ ] Clean the trough")
    rows = [row._replace(content=text) for row, text in zip(rows, texts, strict=True)]
    assert grouped(rows) == [("n0", ("n1",))]


def test_near_copies_below_the_names_of_two_things_are_not_merged(store: Store) -> None:
    words = "Gets half a tablet of phenobarbital {} morning with the food."
    notes = [
        candidate(words.format(every), native_id=name, headings=("Dogs", name))
        for name, every in (("Rex", "every"), ("Max", "each"))
    ]
    fill(store, [*notes, *(candidate(f"Note {n} is old.", native_id=f"old{n}") for n in range(12))])
    run(store, date(2026, 3, 5))
    with store.reading() as tx:
        assert {"Rex", "Max"} <= {memory.id for memory in tx.memories.all(include_archived=False)}
