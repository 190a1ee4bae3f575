"""The memories of one project by row, in columns: what filters and ranking ask of each, and the memories themselves.

A catalogue never changes; what has changed in the store gives the next one, which shares the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.recall.documents import Filters
from memory_pipeline.recall.neighbours import PLACE, may_have_neighbours, neighbours_in
from memory_pipeline.recall.ranking import Rowwise, ends_of, last_told, rows_of, shortness, weights_of
from memory_pipeline.records import DIGEST, MADE, MEMORY_TYPES, PATTERN_TYPES, UNDATED, Memory
from memory_pipeline.store import memory_of

#: From so many changed rows on, the columns are put together again.
_MOST_CHANGED = 20_000

_Number = TypeVar("_Number", bound=np.generic)
Booleans = NDArray[np.bool_]
Small = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Beside:
    """What other tables say of memories: by memory that a newer one supersedes, this one; by memory that others
    contradict, these; by memory that was made from others, or replaced them, how many direct sources it has; where a
    memory applies, if a person kept both sides of a contradiction; and which were archived into one that said the same
    before."""

    superseded: Mapping[str, str]
    contradicting: Mapping[str, tuple[str, ...]]
    source_counts: Mapping[str, int]
    scopes: Mapping[str, str] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Catalogue:
    """`ids` by row; `row_of` the other way round; `table`: the memories as the store has them, in the order of rows;
    `changed`: those that are newer than it. `moments`, `days`: the time that each refers to in UTC, and the day by the
    clock of its source; `was_noted`: whether no night made it; `types`, `pattern_types`: places in the lists of their
    names, -1 for none."""

    ids: list[str]
    row_of: dict[str, int]
    table: pa.Table
    changed: dict[int, Memory]
    moments: NDArray[np.datetime64]
    days: NDArray[np.datetime64]
    was_noted: Booleans
    levels: Small
    types: Small
    pattern_types: Small
    is_archived: Booleans
    is_rolled_back: Booleans
    into: NDArray[np.int64]
    uses: tuple[NDArray[np.int64], NDArray[np.int64]]
    beside: Beside
    rowwise: Rowwise

    @cached_property
    def told(self) -> NDArray[np.datetime64]:
        """By row, when it was told last."""
        return last_told(self.moments, self.rowwise.is_undated, self.into, _is_in(self.ids, self.beside.copies))

    @classmethod
    def of(cls, ids: list[str], table: pa.Table, beside: Beside) -> Catalogue:
        """The catalogue of a whole project. `ids`: its rows; `table`: its memories, in any order. Raises ValueError if
        the two do not hold the same memories."""
        places = pc.index_in(pa.array(ids, pa.string()), value_set=table["id"].combine_chunks())
        if places.null_count or len(places) != table.num_rows:
            raise ValueError("the rows of the index are not the memories of the project")
        table = table.take(places).combine_chunks()
        row_of = {one: row for row, one in enumerate(ids)}
        is_archived = pc.is_valid(table["archived_at"]).to_numpy()
        into = rows_of(table["consolidated_into_id"].to_pylist(), row_of)
        recalled, useful = (table[name].to_numpy().astype(np.int64) for name in ("reuse_count", "useful_count"))
        before, after = neighbours_in(table.select(PLACE.names))
        older = _is_in(ids, beside.superseded)
        weight = weights_of(is_archived, older, recalled, useful)
        return cls(
            ids=ids,
            row_of=row_of,
            table=table,
            changed={},
            moments=table["effective_date"].to_numpy(),
            days=_days(table),
            was_noted=_was_noted(table),
            levels=table["abstraction_level"].to_numpy().astype(np.int8),
            types=_codes(table["memory_type"], MEMORY_TYPES),
            pattern_types=_codes(table["pattern_type"], PATTERN_TYPES),
            is_archived=is_archived,
            is_rolled_back=pc.is_valid(table["rolled_back_at"]).to_numpy(),
            into=into,
            uses=(recalled, useful),
            beside=beside,
            rowwise=Rowwise(
                before,
                after,
                weight,
                ends_of(into, is_archived),
                _are_digests(table),
                _shortness(table),
                _are_undated(table),
            ),
        )

    def after(self, ids: list[str], delta: pa.Table, beside: Beside) -> Catalogue:
        """The next catalogue: `ids` begins with this one's, and `delta` holds all of the further ones and whatever has
        changed. Raises ValueError if it does not."""
        if not delta.num_rows and beside == self.beside and len(ids) == len(self.ids):
            return self
        added = ids[len(self.ids) :]
        row_of = self.row_of
        for row, one in enumerate(added, len(self.ids)):
            row_of[one] = row  # rows that an earlier catalogue shares with this one stay as they are
        rows = rows_of(delta["id"].to_pylist(), row_of)
        if (rows < 0).any() or len(np.unique(rows[rows >= len(self.ids)])) != len(added):
            raise ValueError("the changes do not hold every added row")
        memories = [memory_of(list(row.values())) for row in delta.to_pylist()]
        changed = {**self.changed, **dict(zip(rows.tolist(), memories, strict=True))}
        extended = _Extended(len(added), rows)
        is_archived = extended.set(self.is_archived, pc.is_valid(delta["archived_at"]).to_numpy())
        into = extended.set(self.into, rows_of(delta["consolidated_into_id"].to_pylist(), row_of))
        uses = (
            extended.set(self.uses[0], delta["reuse_count"].to_numpy()),
            extended.set(self.uses[1], delta["useful_count"].to_numpy()),
        )
        nobody = np.full(len(added), -1, dtype=np.int64)
        before, after = (np.concatenate([old, nobody]) for old in (self.rowwise.before, self.rowwise.after))
        if added and may_have_neighbours(delta.select(PLACE.names)):
            before, after = neighbours_in(_places(self.table, changed, len(ids)))
        weight = weights_of(is_archived, _is_in(ids, beside.superseded), *uses)
        return Catalogue(
            ids=ids,
            row_of=row_of,
            table=self.table,
            changed=changed,
            moments=extended.set(self.moments, delta["effective_date"].to_numpy()),
            days=extended.set(self.days, _days(delta)),
            was_noted=extended.set(self.was_noted, _was_noted(delta)),
            levels=extended.set(self.levels, delta["abstraction_level"].to_numpy()),
            types=extended.set(self.types, _codes(delta["memory_type"], MEMORY_TYPES)),
            pattern_types=extended.set(self.pattern_types, _codes(delta["pattern_type"], PATTERN_TYPES)),
            is_archived=is_archived,
            is_rolled_back=extended.set(self.is_rolled_back, pc.is_valid(delta["rolled_back_at"]).to_numpy()),
            into=into,
            uses=uses,
            beside=beside,
            rowwise=Rowwise(
                before,
                after,
                weight,
                ends_of(into, is_archived),
                extended.set(self.rowwise.is_digest, _are_digests(delta)),
                extended.set(self.rowwise.shortness, _shortness(delta)),
                extended.set(self.rowwise.is_undated, _are_undated(delta)),
            ),
        )

    @property
    def is_far_from_its_table(self) -> bool:
        """Whether so much has changed that a new catalogue of the whole is better."""
        return len(self.changed) > _MOST_CHANGED

    def memories(self, rows: Sequence[int]) -> list[Memory]:
        """The memories of some rows, in their order."""
        old = [row for row in rows if row not in self.changed]
        read = self.table.take(old).to_pylist() if old else []
        found = {row: memory_of(list(values.values())) for row, values in zip(old, read, strict=True)}
        return [self.changed[row] if row in self.changed else found[row] for row in rows]

    def superseded_by(self, row: int) -> str | None:
        """The newer memory that supersedes the one of a row, or None."""
        return self.beside.superseded.get(self.ids[row])

    def contradicting(self, row: int) -> tuple[str, ...]:
        """The memories that contradict the one of a row, as long as nobody has settled it."""
        return self.beside.contradicting.get(self.ids[row], ())

    def scope(self, row: int) -> str:
        """Where the memory of a row applies, in a person's words; empty for everywhere."""
        return self.beside.scopes.get(self.ids[row], "")

    def until(self, row: int) -> date | None:
        """The day of the newer memory that supersedes the one of a row; None if none does."""
        newer = self.row_of.get(self.superseded_by(row) or "")
        if newer is None:
            return None
        (memory,) = self.memories([newer])
        return self.told_again(newer, memory) or memory.day

    def told_again(self, row: int, memory: Memory) -> date | None:
        """The day of the last copy that was archived into the memory of a row, if it is later."""
        if self.rowwise.is_undated[row] or self.told[row] <= self.moments[row]:
            return None
        told = self.told[row].astype("datetime64[us]").item().replace(tzinfo=UTC)
        day = replace(memory, effective_date=told).day
        return day if day > memory.day else None

    def source_count(self, row: int) -> int:
        """How many direct sources the memory of a row has."""
        return self.beside.source_counts.get(self.ids[row], 0)

    def admitted(self, filters: Filters) -> Booleans:
        """By row, whether a search with these filters considers it; what was rolled back never is."""
        return self._admitted(filters) if filters.narrows else self._in_use

    def stood_for(self, rows: NDArray[np.int64], admitted: Booleans) -> Booleans:
        """Which of these rows are archived into an admitted memory, which stands for them."""
        ends = self.rowwise.stands_for_it[rows]
        stood_for: Booleans = (ends >= 0) & (ends != rows) & admitted[ends]
        return stood_for

    def _admitted(self, filters: Filters) -> Booleans:
        admitted = ~self.is_rolled_back
        if filters.levels:
            admitted &= np.isin(self.levels, filters.levels)
        if filters.memory_types:
            admitted &= np.isin(self.types, [MEMORY_TYPES.index(name) for name in filters.memory_types])
        if filters.pattern_types:
            admitted &= np.isin(self.pattern_types, [PATTERN_TYPES.index(name) for name in filters.pattern_types])
        if filters.archived is not None:
            admitted &= self.is_archived == filters.archived
        if filters.since is not None:
            admitted &= self.days >= np.datetime64(filters.since)
        if filters.until is not None:
            admitted &= self.days <= np.datetime64(filters.until)
        if filters.categories:
            wanted = [self._rows_by_category.get(name, []) for name in filters.categories]
            has_one = np.zeros(len(admitted), dtype=bool)
            has_one[[row for rows in wanted for row in rows]] = True
            admitted &= has_one
        return admitted

    @cached_property
    def _in_use(self) -> Booleans:
        return ~self.is_rolled_back

    @cached_property
    def _rows_by_category(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, categories in enumerate(self.table["categories"].to_pylist()):
            for name in categories:
                found.setdefault(name, []).append(row)
        for row, memory in self.changed.items():
            if row >= self.table.num_rows:
                for name in memory.categories:
                    found.setdefault(name, []).append(row)
        return found


class _Extended:
    """Copies of columns with further rows, in which some rows have new values."""

    def __init__(self, further: int, rows: NDArray[np.int64]) -> None:
        self._further, self._rows = further, rows

    def set(self, column: NDArray[_Number], values: NDArray[Any]) -> NDArray[_Number]:
        longer = np.concatenate([column, np.zeros(self._further, dtype=column.dtype)])
        longer[self._rows] = values
        return longer


def _days(table: pa.Table) -> NDArray[np.datetime64]:
    """The days that memories refer to, by the clocks of their sources."""
    minutes = table["utc_offset"].to_numpy().astype("timedelta64[m]")
    days: NDArray[np.datetime64] = (table["effective_date"].to_numpy() + minutes).astype("datetime64[D]")
    return days


def _was_noted(table: pa.Table) -> Booleans:
    noted: Booleans = pc.not_equal(table["source_connector"], MADE).to_numpy()
    return noted


def _are_digests(table: pa.Table) -> Booleans:
    """Which memories stand for a day's routine."""
    is_made = pc.equal(table["source_connector"], MADE)
    digests: Booleans = pc.fill_null(pc.and_(is_made, pc.equal(table["source_file"], DIGEST)), False).to_numpy()
    return digests


def _are_undated(table: pa.Table) -> Booleans:
    """Of which memories nobody knows when they were said."""
    undated: Booleans = pc.is_in(table["created_at_quality"], value_set=pa.array(UNDATED)).to_numpy()
    return undated


def _shortness(table: pa.Table) -> NDArray[np.float64]:
    return shortness(pc.utf8_length(table["content"]).to_numpy().astype(np.int64))


def _codes(column: pa.ChunkedArray, names: Sequence[str]) -> Small:
    found = pc.fill_null(pc.index_in(column, value_set=pa.array(names)), -1).to_numpy()
    codes: Small = found.astype(np.int8)
    return codes


def _is_in(ids: Sequence[str], wanted: Collection[str]) -> Booleans:
    if not wanted:
        return np.zeros(len(ids), dtype=bool)
    return np.array([one in wanted for one in ids], dtype=bool)


def _places(table: pa.Table, changed: Mapping[int, Memory], count: int) -> pa.Table:
    """Where all memories stand: nothing of it ever changes, so that only added rows are not in the table."""
    from memory_pipeline.store import memory_table

    added = [changed[row] for row in range(table.num_rows, count)]
    return pa.concat_tables([table.select(PLACE.names), memory_table(added).select(PLACE.names)]).combine_chunks()
