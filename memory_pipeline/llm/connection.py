"""The connection to a model's server: checks the model, describes errors, and converts messages to replies."""

from __future__ import annotations

import difflib
import json
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.llm.requests import Reply, Request
from memory_pipeline.wording.hidden import visible

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message


#: A call cannot have so many times the tokens that were estimated and asked for.
_TIMES_ESTIMATED = 4
#: A request of another run, of which nothing else is known, cannot have more.
_MOST_TOKENS = 2_000_000
#: A character of a text is at most so many bytes of JSON, and a message has so many bytes beside its text.
_BYTES_PER_CHARACTER, _MESSAGE_BYTES = 6, 65_536


class TooLongError(ValueError):
    """The answer is longer than the tokens that were asked for can be; it is not read to its end."""


class TooSlowError(TimeoutError):
    """The answer comes in pieces, and is not there in time."""


class Connection:
    """The SDK's client for one server and model, checked before the first request."""

    def __init__(self, settings: Settings, log: logging.Logger) -> None:
        """Raises ModelError without a key, and for a key of another address. Sends nothing yet."""
        import anthropic

        if reason := settings.withheld_keys.get("distillation.api_key"):
            raise ModelError(reason)
        if not settings.distillation.api_key:
            raise ModelError(
                "Claude needs an API key: set ANTHROPIC_API_KEY, or set distillation.distiller to 'extractive'"
            )
        self.client: Anthropic = anthropic.Anthropic(
            api_key=settings.distillation.api_key,
            base_url=settings.distillation.base_url,
            timeout=settings.distillation.timeout_s,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),  # the key would follow to any server
            max_retries=0,  # every attempt must respect the rate limit and the cap, which the SDK does not know
        )
        self.server, self.model = settings.distillation.base_url, settings.distillation.model
        self._timeout_s = settings.distillation.timeout_s
        self._log = log
        self._takes_effort = False

    def check_model(self) -> None:
        """Ask the server for the model, once. Raises ModelError if the model does not exist or is retired, the key
        is rejected, or the server cannot be reached; warns about a deprecated model."""
        import anthropic

        try:
            info = self.client.models.retrieve(self.model)
        except anthropic.NotFoundError as error:
            self._explain_missing(error)
            return
        except anthropic.AnthropicError as error:
            raise ModelError(self.explain(error)) from error
        lifecycle = getattr(info, "lifecycle", None)
        until = getattr(info, "retires_at", None)
        when = f" on {until:%Y-%m-%d}" if until else ""
        if lifecycle == "retired":
            raise ModelError(f"the model '{self.model}' was retired{when}; set distillation.model to a newer one")
        if lifecycle == "deprecated":
            self._log.warning(
                "the model %s is deprecated and retires%s; choose a newer one", self.model, when or " soon"
            )
        capabilities = getattr(info, "capabilities", None)
        effort = getattr(capabilities, "effort", None)
        self._takes_effort = bool(getattr(effort, "supported", False))

    def _explain_missing(self, error: Exception) -> None:
        import anthropic

        try:
            names = [one_line_of(model.id) for model in self.client.models.list(limit=100).data]
        except anthropic.NotFoundError:
            self._log.info("%s lists no models; %s is used without a check", self.server, self.model)
            return
        except anthropic.AnthropicError as failure:
            raise ModelError(self.explain(failure)) from failure
        close = difflib.get_close_matches(self.model, names, n=1, cutoff=0.4)
        hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(names[:8])}"
        raise ModelError(f"there is no model '{self.model}' at {self.server}{hint}") from error

    def parameters(self, request: Request) -> dict[str, Any]:
        """The parameters of a request for the Messages API, single or in a batch."""
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
        if self._takes_effort:
            output["effort"] = "low"
        return {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
            "output_config": output,
        }

    def ask(self, request: Request) -> Message:
        """The server's message. Raises TooLongError or TooSlowError if it has no end, and what the SDK raises."""
        from anthropic.types import Message

        deadline = time.monotonic() + self._timeout_s
        most = _BYTES_PER_CHARACTER * request.most_chars + _MESSAGE_BYTES
        body = bytearray()
        with self.client.messages.with_streaming_response.create(**self.parameters(request)) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > most:
                    raise TooLongError(f"more than {most:,} bytes, for at most {request.max_tokens:,} tokens")
                if time.monotonic() > deadline:
                    raise TooSlowError(f"it took longer than {self._timeout_s:g} s")
        data = json.loads(body)
        if not isinstance(data, dict):
            raise ValueError("no JSON object")
        return Message.construct(**data)

    def explain(self, error: Exception) -> str:
        """One sentence that describes an SDK error and says how to fix it."""
        import anthropic

        said = getattr(error, "api_message", None) or str(error) or type(error).__name__
        said = one_line_of(said)[:300]
        if isinstance(error, anthropic.AuthenticationError):
            return f"{self.server} rejected the key ({said}); check ANTHROPIC_API_KEY"
        if isinstance(error, anthropic.PermissionDeniedError):
            return f"{self.server} does not let this key use '{self.model}' ({said}); use another key or model"
        if isinstance(error, anthropic.NotFoundError):
            return f"{self.server} does not know '{self.model}' ({said}); check distillation.model and base_url"
        if isinstance(error, anthropic.RateLimitError):
            return f"{self.server} receives too many requests ({said}); lower compression.rate_limit_per_min"
        if isinstance(error, anthropic.APITimeoutError):
            return f"{self.server} did not answer in time; raise distillation.timeout_s or try again later"
        if isinstance(error, anthropic.APIConnectionError):
            cause = one_line_of(str(error.__cause__ or error))[:200]
            return f"{self.server} cannot be reached ({cause}); check distillation.base_url and the network"
        if isinstance(error, anthropic.APIStatusError):
            return f"{self.server} answered {error.status_code} ({said})"
        return f"{self.server}: {type(error).__name__}: {said}"


def one_line_of(said: str) -> str:
    """Words of a server on one line, without what would control a terminal."""
    return " ".join(visible(said).split())


def read_message(request: Request, message: Message, latency_ms: int) -> Reply:
    """A reply from the SDK's message; tokens are as counted by the server, including cached ones. Counts that cannot be
    true are replaced by the most that the call may have, and `error` says so."""
    reply = Reply(
        request,
        "answered",
        text="".join(block.text for block in message.content if block.type == "text"),
        stop_reason=message.stop_reason,
        latency_ms=latency_ms,
    )
    usage = message.usage
    counts_in = (usage.input_tokens, usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0)
    tokens_in = _believable(counts_in, request.tokens_in if request.user else 0)
    tokens_out = _believable((usage.output_tokens,), request.max_tokens)
    if tokens_in is None or tokens_out is None:
        told = "the server counted tokens that cannot be true; its call is billed at the most that it may cost"
        return replace(reply, tokens_in=request.tokens_in, tokens_out=request.max_tokens, error=told)
    return replace(reply, tokens_in=tokens_in, tokens_out=tokens_out)


def _believable(counts: Sequence[object], estimated: int) -> int | None:
    """The sum of a server's counts, or None if they cannot be true. `estimated`: 0 if nothing is known."""
    most = _TIMES_ESTIMATED * estimated or _MOST_TOKENS
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= most]
    return sum(whole) if len(whole) == len(counts) and sum(whole) <= most else None


def asked_wait(error: object) -> float:
    """Seconds to wait according to a busy server (`retry-after`), or 0."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, by in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers.get(name, "")) / by)
        except ValueError:
            continue
    return 0.0


def backoff(attempt: int) -> float:
    """0.5 s, doubled with every attempt up to 16 s, minus up to a quarter so that clients do not retry in lockstep."""
    return float(min(16.0, 0.5 * 2 ** (attempt - 1)) * (1 - 0.25 * random.random()))
