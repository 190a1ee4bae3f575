"""Which notes are routine, by the classifier: for the order of what rollups say, never to archive."""

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
    known = [memory for memory in memories if memory.id in vectors]
    by_text = {embedding_text(memory.content): vectors[memory.id] for memory in known}
    if not by_text:
        return frozenset()
    scores = salience(list(by_text), lambda texts: np.stack([by_text[text] for text in texts]))
    score_of = dict(zip(by_text, map(float, scores), strict=True))
    return frozenset(memory.id for memory in known if score_of[embedding_text(memory.content)] < _LEAST)
