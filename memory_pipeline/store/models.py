"""Answers of models, the cost of each call, and batches in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memory_pipeline.records import ModelAnswer, ModelBatch, ModelCall
from memory_pipeline.store.rows import RowsOf, to_utc
from memory_pipeline.store.sql import Sql

_ANSWERS, _CALLS, _BATCHES = RowsOf(ModelAnswer), RowsOf(ModelCall), RowsOf(ModelBatch)


class Models:
    """The cached answers, the calls with their costs, and the batches."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def answers(self, prompt_hashes: Sequence[str]) -> dict[str, ModelAnswer]:
        """The cached answers to these prompts."""
        rows = self._sql.rows(
            f"select {_ANSWERS.columns} from model_answers where prompt_hash in (select unnest($1::text[]))",
            [list(prompt_hashes)],
        )
        return {answer.prompt_hash: answer for answer in map(_ANSWERS.read, rows)}

    def keep_answers(self, answers: Sequence[ModelAnswer]) -> None:
        """Store answers; a newer one to the same prompt replaces the old one."""
        latest = {answer.prompt_hash: answer for answer in answers}
        if not latest:
            return
        with self._sql.given(incoming=_ANSWERS.table(list(latest.values()))):
            self._sql.run(
                f"""
                update model_answers a set {_ANSWERS.assigned_from("i")}
                from incoming i where a.prompt_hash = i.prompt_hash
                """
            )
            self._sql.run("insert into model_answers by name from incoming on conflict do nothing")

    def keep_calls(self, calls: Sequence[ModelCall]) -> None:
        """Record calls; the same call (by id) is recorded once."""
        if not calls:
            return
        with self._sql.given(incoming=_CALLS.table(calls)):
            self._sql.run("insert into model_calls by name from incoming on conflict do nothing")

    def calls_of(self, run_id: str) -> list[ModelCall]:
        """Every call that a run made or collected, in order."""
        rows = self._sql.rows(
            f"select {_CALLS.columns} from model_calls where run_id = $1 order by called_at, id", [run_id]
        )
        return [_CALLS.read(row) for row in rows]

    def calls_by_outcome(self) -> dict[str, tuple[int, float]]:
        """How many calls were sent with each outcome, and what they cost in US dollars."""
        rows = self._sql.rows(
            """
            select outcome, count(*), sum(cost_usd)
            from model_calls
            where mode <> 'cache'
            group by outcome
            order by outcome
            """
        )
        return {str(outcome): (int(count), float(cost)) for outcome, count, cost in rows}

    def keep_batch(self, batch: ModelBatch) -> None:
        """Record a batch, or its new status."""
        self._sql.run(
            "update model_batches set batch_id = $2, status = $3, settled_at = $4 where id = $1",
            [batch.id, batch.batch_id, batch.status, to_utc(batch.settled_at) if batch.settled_at else None],
        )
        self._sql.run(
            f"insert into model_batches ({_BATCHES.columns}) values ({_BATCHES.parameters}) on conflict do nothing",
            _BATCHES.values(batch),
        )

    def open_batches(self) -> list[ModelBatch]:
        """Batches that were sent, or may have been, and are not collected; oldest first."""
        rows = self._sql.rows(
            f"select {_BATCHES.columns} from model_batches where status in ('sending', 'sent') order by created_at, id"
        )
        return [_BATCHES.read(row) for row in rows]


def answers_as_json(rows: Sequence[ModelAnswer | ModelCall]) -> list[dict[str, Any]]:
    """The records as JSON objects, for the file next to the store that a preview writes."""
    return [
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(row).items()}
        for row in rows
    ]
