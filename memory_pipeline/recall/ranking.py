"""Orders the rows that words and vectors found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.recall.catalogue import Catalogue
from memory_pipeline.recall.neighbours import Matrix, Rows
from memory_pipeline.recall.words import Scores
from memory_pipeline.text.superseding import put_later_first

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
#: The same for the digest of a day's routine: a statement comes first. Of 200 rare values of a workspace that a model
#: had read, 181 are answered within 250 tokens with half as much as for others, 183 with as much, 156 with none; a
#: question about the gateway's port finds the statement before the digest of 149 notes.
_BACK_TO_DIGESTS = 0.45
#: A later memory stands before one of the best few that it says something of the same thing as: of so many looked at,
#: those of at least this cosine with it and this share of its score; of lower ones those that give another value for
#: what the query asks; none that lacks a name that is asked for. Of 99 values that change in 55 BEAM conversations
#: (100K and 500K, all looked at) the new one stands first in 76; the evidence within 150 tokens is .409 and .354 then,
#: within 1,000 .734 and .654. If only the best one gives way it is 69, .453 and .387, .741 and .654. With a cosine of
#: .5 it is 78, but then one of the demo's 28 questions is not answered within 200 tokens any more. What likely
#: contradicts one of them does so if it is among the first few, whatever its score: of 11 pairs so placed for the
#: 75 questions about a log's changes and look-alikes 9 were planted changes; of 20 hits looked at 11 of 14.
_BEST, _FEW, _LOOKED_AT = 2, 10, 20
_ONE_THING, _LITTLE_LESS = 0.55, 0.65
_OTHER_VALUE, _HALF_AS_WELL = 0.3, 0.5

#: The share of the best score that a hit of a search has at least. Chosen on 10 of 20 BEAM conversations (100K, turns
#: of the human): the evidence within 1,000 tokens is .722 with it, .725 without; on the 10 others .732 and .733. Of the
#: 77 cases of PrecisionMemBench 40 pass with it, 23 without (`benchmarks/precision.py`).
_LEAST_OF_BEST = 0.1

#: What words weigh beside 1 for the vector, and the share of a neighbour's score that an entry of a conversation or log
#: gains.
_WORDS, _NEIGHBOURS = 0.8, 0.4
#: A vector of a lower cosine says nothing of a memory.
MIN_RELEVANCE = 0.3
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Rows of a day, or only of a month, that a query names."""

    rows: Rows
    is_day: bool


class Parts(NamedTuple):
    """By row, what a ranking is made of: the score of words (BM25), the cosine, and what neighbours, a named time and
    newness added, in standard deviations of the words' and vectors' scores. Rows that were not looked at have 0.
    `inherited`: 1 for a row that has the score of one that it replaces."""

    words: Floats
    cosine: Floats
    neighbours: Floats
    time: Floats
    newness: Floats
    inherited: Floats


def rank(
    by_words: Scores,
    cosines: Callable[[Rows], Floats] | None,
    near: Rows,
    catalogue: Catalogue,
    times: tuple[NamedTime, ...] = (),
    newness: Floats | None = None,
    least: float = MIN_RELEVANCE,
) -> tuple[Rows, Floats, Parts]:
    """The relevant rows with scores from 0 to 1, best first, of equal ones the newest, and what these are made of.

    `by_words`: rows with BM25 scores; `cosines`: gives those of rows, unless words alone decide; `near`: the rows that
    the vector proposes, without scores; `newness`: by row, 0 to 1, for a query that asks how things are now; `least`:
    the cosine from which a vector says something.
    """
    count = len(catalogue.weight)
    parts = Parts(*(np.zeros(count) for _ in Parts._fields))
    parts.words[by_words[0]] = by_words[1]
    seeds = np.unique(np.concatenate([by_words[0], near, *(time.rows for time in times)]))
    if not len(seeds):
        return seeds, np.zeros(0), parts
    around = np.concatenate([catalogue.before[seeds], catalogue.after[seeds]])
    pool = np.unique(np.concatenate([seeds, around[around >= 0]]))
    further = np.concatenate([catalogue.before[pool], catalogue.after[pool]])
    scored = np.unique(np.concatenate([pool, further[further >= 0]]))
    if cosines is not None:
        parts.cosine[scored] = cosines(scored)
    lowest, score = 0.0, np.zeros(len(scored))
    for values, weight, floor in ((parts.words, _WORDS, 0.0), (parts.cosine, 1.0, least)):
        mean, spread = values[seeds].mean(), values[seeds].std()
        if spread > 0:
            score += weight * (values[scored] - mean) / spread
            lowest += weight * (floor - mean) / spread
    total = np.full(count, -np.inf)
    total[scored] = score
    is_relevant = np.zeros(count, dtype=bool)
    is_relevant[scored] = (parts.words[scored] > 0) | (parts.cosine[scored] >= least)
    gained, relevant_beside = _from_neighbours(pool, total, is_relevant, catalogue)
    parts.neighbours[pool] = _NEIGHBOURS * gained
    for time in times:
        parts.time[time.rows] += _DAY_GAIN if time.is_day else _MONTH_GAIN
    if newness is not None:
        parts.newness[pool] = _NEW_GAIN * newness[pool]
    fused = total[pool] + parts.neighbours[pool] + parts.time[pool] + parts.newness[pool]
    is_kept = is_relevant[pool] | relevant_beside | (parts.time[pool] > 0)
    pool, fused = pool[is_kept], fused[is_kept]
    if not len(pool):
        return pool, np.zeros(0), parts
    above = fused - lowest
    relevance = np.maximum(above, 0.0) + _LEAST * np.exp(np.minimum(above, 0.0))
    relevance *= catalogue.columns.shortness[pool]
    relevance *= catalogue.weight[pool] / relevance.max()
    own = np.zeros(count)
    own[pool] = relevance
    pool, relevance = _with_replacements(pool, relevance, catalogue)
    parts.inherited[pool] = relevance > own[pool]
    order = catalogue.order(pool, relevance)
    return pool[order], np.minimum(relevance[order], 1.0), parts


def worth_showing(scores: Floats) -> NDArray[np.bool_]:
    """By row, whether it answers at least a tenth as well as the best one: few, right hits."""
    is_worth_it: NDArray[np.bool_] = scores >= _LEAST_OF_BEST * scores.max(initial=0.0)
    return is_worth_it


def newest_first(
    rows: Rows,
    scores: Floats,
    matrix: Matrix | None,
    catalogue: Catalogue,
    compared: Callable[[Rows], tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    months: tuple[NamedTime, ...] = (),
) -> Rows:
    """The rows, before the best of which stands the best of the later ones that say something of the same thing, if it
    answers little worse, or gives another value and answers half as well, or stands among the first few and likely
    contradicts it: who asks wants to know what holds. Whatever contradicts one of the rows and is of a later day stands
    directly before it, if it is worth showing. Only active memories are lifted, none that is superseded or was removed
    from its file, and of one day too the last is known. `compared`: of some rows, bool (n, n), whether the second gives
    another value than the first for what is asked, and whether it speaks of another thing; `months`: named by the
    query, in and out of which nothing is lifted."""
    may_lift = (catalogue.stands_for_it[rows] == rows) & ~catalogue.is_out[rows]
    in_months = np.zeros(len(rows), dtype=np.int64)  # one bit for each
    for number, month in enumerate(months):
        in_months |= np.isin(rows, month.rows).astype(np.int64) << number
    order = list(range(len(rows)))
    if matrix is not None and len(matrix):
        head, vectors, best = rows[:_LOOKED_AT], matrix.rows(rows[:_LOOKED_AT]), scores[:_LOOKED_AT]
        moments, sides = catalogue.last_told[head], in_months[:_LOOKED_AT]
        cosines = np.einsum("ik,jk->ij", vectors, vectors)
        is_later = (moments[None, :] > moments[:, None]) & may_lift[:_LOOKED_AT] & (sides[None, :] == sides[:, None])
        is_later[_BEST:] = False
        of_one_thing = is_later & (cosines >= _ONE_THING) & (best[None, :] >= _LITTLE_LESS * best[:, None])
        of_other_value = is_later & (cosines >= _OTHER_VALUE) & (best[None, :] >= _HALF_AS_WELL * best[:, None])
        likely = is_later & _likely_among(head, catalogue)
        if of_one_thing.any() or of_other_value.any() or likely.any():
            gives_other, is_another = compared(head)
            first = _lift(order[:_LOOKED_AT], of_one_thing & ~is_another, best, moments)
            first = _lift(first, of_other_value & gives_other & ~is_another, best, moments)
            order[:_LOOKED_AT] = _lift(first, likely & ~is_another, best, moments)
    return rows[put_later_first(order, _find_later(rows, may_lift & worth_showing(scores), in_months, catalogue))]


def _likely_among(rows: Rows, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Bool (n, n): which of some rows, of the first few, likely contradict each other."""
    likely = np.zeros((len(rows), len(rows)), dtype=bool)
    ids = [catalogue.ids[row] for row in rows[:_FEW].tolist()]
    for one, other in combinations(range(len(ids)), 2):
        pair = min(ids[one], ids[other]), max(ids[one], ids[other])
        likely[one, other] = likely[other, one] = pair in catalogue.beside.likely
    return likely


def _find_later(rows: Rows, may_lift: NDArray[np.bool_], in_months: Rows, catalogue: Catalogue) -> dict[int, list[int]]:
    """By place of a row that others contradict, the places of those that are of a later day and may be lifted, the
    latest first."""
    place_of = {catalogue.ids[row]: place for place, row in enumerate(rows.tolist())}
    later: dict[int, list[int]] = {}
    for memory_id in place_of.keys() & catalogue.beside.opponents.keys():
        place, opponents = place_of[memory_id], catalogue.beside.opponents[memory_id]
        others = [place_of[other.id] for other in opponents if other.later_on and other.id in place_of]
        later[place] = [other for other in others if may_lift[other] and in_months[other] == in_months[place]]
    return later


def _lift(order: list[int], lifts: NDArray[np.bool_], best: Floats, moments: NDArray[np.datetime64]) -> list[int]:
    """Places in a new order, in which before each stands the best (of equals the latest) of those after it that it is
    to give way to."""
    reordered: list[int] = []
    waiting = list(order)
    while waiting:
        lifted = [waiting.pop(0)]
        # One of the later ones alone, and of those that are later still one again, if it says something of the first
        # too: in a crowd of near copies, what answers best stays near the top.
        while later := [place for place in waiting if lifts[lifted[-1], place] and lifts[lifted[0], place]]:
            lifted.append(max(later, key=lambda place: (best[place], moments[place])))
            waiting.remove(lifted[-1])
        reordered += reversed(lifted)
    return reordered


def _from_neighbours(
    pool: Rows, total: Floats, is_relevant: NDArray[np.bool_], catalogue: Catalogue
) -> tuple[Floats, NDArray[np.bool_]]:
    """The gain of each row from its neighbours: their scores where these are above the mean and relevant."""
    gained, beside = np.zeros(len(pool)), np.zeros(len(pool), dtype=bool)
    for neighbour in (catalogue.before[pool], catalogue.after[pool]):
        counts = (neighbour >= 0) & is_relevant[neighbour]
        gained[counts] += np.maximum(total[neighbour[counts]], 0.0)
        beside |= counts & (total[neighbour] > 0)
    return gained, beside


def _with_replacements(pool: Rows, relevance: Floats, catalogue: Catalogue) -> tuple[Rows, Floats]:
    """Every active memory stands above the best of those that it replaces, whether or not it was found."""
    ends = catalogue.stands_for_it[pool]
    is_replaced = (ends >= 0) & (ends != pool)
    rows = np.unique(np.concatenate([pool, ends[is_replaced]]))
    scores = np.zeros(len(rows))
    scores[np.searchsorted(rows, pool)] = relevance
    replaced = pool[is_replaced]
    back = np.where(catalogue.columns.is_digest[ends[is_replaced]], _BACK_TO_DIGESTS, _GIVEN_BACK)
    inherited = relevance[is_replaced] * (1 + back * (1 / catalogue.weight[replaced].clip(_LEAST, 1) - 1) + _LEAST)
    np.maximum.at(scores, np.searchsorted(rows, ends[is_replaced]), inherited)
    return rows, scores
