"""Answers from a file of JSON lines, by the hash of the question; questions without one can be written to another.

A line of answers is `{"question": HASH, "answer": TEXT}`, one of questions `{"question", "system", "user", "schema"}`;
whoever answers them needs nothing else.
"""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

from memory_pipeline.errors import ModelError
from memory_pipeline.files.writing import append_line
from memory_pipeline.models.limits import FREE
from memory_pipeline.models.provider import Answer, CallError, Request
from memory_pipeline.records import NOT_RECORDED


class Recorded:
    """Answers that were made before. It sends nothing."""

    name = "recorded"

    def __init__(self, answers: str, record: str, *, model: str, context_tokens: int) -> None:
        """`answers`, `record`: paths; empty for none. `model`: whose answers they are."""
        self.model, self.price, self.context_tokens = model or "recorded", FREE, context_tokens
        self.place = f"the file '{answers}'" if answers else "no file of answers"
        self._path = Path(answers) if answers else None
        self._record = Path(record) if record else None
        self._answers: dict[str, str] = {}
        self._written: set[str] = set()
        self._lock = threading.Lock()

    def prepare(self, log: logging.Logger) -> None:
        """Read the answers; and of the file of questions, which ones stand in it."""
        if self._path is None and self._record is None:
            raise ModelError("'recorded' needs model.answers (a file of answers) or --record FILE (for questions)")
        if self._path is not None and not self._path.is_file():
            raise ModelError(f"there is no file '{self._path}' of recorded answers; check model.answers")
        if self._record is not None and not self._record.parent.is_dir():
            raise ModelError(f"there is no directory '{self._record.parent}' for the questions; make it first")
        if self._record is not None and self._record.is_symlink():
            raise ModelError(f"'{self._record}' is a link, and questions hold notes; name the file that it leads to")
        try:
            if self._path is not None:
                self._answers = dict(_pairs(self._path, "answer"))
            if self._record is not None and self._record.is_file():
                self._written = {question for question, _ in _pairs(self._record, "system")}
        except (OSError, ValueError) as error:
            raise ModelError(str(error)) from error

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """The answer that is recorded, with tokens as estimated from its length."""
        text = self._answers.get(request.question_hash)
        if text is None:
            self._note(request)
            raise CallError(NOT_RECORDED, is_open=True)
        return Answer(text, "end", request.tokens_in, len(text) // 4 + 1)

    def _note(self, request: Request) -> None:
        with self._lock:
            if self._record is None or request.question_hash in self._written:
                return
            self._written.add(request.question_hash)
            row = {
                "question": request.question_hash,
                "system": request.system,
                "user": request.user,
                "schema": dict(request.schema),
            }
            append_line(self._record, json.dumps(row, ensure_ascii=False))


def _pairs(path: Path, field: str) -> list[tuple[str, str]]:
    """The question and one text of each line. Raises ValueError that names the line."""
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            value = row[field]
            pairs.append((str(row["question"]), value if isinstance(value, str) else json.dumps(value)))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} of '{path}' is no object with 'question' and '{field}'") from error
    return pairs
