"""Which notes are lasting and which routine, by the classifier: for what is shown first, never to archive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.reading.classifier import salience
from memory_pipeline.records import Memory
from memory_pipeline.wording.normalise import embedding_text

#: A note that lasts less than this is routine.
_LEAST = 0.35


def routine_among(memories: Iterable[Memory], vectors: Mapping[str, Vectors]) -> frozenset[str]:
    """The ids of the notes that are routine. `vectors`: by id, float32 (384,) of the built-in model; a note without
    one counts as lasting."""
    return frozenset(memory_id for memory_id, score in _scores(memories, vectors).items() if score < _LEAST)


def lasting_among(memories: Iterable[Memory], vectors: Mapping[str, Vectors]) -> frozenset[str]:
    """The ids of the notes that are known to be lasting; of one without a vector nothing is known."""
    return frozenset(memory_id for memory_id, score in _scores(memories, vectors).items() if score >= _LEAST)


def _scores(memories: Iterable[Memory], vectors: Mapping[str, Vectors]) -> dict[str, float]:
    """How lasting the notes with a vector are, by id, 0 to 1."""
    text_of = {memory.id: embedding_text(memory.content) for memory in memories if memory.id in vectors}
    by_text = {text: vectors[memory_id] for memory_id, text in text_of.items()}
    if not by_text:
        return {}
    scores = salience(list(by_text), lambda texts: np.stack([by_text[text] for text in texts]))
    score_of = dict(zip(by_text, map(float, scores), strict=True))
    return {memory_id: score_of[text] for memory_id, text in text_of.items()}
