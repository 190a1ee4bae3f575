"""Who reads a session that is still going on: a model, if the settings choose one, asked within seconds since a host
waits; and else the classifier.

Answers are kept beside the store, where no night is in the way. Earlier parts of a session have their answers already,
so that one question is asked for what is new. Whatever fails, the classifier keeps what it finds.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from time import monotonic

from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.asking import ask_about, classifier_vectors
from memory_pipeline.conversations.extraction import Found, found_by_classifier
from memory_pipeline.errors import MemoryPipelineError, ModelError, StoreBusyError, in_words
from memory_pipeline.models import AnswerBook, Declined, ModelClient, Question
from memory_pipeline.models import Session as ModelSession
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.question import Reading
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many

_log = logging.getLogger(__name__)
_ATTEMPTS = 2
IN_USE = "the store with the answers is in use"
NO_STORE = "there is no store beside which answers are kept"


@dataclass(frozen=True, slots=True)
class ReadSession:
    """What was found in a session, and what is to be told of a model: None if none is asked."""

    found: Found
    told: str | None = None


def read_session(settings: Settings, session: Session) -> ReadSession:
    """What is worth keeping of a session. Nothing is raised: what goes wrong with a model is told."""
    if not session.turns or not _asks(settings):
        return ReadSession(found_by_classifier(session.turns, classifier_vectors()))
    try:
        return _asked(settings, session)
    except Exception as error:  # a host waits, and the classifier reads the session
        if not isinstance(error, MemoryPipelineError):
            _log.warning("asking a model about session '%s'", session.name, exc_info=error)
        found = found_by_classifier(session.turns, classifier_vectors())
        return ReadSession(found, f"the classifier alone: {in_words(error)[:300]}")


def _asks(settings: Settings) -> bool:
    return settings.conversations.ask_model and settings.compaction.model_seconds > 0 and has_model(settings)


def _asked(settings: Settings, session: Session) -> ReadSession:
    store = Store.of(settings)
    if not store.exists():
        raise ModelError(NO_STORE)
    book = AnswerBook(store, str(uuid.uuid4()), "flush", preview=True)
    try:
        book.find(["-"])
    except StoreBusyError as error:
        raise ModelError(IN_USE) from error
    deadline = monotonic() + settings.compaction.model_seconds
    problems: list[str] = []

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        left = deadline - monotonic()
        talking = ModelSession(book, preview=True, use_cache=settings.model.cache)
        only_kept = bool(problems) or left <= 0
        try:
            client = ModelClient(_within(settings, max(left, 0.1)))
            results = client.ask({"": question}, talking, "sessions", only_kept=only_kept)
            return next((result for _, result in results), None)
        except ModelError as error:
            problems.append(in_words(error)[:300])
            return None

    asked = ask_about("session", session.turns, (), ask, settings, choose_embedder(settings))
    sent = [call for call in book.calls() if call.mode != "cache"]
    found = asked.found.with_others(found_by_classifier(asked.left, classifier_vectors()))
    kept = sum(bool(one.proposed_by) for one in found.extractions)
    told = (
        f"{how_many(found.questions, 'question')}, {how_many(len(sent), 'call')}, "
        f"{sum(call.cost_usd for call in sent):.4f} USD; the model found {how_many(kept, 'statement')}"
    )
    if asked.left:
        told += f"; {how_many(len(asked.left), 'turn')} left to the classifier"
    return ReadSession(found, "; ".join([told, *problems[:1]]))


def _within(settings: Settings, seconds: float) -> Settings:
    """The settings with which a model is asked for so many seconds at most."""
    chosen = settings.model
    return settings.with_values(
        {
            "model.time_limit_s": min(chosen.time_limit_s, seconds),
            "model.timeout_s": min(chosen.timeout_s, seconds),
            "model.longest_wait_s": min(chosen.longest_wait_s, seconds),
            "model.attempts": min(chosen.attempts, _ATTEMPTS),
        }
    )
