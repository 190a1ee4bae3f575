"""Who reads a day of conversations, and by which names its speakers go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.asking import ask_about, classifier_vectors
from memory_pipeline.conversations.extraction import Found, found_by_classifier
from memory_pipeline.conversations.turns import FILES_WITH_NAMES, needs_names, speakers_named
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient, Question
from memory_pipeline.models.choose import model_reads
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import answer_book, session_of
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.question import Reading
from memory_pipeline.records import COST_CAP, Extraction, Memory, Speaker, Turn
from memory_pipeline.store import Store


@dataclass(frozen=True, slots=True)
class ModelBill:
    """What was asked in a run: calls with every attempt, answers that were known already, and the cost."""

    calls: int
    reused: int
    cost_usd: float

    def since(self, before: ModelBill) -> ModelBill:
        """What was asked after an earlier look."""
        cost = round(self.cost_usd - before.cost_usd, 6)
        return ModelBill(self.calls - before.calls, self.reused - before.reused, cost)


def bill_of(night: Night) -> ModelBill:
    """What the run has asked so far."""
    calls = answer_book(night).calls()
    sent = [call for call in calls if call.mode != "cache"]
    return ModelBill(len(sent), len(calls) - len(sent), round(sum(call.cost_usd for call in sent), 6))


def read_turns(night: Night, turns: Sequence[Turn], known: Sequence[Extraction], problems: list[ModelError]) -> Found:
    """What is worth keeping of a day's turns. `known`: the extractions that stand before them; `problems`: why the
    model cannot be asked any more in this run, which grows.

    An error of the model is noted once a run, and leaves what has no answer yet to the classifier.
    """
    if not turns:
        return Found()
    if not model_reads(night.settings):
        return found_by_classifier(turns, classifier_vectors())

    def note(error: ModelError) -> None:
        problems.append(error)
        if not any(one.stage == "extraction" and one.error == in_words(error) for one in night.errors):
            night.note_error("", "extraction", error)

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        try:
            client = ModelClient(night.settings)
            results = client.ask({"": question}, session_of(night), "conversations", only_kept=bool(problems))
            result = next((result for _, result in results), None)
        except ModelError as error:
            note(error)
            return None
        if isinstance(result, Declined) and result.reason == COST_CAP:
            problems.append(ModelError(COST_CAP))  # no error: the next night goes on
        return result

    asked = ask_about("conversation", turns, known, ask, night.settings, night.embedder)
    if asked.problem:
        note(asked.problem)
    return asked.found.with_others(found_by_classifier(asked.left, classifier_vectors())) if asked.left else asked.found


#: The connector of workspaces that were imported once, and are no source.
_WORKSPACE = "openclaw"


def names_of(
    store: Store, settings: Settings, project_id: str, memories: Iterable[Memory]
) -> Mapping[str, Speaker] | None:
    """By name in lower case, whose it is; None if each of these memories tells by itself who speaks."""
    return names_in(store, settings)(project_id) if needs_names(memories) else None


def names_in(store: Store, settings: Settings) -> Callable[[str], Mapping[str, Speaker]]:
    """The names of each project's human and agent, read once when they are asked for: from the files of its workspace,
    or, if it has none, from what was imported of such files."""

    @cache
    def of(project_id: str) -> Mapping[str, Speaker]:
        return _names_now(store, settings, project_id)

    return of


def _names_now(store: Store, settings: Settings, project_id: str) -> Mapping[str, Speaker]:
    from memory_pipeline.ingest.sources import with_known_projects, workspace_of  # which most nights never need

    workspace = workspace_of(with_known_projects(settings, store), project_id)
    rules = settings.conversations
    if workspace is not None:
        return speakers_named(rules.human_names, rules.agent_names, workspace)
    imported: list[tuple[str, str]] = []
    if store.exists():
        with store.reading() as tx:
            imported = tx.sources.contents_of(project_id, _WORKSPACE, FILES_WITH_NAMES)
    return speakers_named(rules.human_names, rules.agent_names, imported=imported)
