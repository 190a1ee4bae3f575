"""The way to a language model: requests and replies, independent of the caller and the way of sending, the interface
that every provider has, and the errors of one call."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import Any, Protocol

from memory_pipeline.models.limits import Price
from memory_pipeline.records import CallOutcome

#: Bytes of a prompt per token, deliberately low: an estimate that is too high only reserves money temporarily.
_BYTES_PER_TOKEN = 3
#: Characters that an answer may have per token, and besides: far more than any has.
_CHARS_PER_TOKEN, _MORE_CHARS = 16, 4_096
#: A character of a text is at most so many bytes of JSON, and a response has so many bytes beside its text.
_BYTES_PER_CHARACTER, _MESSAGE_BYTES = 6, 65_536


_AGAIN = "Give the whole answer once more, with this put right and nothing else changed."


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, ready to send. `schema`: the JSON schema of the answer; `is_again`: it was asked before, and
    tells what was wrong with the answer; `then`: the most tokens in and out of what is asked about the answer later.

    `prompt_hash`: its key, SHA-256 over everything that can change the answer; the prompt's version represents the
    schema. The key finds cached answers, and is the custom id in a batch. It is given for a prompt of which nothing
    else is known.
    """

    model: str
    prompt_version: str
    system: str = ""
    user: str = ""
    _: KW_ONLY
    max_tokens: int = 0
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    masked_secrets: int = 0
    masked_personal: int = 0
    is_again: bool = False
    then: tuple[int, int] | None = None
    prompt_hash: str = ""

    def __post_init__(self) -> None:
        parts = [self.model, self.prompt_version, self.system, self.user, self.max_tokens]
        made = hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
        object.__setattr__(self, "prompt_hash", self.prompt_hash or made)

    def fitted_to(self, context_tokens: int) -> Request:
        """The request with as many tokens for the answer as the context has room for beside the prompt."""
        most = max(0, min(self.max_tokens, context_tokens - self.tokens_in))
        return replace(self, max_tokens=most, prompt_hash="")

    def asked_again(self, answer: str, objection: str) -> Request:
        """The request once more, with its answer and what is wrong with it."""
        user = f"{self.user}\n\nYour earlier answer:\n{answer}\n\nIt was not accepted. {objection}\n{_AGAIN}"
        return replace(self, user=user, is_again=True, prompt_hash="")

    @property
    def tokens_in(self) -> int:
        """Upper estimate of the tokens sent, including the schema."""
        return (len(self.system.encode()) + len(self.user.encode())) // _BYTES_PER_TOKEN + 1000

    @property
    def question_hash(self) -> str:
        """SHA-256 over what is asked and how it is to be answered, for any model: the key of recorded answers."""
        parts = [self.system, self.user, dict(self.schema)]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True, sort_keys=True).encode()).hexdigest()

    @property
    def most_bytes(self) -> int:
        """A response of more bytes cannot be the answer."""
        return _BYTES_PER_CHARACTER * self.most_chars + _MESSAGE_BYTES

    @property
    def most_chars(self) -> int:
        """A text of more characters cannot be the answer: it has more tokens than were asked for."""
        return _CHARS_PER_TOKEN * self.max_tokens + _MORE_CHARS


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one request.

    `stop_reason`: `end`, `length` (it ended before it was complete) or `refusal`. Tokens as counted by the server, 0 if
    it counts none; `error` says what is wrong with the counts.
    """

    text: str
    stop_reason: str
    tokens_in: int = 0
    tokens_out: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply. `text` is None if there is no answer; then `deferred` or `error` gives the reason.

    An `error` beside a text is of the bill alone. `outcome` as in ModelCall.
    """

    request: Request
    outcome: CallOutcome
    text: str | None = None
    stop_reason: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    latency_ms: int = 0
    error: str | None = None
    deferred: str | None = None

    @classmethod
    def of(cls, request: Request, answer: Answer, latency_ms: int) -> Reply:
        return cls(request, "answered", latency_ms=latency_ms, **asdict(answer))


#: A call cannot have so many times the tokens that were estimated and asked for.
_TIMES_ESTIMATED = 4
#: A request of another run, of which nothing else is known, cannot have more.
_MOST_TOKENS = 2_000_000


class CallError(Exception):
    """One call gave no answer.

    `outcome`: `failed` if nothing can have been charged, `unknown` if it may have been. `retry_after_s` is set if the
    same request may be sent again, after at least so many seconds; `fatal` if no other request would succeed either;
    `status`: of HTTP, where there is one; `is_open`: nothing failed, and the question waits for an answer.
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: CallOutcome = "failed",
        retry_after_s: float | None = None,
        fatal: bool = False,
        status: int | None = None,
        is_open: bool = False,
    ) -> None:
        super().__init__(message)
        self.outcome, self.retry_after_s, self.fatal, self.status = outcome, retry_after_s, fatal, status
        self.is_open = is_open


class Provider(Protocol):
    """One way to reach one language model. `ask` is called from several threads at once.

    A new provider is a class with these members and a line in `choose`.
    """

    #: The value of `model.provider`.
    name: str
    #: The model's name, by which answers are kept; a change of it asks everything again.
    model: str
    #: The address or the command, as messages name it.
    place: str
    #: USD per million tokens; zero on this machine and for a subscription.
    price: Price
    #: Tokens that a question and its answer may have together.
    context_tokens: int

    def prepare(self, log: logging.Logger) -> None:
        """Check, before the first question, that the model can be asked.

        Raises ModelError with the address, the status and the mend.
        """

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """One attempt at one request. Raises CallError if there is no answer."""


def counted_answer(
    request: Request, text: str, stop_reason: str, tokens_in: object, tokens_out: object, cached: Sequence[object] = ()
) -> Answer:
    """An answer with the server's counts of tokens. Counts that cannot be true are replaced by the most that the call
    may have, and `error` says so."""
    counted_in = _believable((tokens_in, *cached), request.tokens_in if request.user else 0)
    counted_out = _believable((tokens_out,), request.max_tokens)
    if counted_in is None or counted_out is None:
        error = "the server counted tokens that cannot be true; its call is billed at the most that it may cost"
        return Answer(text, stop_reason, request.tokens_in, request.max_tokens, error)
    return Answer(text, stop_reason, counted_in, counted_out)


def _believable(counts: Sequence[object], estimated: int) -> int | None:
    """The sum of a server's counts, or None if they cannot be true. `estimated`: 0 if nothing is known."""
    most = _TIMES_ESTIMATED * estimated or _MOST_TOKENS
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= most]
    return sum(whole) if len(whole) == len(counts) and sum(whole) <= most else None


def suggest(model: str, names: Sequence[str]) -> str:
    """The end of a sentence about a model that is not there: the nearest one, or those that are."""
    close = difflib.get_close_matches(model, names, n=1, cutoff=0.4)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; it has {', '.join(names[:8])}" if names else "; it has none"
