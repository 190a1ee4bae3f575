"""What is near: entries beside each other in a conversation or a log, vectors in one matrix, and how near questions
come to these that have nothing to do with them.

What a turn means often stands in the turn before it. A stand-alone fact, a lesson or an abstraction has no neighbours.
A question that comes no nearer than unrelated ones is not answered there. No score of words or vectors tells more;
whether a near memory answers, only reading it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import MADE
from memory_pipeline.text.normalise import embedding_text

#: From so many vectors on, signs choose the candidates (measured: DESIGN 8; recall@10 of 1.000 with 4,000).
SIGNS_FROM = 20_000
_CANDIDATES = 4_000

Bits = NDArray[np.uint64]


def signs_of(vectors: Vectors) -> Bits:
    """The signs of vectors, uint64 (n, words): `vectors` is float32 (n, dimension)."""
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


class Matrix:
    """Vectors by row, float32 (n, dimension), unit length, zero for a row without a vector; and their signs, for many
    of them."""

    def __init__(self, vectors: Vectors, signs: Bits | None = None) -> None:
        self._vectors = vectors
        #: Of many rows. One row a word: 100,000 short rows cost numpy six times as much as six long ones.
        self._signs = None if signs is None else np.ascontiguousarray(signs.T)

    @cached_property
    def without_vector(self) -> NDArray[np.int64]:
        """The rows that have none."""
        return np.flatnonzero(~self._vectors.any(axis=1))

    def extended(self, late: Vectors, further: Vectors) -> Matrix:
        """The matrix with the vectors of those that had none, which may be zero still, and of further rows."""
        if not len(further) and not late.any():
            return self
        vectors = np.concatenate([self._vectors, further]) if len(self) else further
        vectors[self.without_vector] = late
        return Matrix(vectors, signs_of(vectors) if len(vectors) >= SIGNS_FROM else None)

    def __len__(self) -> int:
        return len(self._vectors)

    def nearest(self, vector: Vectors, depth: int, admitted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The rows nearest to a unit vector, at most `depth` or, by signs, 4,000; unordered. `admitted`: whether each
        row may be among them."""
        count = len(self._vectors)
        if self._signs is None or count < SIGNS_FROM:
            scores = _products(self._vectors, vector)
            if admitted is not None:
                scores = np.where(admitted, scores, -2.0)
            return _largest(scores, depth)
        asked = signs_of(vector[None, :])[0]
        same = np.full(count, -(64 * len(asked)), dtype=np.int16)
        for word, bits in zip(asked, self._signs, strict=True):
            same += 64 - np.bitwise_count(bits ^ word).astype(np.int16)
        if admitted is not None:
            same[~admitted] = np.iinfo(np.int16).min
        candidates = _largest(same, max(_CANDIDATES, depth))
        candidates.sort()
        scores = _products(np.take(self._vectors, candidates, axis=0), vector)
        nearest: NDArray[np.int64] = candidates[_largest(scores, depth)]
        return nearest

    def rows(self, rows: NDArray[np.int64]) -> Vectors:
        """The vectors of some rows."""
        return np.take(self._vectors, rows, axis=0)

    def cosines(self, rows: NDArray[np.int64], vector: Vectors) -> NDArray[np.float64]:
        """The cosines of some rows to a unit vector."""
        return _products(np.take(self._vectors, rows, axis=0), vector).astype(np.float64)


def _products(vectors: Vectors, vector: Vectors) -> Vectors:
    """Dot products on this thread alone: beside other work, BLAS's threads wait for each other fifty times longer than
    the product takes."""
    products: Vectors = np.einsum("ij,j->i", vectors, vector)
    return products


def _largest(scores: NDArray[np.generic], depth: int) -> NDArray[np.int64]:
    if len(scores) <= depth:
        return np.arange(len(scores), dtype=np.int64)
    return np.argpartition(scores, -depth)[-depth:].astype(np.int64)


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
#: A turn may begin with the name of its speaker, as `Dana: ...` does.
_SPEAKER = r"^\s*(?:\[[^\]]{1,40}\]\s*)?(?P<name>\pL[\pL\pN_ .'-]{0,30}?)\s*:\s"
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
    ]
)


@dataclass(frozen=True, slots=True)
class _Stream:
    """The stream (connector and file) of each row as a number, and what kinds of streams there are."""

    of: Rows
    is_made: NDArray[np.bool_]
    is_log: NDArray[np.bool_]


def neighbours_in(places: pa.Table) -> tuple[Rows, Rows]:
    """By row, the one before and the one after it in its conversation or log, -1 for none. `places`: PLACE."""
    count = places.num_rows
    before, after = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    if not count:
        return before, after
    stream = _streams(places)
    takes_part = stream.is_log[stream.of] | pc.equal(places["memory_type"], "conversation").to_numpy()
    takes_part |= _speaking(places["content"], stream)[stream.of]
    takes_part &= ~stream.is_made[stream.of]
    rows = np.flatnonzero(takes_part)
    line = pc.fill_null(places["source_line"], -1).to_numpy()[rows].astype(np.int64)
    without_lines = np.zeros(len(stream.is_made), dtype=bool)
    without_lines[stream.of[rows[line < 0]]] = True
    line[without_lines[stream.of[rows]]] = 0
    at = places["effective_date"].to_numpy().astype("datetime64[s]").astype(np.int64)[rows]
    order = np.lexsort((rows, at, line, stream.of[rows]))
    one, other = order[:-1], order[1:]
    beside = (stream.of[rows[one]] == stream.of[rows[other]]) & (np.abs(at[other] - at[one]) <= _APART_S)
    after[rows[one[beside]]] = rows[other[beside]]
    before[rows[other[beside]]] = rows[one[beside]]
    return before, after


def may_have_neighbours(places: pa.Table) -> bool:
    """Whether some of these memories may stand in a conversation or a log: those of a file, and turns."""
    told = pc.and_(pc.is_null(places["source_file"]), pc.not_equal(places["memory_type"], "conversation"))
    alone = pc.or_(pc.equal(places["source_connector"], MADE), told)
    return not bool(pc.all(alone).as_py())


def _streams(places: pa.Table) -> _Stream:
    named = pc.binary_join_element_wise(
        places["source_connector"], pc.fill_null(places["source_file"], ""), "\0"
    ).combine_chunks()
    encoded = named.dictionary_encode()
    names = encoded.dictionary
    return _Stream(
        encoded.indices.to_numpy().astype(np.int64),
        pc.starts_with(names, f"{MADE}\0").to_numpy(zero_copy_only=False),
        pc.match_substring_regex(names, f"\0.*{_NAMED_BY_DAY}").to_numpy(zero_copy_only=False),
    )


def _speaking(contents: pa.ChunkedArray, stream: _Stream) -> NDArray[np.bool_]:
    """By stream, whether its rows begin with the names of few speakers who recur."""
    speaks = pc.match_substring_regex(contents, _SPEAKER).to_numpy()
    rows = np.flatnonzero(speaks)
    found = np.zeros(len(stream.is_made), dtype=bool)
    if not len(rows):
        return found
    names = pc.struct_field(pc.extract_regex(contents.take(pa.array(rows)), _SPEAKER), "name")
    speaker = pc.utf8_lower(names).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    pairs, turns = np.unique(np.stack([stream.of[rows], speaker]), axis=1, return_counts=True)
    recurs = turns >= 2
    count = len(found)
    speakers = np.bincount(pairs[0, recurs], minlength=count)
    turns_of = np.bincount(pairs[0, recurs], weights=turns[recurs], minlength=count)
    entries = np.bincount(stream.of, minlength=count)
    enough: NDArray[np.bool_] = turns_of >= np.maximum(_LEAST_TURNS, _SHARE_OF_TURNS * entries)
    enough &= (speakers >= 2) & (speakers <= _MOST_SPEAKERS)
    return enough
