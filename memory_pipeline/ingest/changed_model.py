"""Embeds a whole store with the model that is set now."""

from __future__ import annotations

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders.minilm import model_directory
from memory_pipeline.models.embedders.missing import Progress, embed_missing
from memory_pipeline.store import Store


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
