"""The real SDK against a server that others wrote: it speaks the protocol, and answers with a greeting."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from memory_pipeline.consolidation.run import run_night
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, night_of, settings_for, sql_rows
from memory_pipeline_tests.consolidation.distillers.claude_nights import DAY, patience

pytestmark = pytest.mark.skipif(
    find_spec("app") is None, reason="mock-ai-api is not installed; 'python3 quickstart.py test' installs it"
)
BASE = "claude-sonnet-4-20250514"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app.anthropic_app:app", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen([*command, "--log-level", "error"])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def night(
    store: Store, url: str, scenario: str, run_id: str = "r", *, time_limit_s: float = 60.0, **changes: Any
) -> Report:
    model = f"{BASE}:{scenario}"
    settings = settings_for(
        store,
        reading__ask_model=False,
        anthropic__api_key="sk-any",
        anthropic__base_url=url,
        model__name=model,
        model__prices=(f"{model}=1/5",),
        model__burst=1000,
        model__spacing_s=0.0,
        compression__rate_limit_per_min=10_000,
        **changes,
    )
    with patience(attempts=2, time_limit_s=time_limit_s):
        return run_night(night_of(store, DAY, settings, run_id=run_id))


@pytest.mark.slow
def test_a_greeting_is_no_abstraction_and_is_billed_as_counted(store: Store, server: str) -> None:
    fill(store, lesson(4))
    report = night(store, server, "mock-text")
    assert report.refusals == {"malformed answer": 1} and report.total_llm_calls == 2
    tokens = report.total_llm_input_tokens, report.total_llm_output_tokens
    assert min(tokens) > 0
    assert report.estimated_cost_usd == pytest.approx((tokens[0] * 1 + tokens[1] * 5) / 1e6, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "words", "calls"),
    [("mock-400", "answered 400", 1), ("mock-401", "rejected the key", 1), ("mock-429", (
        "receives too many requests"
    ), 2),
     ("mock-500", "answered 500", 2), ("mock-503", "answered 503", 2)],
)  # fmt: skip
def test_its_errors_are_understood(store: Store, server: str, scenario: str, words: str, calls: int) -> None:
    fill(store, lesson(4))
    report = night(store, server, scenario)
    assert words in report.errors[0].error and report.total_llm_calls == calls
    assert report.estimated_cost_usd == 0.0 and report.verdict == "FAIL"


@pytest.mark.slow
def test_a_model_that_it_does_not_have_is_named(store: Store, server: str) -> None:
    fill(store, lesson(4))
    report = night(store, server, "mock-nothing")
    assert f"there is no model '{BASE}:mock-nothing'" in report.errors[0].error


@pytest.mark.slow
def test_its_batches_are_sent_awaited_and_collected(store: Store, server: str) -> None:
    fill(store, lesson(4))
    calls: dict[str, Any] = {"model__calling": "batch", "time_limit_s": 0.3}
    for number in range(2):  # the answer is none, and is asked for once more
        waiting = night(store, server, "mock-text", run_id=f"run-{number}", **calls)
        assert waiting.refusals == {"batch under way": 1}
        with store.reading() as tx:
            (batch_id,) = sql_rows(tx, "select batch_id from model_batches where status = 'sent'")[0]
        # This server ends a batch when its results are asked for.
        urllib.request.urlopen(f"{server}/v1/messages/batches/{batch_id}/results", timeout=5).read()
    done = night(store, server, "mock-text", run_id="last", **calls)
    assert done.refusals == {"malformed answer": 1}
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        assert json.loads(json.dumps(sql_rows(tx, "select status from model_batches"))) == [["collected"]] * 2
