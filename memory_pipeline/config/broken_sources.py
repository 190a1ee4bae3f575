"""`[[sources]]` tables that cannot be used: each costs itself, not the commands and nights beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memory_pipeline.config.memory_sources import SourceTable, check_names, key_of


@dataclass(frozen=True, slots=True)
class BrokenSource:
    """A table that cannot be used. `number`: its place in the list, from 1; 0 if there is no list. `name`: what it is
    called, or `table-NUMBER`. `problem`: one sentence that says what is wrong with what it was `given`."""

    number: int
    name: str
    problem: str
    given: Mapping[str, object]

    @property
    def key(self) -> str:
        """Its name as names of sources are compared."""
        return key_of(self.name)

    @property
    def told(self) -> str:
        """The problem with what it costs and the mend."""
        return (
            f"{self.problem}. This source is left out until the settings are mended, or 'memory-pipeline sources "
            f"remove {self.name}' takes it out"
        )


def sort_out(
    tables: object, explain: Callable[[int, Any], str]
) -> tuple[tuple[SourceTable, ...], tuple[BrokenSource, ...]]:
    """The tables that can be used, and the others. `explain` puts the first error of a table into words, given its
    index."""
    if not isinstance(tables, Sequence) or isinstance(tables, str | bytes):
        problem = "'sources' is no list: begin each of its tables with [[sources]]"
        return (), (BrokenSource(0, "sources", problem, tables if isinstance(tables, Mapping) else {}),)
    good: list[SourceTable] = []
    broken: list[BrokenSource] = []
    for index, given in enumerate(tables):
        try:
            table = given if isinstance(given, SourceTable) else SourceTable.model_validate(given)
            check_names([*good, table])
            good.append(table)
        except ValidationError as error:
            broken.append(_broken(index, given, explain(index, error.errors()[0])))
        except ValueError as error:
            broken.append(_broken(index, given, f"table {index + 1} of [[sources]]: {error}"))
    return tuple(good), tuple(broken)


def _broken(index: int, given: object, problem: str) -> BrokenSource:
    fields = given.model_dump(mode="json") if isinstance(given, SourceTable) else given
    known = fields if isinstance(fields, Mapping) else {}
    name = known.get("name")
    label = name if isinstance(name, str) and name.strip() and name.isprintable() else f"table-{index + 1}"
    return BrokenSource(index + 1, label, problem, known)
