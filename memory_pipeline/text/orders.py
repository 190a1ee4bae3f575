"""Does a sentence tell whoever reads it what to do? One rule for what tries to steer its reader; orders of one source
alone are quoted."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.records import EXTRACTED, Memory, PlaybookEntry
from memory_pipeline.text.hidden import as_read
from memory_pipeline.text.injections.detect import attempt_by, attempt_in
from memory_pipeline.text.memo import remembered

#: SHA-256 of the file with the weights.
WEIGHTS_SHA256 = "3b491db84af2b840230f802a4839be9d8bac5c4df743859d8d978461dbc300a1"
FILE = "orders.npz"
#: Features are hashed into places of so many bits.
_BITS = 16
PLACES = 1 << _BITS
_LETTERS, _WORDS = (2, 3, 4), (1, 2)
_TOKEN, _DIGITS = re.compile(r"\w+|[^\w\s]"), re.compile(r"\d+")
#: Tokens of a sentence that are read.
_MOST_TOKENS = 400
_PRIME, _MIX = np.uint64(1099511628211), np.uint64(0x9E3779B97F4A7C15)


@remembered
def tells_reader(sentence: str) -> bool:
    """Whether a sentence reads like an order to its reader."""
    places = features_of(sentence)
    if not len(places):
        return False
    weights, bias = _weights()
    return float(weights[places].sum() / np.sqrt(len(places)) + bias) > 0


def features_of(sentence: str) -> NDArray[np.int64]:
    """The places of the runs of 2 to 4 letters and 1 to 2 words in a sentence, each once; figures are all alike."""
    tokens = _TOKEN.findall(_DIGITS.sub("0", unicodedata.normalize("NFKC", as_read(sentence)).casefold()))
    tokens = tokens[:_MOST_TOKENS]
    if not tokens:
        return np.empty(0, dtype=np.int64)
    letters = np.frombuffer(f" {' '.join(tokens)} ".encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    words = np.array([zlib.crc32(token.encode("utf-8", "replace")) for token in tokens], dtype=np.uint64)
    return np.unique(np.concatenate([*_runs(letters, _LETTERS, 0), *_runs(words, _WORDS, 100)]))


def _runs(units: NDArray[np.uint64], lengths: tuple[int, ...], salt: int) -> list[NDArray[np.int64]]:
    """The places of the runs of these lengths: a polynomial hash of each, mixed."""
    found = []
    with np.errstate(over="ignore"):
        hashes = np.zeros(len(units), dtype=np.uint64)
        for length in range(1, min(max(lengths), len(units)) + 1):
            hashes = hashes[: len(units) - length + 1] * _PRIME + units[length - 1 :] + np.uint64(1)
            if length in lengths:
                mixed = (hashes ^ np.uint64(salt + length)) * _MIX
                mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
                found.append((mixed >> np.uint64(64 - _BITS)).astype(np.int64))
    return found


@cache
def _weights() -> tuple[NDArray[np.float32], float]:
    """The weights by place, and the bias."""
    with (resources.files(__package__) / FILE).open("rb") as opened, np.load(opened) as kept:
        return kept["weights"].astype(np.float32) * kept["scale"], float(kept["bias"])


#: Stands before the words of a memory that is shown although it tries to steer its reader.
MARK = "[tries to steer its reader]"


def may_guide(memory: Memory) -> bool:
    """Whether a memory may stand where its reader looks for guidance. A rule that a human gave their agent may."""
    said_by_human = memory.source.connector == EXTRACTED or (
        memory.memory_type == "conversation" and "human" in memory.tags
    )
    return attempt_by("human" if said_by_human else "agent", memory.content) is None


def marked(memory: Memory, words: str | None = None) -> str:
    """What a memory says, as it is shown: behind a mark if it tries to steer its reader. `words`: its content with what
    stands above it, if that is shown too."""
    words = memory.content if words is None else words
    return words if may_guide(memory) else f"{MARK} {words}"


def guiding_entries(entries: Iterable[PlaybookEntry]) -> list[PlaybookEntry]:
    """The entries of a playbook without those that try to steer their reader: an earlier version let them in."""
    return [entry for entry in entries if attempt_in(entry.content) is None]
