"""Nights with a model whose answers a test writes: the questions are recorded, and answered by a function, while the
night runs or after it."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.report import Report
from memory_pipeline.models.provider import Answer as Reply
from memory_pipeline.models.provider import CallError, Request
from memory_pipeline.models.providers.recorded import Recorded
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for

Answer = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A question as a model sees it: numbered items and standing statements, and the whole text."""

    items: list[dict[str, Any]]
    standing: list[dict[str, Any]]
    user: str

    def number(self, words: str) -> int:
        """The number of the item that has these words."""
        return next(item["n"] for item in self.items if words in item["text"])

    def standing_number(self, words: str) -> int:
        """The number of the standing statement that has these words."""
        return next(one["n"] for one in self.standing if words in one["text"])

    def says(self, words: str) -> bool:
        """Whether an item has these words."""
        return any(words in item["text"] for item in self.items)

    @property
    def is_repair(self) -> bool:
        """Whether an earlier answer is to be put right."""
        return "Not borne out:" in self.user


def read_question(user: str) -> Asked:
    """A question from its text."""
    head, _, rest = user.partition("\n\nItems:\n")
    given = rest.partition("\n\nNot borne out:")[0]
    standing, lines = (
        [json.loads(line) for line in part.splitlines() if line.startswith("{")] for part in (head, given)
    )
    items: list[dict[str, Any]] = []
    above: dict[str, Any] = {}
    for line in lines:
        if "n" in line:
            items.append({**above, **line})
        else:
            above = line
    return Asked(items, standing, user)


def statement(text: str, sources: dict[int, str], kind: str = "fact", about: str = "work", **more: Any) -> Answer:
    """A statement of an answer; `sources`: by item, the quote."""
    rests = [{"item": item, "quote": quote} for item, quote in sources.items()]
    return {
        "sources": rests,
        "limits": "",
        "text": text,
        "kind": kind,
        "about": about,
        "replaces": [],
        "significance": 0.6,
        "asked": "",
        "until": "",
        **more,
    }


def answer(*statements: Answer, **lists: Any) -> Answer:
    """An answer with every list."""
    empty: Answer = {"repeats": [], "routine": [], "digests": [], "ended": [], "steering": []}
    return {"statements": list(statements), **empty, **lists}


class Model:
    """A model that answers by a function. Its answers are kept in files beside a store.

    It answers while the night runs; with `at_once=False` afterwards, and the night is run again, which takes twice as
    long.
    """

    def __init__(
        self, store: Store, answers: Callable[[Asked], Answer | str], *, at_once: bool = True, **changes: object
    ) -> None:
        self._store, self._answers, self._at_once, self._changes = store, answers, at_once, changes
        beside = Path(store.path).parent
        self.record, self.file = beside / "questions.jsonl", beside / "given.jsonl"
        self.file.touch()
        self.asked: list[Asked] = []

    @property
    def settings(self) -> Settings:
        """The settings under which it is asked."""
        asked: dict[str, object] = {
            "model__provider": "recorded",
            "model__answers": str(self.file),
            "model__record": str(self.record),
        }
        return settings_for(self._store, **{**asked, **self._changes})

    def night(self, day: date, **options: Any) -> Report:
        """Run a night until it has no open question; returns its last report."""
        for number in range(12):
            with pytest.MonkeyPatch.context() as patch:
                if self._at_once:
                    patch.setattr(Recorded, "ask", self._asked_now())
                report = run(self._store, day, self.settings, run_id=f"run-{day}-{number}", **options)
            if not self.give():
                return report
        raise AssertionError("the night still asks")

    def _asked_now(self) -> Callable[[Recorded, Request, float], Reply]:
        """`Recorded.ask` of a file to which a missing answer is written at once."""
        recorded, lock = Recorded.ask, threading.Lock()

        def ask(provider: Recorded, request: Request, timeout_s: float) -> Reply:
            with lock:
                try:
                    return recorded(provider, request, timeout_s)
                except CallError:
                    self.give()
                    provider.prepare(logging.getLogger(__name__))
                    return recorded(provider, request, timeout_s)

        return ask

    def give(self) -> int:
        """Answer what is open; returns how many questions that was."""
        done = {json.loads(line)["question"] for line in self.file.read_text().splitlines()}
        rows = [json.loads(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []
        left = [row for row in rows if row["question"] not in done]
        with self.file.open("a") as file:
            for row in left:
                given = self._answer(row)
                text = given if isinstance(given, str) else json.dumps(given)
                file.write(json.dumps({"question": row["question"], "answer": text}) + "\n")
        return len(left)

    def _answer(self, row: dict[str, Any]) -> Answer | str:
        """An answer of the function; whether sentences follow from their sources is not asked of it, and true."""
        if "verdicts" in row["schema"]["properties"]:
            sentences = row["user"].partition("\nSentences:\n")[2].splitlines()
            return {"verdicts": [{"sentence": n + 1, "sources": [1], "beyond": ""} for n in range(len(sentences))]}
        asked = read_question(row["user"])
        self.asked.append(asked)
        return self._answers(asked)
