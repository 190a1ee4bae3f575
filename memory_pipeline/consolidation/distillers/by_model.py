"""Selects the distillation model; a language model as a distiller: every cluster is a question, and the checked answer
is the draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.answer import Answer
from memory_pipeline.consolidation.distillers.draft import DistillationModel, Draft, Task
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.questions import PROMPT_VERSION, distillation_question
from memory_pipeline.consolidation.distillers.strategies import choose_strategy, load_strategies
from memory_pipeline.models import Declined, ModelClient, Question, Session
from memory_pipeline.models.choose import has_model


def choose_distiller(settings: Settings, count_tokens: Callable[[str], int]) -> DistillationModel:
    """The chosen model, or the extractive distiller if there is none.

    Raises ModelError or StrategyError for settings with which the model cannot be asked.
    """
    if not has_model(settings):
        return Extractive()
    return ModelDistiller(settings, count_tokens)


class ModelDistiller:
    """Distils with the model that is chosen."""

    name = "model"
    method = "llm"
    prompt_version = PROMPT_VERSION

    def __init__(self, settings: Settings, count_tokens: Callable[[str], int]) -> None:
        """Raises ModelError if the model cannot be asked, StrategyError for a strategy that cannot be loaded."""
        self._settings, self._count = settings, count_tokens
        self._client = ModelClient(settings)
        self._strategies = load_strategies(settings)

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """Ask about all tasks at once, and yield their drafts in order, after those that could not be asked about."""
        questions: dict[str, Question[Answer, Draft]] = {}
        asked: dict[str, Task] = {}
        for task in tasks:
            try:
                questions[task.cluster.cluster_id] = self._question_about(task)
                asked[task.cluster.cluster_id] = task
            except Exception as error:  # a user-defined strategy may fail on one cluster
                yield task, error
        for cluster_id, draft in self._client.ask(questions, session, "distillation"):
            yield asked[cluster_id], draft

    def _question_about(self, task: Task) -> Question[Answer, Draft]:
        strategy = choose_strategy(self._strategies, task.cluster)
        return distillation_question(task, strategy, self._settings, self, self._count)
