"""Estimates how two notes relate: whether they contradict each other, say the same, or may both hold. A cross-encoder
reads both at once.

all-MiniLM-L6-v2 gets `[CLS] a [SEP] b [SEP]` (Nogueira and Cho 2019, arXiv:1901.04085), with low-rank adapters in each
layer (Hu et al. 2021, arXiv:2106.09685) and a linear head over the first state and the means of both notes. Trained by
`benchmarks/train_relations.py` from the labelled pairs in `benchmarks/labels`: for any two notes, and once more for
near copies, of which another figure makes no second event and one other word decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models.embedders.minilm import Network, blas, is_installed, load_tokenizers, read_tensors
from memory_pipeline.processes import available_processors
from memory_pipeline.text.sameness import has_too_many_matches

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
#: The weights for any two notes, and for near copies, with their SHA-256.
ANY, NEAR_COPIES = "relations.npz", "near_copies.npz"
WEIGHTS_SHA256 = {
    ANY: "20d3783e17ef9f90fa2c873f107a2f2c843ed4222c5f70ad08348226b7dcf10e",
    NEAR_COPIES: "8d0d4661034012ef5677b8446923e3634feabb46a61583374c554944cc0161ee",
}
#: From these probabilities on a person is asked about two notes: alone, and with the conflict guard as second witness.
LEAST_CHANCE, LEAST_WITH_GUARD = 0.9, 0.7
#: Word pieces that are read of each note, and of each of two near copies around a difference; most labelled pairs have
#: at most so many.
MOST_PIECES, MOST_OF_COPY = 48, 64
#: Near copies that differ in more places than this, far from each other, are not read.
MOST_WINDOWS = 6
#: Word pieces beside a difference that its window shows at least, where there are so many.
_CONTEXT = 12
#: The tokens that begin and end a text for this model, and the one for all words that it cannot read.
_CLS, _SEP, _UNKNOWN = 101, 102, 100
#: What an adapter's product weighs (alpha over rank), as it was trained.
SCALE = 2.0


class Relation(NamedTuple):
    """The probabilities, 0 to 1, that two notes cannot both hold, say the same, or may both hold."""

    contradicts: float
    same: float
    compatible: float


def is_contradiction(one: str, other: str) -> bool:
    """True if two notes are so likely a contradiction that a person is asked. None is without the model's package."""
    return is_installed() and chance_of_contradiction(one, other) >= LEAST_CHANCE


def relation_of(one: str, other: str) -> Relation | None:
    """How two near copies relate, in either order. Long ones are read around each difference, and the one that is
    least the same decides. None if they differ in too much to be read, or without the model's package."""
    return _relation_of_copies(*sorted((one, other))) if is_installed() else None


def relation_of_any(one: str, other: str) -> Relation:
    """How any two notes relate, in either order, as far as they are read. Raises as `chance_of_contradiction`."""
    return _relation(*sorted((one, other)))


def chance_of_contradiction(one: str, other: str) -> float:
    """The probability, 0 to 1, that two notes cannot both hold: 0 if both are the same; symmetric.

    Raises EmbeddingError if the package of the model is missing.
    """
    return relation_of_any(one, other).contradicts


def chances_of_contradiction(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The same for several pairs, some at once."""
    return judge_all(lambda pair: chance_of_contradiction(*pair), pairs)


def judge_all(judge: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """The judgements of several items, in their order: as many at once as there are processors, each on one."""
    with blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(available_processors()) as pool:
        return list(pool.map(judge, items))


@lru_cache(maxsize=1 << 16)
def _relation(first: str, second: str) -> Relation:
    return _judge(ANY, *(pieces[:MOST_PIECES] for pieces in _pieces_of(first, second)))


@lru_cache(maxsize=1 << 16)
def _relation_of_copies(first: str, second: str) -> Relation | None:
    windows = windows_in(first, second)
    if not windows:
        return None
    found = [_judge(NEAR_COPIES, *window) for window in windows]
    contradicts, same = max(each.contradicts for each in found), min(each.same for each in found)
    return Relation(contradicts, same, max(0.0, 1 - contradicts - same))


def _judge(weights: str, first: list[int], second: list[int]) -> Relation:
    if first == second:
        return Relation(0.0, 1.0, 0.0)
    learnt = _learnt(weights)
    tokens, types = joined(first, second)
    states = learnt.network.states(tokens, types)
    count = len(first) + 2
    pooled = np.concatenate([states[0], states[:count].mean(axis=0), states[count:].mean(axis=0)])
    logits = pooled @ learnt.head + learnt.bias
    shares = np.exp(logits - logits.max())
    return Relation(*(shares / shares.sum()).tolist())


@lru_cache(maxsize=1 << 16)
def count_pieces(text: str) -> int:
    """The pieces into which the model splits a text: one of a word that it knows; 0 without the model's package."""
    return len(_pieces_of(text)[0]) if is_installed() else 0


def _pieces_of(*notes: str) -> list[list[int]]:
    _, tokenizer = load_tokenizers()
    return [tokenizer.encode(note, add_special_tokens=False).ids for note in notes]


def tokens_of(first: str, second: str) -> tuple[list[int], list[int]]:
    """The tokens of a pair of notes, at most `MOST_PIECES` of each, and for each whether it is of the first (0) or the
    second one (1)."""
    return joined(*(pieces[:MOST_PIECES] for pieces in _pieces_of(first, second)))


def joined(first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    """The tokens of a pair of word pieces, and for each of which of both it is, 0 or 1."""
    return [_CLS, *first, _SEP, *second, _SEP], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def windows_in(one: str, other: str) -> list[tuple[list[int], list[int]]]:
    """The word pieces of two near copies around each difference, at most `MOST_OF_COPY` of each copy; all of both if
    they are not longer. Empty if a difference is longer, if there are more than `MOST_WINDOWS`, or if a word is of a
    script that the model does not know."""
    first, second = _pieces_of(one, other)
    if _UNKNOWN in first or _UNKNOWN in second:
        return []
    if first == second or max(len(first), len(second)) <= MOST_OF_COPY:
        return [(first, second)]
    if has_too_many_matches(first, second):
        return []
    changes = [
        range_ for tag, *range_ in SequenceMatcher(None, first, second, autojunk=False).get_opcodes() if tag != "equal"
    ]
    groups: list[list[int]] = []
    for start, end, other_start, other_end in changes:
        if groups and max(end - groups[-1][0], other_end - groups[-1][2]) <= MOST_OF_COPY - 2 * _CONTEXT:
            groups[-1][1], groups[-1][3] = end, other_end
        else:
            groups.append([start, end, other_start, other_end])
    spans = [max(end - start, other_end - other_start) for start, end, other_start, other_end in groups]
    if len(groups) > MOST_WINDOWS or max(spans) > MOST_OF_COPY:
        return []
    windows = []
    ends = [0, *(group[1] for group in groups)]
    starts = [*(group[0] for group in groups[1:]), len(first)]
    for (start, end, other_start, other_end), span, before, after in zip(groups, spans, ends, starts, strict=False):
        room = MOST_OF_COPY - span
        right = min(after - end, max(room // 2, room - (start - before)))
        left = min(start - before, room - right)
        windows.append((first[start - left : end + right], second[other_start - left : other_end + right]))
    return windows


class _Learnt(NamedTuple):
    """The adapted network, and the head: float32 (1152, 3) and (3,), for `contradicts`, `same` and `compatible`."""

    network: Network
    head: NDArray[np.float32]
    bias: NDArray[np.float32]


@cache
def _learnt(weights: str) -> _Learnt:
    with (resources.files(__package__) / weights).open("rb") as opened, np.load(opened) as stored:
        learnt: dict[str, Any] = {name: stored[name].astype(np.float32) for name in stored.files}
    tensors = dict(_published())
    for name in [name.removesuffix(".A") for name in learnt if name.endswith(".A")]:
        change = learnt[f"{name}.A"] @ learnt[f"{name}.B"]
        tensors[f"encoder.layer.{name}.weight"] = tensors[f"encoder.layer.{name}.weight"] + SCALE * change.T
    return _Learnt(Network(tensors), learnt["head.W"], learnt["head.b"])


@cache
def _published() -> dict[str, Any]:
    return read_tensors()
