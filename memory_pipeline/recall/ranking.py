"""Orders the rows that words and vectors found: scores normalised and summed, then raised by neighbours and by a day
that the query names, then weighted.

Chosen on the demo's questions and on hand-labelled questions about the dialogues of MemoryBank (docs/design.md,
"Recall").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.recall.matrix import Matrix
from memory_pipeline.recall.words import Scores

#: Rows that words, and vectors, each propose.
DEPTH = 200
#: What a row of the day, or of the month, that a query names gains, in standard deviations.
_DAY_GAIN, _MONTH_GAIN = 3.0, 1.0
#: What the newest row gains if the query asks how things are now.
_NEW_GAIN = 2.0
#: What the lowest possible of normalised scores keeps above nothing.
_LEAST = 1e-3
#: How much of the weight that archived memories lack the one that stands for them has back when it is found through
#: their words. Within 50 tokens, 26 of the demo's 28 questions were answered with a half, 28 with nine tenths; of 250
#: archived memories of a real workspace, 4 were not found again by a question about them with none.
_GIVEN_BACK = 0.9

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """The settings of ranking. `words` beside 1 for the vector; `neighbours`: the share of a neighbour's score that an
    entry of a conversation or log gains; `min_relevance`: cosine under which a vector says nothing."""

    words: float = 0.8
    neighbours: float = 0.4
    min_relevance: float = 0.3


@dataclass(frozen=True, slots=True)
class Rowwise:
    """What ranking has to know of each row, as arrays of one length.

    `before` and `after`: the neighbouring rows in a conversation or log, -1 for none. `weight`: of archived and
    superseded ones, and of use. `stands_for_it`: the row of the active memory at the end of a chain of replacements,
    itself for an active one, -1 if there is none.
    """

    before: Rows
    after: Rows
    weight: Floats
    stands_for_it: Rows


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Rows of a day, or only of a month, that a query names."""

    rows: Rows
    is_day: bool


def rank(
    found: Scores,
    matrix: Matrix | None,
    vector: NDArray[np.float32] | None,
    near: Rows,
    rowwise: Rowwise,
    weights: Weights,
    times: tuple[NamedTime, ...] = (),
    newness: Floats | None = None,
) -> tuple[Rows, Floats]:
    """The relevant rows, best first, with scores from 0 to 1; ties in the order of rows.

    `found`: rows with BM25 scores; `near`: the rows that the vector proposes, without scores; `newness`: by row, 0 to
    1, for a query that asks how things are now.
    """
    count = len(rowwise.weight)
    by_words, cosine = np.zeros(count), np.zeros(count)
    by_words[found[0]] = found[1]
    seeds = np.unique(np.concatenate([found[0], near, *(time.rows for time in times)]))
    if not len(seeds):
        return seeds, np.zeros(0)
    around = np.concatenate([rowwise.before[seeds], rowwise.after[seeds]])
    pool = np.unique(np.concatenate([seeds, around[around >= 0]]))
    further = np.concatenate([rowwise.before[pool], rowwise.after[pool]])
    scored = np.unique(np.concatenate([pool, further[further >= 0]]))
    if matrix is not None and vector is not None:
        cosine[scored] = matrix.cosines(scored, vector)
    lowest, score = 0.0, np.zeros(len(scored))
    for values, weight, floor in ((by_words, weights.words, 0.0), (cosine, 1.0, weights.min_relevance)):
        mean, spread = values[seeds].mean(), values[seeds].std()
        if spread > 0:
            score += weight * (values[scored] - mean) / spread
            lowest += weight * (floor - mean) / spread
    total = np.full(count, -np.inf)
    total[scored] = score
    is_relevant = (by_words > 0) | (cosine >= weights.min_relevance)
    gained, relevant_beside = _from_neighbours(pool, total, is_relevant, rowwise)
    fused = total[pool] + weights.neighbours * gained
    for time in times:
        fused[np.isin(pool, time.rows)] += _DAY_GAIN if time.is_day else _MONTH_GAIN
    if newness is not None:
        fused += _NEW_GAIN * newness[pool]
    named = np.concatenate([time.rows for time in times]) if times else np.zeros(0, dtype=np.int64)
    kept = is_relevant[pool] | (relevant_beside & (weights.neighbours > 0)) | np.isin(pool, named)
    pool, fused = pool[kept], fused[kept]
    if not len(pool):
        return pool, np.zeros(0)
    above = fused - lowest
    relevance = np.maximum(above, 0.0) + _LEAST * np.exp(np.minimum(above, 0.0))
    relevance *= rowwise.weight[pool] / relevance.max()
    pool, relevance = _with_replacements(pool, relevance, rowwise)
    order = np.lexsort((pool, -relevance))
    return pool[order], np.minimum(relevance[order], 1.0)


def _from_neighbours(
    pool: Rows, total: Floats, is_relevant: NDArray[np.bool_], rowwise: Rowwise
) -> tuple[Floats, NDArray[np.bool_]]:
    """What each row gains from its neighbours: their scores where these are above the mean and relevant."""
    gained, beside = np.zeros(len(pool)), np.zeros(len(pool), dtype=bool)
    for neighbour in (rowwise.before[pool], rowwise.after[pool]):
        counts = (neighbour >= 0) & is_relevant[neighbour]
        gained[counts] += np.maximum(total[neighbour[counts]], 0.0)
        beside |= counts & (total[neighbour] > 0)
    return gained, beside


def _with_replacements(pool: Rows, relevance: Floats, rowwise: Rowwise) -> tuple[Rows, Floats]:
    """Every active memory stands above the best of those that it replaces, whether or not it was found."""
    ends = rowwise.stands_for_it[pool]
    is_replaced = (ends >= 0) & (ends != pool)
    rows = np.unique(np.concatenate([pool, ends[is_replaced]]))
    scores = np.zeros(len(rows))
    scores[np.searchsorted(rows, pool)] = relevance
    replaced = pool[is_replaced]
    inherited = relevance[is_replaced] * (1 + _GIVEN_BACK * (1 / rowwise.weight[replaced].clip(_LEAST, 1) - 1) + _LEAST)
    np.maximum.at(scores, np.searchsorted(rows, ends[is_replaced]), inherited)
    return rows, scores
