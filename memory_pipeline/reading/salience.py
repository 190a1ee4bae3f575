"""Whether a note lasts or is routine, by the classifier: for ranking in exports, contexts and rollups, never to
archive."""

from __future__ import annotations

from functools import lru_cache

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.choose import builtin_embedder
from memory_pipeline.reading.classifier import salience
from memory_pipeline.wording.normalise import embedding_text

#: A note with less is routine.
_LEAST = 0.35
_LONGEST = 1_500


@lru_cache(maxsize=50_000)
def salience_of(text: str) -> float:
    """How lasting a note is, 0 (routine) to 1; 1 where the classifier's model is not installed."""
    try:
        embedder = builtin_embedder()
    except EmbeddingError:
        return 1.0
    return float(salience([embedding_text(text[:_LONGEST])], embedder.embed)[0])


def is_passing(text: str) -> bool:
    """Whether a note says what was done once, how it ended or how things stood."""
    return salience_of(text) < _LEAST
