"""The night's questions as one Message Batch: sent once, found again after a crash, matched by custom id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import date
from typing import Any

import pytest

from memory_pipeline.store import Store
from memory_pipeline_tests.build import sql_rows
from memory_pipeline_tests.consolidation.distillers.claude_nights import night, patience, serving, three_lessons
from memory_pipeline_tests.messages_server import Failure, MessagesServer, Raw

BATCH: dict[str, Any] = {"model__calling": "batch"}


def batch_rows(store: Store) -> list[tuple[str, ...]]:
    with store.reading() as tx:
        return sql_rows(tx, "select batch_id, status from model_batches order by created_at")


def archived(store: Store) -> int:
    with store.reading() as tx:
        return sum(memory.archived_at is not None for memory in tx.memories.all())


@pytest.mark.slow
def test_a_night_asks_in_one_batch_and_checks_in_another_at_half_the_price(store: Store) -> None:
    three_lessons(store)
    with serving(batch_polls=3) as server:
        report = night(store, server, **BATCH)
        assert server.requests == [] and len(server.batches) == 2
        for batch in server.batches.values():
            assert len(batch["requests"]) == 3 and batch["polls"] >= 3
            assert all(len(request["custom_id"]) <= 64 for request in batch["requests"])
    assert (report.clusters_compressed, report.total_llm_calls) == (3, 6)
    assert report.estimated_cost_usd == pytest.approx(6 * (500 * 0.10 + 100 * 0.50) / 1e6 / 2, abs=1e-6)
    assert batch_rows(store) == [("msgbatch_1", "collected"), ("msgbatch_2", "collected")]
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_a_batch_that_is_not_done_is_collected_by_the_next_night(store: Store) -> None:
    three_lessons(store)
    with serving(batch_polls=10_000) as server:
        with patience(time_limit_s=0.2):
            first = night(store, server, **BATCH)
        assert first.refusals == {"batch under way": 3} and archived(store) == 0
        server.batch_polls = 1
        second = night(store, server, run_id="second", day=date(2026, 3, 4), **BATCH)
        assert len(server.batches) == 2 and second.clusters_compressed == 3
        assert second.total_llm_calls == 6


@pytest.mark.slow
def test_a_live_night_does_not_ask_again_what_a_batch_will_answer(store: Store) -> None:
    three_lessons(store)
    with serving(batch_polls=10_000) as server:
        with patience(time_limit_s=0.2):
            night(store, server, **BATCH)
        waiting = night(store, server, run_id="live")
        assert waiting.refusals == {"batch under way": 3} and server.requests == []
        server.batch_polls = 1
        assert night(store, server, run_id="later").clusters_compressed == 3
        assert server.requests == [] and len(server.batches) == 1


@pytest.mark.slow
def test_partial_failure_and_expiry_leave_the_rest_and_are_tried_again(store: Store) -> None:
    three_lessons(store)
    outcomes = ("succeeded", "errored", "expired")
    with serving(batch_outcome=lambda custom_id, number: outcomes[number]) as server:
        report = night(store, server, **BATCH)
        assert (report.clusters_compressed, report.clusters_failed) == (1, 1)
        assert report.refusals["batch expired"] == 1 and "cannot be read" in report.errors[0].error
        server.batch_outcome = lambda custom_id, number: "succeeded"
        second = night(store, server, run_id="second", day=date(2026, 3, 4), **BATCH)
    assert second.clusters_compressed == 2
    assert [len(batch["requests"]) for batch in server.batches.values()] == [3, 1, 2, 2]


@pytest.mark.slow
def test_a_batch_that_the_server_lost_is_sent_again(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    three_lessons(store)
    with serving(batch_polls=10_000) as server:
        with patience(time_limit_s=0.2):
            night(store, server, **BATCH)
        server.batches.clear()
        server.batch_polls = 1
        assert night(store, server, run_id="second", **BATCH).clusters_compressed == 3
    words = "can no longer be collected from the server; its open questions are sent in a new one"
    assert f"batch msgbatch_1 {words}" in caplog.text


def test_a_refused_batch_is_one_error_and_nothing_is_waited_for(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    three_lessons(store)
    with serving(create_failure=Failure(400, "invalid_request_error", "no credit")) as server:
        report = night(store, server, **BATCH)
    assert len(report.errors) == 1 and "no credit" in report.errors[0].error
    assert batch_rows(store) == [(None, "lost")] and archived(store) == 0
    words = "the server did not take the batch of this run; its questions are asked again the next time they come up"
    assert words in caplog.text and "new one" not in caplog.text


@pytest.mark.slow
def test_a_line_that_breaks_while_sending_does_not_pay_twice(store: Store) -> None:
    three_lessons(store)
    with serving(create_failure=Raw(b'{"id": "msgb', cut=True)) as server:
        first = night(store, server, **BATCH)
        assert first.verdict == "FAIL" and batch_rows(store) == [(None, "sending")]
        server.create_failure = None
        second = night(store, server, run_id="second", **BATCH)
        assert len(server.batches) == 2 and second.clusters_compressed == 3


@pytest.mark.slow
def test_the_cap_decides_how_much_of_a_batch_is_sent(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        report = night(store, server, **BATCH, model__cost_cap_usd=0.0015)
    sent = [len(batch["requests"]) for batch in server.batches.values()]
    assert sent[0] == 1 and report.refusals["cost cap"] >= 2 and report.estimated_cost_usd <= 0.0015


@pytest.mark.slow
def test_another_batch_of_the_same_size_is_not_taken_for_ours(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        stranger = server.new_batch([{"custom_id": f"x{n}", "params": {"model": "m"}} for n in range(3)])
        stranger["processing_status"] = "ended"
        server.batch_outcome = lambda custom_id, number: "expired" if custom_id.startswith("x") else "succeeded"
        server.create_failure = Failure(400)
        night(store, server, **BATCH)
        with store.writing("test") as tx:
            sql_rows(tx, "update model_batches set status = 'sending', settled_at = null")
        server.create_failure = None
        assert night(store, server, run_id="second", **BATCH).clusters_compressed == 3
    assert [status for _, status in batch_rows(store)] == ["lost", "collected", "collected"]


_NIGHT = """
import json, sys
from datetime import date
from pathlib import Path
from memory_pipeline.models import calls
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.config.loading import load_settings
from memory_pipeline.store import Store
calls._POLL_S = 0.01
settings = load_settings(json.loads(sys.argv[1])).values
run_night(Night(Store.of(settings), settings, NightOptions(date(2026, 3, 3), sys.argv[2])))
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["batch.announced", "batch.created", "batch.read", "store.commit.after"])
def test_a_night_killed_around_its_batch_pays_once(store: Store, place: str) -> None:
    three_lessons(store)
    with serving(batch_polls=2) as server:
        settings = {
            "store.path": str(store.path), "embedding.model": "lexical", "compression.min_active_memories": 0,
            "anthropic.api_key": server.key, "anthropic.base_url": server.url,
            "model.calling": "batch", "reading.ask_model": False,
        }  # fmt: skip
        command = [sys.executable, "-c", _NIGHT, json.dumps(settings)]
        # The commits of a night are counted: one in the middle of the batch's answers.
        kill = f"{place}#9" if place.startswith("store") else f"{place}#1"
        killed = subprocess.run([*command, "first"], env={**os.environ, "KILL_POINT": kill}, check=False)
        assert killed.returncode == -signal.SIGKILL
        subprocess.run([*command, "second"], env=dict(os.environ), check=True)
        questions = [request["custom_id"] for batch in server.batches.values() for request in batch["requests"]]
    assert len(questions) == len(set(questions)) == 6
    with store.reading() as tx:
        assert tx.models.open_batches() == [] and tx.integrity.check(deep=True) == []
        paid = sql_rows(tx, "select count(*), count(distinct prompt_hash) from model_calls where mode = 'batch'")[0]
    assert paid == (6, 6) and archived(store) == 12


@pytest.mark.slow
def test_a_batch_of_another_server_is_left_alone(store: Store) -> None:
    three_lessons(store)
    with serving(batch_polls=10_000) as one:
        with patience(time_limit_s=0.2):
            night(store, one, **BATCH)
        other: MessagesServer
        with serving() as other:
            assert night(store, other, run_id="second").clusters_compressed == 3
    assert batch_rows(store) == [("msgbatch_1", "sent")]
