"""Finds what is near: entries beside each other in a conversation or a log, vectors in one matrix, and how near
questions come to these that have nothing to do with them.

What a turn means often stands in the turn before it, and what a line of a section means in its heading and in the line
above. A stand-alone fact, a lesson or an abstraction has no neighbours.
A question that comes no nearer than unrelated ones is not answered there. No score of words or vectors tells more;
whether a near memory answers, only reading it does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import MADE
from memory_pipeline.text.normalise import embedding_text

_log = logging.getLogger(__name__)
#: From so many vectors on, signs choose the candidates: so many, or of more than 640,000 vectors one in eighty. The
#: nearest ten to 300 queries were all among them, of 100,000 and of 1,000,000 vectors (`benchmarks/search.py`).
SIGNS_FROM = 20_000
_CANDIDATES, _ONE_IN = 8_000, 80
#: Rows whose signs are compared at once: what that takes stays in the processor's cache.
_BLOCK = 32_768
#: For each so many rows there is room for a further one.
_ROWS_A_SPARE = 8

Bits = NDArray[np.uint64]
_Number = TypeVar("_Number", np.float32, np.uint64)


def signs_of(vectors: Vectors) -> Bits:
    """The signs of vectors, uint64 (n, words): `vectors` is float32 (n, dimension)."""
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


class Matrix:
    """Vectors by row, float32 (n, dimension), unit length, zero where there is none; and, of many, their signs."""

    def __init__(self, vectors: Vectors, signs: Bits | None = None, *, count: int | None = None) -> None:
        """`count`: of the rows, if those behind them are room for further ones."""
        self._vectors, self._count = vectors, len(vectors) if count is None else count
        #: Column by column: of 100,000 short rows each step costs numpy six times as much as of six long ones.
        self._signs = None if signs is None else np.asfortranarray(signs)

    @classmethod
    def of(cls, vectors: Vectors, count: int) -> Matrix:
        """The matrix of the first `count` rows, with room behind them, and with signs if they are many."""
        return cls(vectors, signs_of(vectors) if count >= SIGNS_FROM else None, count=count)

    @cached_property
    def without_vector(self) -> NDArray[np.int64]:
        """The rows that have none."""
        return np.flatnonzero(~self._vectors[: self._count].any(axis=1))

    def extended(self, late: Vectors, further: Vectors) -> Matrix:
        """The matrix with the vectors of those that had none, which may be zero still, and of further rows. It
        lies in the memory of this one, if that has room: of several that are made of one, the last alone is used."""
        if not len(further) and not late.any():
            return self
        count, values = self._count + len(further), np.concatenate([late, further])
        rows = np.concatenate([self.without_vector, np.arange(self._count, count)])
        vectors = _with_room(self._vectors, count)
        vectors[rows] = values
        if self._signs is None:
            longer = Matrix.of(vectors, count)
        else:
            signs = _with_room(self._signs, count)
            signs[rows] = signs_of(values)
            longer = Matrix(vectors, signs, count=count)
        longer.without_vector = rows[~values.any(axis=1)]
        return longer

    def __len__(self) -> int:
        return self._count

    def nearest(self, vector: Vectors, depth: int, admitted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The rows nearest to a unit vector, at most `depth`; in the order of rows. `admitted`: whether each
        row may be among them."""
        count = self._count
        if self._signs is None or count < SIGNS_FROM:
            scores = _multiply(self._vectors[:count], vector)
            if admitted is not None:
                scores = np.where(admitted, scores, -2.0)
            return _largest(scores, depth)
        # Signs of the larger half of the vector's numbers count twice: a third of the candidates is enough then.
        sizes = np.abs(vector)
        signs, large = signs_of(np.stack([vector, sizes - np.median(sizes)]))
        same = np.empty(count, dtype=np.int16)
        for first in range(0, count, _BLOCK):
            block = slice(first, min(first + _BLOCK, count))
            others = self._signs[block].T ^ signs[:, None]
            differing = np.bitwise_count(others) + np.bitwise_count(others & large[:, None])
            same[block] = -differing.sum(axis=0, dtype=np.int16)
        if admitted is not None:
            same[~admitted] = np.iinfo(np.int16).min
        candidates = _largest(same, max(_CANDIDATES, count // _ONE_IN, depth))
        scores = _multiply(np.take(self._vectors, candidates, axis=0), vector)
        nearest: NDArray[np.int64] = candidates[_largest(scores, depth)]
        return nearest

    def rows(self, rows: NDArray[np.int64]) -> Vectors:
        """The vectors of some rows."""
        return np.take(self._vectors, rows, axis=0)

    def cosines(self, rows: NDArray[np.int64], vector: Vectors) -> NDArray[np.float64]:
        """The cosines of some rows to a unit vector."""
        return _multiply(np.take(self._vectors, rows, axis=0), vector).astype(np.float64)


#: What the vector of a heading weighs beside that of an entry below it. Chosen on 90 questions about a made-up
#: workspace, of which a context of 100 tokens answers 70 with it, 62 without, and 73 if entries of one section are
#: neighbours as well; of 180 about another made-up one and a real one it is 107, 104 and 114.
_HEADING = 0.6
_HEADINGS_KEPT = 10_000


class Headings:
    """The vectors of headings, kept while a process lives. `- Allergic to walnuts` below `Ilka` does not say whom it is
    about, and neither does its vector."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embed = embed
        self._known: dict[str, Vectors] = {}

    def cosines(
        self, matrix: Matrix, rows: NDArray[np.int64], vector: Vectors, titles: Sequence[str]
    ) -> NDArray[np.float64]:
        """The cosines of some rows to a unit vector: of each with its heading, if it is nearer so. `titles`: the
        heading of each row; empty if it has none."""
        of_rows = matrix.rows(rows)
        cosines = _multiply(of_rows, vector).astype(np.float64)
        vectors = self._vectors_of(sorted(set(titles) - {""}))
        below = np.flatnonzero([title in vectors for title in titles])
        if not len(below):
            return cosines
        headings, own = np.stack([vectors[titles[place]] for place in below.tolist()]), of_rows[below]
        shared = np.einsum("ij,ij->i", own, headings)
        mixed = (cosines[below] + _HEADING * _multiply(headings, vector)) / np.sqrt(
            1 + _HEADING**2 + 2 * _HEADING * shared
        )
        cosines[below] = np.where(own.any(axis=1), np.maximum(cosines[below], mixed), cosines[below])
        return cosines

    def _vectors_of(self, titles: Sequence[str]) -> Mapping[str, Vectors]:
        new = [title for title in titles if title not in self._known]
        if new:
            try:
                vectors = self._embed(list(map(embedding_text, new)))
            except EmbeddingError as error:
                _log.warning("entries are searched without their headings: %s", error)
                return {}
            if len(self._known) > _HEADINGS_KEPT:
                self._known = {}
            self._known = self._known | dict(zip(new, vectors, strict=True))
        return self._known


def room_for(count: int) -> int:
    """The number of rows to allocate for so many, so that further ones do not copy them each time."""
    return count + count // _ROWS_A_SPARE


def _with_room(array: NDArray[_Number], count: int) -> NDArray[_Number]:
    """An array that holds at least so many rows, the first of them as they are."""
    if count <= len(array):
        return array
    longer = np.empty_like(array, shape=(room_for(count), *array.shape[1:]))
    longer[: len(array)] = array
    return longer


def _multiply(vectors: Vectors, vector: Vectors) -> Vectors:
    """Dot products on this thread alone: beside other work, BLAS's threads wait for each other fifty times longer than
    the product takes."""
    products: Vectors = np.einsum("ij,j->i", vectors, vector)
    return products


def _largest(scores: NDArray[np.generic], depth: int) -> NDArray[np.int64]:
    """The places of the largest scores, in order; of equal ones the first."""
    count = len(scores)
    if count <= depth:
        return np.arange(count, dtype=np.int64)
    least = np.partition(scores, count - depth)[count - depth]
    above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    return np.sort(np.concatenate([above, equal[: depth - len(above)]]))


#: Questions of thirty different fields. Of those about ten BEAM conversations 1 in 160 comes no nearer to its own one
#: than the third nearest of these does, and a quarter of those about the other nine conversations.
QUESTIONS = (
    "What is the boiling point of water at sea level?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How many moons does Jupiter have?",
    "Which team won the football world cup in 1998?",
    "How do I get a red wine stain out of a white shirt?",
    "What is the capital of Mongolia?",
    "When do tulip bulbs have to be planted?",
    "How long does a hard-boiled egg take?",
    "Why is the sky blue?",
    "What does a carburettor do in a motorbike?",
    "Which vitamins are in a kiwi?",
    "Who wrote the Brothers Karamazov?",
    "How is a bow tie tied?",
    "What is the highest mountain in Africa?",
    "How deep is the Mariana Trench?",
    "What are the rules of offside?",
    "Which instruments are there in a string quartet?",
    "How do bees find their way back to the hive?",
    "When did the Berlin Wall fall?",
    "What is the difference between a crocodile and an alligator?",
    "How do I prune an apple tree?",
    "What causes a solar eclipse?",
    "How many strings does a cello have?",
    "What is the recipe for pancakes?",
    "Which planet has rings?",
    "How do whales sleep?",
    "What was the name of Napoleon's horse?",
    "Why do leaves turn red in autumn?",
    "How much does an adult elephant weigh?",
    "Which language is spoken in Brazil?",
)
_LOOKED_AT = 50


def nearest_of(matrix: Matrix, vector: Vectors) -> float:
    """The greatest cosine of a unit vector to any row; -1 of none."""
    rows = matrix.nearest(vector, _LOOKED_AT)
    return float(matrix.cosines(rows, vector).max(initial=-1.0))


def nearest_unrelated(matrix: Matrix, embed: Callable[[Sequence[str]], Vectors]) -> float:
    """The greatest cosine that a question about something else has to any row, but for two, of which a store may know
    something after all."""
    return sorted(nearest_of(matrix, vector) for vector in embed(list(map(embedding_text, QUESTIONS))))[-3]


#: Entries of one file that are further apart than this belong to different conversations.
_APART_S = timedelta(hours=6).total_seconds()
#: A log or a transcript is named by its day.
_NAMED_BY_DAY = r"\d{4}-\d{2}-\d{2}"
#: A turn may begin with the name of its speaker, as `Dana: ...` does. The length of a name is looked at beside: Arrow
#: makes the pattern anew each time, and one with a bound takes ten times as long as all the rest.
_SPEAKER = r"^\s*(?:\[[^\]]{1,40}\]\s*)?(?P<name>\pL[\pL\pN_ .'-]*?)\s*:\s"
_LONGEST_NAME = 31
#: A file whose rows begin with the names of few speakers is a conversation.
_LEAST_TURNS, _SHARE_OF_TURNS, _MOST_SPEAKERS = 4, 0.8, 12

Rows = NDArray[np.int64]

#: The columns that tell where memories stand: those of a memory, `effective_date` without its zone.
PLACE = pa.schema(
    [
        ("source_connector", pa.string()),
        ("source_file", pa.string()),
        ("source_line", pa.int32()),
        ("effective_date", pa.timestamp("us")),
        ("memory_type", pa.string()),
        ("content", pa.string()),
        ("headings", pa.list_(pa.string())),
    ]
)


def neighbours_in(places: pa.Table) -> tuple[Rows, Rows]:
    """By row, the one before and the one after it in its conversation, its log or, under the same headings, its file;
    -1 for none. `places`: PLACE."""
    count = places.num_rows
    before, after = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    if not count:
        return before, after
    files = pc.fill_null(places["source_file"], "")
    encoded = pc.binary_join_element_wise(places["source_connector"], files, "\0").combine_chunks().dictionary_encode()
    streams, names = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
    is_made = pc.starts_with(names, f"{MADE}\0").to_numpy(zero_copy_only=False)
    is_talk = pc.match_substring_regex(names, f"\0.*{_NAMED_BY_DAY}").to_numpy(zero_copy_only=False)
    is_talk |= _find_spoken(places["content"], streams, len(names))
    is_turn = pc.equal(places["memory_type"], "conversation").to_numpy()
    headings = pc.fill_null(pc.binary_join(places["headings"], "\0"), "").combine_chunks()
    is_below = pc.not_equal(headings, "").to_numpy(zero_copy_only=False)
    of_heading = headings.dictionary_encode().indices.to_numpy()
    rows = np.flatnonzero((is_talk[streams] | is_turn | is_below) & ~is_made[streams])
    stream, line = streams[rows], pc.fill_null(places["source_line"], -1).to_numpy()[rows].astype(np.int64)
    line[np.isin(stream, stream[line < 0])] = 0
    seconds = places["effective_date"].to_numpy().astype("datetime64[s]").astype(np.int64)[rows]
    order = np.lexsort((rows, seconds, line, stream))
    one, other = order[:-1], order[1:]
    is_spoken, section = (is_talk[streams] | is_turn)[rows], of_heading[rows]
    is_near = np.abs(seconds[other] - seconds[one]) <= _APART_S
    beside = (stream[one] == stream[other]) & np.where(is_spoken[one], is_near, section[one] == section[other])
    after[rows[one[beside]]] = rows[other[beside]]
    before[rows[other[beside]]] = rows[one[beside]]
    return before, after


def may_have_neighbours(places: pa.Table) -> bool:
    """True if some of these memories may stand in a conversation or a log: those of a file, and turns."""
    is_loose = pc.and_(pc.is_null(places["source_file"]), pc.not_equal(places["memory_type"], "conversation"))
    alone = pc.or_(pc.equal(places["source_connector"], MADE), is_loose)
    return not bool(pc.all(alone).as_py())


def _find_spoken(contents: pa.ChunkedArray, streams: Rows, count: int) -> NDArray[np.bool_]:
    """By stream, of so many, whether its rows begin with the names of few speakers who recur. `streams`: by row."""
    speaks = pc.match_substring_regex(contents, _SPEAKER).to_numpy()
    rows = np.flatnonzero(speaks)
    if not len(rows):
        return np.zeros(count, dtype=bool)
    names = pc.struct_field(pc.extract_regex(contents.take(pa.array(rows)), _SPEAKER), "name")
    is_name = pc.less_equal(pc.utf8_length(names), _LONGEST_NAME)
    names, rows = names.filter(is_name), rows[is_name.to_numpy()]
    speaker = pc.utf8_lower(names).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    pairs, turns = np.unique(np.stack([streams[rows], speaker]), axis=1, return_counts=True)
    recurs = turns >= 2
    speakers = np.bincount(pairs[0, recurs], minlength=count)
    turns_of = np.bincount(pairs[0, recurs], weights=turns[recurs], minlength=count)
    entries = np.bincount(streams, minlength=count)
    enough: NDArray[np.bool_] = turns_of >= np.maximum(_LEAST_TURNS, _SHARE_OF_TURNS * entries)
    enough &= (speakers >= 2) & (speakers <= _MOST_SPEAKERS)
    return enough
