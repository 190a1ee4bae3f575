"""Embeds the memories that have no vector of the current model, page by page.

Every page is stored before the next one is embedded: what is interrupted goes on there. Vectors of two models are
never compared. So a changed setting alone does not embed a store again, which costs hours or money and would leave the
night before it is done with half of the memories: `memory-pipeline embed` does.

The vector of a memory is that of its own words, without the lead-in that all items of a list share; of a merged one and
of a series, which stand for lines with other words, it is the normalised mean of their vectors, as nights make it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders.minilm import model_directory
from memory_pipeline.models.embedders.model import Embedder, check_model, check_vectors
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.subject import words_alone

Progress = Callable[[str, int, int], None]
Writing = Callable[[], AbstractContextManager[Transaction]]
#: The most memories that an interruption loses the vectors of, and that are held at once, whatever their length.
_MOST = 100


def embed_missing(
    store: Store, embedder: Embedder, writing: Writing, progress: Progress, *, changed: bool = False
) -> int:
    """Embed every memory without a vector of this model and return their number. `writing` gives the transactions.

    Raises OtherModelError if the memories have vectors of another model, unless it is `changed` on purpose, and
    EmbeddingError if the model fails; earlier pages stay, so that the next attempt continues there.
    """
    with store.reading() as tx:
        total = tx.vectors.count_missing(embedder.name)
        if total and not changed:
            check_model(embedder.name, tx.memories.count(), tx.vectors.of_another_model(embedder.name))
    done, after = 0, ""
    stand_for: dict[str, list[str]] = {}
    while done + len(stand_for) < total:
        with store.reading() as tx:
            page = tx.vectors.missing(embedder.name, after, _MOST)
            stand_for |= tx.lineage.made_by(("merged", "series"), [memory_id for memory_id, _, _ in page])
        if not page:
            break
        after = page[-1][0]
        own = [
            (memory_id, words_alone(lead_in, content))
            for memory_id, content, lead_in in page
            if memory_id not in stand_for
        ]
        done += _embed_words(embedder, writing, own)
        progress("embedding", done, total)
    while stand_for:  # each after those that it was made from; all of a circle, which an unsound store may have
        ready = sorted(i for i, sources in stand_for.items() if not stand_for.keys() & {*sources} - {i})
        ready = ready or sorted(stand_for)
        for start in range(0, len(ready), _MOST):
            done += _keep_means(store, embedder, writing, {i: stand_for.pop(i) for i in ready[start : start + _MOST]})
            progress("embedding", done, total)
    return done


def _embed_words(embedder: Embedder, writing: Writing, texts: Sequence[tuple[str, str]]) -> int:
    """Store the vectors of these contents, by id."""
    if not texts:
        return 0
    ids = [memory_id for memory_id, _ in texts]
    vectors = embedder.embed([embedding_text(content) for _, content in texts])
    check_vectors(vectors, ids, embedder.dimension, embedder.name)
    with writing() as tx:
        tx.vectors.add(ids, vectors, embedder.name)
    return len(ids)


def _keep_means(store: Store, embedder: Embedder, writing: Writing, stand_for: Mapping[str, Sequence[str]]) -> int:
    """Store the mean vectors of these memories; one whose sources have none has the vector of its words."""
    wanted = sorted({source for sources in stand_for.values() for source in sources})
    with store.reading() as tx:
        embedded_ids, vectors = tx.vectors.read(wanted, embedder.name, embedder.dimension)
    row = {memory_id: place for place, memory_id in enumerate(embedded_ids)}
    ids, means = [], []
    for memory_id, sources in stand_for.items():
        mean = vectors[[row[source_id] for source_id in sources if source_id in row]].astype(np.float64).sum(axis=0)
        if np.linalg.norm(mean) > 0:
            ids.append(memory_id)
            means.append((mean / np.linalg.norm(mean)).astype(np.float32))
    if ids:
        check_vectors(np.stack(means), ids, embedder.dimension, embedder.name)
        with writing() as tx:
            tx.vectors.add(ids, np.stack(means), embedder.name)
    left = [memory_id for memory_id in stand_for if memory_id not in set(ids)]
    with store.reading() as tx:
        texts = tx.memories.read(left)
    return len(ids) + _embed_words(embedder, writing, [(memory_id, texts[memory_id].content) for memory_id in left])


class EmbeddedStore(Document):
    """A store of which every memory has a vector of one model."""

    model: str = Field(description="The model, as it stands beside each vector.")
    setting: str = Field(description="The value of `embedding.model` that uses it.")
    dimension: int = Field(description="The dimension of its vectors.")
    memories: int = Field(description="The memories of the store.")
    embedded: int = Field(description="How many of them were embedded now.")
    others: dict[str, int] = Field(description="How many vectors of other models are kept, by model.")


def embed_store(store: Store, settings: Settings, progress: Progress, actor: str) -> EmbeddedStore:
    """Embed every memory that has no vector of `embedding.model`; vectors of other models stay.

    Raises EmbeddingError if the model is missing or fails. What was embedded before stays, and the next attempt goes
    on there.
    """
    if settings.embedding.model == "minilm":
        model_directory()  # without it, another model would stand in
    embedder = choose_embedder(settings)
    done = embed_missing(store, embedder, lambda: store.writing(actor), progress, changed=True)
    with store.reading() as tx:
        memories, others = tx.memories.count(), tx.vectors.count_by_model()
    others.pop(embedder.name, None)
    return EmbeddedStore(
        model=embedder.name,
        setting=settings.embedding.model,
        dimension=embedder.dimension,
        memories=memories,
        embedded=done,
        others=others,
    )
