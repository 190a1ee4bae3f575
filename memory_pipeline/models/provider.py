"""How a language model is reached: the interface that every provider has, and the errors of one call."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Sequence
from typing import Protocol

from memory_pipeline.models.pricing import Price
from memory_pipeline.models.requests import Answer, Request
from memory_pipeline.records import CallOutcome

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

    A new provider is a class with these members and a line in `choose.PROVIDERS`.
    """

    @property
    def name(self) -> str:
        """The value of `model.provider`."""

    @property
    def model(self) -> str:
        """The model's name, by which answers are kept; a change of it asks everything again."""

    @property
    def place(self) -> str:
        """The address or the command, as messages name it."""

    @property
    def price(self) -> Price:
        """USD per million tokens; zero on this machine and for a subscription."""

    @property
    def context_tokens(self) -> int:
        """Tokens that a question and its answer may have together."""

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
