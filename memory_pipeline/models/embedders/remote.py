"""Models outside this package: any OpenAI-compatible `/v1/embeddings` endpoint, and sentence-transformers in this
process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.model import Vectors, estimated_tokens
from memory_pipeline.models.http import send_json
from memory_pipeline.models.limits import backoff
from memory_pipeline.models.provider import CallError
from memory_pipeline.text.redaction import redact

_BATCH = 64
_TIMEOUT_S = 60
_ATTEMPTS, _LONGEST_WAIT_S = 5, 30.0
_MOST_BYTES = 500_000_000


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
        """Unit vectors, float32 (n, dimension), in order. Secrets are masked first. Retries on 429 and 5xx."""
        masked = [redact(text, personal=self._mask_personal)[0] for text in texts]
        parts = [self._ask(masked[i : i + _BATCH]) for i in range(0, len(masked), _BATCH)]
        if not parts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = np.concatenate(parts)
        self._dimension = int(vectors.shape[1])
        return vectors

    def count_tokens(self, text: str) -> int:
        """An estimate: the endpoint's tokenizer is not available."""
        return estimated_tokens(text)

    def _ask(self, texts: list[str]) -> Vectors:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self.name, "input": texts}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = send_json(
                    "POST", self._url, body=body, headers=headers, timeout_s=_TIMEOUT_S, most_bytes=_MOST_BYTES
                )
                rows = sorted(answer["data"], key=lambda row: row["index"])
                vectors = [row["embedding"] for row in rows]
                break
            except CallError as error:
                if error.retry_after_s is None or attempt == _ATTEMPTS:
                    raise EmbeddingError(f"no vectors of model '{self.name}': {error}") from error
                time.sleep(min(_LONGEST_WAIT_S, max(error.retry_after_s, backoff(attempt))))
            except (KeyError, TypeError) as error:
                raise EmbeddingError(
                    f"{self._url} gave no vectors for model '{self.name}' ({type(error).__name__}); check "
                    "openai.base_url and embedding.model"
                ) from error
        if len(vectors) != len(texts):
            raise EmbeddingError(f"model '{self.name}' returned {len(vectors)} vectors for {len(texts)} texts")
        return unit_rows(vectors, self.name)


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
