"""A learned classifier of sentences that tell whoever reads them what to do.

Trained by `benchmarks/train_orders.py` from the labelled sentences in `benchmarks/orders`, which are of many languages.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.text.hidden import as_read
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import spaced

#: SHA-256 of the file with the weights.
WEIGHTS_SHA256 = "965e1c76d7a8033881e87a9aafe8921c3b93d970bfeafbace1e7692f9de7c1cc"
FILE = "orders.npz"
#: Features are hashed into places of so many bits: here, and for other classifiers.
ORDER_BITS, BITS = 18, 16
_LETTERS, _WORDS = (2, 3, 4), (1, 2)
_TOKEN, _DIGITS = re.compile(r"\w+|[^\w\s]"), re.compile(r"\d+")
#: Words of an order at least: of fewer, one that was never seen decides.
_LEAST_WORDS = 3
#: Tokens of a sentence that are read.
_MOST_TOKENS = 400
_PRIME, _MIX = np.uint64(1099511628211), np.uint64(0x9E3779B97F4A7C15)


def tells_reader(sentence: str) -> bool:
    """True if a sentence reads like an order to its reader; of honest sentences near to one some one in ten does."""
    return _strengths(sentence)[0] > 0


def is_order(sentence: str) -> bool:
    """True if a sentence is more of an order to its reader than half the way to an attempt: of some 400 statements that
    readers wrote about humans and their rules none is."""
    return _strengths(sentence)[0] > float(_weights().bars[0]) / 2


def is_attempt(sentences: Sequence[str], *, by_human: bool = False) -> bool:
    """True if a text tries to steer an agent that reads it. `by_human`: it is of the agent's own human, whose rules and
    wishes are none.

    The more sentences, the stronger has one to be: that any of n is an order is n times as likely by chance, and a
    logit of it lower by ln n.
    """
    bars = _weights().bars + math.log(max(1, len(sentences)))
    strengths = [_strengths(sentence) for sentence in sentences]
    return any(never > bars[1] or (order > bars[0] and not by_human) for order, never in strengths)


@remembered
def _strengths(sentence: str) -> tuple[float, float]:
    """Measures how much a sentence reads like an order to its reader, and how much like one that an agent's own human
    never gives: logits."""
    if len(spaced(sentence).split()) < _LEAST_WORDS:
        return -math.inf, -math.inf
    places = features_of(sentence, ORDER_BITS)
    learnt = _weights()
    order, never = learnt.of_places[:, places].sum(axis=1) / np.sqrt(len(places)) + learnt.biases
    return float(order), float(never)


def features_of(sentence: str, bits: int = BITS) -> NDArray[np.int64]:
    """The places of the runs of 2 to 4 letters and 1 to 2 words in a sentence, each once, of 2 to the power of
    `bits`; figures are all alike."""
    tokens = _TOKEN.findall(_DIGITS.sub("0", unicodedata.normalize("NFKC", as_read(sentence)).casefold()))
    tokens = tokens[:_MOST_TOKENS]
    if not tokens:
        return np.empty(0, dtype=np.int64)
    letters = np.frombuffer(f" {' '.join(tokens)} ".encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    words = np.array([zlib.crc32(token.encode("utf-8", "replace")) for token in tokens], dtype=np.uint64)
    return np.unique(np.concatenate([*_runs(letters, _LETTERS, 0, bits), *_runs(words, _WORDS, 100, bits)]))


def _runs(units: NDArray[np.uint64], lengths: tuple[int, ...], salt: int, bits: int) -> list[NDArray[np.int64]]:
    """The places of the runs of these lengths: a polynomial hash of each, mixed."""
    places = []
    with np.errstate(over="ignore"):
        hashes = np.zeros(len(units), dtype=np.uint64)
        for length in range(1, min(max(lengths), len(units)) + 1):
            hashes = hashes[: len(units) - length + 1] * _PRIME + units[length - 1 :] + np.uint64(1)
            if length in lengths:
                mixed = (hashes ^ np.uint64(salt + length)) * _MIX
                mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
                places.append((mixed >> np.uint64(64 - bits)).astype(np.int64))
    return places


class _Weights(NamedTuple):
    """For both questions of `_strengths`: the weights float32 (2, places), the biases, and the bars of `is_attempt`."""

    of_places: NDArray[np.float32]
    biases: NDArray[np.float64]
    bars: NDArray[np.float64]


@cache
def _weights() -> _Weights:
    with (resources.files(__package__) / FILE).open("rb") as opened, np.load(opened) as stored:
        return _Weights(
            stored["weights"].astype(np.float32) * stored["scales"][:, None], stored["biases"], stored["bars"]
        )
