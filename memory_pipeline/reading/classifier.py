"""Finds the sentences of a conversation that are worth keeping for months, and tells lasting notes from routine.

No rule of any language: a kernel machine over the vectors of a sentence and of the one before it, and a logistic
regression over runs of letters and words, both trained by `benchmarks/train_classifier.py` from `benchmarks/labels/`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import ExtractionKind, Memory, Speaker
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.orders import features_of

#: A note of less than LASTING is routine, and one below NOISE is not even worth a place that is free: of the 494
#: labelled notes held out, 89% from LASTING on are lasting, and 1 of the 151 below NOISE.
LASTING, NOISE = 0.35, 0.05
#: SHA-256 of the file with the weights.
WEIGHTS_SHA256 = "f1cd9114dc5f6212795a1a08cfc52a7a2e0f649e062bb1bd69361611b4adedf2"
FILE = "classifier.npz"
DIMENSION = 384
#: What a machine can name: the kinds of sentences that were labelled.
KINDS: tuple[ExtractionKind, ...] = (
    "marker",
    "correction",
    "trust",
    "boundary",
    "emotion",
    "decision",
    "fact",
    "preference",
    "dynamic",
    "learning",
    "context",
)
#: Number of places of runs of letters and words by which kinds are told apart.
KIND_PLACES = 1 << 13
#: How much the sentence before, the speaker, a digit and a final question mark count beside the sentence itself.
_BEFORE, _SPEAKER, _SHAPE = 0.5, 1.0, 0.3
#: Width of the kernel: exp(-GAMMA * squared distance).
GAMMA = 1.0

Embed = Callable[[Sequence[str]], Vectors]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it was said. `before`: the sentence before it in its conversation, or ''."""

    text: str
    before: str
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind of a sentence, None if there is nothing to keep, and the probability that it is worth keeping, 0 to
    1."""

    kind: ExtractionKind | None
    score: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The weights that turn what a text resembles, its runs, and its speaker into a probability.

    `by_landmark`: float32 (landmarks,). `by_place`: float16 (places,), of the runs of letters and words.
    `mix`: float64 (4,), of the first, the second, an agent as speaker, and the bias.
    """

    by_landmark: NDArray[np.float32]
    by_place: NDArray[np.float16]
    mix: Numbers

    def probability(self, closeness: Numbers, text: str, *, is_agent: bool) -> float:
        """The probability for a text, 0 to 1. `closeness`: float64 (landmarks,)."""
        parts = (float(closeness @ self.by_landmark), sum_of_places(self.by_place, text), float(is_agent), 1.0)
        return float(1 / (1 + np.exp(-np.dot(parts, self.mix))))


@dataclass(frozen=True, slots=True)
class Namer:
    """The weights that name the kind of a sentence that is kept.

    `by_landmark`: float32 (landmarks, kinds). `by_place`: float16 (KIND_PLACES, kinds). `bias`: float64 (kinds,).
    """

    by_landmark: NDArray[np.float32]
    by_place: NDArray[np.float16]
    bias: Numbers

    def kind_of(self, closeness: Numbers, text: str) -> ExtractionKind:
        """The most probable kind. `closeness`: float64 (landmarks,)."""
        places = kind_places(text)
        runs = self.by_place[places].astype(np.float64).sum(axis=0) / np.sqrt(max(1, len(places)))
        return KINDS[int(np.argmax(closeness @ self.by_landmark + runs + self.bias))]


@dataclass(frozen=True, slots=True)
class Weights:
    """All that was learned. `landmarks`: float64 (landmarks, inputs), `lengths` their squared lengths.

    `thresholds`: the probability from which on a sentence is kept, by speaker.
    """

    landmarks: Numbers
    lengths: Numbers
    keeping: Machine
    thresholds: dict[Speaker, float]
    naming: Namer
    lasting: Machine

    def closeness(self, sentence: Sentence, vectors: dict[str, Vectors]) -> Numbers:
        """The nearness of a sentence to each landmark: float64 (landmarks,). One sentence at a time: a product of
        matrices rounds a row by how many stand beside it."""
        row = inputs_of(sentence, vectors)
        near: Numbers = np.exp(-GAMMA * (self.lengths + row @ row - 2 * (self.landmarks @ row)))
        return near


def classify(sentences: Sequence[Sentence], embed: Embed) -> list[Verdict]:
    """A verdict on each sentence, in order; the others of the batch make no difference to it.

    `embed` gives unit vectors of all-MiniLM-L6-v2, float32 (n, 384). Raises ValueError for those of another dimension:
    the weights would mean nothing there.
    """
    vectors = _embed_texts((text for sentence in sentences for text in (sentence.text, sentence.before)), embed)
    return [_verdict(sentence, vectors) for sentence in sentences]


def _verdict(sentence: Sentence, vectors: dict[str, Vectors]) -> Verdict:
    # A bare number resembles a short answer that says something; alone, it says nothing.
    if not any(map(str.isalpha, sentence.text)):
        return Verdict(None, 0.0)
    learned = weights()
    closeness = learned.closeness(sentence, vectors)
    score = learned.keeping.probability(closeness, sentence.text, is_agent=sentence.speaker == "agent")
    if score < learned.thresholds[sentence.speaker]:
        return Verdict(None, score)
    return Verdict(learned.naming.kind_of(closeness, sentence.text), score)


def inputs_of(sentence: Sentence, vectors: dict[str, Vectors]) -> Numbers:
    """The inputs of the kernel for a sentence: float64 (2 * 384 + 3,)."""
    before = vectors[sentence.before] if sentence.before.strip() else np.zeros(DIMENSION)
    shape = (any(map(str.isdigit, sentence.text)), sentence.text.rstrip().endswith("?"))
    sides = (_SPEAKER * (sentence.speaker == "agent"), *(_SHAPE * mark for mark in shape))
    return np.concatenate([vectors[sentence.text], _BEFORE * before, sides], dtype=np.float64)


def sum_of_places(by_place: NDArray[np.float16], text: str) -> float:
    """The weights of the runs of letters and words of a text, whatever its length."""
    places = features_of(text)
    return float(by_place[places].astype(np.float64).sum() / np.sqrt(len(places))) if len(places) else 0.0


def kind_places(text: str) -> NDArray[np.int64]:
    """The places of the runs of a text among the fewer that the kinds are told by."""
    return np.unique(features_of(text) % KIND_PLACES)


def _embed_texts(texts: Iterable[str], embed: Embed) -> dict[str, Vectors]:
    """The vector of every text that is not blank, and zeros for the others; each is embedded once."""
    different = dict.fromkeys(texts)
    full = [text for text in different if text.strip()]
    vectors: dict[str, Vectors] = {text: np.zeros(DIMENSION, dtype=np.float32) for text in different}
    if not full:
        return vectors
    made = embed(full)
    if made.shape != (len(full), DIMENSION):
        raise ValueError(
            f"the classifier reads vectors of {DIMENSION} numbers (all-MiniLM-L6-v2), and the embedder gave "
            f"{made.shape} for {len(full)} texts; set embedding.model to minilm"
        )
    return vectors | dict(zip(full, made, strict=True))


def read_weights(raw: bytes) -> Weights:
    """The weights from the bytes of their file."""
    with np.load(io.BytesIO(raw)) as stored:
        keeping, lasting = (
            Machine(stored[f"{name}_by_landmark"], stored[f"{name}_by_place"], stored[f"{name}_mix"])
            for name in ("keeping", "lasting")
        )
        landmarks = stored["landmarks"] * stored["scale"].astype(np.float64)
        lengths = (landmarks**2).sum(axis=1)
        human, agent = map(float, stored["thresholds"])
        naming = Namer(stored["kinds_by_landmark"], stored["kinds_by_place"], stored["kinds_bias"])
        return Weights(landmarks, lengths, keeping, {"human": human, "agent": agent}, naming, lasting)


@cache
def weights() -> Weights:
    """The weights of the package. Raises ValueError if they are not those that were measured."""
    raw = (resources.files(__package__) / FILE).read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ValueError(f"{FILE} has the SHA-256 {digest}, and not {WEIGHTS_SHA256}; install memory_pipeline again")
    return read_weights(raw)


def routine_among(memories: Iterable[Memory], vectors: Mapping[str, Vectors]) -> frozenset[str]:
    """The ids of the notes that are routine. `vectors`: by id, float32 (384,) of the built-in model; a note without
    one counts as lasting."""
    return frozenset(memory_id for memory_id, score in salience_by_id(memories, vectors).items() if score < LASTING)


def salience_by_id(memories: Iterable[Memory], vectors: Mapping[str, Vectors]) -> dict[str, float]:
    """The salience of the notes with a vector, by id: from 0, routine, to 1, worth knowing in months.

    `vectors` as in `routine_among`. Raises ValueError for those of another dimension.
    """
    text_of = {memory.id: embedding_text(memory.content) for memory in memories if memory.id in vectors}
    by_text = {text: vectors[memory_id] for memory_id, text in text_of.items()}
    known = _embed_texts(by_text, lambda texts: np.stack([by_text[text] for text in texts]))
    score_of = dict.fromkeys(by_text, 0.0)
    for text in filter(str.strip, by_text):
        closeness = weights().closeness(Sentence(text, "", "human"), known)
        score_of[text] = weights().lasting.probability(closeness, text, is_agent=False)
    return {memory_id: score_of[text] for memory_id, text in text_of.items()}
