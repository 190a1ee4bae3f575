"""The memories of one project by row, in columns: what filters and ranking ask of each, and the memories themselves.

A catalogue never changes; what has changed in the store gives the next one, which shares the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.recall.documents import Filters
from memory_pipeline.recall.neighbours import PLACE, may_have_neighbours, neighbours_in
from memory_pipeline.recall.ranking import Rowwise, ends_of, last_told, rows_of, shortness, weights_of
from memory_pipeline.records import DIGEST, MADE, MEMORY_TYPES, PATTERN_TYPES, UNDATED, Memory
from memory_pipeline.store import memory_of, memory_table

#: From so many changed rows on, the columns are put together again.
_MOST_CHANGED = 20_000

Booleans = NDArray[np.bool_]
Small = NDArray[np.int8]
Rows = NDArray[np.int64]


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


class Columns(NamedTuple):
    """What is known of each row. `moments`, `days`: the time that it refers to in UTC, and the day by the clock of its
    source; `was_noted`: whether no night made it; `types`, `pattern_types`: places in the lists of their names, -1 for
    none; `into`: the row that it was archived into, -1 for none; `is_digest`: whether it stands for a day's routine;
    `is_undated`: whether nobody knows when it was said."""

    moments: NDArray[np.datetime64]
    days: NDArray[np.datetime64]
    was_noted: Booleans
    levels: Small
    types: Small
    pattern_types: Small
    is_archived: Booleans
    is_rolled_back: Booleans
    into: Rows
    recalled: Rows
    useful: Rows
    is_digest: Booleans
    shortness: NDArray[np.float64]
    is_undated: Booleans

    @classmethod
    def of(cls, table: pa.Table, row_of: Mapping[str, int]) -> Columns:
        """The columns of memories as the store has them."""
        moments = table["effective_date"].to_numpy()
        minutes = table["utc_offset"].to_numpy().astype("timedelta64[m]")
        is_made = pc.equal(table["source_connector"], MADE)
        is_digest = pc.and_(is_made, pc.fill_null(pc.equal(table["source_file"], DIGEST), False))
        return cls(
            moments=moments,
            days=(moments + minutes).astype("datetime64[D]"),
            was_noted=~is_made.to_numpy(),
            levels=table["abstraction_level"].to_numpy().astype(np.int8),
            types=_codes(table["memory_type"], MEMORY_TYPES),
            pattern_types=_codes(table["pattern_type"], PATTERN_TYPES),
            is_archived=pc.is_valid(table["archived_at"]).to_numpy(),
            is_rolled_back=pc.is_valid(table["rolled_back_at"]).to_numpy(),
            into=rows_of(table["consolidated_into_id"].to_pylist(), row_of),
            recalled=table["reuse_count"].to_numpy().astype(np.int64),
            useful=table["useful_count"].to_numpy().astype(np.int64),
            is_digest=is_digest.to_numpy(),
            shortness=shortness(pc.utf8_length(table["content"]).to_numpy().astype(np.int64)),
            is_undated=pc.is_in(table["created_at_quality"], value_set=pa.array(UNDATED)).to_numpy(),
        )

    def changed(self, further: int, rows: Rows, values: Columns) -> Columns:
        """The columns with further rows, in which some rows have new values."""
        longer = [np.concatenate([column, np.zeros(further, dtype=column.dtype)]) for column in self]
        for column, new in zip(longer, values, strict=True):
            column[rows] = new
        return Columns(*longer)


@dataclass(frozen=True)
class Catalogue:
    """`ids` by row; `row_of` the other way round; `table`: the memories as the store has them, in the order of rows;
    `changed`: those that are newer than it; `before`, `after`: the neighbouring rows in a conversation or log, -1 for
    none."""

    ids: list[str]
    row_of: dict[str, int]
    table: pa.Table
    changed: dict[int, Memory]
    columns: Columns
    before: Rows
    after: Rows
    beside: Beside

    @cached_property
    def told(self) -> NDArray[np.datetime64]:
        """By row, when it was told last."""
        columns = self.columns
        return last_told(columns.moments, columns.is_undated, columns.into, _is_in(self.ids, self.beside.copies))

    @cached_property
    def rowwise(self) -> Rowwise:
        """What ranking has to know of each row."""
        columns = self.columns
        is_older = _is_in(self.ids, self.beside.superseded)
        return Rowwise(
            self.before,
            self.after,
            weights_of(columns.is_archived, is_older, columns.recalled, columns.useful),
            ends_of(columns.into, columns.is_archived),
            columns.is_digest,
            columns.shortness,
            columns.is_undated,
        )

    @classmethod
    def of(cls, ids: list[str], table: pa.Table, beside: Beside) -> Catalogue:
        """The catalogue of a whole project. `ids`: its rows; `table`: its memories, in any order. Raises ValueError if
        the two do not hold the same memories."""
        places = pc.index_in(pa.array(ids, pa.string()), value_set=table["id"].combine_chunks())
        if places.null_count or len(places) != table.num_rows:
            raise ValueError("the rows of the index are not the memories of the project")
        table = table.take(places).combine_chunks()
        row_of = {one: row for row, one in enumerate(ids)}
        before, after = neighbours_in(table.select(PLACE.names))
        return cls(ids, row_of, table, {}, Columns.of(table, row_of), before, after, beside)

    def following(self, ids: list[str], delta: pa.Table, beside: Beside) -> Catalogue:
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
        nobody = np.full(len(added), -1, dtype=np.int64)
        before, after = (np.concatenate([old, nobody]) for old in (self.before, self.after))
        if added and may_have_neighbours(delta.select(PLACE.names)):
            before, after = neighbours_in(_places(self.table, changed, len(ids)))
        columns = self.columns.changed(len(added), rows, Columns.of(delta, row_of))
        return Catalogue(ids, row_of, self.table, changed, columns, before, after, beside)

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
        if self.columns.is_undated[row] or self.told[row] <= self.columns.moments[row]:
            return None
        told = self.told[row].astype("datetime64[us]").item().replace(tzinfo=UTC)
        day = replace(memory, effective_date=told).day
        return day if day > memory.day else None

    def source_count(self, row: int) -> int:
        """How many direct sources the memory of a row has."""
        return self.beside.source_counts.get(self.ids[row], 0)

    def stood_for(self, rows: NDArray[np.int64], admitted: Booleans) -> Booleans:
        """Which of these rows are archived into an admitted memory, which stands for them."""
        ends = self.rowwise.stands_for_it[rows]
        stood_for: Booleans = (ends >= 0) & (ends != rows) & admitted[ends]
        return stood_for

    def admitted(self, filters: Filters) -> Booleans:
        """By row, whether a search with these filters considers it; what was rolled back never is."""
        columns = self.columns
        admitted: Booleans = ~columns.is_rolled_back
        if filters.levels:
            admitted &= np.isin(columns.levels, filters.levels)
        if filters.memory_types:
            admitted &= np.isin(columns.types, [MEMORY_TYPES.index(name) for name in filters.memory_types])
        if filters.pattern_types:
            admitted &= np.isin(columns.pattern_types, [PATTERN_TYPES.index(name) for name in filters.pattern_types])
        if filters.archived is not None:
            admitted &= columns.is_archived == filters.archived
        if filters.since is not None:
            admitted &= columns.days >= np.datetime64(filters.since)
        if filters.until is not None:
            admitted &= columns.days <= np.datetime64(filters.until)
        if filters.categories:
            admitted &= self._have_one_of(filters.categories)
        return admitted

    def _have_one_of(self, names: Sequence[str]) -> Booleans:
        """By row, whether it has one of these categories, which never change."""
        categories = self.table["categories"].combine_chunks()
        wanted = pc.is_in(pc.list_flatten(categories), value_set=pa.array(names, pa.string()))
        has_one = np.zeros(len(self.ids), dtype=bool)
        has_one[pc.list_parent_indices(categories).filter(wanted).to_numpy()] = True
        has_one[[row for row, memory in self.changed.items() if not {*names}.isdisjoint(memory.categories)]] = True
        return has_one


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
    added = [changed[row] for row in range(table.num_rows, count)]
    return pa.concat_tables([table.select(PLACE.names), memory_table(added).select(PLACE.names)]).combine_chunks()
