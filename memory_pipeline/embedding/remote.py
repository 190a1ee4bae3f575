"""Models outside this package: any OpenAI-compatible `/v1/embeddings` endpoint, and sentence-transformers in this
process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.wording.redaction import redact

_BATCH = 64
_TIMEOUT_S = 60


def unit_rows(raw: object, model: str) -> Vectors:
    """Rows scaled to unit length, float32. Raises EmbeddingError for ragged, zero or non-finite rows."""
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise EmbeddingError(
            f"model '{model}' returned vectors that differ in length or are not made of numbers; check embedding.model "
            "and the server"
        ) from error
    lengths = np.sqrt((rows**2).sum(axis=-1, keepdims=True))
    if rows.ndim != 2 or not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbeddingError(f"model '{model}' returned a vector that is empty, zero or not finite")
    return np.asarray(rows / lengths, dtype=np.float32)


class OpenAICompatible:
    """A model behind an HTTP endpoint (OpenAI, Ollama, vLLM, TEI, Voyage, ...)."""

    def __init__(self, model: str, base_url: str, api_key: str, *, mask_personal: bool = True) -> None:
        """`base_url` ends before `/embeddings`. Nothing is sent before the first text."""
        self.name = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._key = api_key
        self._mask_personal = mask_personal
        self._dimension: int | None = None

    @property
    def dimension(self) -> int:
        """The endpoint is asked once."""
        if self._dimension is None:
            self._dimension = self.embed(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 (n, dimension), in the order given. Secrets are masked first. Retries on 429 and
        5xx."""
        masked = [redact(text, personal=self._mask_personal)[0] for text in texts]
        parts = [self._ask(masked[i : i + _BATCH]) for i in range(0, len(masked), _BATCH)]
        if not parts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = np.concatenate(parts)
        self._dimension = int(vectors.shape[1])
        return vectors

    def count_tokens(self, text: str) -> int:
        """Characters divided by four: the endpoint's tokenizer is not available."""
        return max(1, -(-len(text) // 4))

    def _ask(self, texts: list[str]) -> Vectors:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        retry = Retry(total=4, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504), allowed_methods=None)
        with requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=retry))
            if self._key:
                session.headers["Authorization"] = f"Bearer {self._key}"
            try:
                answer = session.post(self._url, json={"model": self.name, "input": texts}, timeout=_TIMEOUT_S)
                answer.raise_for_status()
                rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            except (requests.RequestException, ValueError, KeyError, TypeError) as error:
                raise EmbeddingError(
                    f"the embedding endpoint {self._url} did not answer for model '{self.name}': "
                    f"{type(error).__name__}; check embedding.base_url and the server"
                ) from error
        if len(rows) != len(texts):
            raise EmbeddingError(f"model '{self.name}' returned {len(rows)} vectors for {len(texts)} texts")
        return unit_rows([row["embedding"] for row in rows], self.name)


class SentenceTransformers:
    """Any model of the sentence-transformers package, an optional extra of this one."""

    def __init__(self, model: str) -> None:
        """Raises EmbeddingError if the package or the model is missing."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingError(
                "sentence-transformers is not installed; run 'pip install memory_pipeline[sentence-transformers]'"
            ) from error
        try:
            self._model: Any = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise EmbeddingError(f"the sentence-transformers model '{model}' cannot be loaded: {error}") from error
        self.name = model
        renamed = getattr(self._model, "get_embedding_dimension", None)  # of version 6
        self.dimension = int((renamed or self._model.get_sentence_embedding_dimension)())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 (n, dimension), in the order given."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return unit_rows(self._model.encode(list(texts), show_progress_bar=False), self.name)

    def count_tokens(self, text: str) -> int:
        """Token count of the model's own tokenizer."""
        return max(1, len(self._model.tokenizer.encode(text, add_special_tokens=False)))
