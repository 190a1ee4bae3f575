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
from memory_pipeline.models.choose import model_reads
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.pacing import Patience
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
    return settings.compaction.model_seconds > 0 and model_reads(settings)


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
        talking = ModelSession(book, preview=True)
        only_kept = bool(problems) or left <= 0
        try:
            client = _client(settings, max(left, 0.1))
            results = client.ask({"": question}, talking, "sessions", only_kept=only_kept)
            return next((result for _, result in results), None)
        except ModelError as error:
            problems.append(in_words(error)[:300])
            return None

    asked = ask_about("session", session.turns, (), ask, settings, choose_embedder(settings))
    if asked.problem:
        problems.append(in_words(asked.problem)[:300])
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


def _client(settings: Settings, seconds: float) -> ModelClient:
    """A client that asks for so many seconds at most."""
    hurried = settings.with_values({"model.timeout_s": min(settings.model.timeout_s, seconds)})
    return ModelClient(hurried, Patience(_ATTEMPTS, longest_wait_s=seconds, time_limit_s=seconds))
