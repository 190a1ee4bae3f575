"""Anthropic's Messages API through its SDK, or any server that implements it."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from memory_pipeline.errors import ModelError
from memory_pipeline.models.http import asked_wait, certificates, one_line
from memory_pipeline.models.limits import Price
from memory_pipeline.models.provider import Answer, CallError, Request, counted_answer, suggest

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message

#: What the server does with a status, and the mend.
_STATUSES = {
    401: ("rejected the key", "check ANTHROPIC_API_KEY"),
    403: ("does not let this key use '{model}'", "use another key or model"),
    404: ("does not know '{model}'", "check model.name and model.base_url"),
    429: ("receives too many requests", "lower compression.rate_limit_per_min"),
}
_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


class AnthropicMessages:
    """One model behind the Messages API. It alone takes batches."""

    name = "anthropic"

    def __init__(
        self, model: str, base_url: str, key: str, price: Price, *, context_tokens: int, timeout_s: float
    ) -> None:
        """Raises ModelError without a key. Sends nothing yet."""
        import anthropic

        if not key:
            raise ModelError("Claude needs an API key: set ANTHROPIC_API_KEY, or model.provider to another one or none")
        self.client: Anthropic = anthropic.Anthropic(
            api_key=key,
            base_url=base_url,
            timeout=timeout_s,
            # The key would follow to any server.
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False, verify=certificates()),
            max_retries=0,  # every attempt must respect the rate limit and the cap, which the SDK does not know
        )
        self.model, self.place, self.price, self.context_tokens = model, base_url, price, context_tokens
        self._takes_effort = False

    def prepare(self, log: logging.Logger) -> None:
        """Ask the server for the model."""
        import anthropic

        try:
            info = self.client.models.retrieve(self.model)
        except anthropic.NotFoundError as error:
            self._explain_missing(error, log)
            return
        except anthropic.AnthropicError as error:
            raise ModelError(self.explain(error)) from error
        effort = getattr(getattr(info, "capabilities", None), "effort", None)
        self._takes_effort = bool(getattr(effort, "supported", False))

    def _explain_missing(self, error: Exception, log: logging.Logger) -> None:
        import anthropic

        try:
            names = [one_line(model.id) for model in self.client.models.list(limit=100).data]
        except anthropic.NotFoundError:
            log.info("%s lists no models; %s is used without a check", self.place, self.model)
            return
        except anthropic.AnthropicError as failure:
            raise ModelError(self.explain(failure)) from failure
        raise ModelError(f"there is no model '{self.model}' at {self.place}{suggest(self.model, names)}") from error

    def parameters(self, request: Request) -> dict[str, Any]:
        """The parameters of a request, single or in a batch."""
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

    def ask(self, request: Request, timeout_s: float) -> Answer:
        try:
            return read_message(request, self._message(request, timeout_s))
        except CallError:
            raise
        except Exception as error:
            raise self.refusal(error) from error

    def refusal(self, error: Exception) -> CallError:
        """The meaning of an error of the SDK for its call."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            passing = error.status_code in (408, 409, 429) or error.status_code >= 500
            return CallError(
                self.explain(error),
                retry_after_s=asked_wait(error.response.headers) if passing else None,
                fatal=not passing and error.status_code not in (400, 413, 422),
            )
        if isinstance(error, anthropic.APIConnectionError):
            # A failed connection attempt costs nothing; a broken connection may have been charged.
            never = type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")
            return CallError(self.explain(error), outcome="failed" if never else "unknown", retry_after_s=0.0)
        # An answer that the SDK cannot read: it may have been charged.
        reason = one_line(f"unreadable answer: {type(error).__name__}: {error}")
        return CallError(reason, outcome="unknown", retry_after_s=0.0)

    def _message(self, request: Request, timeout_s: float) -> Message:
        from anthropic.types import Message

        deadline = time.monotonic() + timeout_s
        body = bytearray()
        with self.client.messages.with_streaming_response.create(**self.parameters(request)) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > request.most_bytes:  # a second one would be paid for too
                    reason = f"more than {request.most_bytes:,} bytes, for at most {request.max_tokens:,} tokens"
                    raise CallError(f"unreadable answer: {reason}", outcome="unknown")
                if time.monotonic() > deadline:
                    reason = f"unreadable answer: it took longer than {timeout_s:g} s"
                    raise CallError(reason, outcome="unknown", retry_after_s=0.0)
        data = json.loads(body)
        if not isinstance(data, dict):
            raise ValueError("no JSON object")
        return Message.construct(**data)

    def explain(self, error: Exception) -> str:
        """One sentence that describes an SDK error and says how to fix it."""
        import anthropic

        reason = one_line(getattr(error, "api_message", None) or str(error) or type(error).__name__)
        if isinstance(error, anthropic.APITimeoutError):
            return f"{self.place} did not answer in time; raise model.timeout_s or try again later"
        if isinstance(error, anthropic.APIConnectionError):
            cause = one_line(str(error.__cause__ or error))
            return f"{self.place} cannot be reached ({cause}); check model.base_url and the network"
        if isinstance(error, anthropic.APIStatusError):
            did, mend = _STATUSES.get(error.status_code, (f"answered {error.status_code}", ""))
            return f"{self.place} {did.format(model=self.model)} ({reason})" + (f"; {mend}" if mend else "")
        return f"{self.place}: {type(error).__name__}: {reason}"


def read_message(request: Request, message: Message) -> Answer:
    """The answer in the SDK's message; tokens as counted by the server, including cached ones."""
    text = "".join(block.text for block in message.content if block.type == "text")
    usage = message.usage
    cached = (usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0)
    stop = _STOPS.get(message.stop_reason or "", "end")
    return counted_answer(request, text, stop, usage.input_tokens, usage.output_tokens, cached)
