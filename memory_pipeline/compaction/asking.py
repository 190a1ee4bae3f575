"""What a model proposes to keep of a session, if the settings choose one: asked within seconds, since a host waits.

Answers are kept beside the store, where no night is in the way. Whatever fails, the rules alone keep what they find.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.answers import Answered, proposals_from
from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.proposals import Proposals
from memory_pipeline.conversations.questions import Accepted, TurnsQuestion, questions_about
from memory_pipeline.distillers import attempt_in
from memory_pipeline.errors import MemoryPipelineError, ModelError, StoreBusyError, in_words
from memory_pipeline.models import AnswerBook, Declined, ModelClient
from memory_pipeline.models import Session as ModelSession
from memory_pipeline.models.choose import has_model
from memory_pipeline.records import ModelAnswer
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many

_log = logging.getLogger(__name__)
#: Of the time that a model has, a part each for: whether it is there, sending, and the last answers.
_PARTS = 3
_ATTEMPTS = 2
TOO_MANY = "more questions than may be asked at once"
#: What is asked may have been paid for already.
IN_USE = "the store with the answers is in use"


@dataclass(frozen=True, slots=True)
class Help:
    """What a model proposes, and what is to be told of it: calls, cost, and why it could not be asked."""

    proposals: Proposals
    calls: int = 0
    cost_usd: float = 0.0
    problem: str = ""

    def told(self, kept: int) -> str:
        """What a model did, as a sentence. `kept`: how much of what is kept it proposed."""
        found = self.proposals
        words = f"{how_many(found.questions, 'question')}, {how_many(self.calls, 'call')}, {self.cost_usd:.4f} USD; "
        words += f"{kept} of what is kept was proposed by the model"
        if found.left:
            left = ", ".join(f"{why}: {count}" for why, count in sorted(found.left.items()))
            words += f"; chunks left to the rules: {left}"
        return f"{words}; {self.problem}" if self.problem else words


def ask_about(settings: Settings, session: Session) -> Help | None:
    """What a model proposes to keep of a session; None if none is asked. Nothing is raised: what goes wrong is told."""
    if not _asks(settings) or not session.turns:
        return None
    try:
        return _asked(settings, session)
    except Exception as error:  # a host waits, and the rules have read the session
        if not isinstance(error, MemoryPipelineError):
            _log.warning("asking a model about session '%s'", session.name, exc_info=error)
        return Help(Proposals(), problem=f"the rules alone: {in_words(error)[:300]}")


def _asks(settings: Settings) -> bool:
    return settings.conversations.ask_model and settings.compaction.model_seconds > 0 and has_model(settings)


def _asked(settings: Settings, session: Session) -> Help:
    quick = _within(settings, settings.compaction.model_seconds)
    store = Store.of(settings)
    if not store.exists():
        return Help(Proposals(), problem="the rules alone: there is no store beside which answers are kept")
    book = AnswerBook(store, str(uuid.uuid4()), "flush", preview=True)
    chunks = chunks_of(session.turns, settings.conversations.chunk_tokens)
    questions, hostile = questions_about(chunks, quick, lambda text: attempt_in(text) is not None)
    kept, busy = _known(book, questions)
    reused = kept if settings.model.cache else {}
    new = [number for number, one in enumerate(questions) if one.prompt_hash not in reused]
    later = set(new if busy else new[: -settings.model.burst])  # what was said last is nearest to being lost
    why = IN_USE if busy else TOO_MANY
    answers: dict[int, Answered] = {number: Declined(why, again=True) for number in later}
    asked = {number: one.question for number, one in enumerate(questions) if number not in later}
    problem = ""
    try:
        talking = ModelSession(book, preview=True, use_cache=settings.model.cache)
        results = ModelClient(quick).ask(asked, talking, "sessions")
        answers.update(results)
    except ModelError as error:
        problem = in_words(error)[:300]
    found = [_or_earlier(answers.get(number), one, book, quick) for number, one in enumerate(questions)]
    sent = [call for call in book.calls() if call.mode != "cache"]
    cost = sum(call.cost_usd for call in sent)
    return Help(proposals_from(questions, found, hostile), len(sent), cost, problem)


def _or_earlier(answer: Answered, asked: TurnsQuestion, book: AnswerBook, settings: Settings) -> Answered:
    """The answer; if there is none, the one about the first of its turns, when these were the last: what an earlier
    flush has kept is not lost because a later one gets no answer."""
    if isinstance(answer, Accepted) or (isinstance(answer, Declined) and not answer.again):
        return answer
    shorter = asked.shorter(settings)
    kept, _ = _known(book, shorter)
    for one in shorter:
        if one.prompt_hash in kept:
            return one.read(kept[one.prompt_hash])
    return answer


def _known(book: AnswerBook, questions: Sequence[TurnsQuestion]) -> tuple[dict[str, ModelAnswer], bool]:
    """The answers that are kept, and whether the store that has others of them is in use."""
    hashes = [one.prompt_hash for one in questions]
    try:
        return book.find(hashes), False
    except StoreBusyError:
        return book.find_beside(hashes), True


def _within(settings: Settings, seconds: float) -> Settings:
    """The settings with which a model is asked for so many seconds at most."""
    part = seconds / _PARTS
    chosen = settings.model
    return settings.with_values(
        {
            "model.time_limit_s": min(chosen.time_limit_s, part),
            "model.timeout_s": min(chosen.timeout_s, part),
            "model.longest_wait_s": min(chosen.longest_wait_s, part),
            "model.attempts": min(chosen.attempts, _ATTEMPTS),
        }
    )
