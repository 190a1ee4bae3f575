"""Turns text into unit vectors: one protocol and four models, selected by one setting."""

from memory_pipeline.models.embedders.choose import choose_embedder
from memory_pipeline.models.embedders.model import Embedder, check_model, check_vectors

__all__ = ["Embedder", "check_model", "check_vectors", "choose_embedder"]
