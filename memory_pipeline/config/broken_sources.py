"""Tables of `[[sources]]` and `[[exports]]` that cannot be used: each costs itself, not the commands and nights beside
it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from memory_pipeline.config.exports import ExportTable, SourceTable, key_of

#: Of the errors in a table, the first ones are told.
_TOLD = 3


@dataclass(frozen=True, slots=True)
class BrokenSource:
    """A table that cannot be used.

    `number`: its place in the list, from 1; 0 if there is no list, -1 if it is not known. `name`: what it is called, or
    `table-NUMBER` if it has no name of its own. `problem`: what is wrong with what it was `given`. `kind`: the list.
    """

    number: int
    name: str
    problem: str
    given: Mapping[str, object]
    kind: str = "sources"

    @property
    def key(self) -> str:
        """Its name as names of sources are compared."""
        return key_of(self.name)

    @property
    def told(self) -> str:
        """The problem with what it costs and the mend."""
        return (
            f"{self.problem}. This {self.kind[:-1]} is left out until the settings are mended, or 'memory-pipeline "
            f"{self.kind} remove {self.name}' takes it out"
        )


_Table = TypeVar("_Table", SourceTable, ExportTable)


def sort_out(
    kind: str,
    model: type[_Table],
    check: Callable[[Sequence[_Table]], None],
    tables: object,
    explain: Callable[[int, Any], str],
) -> tuple[tuple[_Table, ...], tuple[BrokenSource, ...]]:
    """The tables of a list that can be used, and the others. `check` raises ValueError if some do not go together;
    `explain` puts an error of a table into words, given its index."""
    if not isinstance(tables, Sequence) or isinstance(tables, str | bytes):
        problem = f"'{kind}' is no list: begin each of its tables with [[{kind}]]"
        return (), (BrokenSource(0, kind, problem, tables if isinstance(tables, Mapping) else {}, kind),)
    good: list[_Table] = []
    wrong: list[tuple[int, object, str]] = []
    for index, given in enumerate(tables):
        try:
            table = given if isinstance(given, model) else model.model_validate(given)
            together = good.copy()
            together.append(table)
            check(together)
            good = together
        except ValidationError as error:
            wrong.append((index, given, "; ".join(explain(index, one) for one in error.errors()[:_TOLD])))
        except ValueError as error:
            wrong.append((index, given, f"table {index + 1} of [[{kind}]]: {error}"))
    taken = {table.key for table in good}
    broken: list[BrokenSource] = []
    for index, given, problem in wrong:
        broken.append(_broken(kind, index, given, problem, taken))
        taken.add(broken[-1].key)
    return tuple(good), tuple(broken)


def _broken(kind: str, index: int, given: object, problem: str, taken: Set[str]) -> BrokenSource:
    """The table under its name, or, if that is none or another table has it, under its number."""
    fields = given.model_dump(mode="json") if isinstance(given, SourceTable | ExportTable) else given
    known = fields if isinstance(fields, Mapping) else {}
    name = known.get("name")
    is_own = isinstance(name, str) and name.strip() and name.isprintable() and key_of(name) not in taken
    numbered = f"table-{index + 1}"
    while key_of(numbered) in taken:
        numbered = f"broken-{numbered}"
    return BrokenSource(index + 1, str(name) if is_own else numbered, problem, known, kind)
