"""The memories of one project by row, in columns: what filters and ranking ask of each, and the memories themselves.

A catalogue never changes; what has changed in the store gives the next one, which shares the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.recall.documents import Filters
from memory_pipeline.recall.neighbours import PLACE, Rows, may_have_neighbours, neighbours_in
from memory_pipeline.records import DIGEST, LEVEL_PATTERN, MADE, UNDATED, Memory
from memory_pipeline.store import memory_of
from memory_pipeline.text.subject import title_in
from memory_pipeline.text.superseding import Opponent

#: The day of what nobody knows the day of: README promises that it counts as old.
_LONG_AGO = np.datetime64("0001-01-01")
#: Of two memories that answer alike the shorter one comes first: more of them fit into a context. A tenth of so many
#: characters costs a twentieth of the score, three times as many half of it. Of 20 BEAM conversations (100K) ten were
#: looked at: the evidence within 1,000 tokens rises from .721 to .727 (turns of the human), and from .487 to .581 with
#: the agent's long answers among the memories; in the ten others (turns of the human) it is .732, as before. With less
#: it rises more, but a note of five words stands before the pattern that answers, and of near copies by the thousand
#: the merged one is not found again.
_SHORT = 2_000
#: What archived and superseded memories weigh, and those whose words a person removed.
_OF_ARCHIVED = 0.5
#: How much use may raise a rank: at most a tenth, a twentieth for each doubling of the times it was called useful, a
#: hundredth for each doubling of the times it was recalled.
_MOST_FOR_USE, _FOR_USEFUL, _FOR_RECALLED = 0.1, 0.05, 0.01

#: Steps in which a chain of replacements is followed, each twice as long as the one before: only a circle needs more.
_DOUBLINGS = 24

#: So small a part of the table is copied at each change.
_PARTS = 8
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Beside:
    """Facts of other tables about memories: by memory that a newer one supersedes, this one; by memory that others
    contradict, these, the latest first, without earlier ones; by memory that was made from others, or replaced them,
    the number of its direct sources; where a memory applies, if a person kept both sides of a contradiction; which were
    archived into one that said the same before; of which the words were removed from their file; and the pairs that
    likely contradict each other."""

    superseded: Mapping[str, str]
    opponents: Mapping[str, tuple[Opponent, ...]]
    source_counts: Mapping[str, int]
    scopes: Mapping[str, str] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    likely: frozenset[tuple[str, str]] = frozenset()


class Columns(NamedTuple):
    """Facts about each row. `moments`, `days`: the time that it refers to in UTC, and the day by the clock of its
    source; `was_noted`: whether no night made it; `into`: the row that it was archived into, -1 for none; `is_digest`:
    whether it stands for a day's routine; `shortness`: the factor for its length, from 1 towards 0; `is_undated`:
    whether nobody knows when it was said; `titles`: the heading above it, empty for none."""

    moments: NDArray[np.datetime64]
    days: NDArray[np.datetime64]
    was_noted: Booleans
    is_archived: Booleans
    is_rolled_back: Booleans
    into: Rows
    recalled: Rows
    useful: Rows
    is_digest: Booleans
    shortness: NDArray[np.float64]
    is_undated: Booleans
    titles: NDArray[np.object_]

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
            is_archived=pc.is_valid(table["archived_at"]).to_numpy(),
            is_rolled_back=pc.is_valid(table["rolled_back_at"]).to_numpy(),
            into=rows_of(table["consolidated_into_id"].to_pylist(), row_of),
            recalled=table["reuse_count"].to_numpy().astype(np.int64),
            useful=table["useful_count"].to_numpy().astype(np.int64),
            is_digest=is_digest.to_numpy(),
            shortness=np.sqrt(_SHORT / (_SHORT + pc.utf8_length(table["content"]).to_numpy())),
            is_undated=pc.is_in(table["created_at_quality"], value_set=pa.array(UNDATED)).to_numpy(),
            titles=_titles_in(table),
        )

    def changed(self, further: int, rows: Rows, values: Columns) -> Columns:
        """The columns with further rows, in which some rows have new values."""
        longer = [np.concatenate([column, np.zeros(further, dtype=column.dtype)]) for column in self]
        for column, new in zip(longer, values, strict=True):
            column[rows] = new
        return Columns(*longer)


@dataclass(frozen=True)
class Catalogue:
    """`ids` by row; `row_of` the other way round; `table`: the memories as the store has or had them; `place`: by row,
    where the newest of these stands; `before`, `after`: the neighbouring rows in a conversation or log, -1 for none."""

    ids: list[str]
    row_of: dict[str, int]
    table: pa.Table
    place: Rows
    columns: Columns
    before: Rows
    after: Rows
    beside: Beside

    @cached_property
    def last_told(self) -> NDArray[np.datetime64]:
        """By row, when it was told last: a copy that was archived into it may be later. What nobody knows the time of
        was told long ago."""
        moments = np.where(self.columns.is_undated, _LONG_AGO, self.columns.moments)
        is_copy = self._are(self.beside.copies) & (self.columns.into >= 0)
        np.maximum.at(moments, self.columns.into[is_copy], moments[is_copy])
        return moments

    @cached_property
    def is_out(self) -> Booleans:
        """By row, whether a newer one supersedes it, or its words were removed from its file."""
        return self._are(self.beside.superseded) | self._are(self.beside.gone)

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """By row, half for archived, superseded and removed ones, and a little for use."""
        columns = self.columns
        use = _FOR_USEFUL * np.log2(1.0 + columns.useful) + _FOR_RECALLED * np.log2(1.0 + columns.recalled)
        weight: NDArray[np.float64] = np.where(columns.is_archived | self.is_out, _OF_ARCHIVED, 1.0)
        weight *= 1.0 + np.minimum(use, _MOST_FOR_USE)
        return weight

    @cached_property
    def stands_for_it(self) -> Rows:
        """By row, the active one at the end of its chain of replacements: itself if it is active, -1 for none."""
        is_archived = self.columns.is_archived
        ends = np.where(is_archived, self.columns.into, np.arange(len(is_archived)))
        for _ in range(_DOUBLINGS):
            following = np.where(ends >= 0, ends[ends], -1)
            if (following == ends).all():
                break
            ends = following
        return np.where((ends >= 0) & ~is_archived[ends], ends, -1)

    def order(self, rows: Rows, scores: NDArray[np.float64]) -> Rows:
        """The places of rows, best score first; of equal ones the newest first, then by id: however the index grew."""
        by_id = np.array(sorted(range(len(rows)), key=[self.ids[row] for row in rows.tolist()].__getitem__), np.int64)
        newest = -self.last_told[rows[by_id]].astype(np.int64)
        return by_id[np.lexsort((newest, -scores[by_id]))]

    @classmethod
    def of(cls, ids: list[str], table: pa.Table, beside: Beside, *, uses_count: bool = True) -> Catalogue:
        """The catalogue of a whole project. `ids`: its rows; `table`: its memories, in any order. Raises ValueError if
        the two do not hold the same memories."""
        nothing, nobody = table.slice(0, 0), np.zeros(0, dtype=np.int64)
        empty = cls([], {}, nothing, nobody, Columns.of(nothing, {}), nobody, nobody, beside)
        whole = empty.following(ids, table, beside)
        if uses_count:
            return whole
        unused = np.zeros(len(ids), dtype=np.int64)
        return replace(whole, columns=whole.columns._replace(recalled=unused, useful=unused))

    def following(self, ids: list[str], delta: pa.Table, beside: Beside) -> Catalogue:
        """The next catalogue: `ids` begins with this one's, and `delta` holds all of the further ones and whatever has
        changed. Raises ValueError if it does not."""
        if not delta.num_rows and beside == self.beside and len(ids) == len(self.ids):
            return self
        added = ids[len(self.ids) :]
        for row, memory_id in enumerate(added, len(self.ids)):
            self.row_of[memory_id] = row  # rows that an earlier catalogue shares with this one stay as they are
        rows = rows_of(delta["id"].to_pylist(), self.row_of)
        if (rows < 0).any() or len(np.unique(rows[rows >= len(self.ids)])) != len(added):
            raise ValueError("the changes do not hold every added row")
        nobody = np.full(len(added), -1, dtype=np.int64)
        place, before, after = (np.concatenate([old, nobody]) for old in (self.place, self.before, self.after))
        place[rows] = self.table.num_rows + np.arange(delta.num_rows)
        table, place = _join_tables(self.table, delta, place)
        if added and may_have_neighbours(delta.select(PLACE.names)):
            files = pc.is_in(table["source_file"], value_set=delta["source_file"].combine_chunks()).to_numpy()
            beside_them = np.flatnonzero(files[place])
            adjacent = neighbours_in(table.select(PLACE.names).take(place[beside_them]).combine_chunks())
            before[beside_them], after[beside_them] = (np.where(n < 0, n, beside_them[n]) for n in adjacent)
        columns = self.columns.changed(len(added), rows, Columns.of(delta, self.row_of))
        return Catalogue(ids, self.row_of, table, place, columns, before, after, beside)

    def memories(self, rows: Sequence[int]) -> list[Memory]:
        """The memories of some rows, in their order."""
        return [memory_of(list(values.values())) for values in self._look(self.table, rows)]

    def contents(self, rows: Rows) -> list[str]:
        """The words of the memories of some rows."""
        return [values["content"] for values in self._look(self.table.select(["content"]), rows)]

    def _look(self, table: pa.Table, rows: Sequence[int] | Rows) -> list[dict[str, Any]]:
        """The values of some rows in `table`, or columns of it, in their order. Each piece is asked for its own: taken
        from a table in pieces, they would cost a copy of all."""
        places, first = self.place[np.asarray(rows, dtype=np.int64)], 0
        values: dict[int, dict[str, Any]] = {}
        for piece in table.to_batches():
            here = places[(places >= first) & (places < first + piece.num_rows)]
            values |= zip(here.tolist(), piece.take(pa.array(here - first)).to_pylist(), strict=True)
            first += piece.num_rows
        return [values[place] for place in places.tolist()]

    def _are(self, ids: Collection[str]) -> Booleans:
        """By row, whether it is one of these memories."""
        rows, are = rows_of(ids, self.row_of), np.zeros(len(self.ids), dtype=bool)
        are[rows[(rows >= 0) & (rows < len(are))]] = True  # later catalogues, which share `row_of`, have more rows
        return are

    def until(self, row: int) -> date | None:
        """The day of the newer memory that supersedes the one of a row; None if none does."""
        newer = self.row_of.get(self.beside.superseded.get(self.ids[row], ""))
        if newer is None:
            return None
        (memory,) = self.memories([newer])
        return self.told_again(newer, memory) or memory.day

    def told_again(self, row: int, memory: Memory) -> date | None:
        """The day of the last copy that was archived into the memory of a row, if it is later."""
        if self.columns.is_undated[row] or self.last_told[row] <= self.columns.moments[row]:
            return None
        moment = self.last_told[row].astype("datetime64[us]").item().replace(tzinfo=UTC)
        day = replace(memory, effective_date=moment).day
        return day if day > memory.day else None

    def admitted(self, filters: Filters) -> Booleans:
        """By row, whether a search with these filters considers it; what was rolled back never is."""
        columns = self.columns
        admitted: Booleans = ~columns.is_rolled_back
        for name, wanted in (
            ("abstraction_level", filters.levels),
            ("memory_type", filters.memory_types),
            ("pattern_type", filters.pattern_types),
        ):
            if wanted:
                column = self.table[name]
                admitted &= pc.is_in(column, value_set=pa.array(wanted, column.type)).to_numpy()[self.place]
        if filters.archived is not None:
            admitted &= columns.is_archived == filters.archived
        if filters.since is not None:
            admitted &= columns.days >= np.datetime64(filters.since)
        if filters.until is not None:
            admitted &= columns.days <= np.datetime64(filters.until)
        if filters.categories:
            categories = self.table["categories"].combine_chunks()  # these never change
            wanted = pc.is_in(pc.list_flatten(categories), value_set=pa.array(filters.categories, pa.string()))
            has_one = np.zeros(self.table.num_rows, dtype=bool)
            has_one[pc.list_parent_indices(categories).filter(wanted).to_numpy()] = True
            admitted &= has_one[self.place]
        return admitted


def _titles_in(table: pa.Table) -> NDArray[np.object_]:
    """The heading of each memory; empty of what has none, and of what was made of several."""
    joined = pc.fill_null(pc.binary_join(table["headings"], "\0"), "").combine_chunks().dictionary_encode()
    titles = np.array([title_in(text.split("\0")) for text in joined.dictionary.to_pylist()] + [""], dtype=object)
    places = np.where(table["abstraction_level"].to_numpy() < LEVEL_PATTERN, joined.indices.to_numpy(), -1)
    return titles[places]


def rows_of(ids: Iterable[str | None], row_of: Mapping[str, int]) -> NDArray[np.int64]:
    """The rows of ids; -1 for none and for unknown ones."""
    return np.array([-1 if memory_id is None else row_of.get(memory_id, -1) for memory_id in ids], dtype=np.int64)


def _join_tables(table: pa.Table, delta: pa.Table, place: Rows) -> tuple[pa.Table, Rows]:
    """The rows of both in two pieces: the small one is copied each time, the large one when the other has grown to a
    part of it. And the places there of what stands at `place` of both; nothing else is kept when all is copied."""
    if not delta.num_rows:
        return table, place
    whole = pa.concat_tables([table, delta])
    pieces = whole.to_batches()
    large = pieces[0].num_rows
    if (whole.num_rows - large) * _PARTS <= large:
        small = pa.Table.from_batches(pieces[1:], whole.schema).combine_chunks()
        return pa.concat_tables([whole.slice(0, large), small]), place
    stays = np.zeros(whole.num_rows, dtype=bool)
    stays[place] = True
    if not stays.all():
        whole, place = whole.filter(pa.array(stays)), np.cumsum(stays)[place] - 1
    return whole.combine_chunks(), place
