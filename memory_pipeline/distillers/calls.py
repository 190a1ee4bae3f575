"""Questions to a model and its replies, and the one connection over which they go."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import DistillerError

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message

#: Bytes of a prompt by tokens, low on purpose: an estimate that is too high only keeps money back for a while.
_BYTES_PER_TOKEN = 3
#: Room for thinking and for the frame of the answer, which count as output too.
_ANSWER_FRAME_TOKENS = 3072
_MOST_OUTPUT_TOKENS = 16_000


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, ready to send."""

    prompt_hash: str
    model: str
    prompt_version: str
    system: str = ""
    user: str = ""
    max_tokens: int = 0
    masked_secrets: int = 0
    masked_personal: int = 0

    @property
    def tokens_in(self) -> int:
        """At most about so many tokens go out, the schema included."""
        return (len(self.system.encode()) + len(self.user.encode())) // _BYTES_PER_TOKEN + 1000


def hash_prompt(model: str, prompt_version: str, system: str, user: str, max_tokens: int) -> str:
    """SHA-256 over everything that could change the answer; also the custom id in a batch."""
    parts = [model, prompt_version, system, user, max_tokens]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def output_room(source_tokens: int) -> int:
    """How many output tokens an answer about so many source tokens may take: text and claims, and the frame."""
    return min(_MOST_OUTPUT_TOKENS, 2 * source_tokens + _ANSWER_FRAME_TOKENS)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `text` is None when there is no answer; then `deferred` or `error` says why.

    `outcome` as in ModelCall. `retry_after_s` is set when the same question may be asked again; `fatal` when
    no other question would fare better.
    """

    question: Question
    outcome: str
    text: str | None = None
    stop_reason: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    latency_ms: int = 0
    error: str | None = None
    deferred: str | None = None
    retry_after_s: float | None = None
    fatal: bool = False


class Connection:
    """The SDK's client for one server and model, checked before the first question."""

    def __init__(self, settings: Settings, log: logging.Logger) -> None:
        """Raises DistillerError without a key. Nothing is sent yet."""
        import anthropic

        if not settings.anthropic_api_key:
            raise DistillerError(
                "Claude needs a key: set ANTHROPIC_API_KEY, or set distillation.distiller to 'extractive'"
            )
        self.client: Anthropic = anthropic.Anthropic(
            api_key=settings.anthropic_api_key,
            base_url=settings.base_url,
            timeout=settings.call_timeout_s,
            max_retries=0,  # every attempt has to keep to the rate limit and the cap, which the SDK cannot know
        )
        self.server, self.model = settings.base_url, settings.model
        self._log = log
        self._takes_effort = False

    def check_model(self) -> None:
        """Ask the server for the model, once. Raises DistillerError when it does not exist or is retired, when the
        key is refused, or when the server cannot be reached; warns of a deprecated one."""
        import anthropic

        try:
            info = self.client.models.retrieve(self.model)
        except anthropic.NotFoundError as error:
            self._explain_missing(error)
            return
        except anthropic.AnthropicError as error:
            raise DistillerError(self.explain(error)) from error
        lifecycle = getattr(info, "lifecycle", None)
        until = getattr(info, "retires_at", None)
        when = f" on {until:%Y-%m-%d}" if until else ""
        if lifecycle == "retired":
            raise DistillerError(f"the model '{self.model}' was retired{when}; set distillation.model to a newer one")
        if lifecycle == "deprecated":
            self._log.warning("the model %s is deprecated and retires%s; name a newer one", self.model, when or " soon")
        capabilities = getattr(info, "capabilities", None)
        effort = getattr(capabilities, "effort", None)
        self._takes_effort = bool(getattr(effort, "supported", False))

    def _explain_missing(self, error: Exception) -> None:
        import anthropic

        try:
            names = [model.id for model in self.client.models.list(limit=100).data]
        except anthropic.NotFoundError:
            self._log.info("%s lists no models; %s is used unchecked", self.server, self.model)
            return
        except anthropic.AnthropicError as failure:
            raise DistillerError(self.explain(failure)) from failure
        close = difflib.get_close_matches(self.model, names, n=1, cutoff=0.4)
        hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(names[:8])}"
        raise DistillerError(f"there is no model '{self.model}' at {self.server}{hint}") from error

    def parameters(self, question: Question) -> dict[str, Any]:
        """What the Messages API is sent for a question, alone or in a batch."""
        from memory_pipeline.distillers.answer import answer_schema

        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": answer_schema()}}
        if self._takes_effort:
            output["effort"] = "low"
        return {
            "model": question.model,
            "max_tokens": question.max_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.user}],
            "output_config": output,
        }

    def explain(self, error: Exception) -> str:
        """One sentence with the mend, from what the SDK says."""
        import anthropic

        said = getattr(error, "api_message", None) or str(error) or type(error).__name__
        said = " ".join(said.split())[:300]
        if isinstance(error, anthropic.AuthenticationError):
            return f"{self.server} refused the key ({said}); check ANTHROPIC_API_KEY"
        if isinstance(error, anthropic.PermissionDeniedError):
            return f"{self.server} does not let this key use '{self.model}' ({said}); use another key or model"
        if isinstance(error, anthropic.NotFoundError):
            return f"{self.server} does not know '{self.model}' ({said}); check distillation.model and base_url"
        if isinstance(error, anthropic.RateLimitError):
            return f"{self.server} is being asked too often ({said}); lower compression.rate_limit_per_min"
        if isinstance(error, anthropic.APITimeoutError):
            return f"{self.server} did not answer in time; raise distillation.timeout_s or try again later"
        if isinstance(error, anthropic.APIConnectionError):
            cause = " ".join(str(error.__cause__ or error).split())[:200]
            return f"{self.server} cannot be reached ({cause}); check distillation.base_url and the network"
        if isinstance(error, anthropic.APIStatusError):
            return f"{self.server} answered {error.status_code} ({said})"
        return f"{self.server}: {type(error).__name__}: {said}"


def read_message(question: Question, message: Message, latency_ms: int) -> Reply:
    """A reply from the SDK's message; its tokens are what the server counted, cached ones included."""
    usage = message.usage
    tokens_in = usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    return Reply(
        question,
        "answered",
        text="".join(block.text for block in message.content if block.type == "text"),
        stop_reason=message.stop_reason,
        tokens_in=tokens_in,
        tokens_out=usage.output_tokens,
        latency_ms=latency_ms,
    )


def asked_wait(error: object) -> float:
    """Seconds that a busy server asks us to wait (`retry-after`), 0 when it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, by in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers.get(name, "")) / by)
        except ValueError:
            continue
    return 0.0


def backoff(attempt: int) -> float:
    """0.5 s, doubled with every attempt to 16 s, less up to a quarter so that clients do not march in step."""
    return float(min(16.0, 0.5 * 2 ** (attempt - 1)) * (1 - 0.25 * random.random()))
