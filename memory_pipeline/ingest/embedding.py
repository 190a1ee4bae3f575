"""Embeds the memories that have no vector of the current model, page by page.

Every page is stored before the next one is embedded: what is interrupted goes on there. Vectors of two models are
never compared. So a changed setting alone does not embed a store again, which costs hours or money and would leave the
night before it is done with half of the memories: `memory-pipeline embed` does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from memory_pipeline.embedding import Embedder, check_model, check_vectors
from memory_pipeline.store import Store, Transaction
from memory_pipeline.wording.normalise import embedding_text

Progress = Callable[[str, int, int], None]
#: The most memories, and about the most characters, that an interruption loses the vectors of.
_MOST, _MOST_CHARS, _AT_FIRST = 500, 8_000_000, 16


def embed_missing(
    store: Store,
    embedder: Embedder,
    writing: Callable[[], AbstractContextManager[Transaction]],
    progress: Progress,
    *,
    changed: bool = False,
) -> int:
    """Embed every memory without a vector of this model and return their number. `writing` gives the transactions.

    Raises OtherModelError if the memories have vectors of another model, unless it is `changed` on purpose, and
    EmbeddingError if the model fails; earlier pages stay, so that the next attempt continues there.
    """
    with store.reading() as tx:
        total = tx.vectors.count_missing(embedder.name)
        if total and not changed:
            check_model(embedder.name, tx.memories.count(), tx.vectors.of_another_model(embedder.name))
    done, after, rows = 0, "", _AT_FIRST
    while done < total:
        with store.reading() as tx:
            page = tx.vectors.missing(embedder.name, after, rows)
        if not page:
            break
        ids = [memory_id for memory_id, _ in page]
        vectors = embedder.embed([embedding_text(content) for _, content in page])
        check_vectors(vectors, ids, embedder.dimension, embedder.name)
        with writing() as tx:
            tx.vectors.add(ids, vectors, embedder.name)
        done, after = done + len(ids), ids[-1]
        rows = _next_page(rows, sum(len(content) for _, content in page))
        progress("embedding", done, total)
    return done


def _next_page(rows: int, characters: int) -> int:
    """How many memories to read next, based on the length of the previous ones."""
    if characters > _MOST_CHARS:
        return max(1, rows // 2)
    return min(_MOST, rows * 4) if characters < _MOST_CHARS // 4 else rows
