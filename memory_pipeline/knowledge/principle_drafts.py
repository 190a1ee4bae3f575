"""Proposed principles: the distiller that needs no model, and the check of every draft, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers import (
    DistillationModel,
    Draft,
    Task,
    evidence_confidence,
    find_contradiction,
    find_invention,
    steering_draft,
)
from memory_pipeline.knowledge.principles import find_principles
from memory_pipeline.models import Declined, Session

#: Part of the id of every principle.
PRINCIPLE_VERSION = "principle-3"


def choose_principle_model(distiller: DistillationModel, settings: Settings) -> DistillationModel:
    """The proposer of principles for this distiller: the same model, if it is one."""
    return SharedRules(settings) if distiller.method == "heuristic" else distiller


class SharedRules:
    """The distiller of principles that needs no model: the rule that all patterns of a group share."""

    name, method, prompt_version = "extractive", "heuristic", PRINCIPLE_VERSION

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """One after the other, as patterns come."""
        for task in tasks:
            try:
                yield task, self._draft(task)
            except Exception as error:  # one failing group leaves the others
                yield task, error

    def _draft(self, task: Task) -> Draft | Declined:
        least = self._settings.principles.min_patterns
        found = find_principles([member.memory.content for member in task.members], least=least)
        shared = next((one for one in found if len(one.supporters) == len(task.members)), None)
        if shared is None:
            return Declined(f"no rule is shared by all {len(task.members)} patterns")
        behind = (witness for member in task.members for witness in member.witnesses)
        return Draft(shared.text, PRINCIPLE_VERSION, confidence=round(evidence_confidence(behind), 4))


def find_refusal(
    patterns: Sequence[str], draft: Draft, settings: Settings, count_tokens: Callable[[str], int]
) -> str | None:
    """Why a draft is not a principle, or None. It must say nothing that the patterns do not say, and contradict none
    of them.

    `patterns`: their texts.
    """
    if draft.contradictions:
        return f"{len(draft.contradictions)} pairs of its patterns contradict each other"
    if not draft.text.strip():
        return "the patterns share no rule"
    if steering := steering_draft(draft.text):
        return steering
    invented = find_invention(patterns, draft.text)
    if invented:
        return f"invented: no pattern has the {invented.kind} '{invented.text}'"
    clash = find_contradiction(patterns, draft.text)
    if clash:
        return f"contradicts a pattern: {clash}"
    tokens = count_tokens(draft.text)
    if tokens > settings.compression.max_abstraction_tokens:
        return f"principle has {tokens} tokens; the maximum is {settings.compression.max_abstraction_tokens}"
    least = settings.consolidation.confidence.min
    return None if draft.confidence >= least else f"confidence {draft.confidence:.2f} is below {least:g}"
