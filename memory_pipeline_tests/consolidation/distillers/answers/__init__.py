"""Clusters with the answers that a model might give, half of them with one planted slip, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.by_model import Answer, ModelDistiller, distillation_question
from memory_pipeline.consolidation.distillers.judge import Draft, Task, judge
from memory_pipeline.consolidation.distillers.strategies import choose_strategy, load_strategies
from memory_pipeline.models import Declined, Session
from memory_pipeline.models.provider import Reply
from memory_pipeline.records import Distillation
from memory_pipeline.store import Store
from memory_pipeline_tests.consolidation.distillers.test_distillers import task_of

OWN = Path(__file__).parent / "answers.jsonl"
#: What a language model said of the sentences that code let pass, by the hash of the question.
VERDICTS = Path(__file__).parent / "verdicts.jsonl"
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


def judged(
    cases: Sequence[Case],
    directory: Path,
    count_tokens: Callable[[str], int] = lambda text: max(1, len(text) // 4),
    *,
    verdicts: Path = VERDICTS,
    record: str = "",
) -> list[Verdict]:
    """The verdicts on some answers, as in a night: by code, and by recorded readings of their sentences (`verdicts`).
    Sentences that nobody has read are written to `record`."""
    answers = directory / "answers.jsonl"
    settings = Settings().with_values(
        {"model.provider": "recorded", "model.answers": str(answers), "model.record": record}
    )
    store = Store(directory / "store.duckdb")
    found: dict[str, Verdict] = {}
    with store.kept_open():
        store.take_lease("run", "test")
        while left := [case for case in cases if case.key not in found]:
            asked = {case.members: case for case in left}.values()  # one question has one answer at a time
            tasks = {case.key: task_of(*case.members, key=case.key) for case in asked}
            model = ModelDistiller(settings, count_tokens)
            lines = [line for case in asked for line in _recorded(case, tasks[case.key], settings, model)]
            answers.write_text("".join([*lines, *([verdicts.read_text()] if verdicts.exists() else [])]))
            session = Session(store, "run", "test", use_cache=False)
            drafts = {task.cluster.cluster_id: draft for task, draft in model.drafts(tasks.values(), session)}
            for case in asked:
                task, draft = tasks[case.key], drafts[case.key]
                result = judge(task, draft, model, settings, count_tokens) if isinstance(draft, Draft) else draft
                found[case.key] = _verdict(case, result)
    return [found[case.key] for case in cases]


def _recorded(case: Case, task: Task, settings: Settings, model: ModelDistiller) -> Iterator[str]:
    """An answer as a recorded one, also to the question that is asked because of it."""
    strategy = choose_strategy(load_strategies(settings), task.cluster)
    question = distillation_question(task, strategy, settings, model, lambda text: max(1, len(text) // 4))
    text = case.answer.model_dump_json()
    reply = Reply(question.request, "answered", text=text)
    for asked in (question, *question.follow_ups(reply, question.read(reply))):
        yield json.dumps({"question": asked.request.question_hash, "answer": text}) + "\n"


def _verdict(case: Case, result: Distillation | Declined | Exception) -> Verdict:
    if isinstance(result, Declined) and result.again:
        raise LookupError(f"nobody has read the sentences of {case.key}: python benchmarks/judge.py --record FILE")
    if not isinstance(result, Distillation):
        return Verdict("refused", "", f"{result.reason if isinstance(result, Declined) else result}")
    if result.outcome == "refused":
        return Verdict("refused", result.content, result.reason)
    asked = " ".join(case.answer.abstraction.split())
    return Verdict("accepted" if result.content == asked else "mended", result.content, None)
