"""Servers that are asked with JSON over HTTP: any with `/v1/chat/completions` (OpenAI, vLLM, LM Studio, llama.cpp,
OpenRouter, a gateway), and Ollama by its own `/api/chat`.

Servers differ in how far they keep an answer to a schema. The strictest way is tried first, and what a server refuses
is not tried with it again. Ollama's OpenAI-compatible endpoint ignores the size of the context, which is small by
default, and cuts off without a word what does not fit; its own takes it with each request, together with the schema."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from memory_pipeline.errors import ModelError
from memory_pipeline.models.http import one_line, send_json
from memory_pipeline.models.limits import Price
from memory_pipeline.models.provider import Answer, CallError, Request, counted_answer, suggest

_STOPS = {"length": "length", "content_filter": "refusal"}
_LISTING_BYTES, _LISTING_S = 10_000_000, 20.0
#: Where servers say how many tokens a model takes: OpenRouter, vLLM, LM Studio, llama.cpp.
_CONTEXT_FIELDS = ("context_length", "max_model_len", "loaded_context_length", "n_ctx")
_NOT_TAKEN = frozenset((400, 422, 501))
#: Servers that validate late answer 500 instead, and name the field.
_FIELD_NOT_TAKEN = "response_format"
#: OpenAI's own newer models refuse `max_tokens`, and other servers do not know its successor.
_NEWER_LIMIT = "max_completion_tokens"
#: From the strictest: OpenAI's form of a schema, llama.cpp's, any JSON object, and words alone.
SCHEMA, OBJECT_SCHEMA, OBJECT, WORDS = "schema", "object schema", "object", "words"


class _Server:
    """One model behind one server."""

    def __init__(
        self, model: str, base_url: str, key: str, price: Price, *, context_tokens: int, timeout_s: float
    ) -> None:
        """`base_url` ends before the paths of the API; `key`: also for a proxy that asks for one. Sends nothing yet."""
        self._listing_s = min(_LISTING_S, timeout_s)
        self.model, self.place, self.price, self.context_tokens = model, base_url.rstrip("/"), price, context_tokens
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def _send(
        self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 0.0, most_bytes: int = _LISTING_BYTES
    ) -> dict[str, Any]:
        """The response to a body; by default, what the server says of itself or of a model."""
        return send_json(
            "POST" if body else "GET",
            f"{self.place}{path}",
            body=body,
            headers=self._headers,
            timeout_s=timeout_s or self._listing_s,
            most_bytes=most_bytes,
        )

    def _check_named(self, names: Sequence[str]) -> None:
        if not self.model:
            raise ModelError(f"no model is named; set model.name to one that {self.place} has{suggest('', names)}")

    def _check_context(self, lengths: Sequence[int], where: str = "", mend: str = "") -> None:
        """Raise ModelError if the model takes fewer tokens than questions are made for."""
        if lengths and lengths[0] < self.context_tokens:
            raise ModelError(
                f"'{self.model}'{where} takes {lengths[0]:,} tokens, and questions are made for "
                f"{self.context_tokens:,}; set model.context_tokens = {lengths[0]}{mend}"
            )


class ChatCompletions(_Server):
    """One model behind one such endpoint."""

    name = "openai"

    #: What this server takes, as far as it is known.
    _ways: Sequence[str] = (SCHEMA, OBJECT_SCHEMA, OBJECT, WORDS)
    _limit = "max_tokens"

    def prepare(self, log: logging.Logger) -> None:
        """Ask the server which models it has, and how many tokens this one takes."""
        try:
            listing = self._send("/models")
        except CallError as error:
            if error.status == 404:
                log.info("%s lists no models; %s is used without a check", self.place, self.model)
                return
            raise ModelError(str(error)) from error
        rows = [row for row in listing.get("data") or [] if isinstance(row, dict)]
        names = [str(row.get("id")) for row in rows]
        self._check_named(names)
        if names and self.model not in names:
            raise ModelError(f"there is no model '{self.model}' at {self.place}{suggest(self.model, names)}")
        for row in rows:
            if row.get("id") == self.model:
                fields = {**(row["meta"] if isinstance(row.get("meta"), dict) else {}), **row}
                lengths = [fields[name] for name in _CONTEXT_FIELDS if isinstance(fields.get(name), int)]
                self._check_context(lengths, f" at {self.place}", ", or start the server with more")

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """One completion, in the strictest way that the server takes."""
        refusal: CallError | None = None
        ways = self._ways  # questions are asked in several threads, each of which may find out
        for place, way in enumerate(ways):
            try:
                answer = self._complete(request, way, timeout_s)
            except CallError as error:
                if error.status not in _NOT_TAKEN and _FIELD_NOT_TAKEN not in str(error):
                    raise
                refusal = refusal or error
                continue
            self._ways = ways[place:]
            return answer
        assert refusal is not None
        mend = f"if it takes fewer than {self.context_tokens:,} tokens, set model.context_tokens"
        raise CallError(f"{refusal}; {mend}", status=refusal.status) from refusal

    def _complete(self, request: Request, way: str, timeout_s: float) -> Answer:
        try:
            return self._asked(request, way, timeout_s)
        except CallError as error:
            if self._limit == _NEWER_LIMIT or _NEWER_LIMIT not in str(error):
                raise
        self._limit = _NEWER_LIMIT
        return self._asked(request, way, timeout_s)

    def _asked(self, request: Request, way: str, timeout_s: float) -> Answer:
        system = request.system
        if way != SCHEMA:
            system += f"\n\nThe JSON schema of your answer:\n{json.dumps(dict(request.schema))}"
        body: dict[str, Any] = {
            "model": request.model,
            self._limit: request.max_tokens,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": request.user}],
            "stream": False,
        }
        if way == SCHEMA:
            answer = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        elif way == OBJECT_SCHEMA:
            body["response_format"] = {"type": "json_object", "schema": dict(request.schema)}
        elif way == OBJECT:
            body["response_format"] = {"type": "json_object"}
        response = self._send("/chat/completions", body, timeout_s, request.most_bytes)
        try:
            choice = response["choices"][0]
            message = choice["message"]
            text = message.get("content") or ""
            stop = "refusal" if message.get("refusal") else _STOPS.get(choice.get("finish_reason") or "", "end")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            reason = response.get("error") or "no choices"
            raise CallError(f"unreadable answer: {one_line(str(reason))}", outcome="unknown") from error
        usage = response.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return counted_answer(request, text, stop, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


class Ollama(_Server):
    """One model that an Ollama server has pulled."""

    name = "ollama"

    _thinking: Mapping[str, bool] = {"think": False}

    def prepare(self, log: logging.Logger) -> None:
        """Ask the server for the model and the length of context that it was trained for."""
        try:
            listing = self._send("/api/tags")
            names = [str(row.get("name")) for row in listing.get("models") or [] if isinstance(row, dict)]
            self._check_named(names)
            if not {self.model, f"{self.model}:latest"} & set(names):
                pull = f"('ollama pull {self.model}' gets it)"
                raise ModelError(f"{self.place} has no model '{self.model}' {pull}{suggest(self.model, names)}")
            known = self._send("/api/show", {"model": self.model})
        except CallError as error:
            raise ModelError(f"{error}; 'ollama serve' starts it") from error
        details = known.get("model_info")
        lengths = [
            value
            for name, value in (details.items() if isinstance(details, dict) else ())
            if name.endswith(".context_length") and isinstance(value, int)
        ]
        self._check_context(lengths)

    def ask(self, request: Request, timeout_s: float) -> Answer:
        try:
            return self._asked(request, timeout_s)
        except CallError as error:
            # Models that do not think may refuse to be told not to.
            if not self._thinking or error.status != 400 or "think" not in str(error):
                raise
        self._thinking = {}
        return self._asked(request, timeout_s)

    def _asked(self, request: Request, timeout_s: float) -> Answer:
        body = {
            "model": request.model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
            "format": dict(request.schema),
            "stream": False,
            "options": {"num_ctx": self.context_tokens, "num_predict": request.max_tokens, "temperature": 0},
            **self._thinking,
        }
        response = self._send("/api/chat", body, timeout_s, request.most_bytes)
        message = response.get("message")
        if not isinstance(message, dict):
            reason = one_line(str(response.get("error") or "no message"))
            raise CallError(f"unreadable answer: {reason}", outcome="unknown")
        counts = response.get("prompt_eval_count", 0), response.get("eval_count", 0)
        stop = "length" if response.get("done_reason") == "length" else "end"
        return counted_answer(request, str(message.get("content") or ""), stop, *counts)
