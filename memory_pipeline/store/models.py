"""What models answered, what each call cost, and which batches are under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from typing import Any

from memory_pipeline.records import ModelAnswer, ModelBatch, ModelCall
from memory_pipeline.store.rows import from_utc, to_utc
from memory_pipeline.store.sql import Sql


class Models:
    """The kept answers, the calls with their costs, and the batches."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def answers(self, prompt_hashes: Sequence[str]) -> dict[str, ModelAnswer]:
        """The answers that are kept for these prompts."""
        rows = self._sql.rows(
            "select * from model_answers where prompt_hash in (select unnest($1::text[]))", [list(prompt_hashes)]
        )
        return {row[0]: ModelAnswer(*[*row[:5], from_utc(row[5]), row[6]]) for row in rows}

    def keep_answer(self, answer: ModelAnswer) -> None:
        """Keep an answer; a newer one to the same prompt takes its place."""
        values = _row(answer)
        self._sql.run(
            """
            update model_answers
            set model = $2, prompt_version = $3, answer = $4, stop_reason = $5, answered_at = $6, run_id = $7
            where prompt_hash = $1
            """,
            values,
        )
        self._sql.run("insert into model_answers values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing", values)

    def keep_call(self, call: ModelCall) -> None:
        """Record a call; the same call (by id) is recorded once."""
        self._sql.run(
            """
            insert into model_calls
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            on conflict do nothing
            """,
            _row(call),
        )

    def calls_of(self, run_id: str) -> list[ModelCall]:
        """Every call that a run made or collected, in order."""
        rows = self._sql.rows("select * from model_calls where run_id = $1 order by called_at, id", [run_id])
        return [ModelCall(*[*row[:13], from_utc(row[13])]) for row in rows]

    def keep_batch(self, batch: ModelBatch) -> None:
        """Record a batch, or what has become of it."""
        values = _row(batch)
        self._sql.run(
            "update model_batches set batch_id = $2, status = $3, settled_at = $4 where id = $1",
            [values[0], values[1], values[4], values[8]],
        )
        self._sql.run(
            "insert into model_batches values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing", values
        )

    def open_batches(self) -> list[ModelBatch]:
        """Batches that were sent, or may have been, and are not collected; oldest first."""
        rows = self._sql.rows("select * from model_batches where status in ('sending', 'sent') order by created_at, id")
        return [ModelBatch(*[*row[:5], tuple(row[5]), row[6], from_utc(row[7]), from_utc(row[8])]) for row in rows]


def _row(record: ModelAnswer | ModelCall | ModelBatch) -> list[object]:
    return [
        to_utc(value) if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value
        for value in astuple(record)
    ]


def answers_as_json(rows: Sequence[ModelAnswer | ModelCall]) -> list[dict[str, Any]]:
    """The records as JSON objects, for the file beside the store that a preview writes."""
    return [
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(row).items()}
        for row in rows
    ]
