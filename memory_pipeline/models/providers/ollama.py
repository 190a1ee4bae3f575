"""Ollama's own `/api/chat`.

Its OpenAI-compatible endpoint ignores the size of the context, which is small by default, and cuts off without a word
what does not fit; this one takes it with each request, together with the schema.
"""

from __future__ import annotations

import logging
from typing import Any

from memory_pipeline.errors import ModelError
from memory_pipeline.models.http import one_line, send_json
from memory_pipeline.models.limits import Price
from memory_pipeline.models.provider import Answer, CallError, Request, counted_answer, suggest

_LISTING_BYTES, _LISTING_S = 10_000_000, 20.0


class Ollama:
    """One model that an Ollama server has pulled."""

    name = "ollama"

    def __init__(
        self, model: str, base_url: str, key: str, price: Price, *, context_tokens: int, timeout_s: float
    ) -> None:
        """Sends nothing yet. `key`: for a server behind a proxy that asks for one."""
        self._listing_s = min(_LISTING_S, timeout_s)
        self.model, self.place, self.price, self.context_tokens = model, base_url.rstrip("/"), price, context_tokens
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._thinking = {"think": False}

    def prepare(self, log: logging.Logger) -> None:
        """Ask the server for the model and the length of context that it was trained for."""
        try:
            listing = self._listing("GET", "/api/tags")
            names = [str(row.get("name")) for row in listing.get("models") or [] if isinstance(row, dict)]
            if not self.model:
                raise ModelError(f"no model is named; set model.name to one that {self.place} has{suggest('', names)}")
            if not {self.model, f"{self.model}:latest"} & set(names):
                pull = f"('ollama pull {self.model}' gets it)"
                raise ModelError(f"{self.place} has no model '{self.model}' {pull}{suggest(self.model, names)}")
            known = self._listing("POST", "/api/show", {"model": self.model})
        except CallError as error:
            raise ModelError(f"{error}; 'ollama serve' starts it") from error
        details = known.get("model_info")
        lengths = [
            value
            for name, value in (details.items() if isinstance(details, dict) else ())
            if name.endswith(".context_length") and isinstance(value, int)
        ]
        if lengths and lengths[0] < self.context_tokens:
            raise ModelError(
                f"'{self.model}' takes {lengths[0]:,} tokens, and questions are made for {self.context_tokens:,}; set "
                f"model.context_tokens = {lengths[0]}"
            )

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """One chat message."""
        try:
            return self._read(request, self._send(request, timeout_s))
        except CallError as error:
            # Models that do not think may refuse to be told not to.
            if not self._thinking or error.status != 400 or "think" not in str(error):
                raise
        self._thinking = {}
        return self._read(request, self._send(request, timeout_s))

    def _send(self, request: Request, timeout_s: float) -> dict[str, Any]:
        return send_json(
            "POST",
            f"{self.place}/api/chat",
            body={
                "model": request.model,
                "messages": [
                    {"role": "system", "content": request.system},
                    {"role": "user", "content": request.user},
                ],
                "format": dict(request.schema),
                "stream": False,
                "options": {"num_ctx": self.context_tokens, "num_predict": request.max_tokens, "temperature": 0},
                **self._thinking,
            },
            headers=self._headers,
            timeout_s=timeout_s,
            most_bytes=request.most_bytes,
        )

    def _read(self, request: Request, response: dict[str, Any]) -> Answer:
        message = response.get("message")
        if not isinstance(message, dict):
            reason = one_line(str(response.get("error") or "no message"))
            raise CallError(f"unreadable answer: {reason}", outcome="unknown")
        counts = response.get("prompt_eval_count", 0), response.get("eval_count", 0)
        stop = "length" if response.get("done_reason") == "length" else "end"
        return counted_answer(request, str(message.get("content") or ""), stop, *counts)

    def _listing(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return send_json(
            method,
            f"{self.place}{path}",
            body=body,
            headers=self._headers,
            timeout_s=self._listing_s,
            most_bytes=_LISTING_BYTES,
        )
