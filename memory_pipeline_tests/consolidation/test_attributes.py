"""Lines of a name and a value belong to the thing that their heading names."""

from __future__ import annotations

from datetime import date

import pytest

from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, run

PRICE = "**Preis**: im Schnitt 45 Euro pro Person"


@pytest.mark.parametrize(
    ("other", "line", "left"),
    [
        ("Zum Adler", PRICE, 2),
        ("Da Gino — 14:00", PRICE, 1),
        ("Zum Adler", "Wir haben 45 Euro bezahlt.", 1),
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
