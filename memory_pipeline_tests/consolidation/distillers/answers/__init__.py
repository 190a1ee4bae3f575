"""Clusters with the answers that a model might give, half of them with one planted slip, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.by_model import Answer, ModelDistiller, distillation_question
from memory_pipeline.consolidation.distillers.judge import Draft, judge
from memory_pipeline.consolidation.distillers.strategies import choose_strategy, load_strategies
from memory_pipeline_tests.consolidation.distillers.test_distillers import task_of

OWN = Path(__file__).parent / "answers.jsonl"
SETTINGS = Settings().with_values({"anthropic.api_key": "sk-test"})
_EMPTY: dict[str, Any] = {
    "contradictions": [], "suspicious": [], "is_causal": False, "subject": "", "action": "", "outcome": "",
    "consequences": "", "pattern_type": None, "confidence": 0.9, "compression_ratio": 2.0,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A cluster's texts, an answer, and what is wrong with it, or None. `wrong`: the words of the slip that must
    not be kept, as a regular expression."""

    key: str
    members: tuple[str, ...]
    answer: Answer
    slip: str | None
    half: str
    wrong: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What became of an answer: `accepted` as it is, `mended` or `refused`, with the memory's text or the reason."""

    outcome: str
    text: str
    reason: str | None

    def keeps_slip(self, case: Case) -> bool:
        """Whether the words of the answer's slip are in the memory, as far as they are known."""
        kept = self.outcome != "refused" and case.wrong is not None
        return kept and re.search(case.wrong or "", self.text, re.IGNORECASE) is not None


def read_cases(path: Path = OWN, half: str | None = None) -> list[Case]:
    """The cases of a file, one JSON object a line; with `half`, those of one half: `seen` or `held_out`."""
    return [case for case in _cases(path) if half in (None, case.half)]


def _cases(path: Path) -> Iterator[Case]:
    for line in path.read_text().splitlines():
        row = json.loads(line)
        said = row.get("answer") or {name: row[name] for name in ("abstraction", "claims", "is_causal")}
        answer = Answer.model_validate({**_EMPTY, **said})
        yield Case(
            row["key"], tuple(row["members"]), answer, row["known_slip"], row.get("half", "kept"), row.get("wrong")
        )


def judged(case: Case, count_tokens: Callable[[str], int] = lambda text: max(1, len(text) // 4)) -> Verdict:
    """The verdict on an answer, from the check of the question and the judge, as in a night."""
    task = task_of(*case.members)
    strategy = choose_strategy(load_strategies(SETTINGS), task.cluster)
    model = ModelDistiller(SETTINGS, count_tokens)
    question = distillation_question(task, strategy, SETTINGS, model, count_tokens)
    draft = question.check(case.answer)
    if not isinstance(draft, Draft) and question.last_check:
        draft = question.last_check(case.answer)
    if not isinstance(draft, Draft):
        return Verdict("refused", "", draft.reason)
    result = judge(task, draft, model, SETTINGS, count_tokens)
    if result.outcome == "refused":
        return Verdict("refused", result.content, result.reason)
    asked = " ".join(case.answer.abstraction.split())
    return Verdict("accepted" if result.content == asked else "mended", result.content, None)
