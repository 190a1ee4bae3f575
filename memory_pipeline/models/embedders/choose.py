"""Selects the embedder from the setting `embedding.model`, with a fallback that keeps a plain installation working."""

from __future__ import annotations

import logging
from functools import cache

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.lexical import Lexical
from memory_pipeline.models.embedders.model import Embedder

_log = logging.getLogger(__name__)


def choose_embedder(settings: Settings) -> Embedder:
    """The embedder for `embedding.model`.

    If its package is missing, `minilm` falls back to `lexical` with a warning that says how to install the model.
    Any other missing model raises EmbeddingError, because it was requested by name.
    """
    wanted = settings.embedding.model
    kind, _, model = wanted.partition(":")
    if wanted == "minilm":
        from memory_pipeline.models.embedders.minilm import MiniLM

        try:
            return MiniLM(settings.embedding.threads)
        except EmbeddingError as error:
            _log.warning("%s; using 'lexical' for now", error)
            return Lexical()
    if wanted == "lexical":
        return Lexical()
    if kind in ("sentence-transformers", "openai") and model:
        from memory_pipeline.models.embedders.remote import OpenAICompatible, SentenceTransformers

        if kind == "openai":
            if reason := settings.withheld_keys.get("openai.api_key"):
                raise EmbeddingError(reason)
            return OpenAICompatible(
                model,
                settings.openai.base_url,
                settings.openai.api_key,
                mask_personal=settings.model.mask_personal,
            )
        return SentenceTransformers(model)
    raise EmbeddingError(
        f"embedding.model is '{wanted}'; use minilm, lexical, sentence-transformers:NAME or openai:NAME"
    )


@cache
def builtin_embedder() -> Embedder:
    """The built-in model, whichever one embeds memories: the classifier's weights are for its vectors.

    Raises EmbeddingError if it is not installed.
    """
    from memory_pipeline.models.embedders.minilm import MiniLM

    return MiniLM(1)
