"""Prices, the ledger with its cap, and the pace at which a model is called."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memory_pipeline.errors import ModelError
from memory_pipeline.models.choose import model_price
from memory_pipeline.models.limits import FREE, PRICES, Ledger, Pace, Price, Reservation
from memory_pipeline_tests.build import settings_for


def price_of(tmp_path: Path, model: str, address: str, *prices: str) -> Price:
    chosen = {"model__provider": "openai", "model__name": model, "model__base_url": address}
    return model_price(settings_for(tmp_path / "s.duckdb", **chosen, model__prices=list(prices)))


HERE, ELSEWHERE = "http://127.0.0.1:8000/v1", "https://models.example.org/v1"


def test_a_model_without_a_price_is_named_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no price is known for the model 'mine'.*model.prices"):
        price_of(tmp_path, "mine", ELSEWHERE)
    assert price_of(tmp_path, "mine", ELSEWHERE, "mine=1.5/2") == Price(1.5, 2.0)


def test_a_model_on_this_machine_is_free_but_a_gateway_to_a_priced_one_is_not(tmp_path: Path) -> None:
    assert price_of(tmp_path, "qwen3:8b", HERE) == FREE
    assert price_of(tmp_path, "claude-haiku-5-5", HERE) == PRICES["claude-haiku-5-5"]


def test_long_prompts_and_batches_have_their_own_price() -> None:
    haiku = PRICES["claude-haiku-5-5"]
    assert haiku.cost(1_000_000, 0) == pytest.approx(0.50) and haiku.cost(100_000, 0) == pytest.approx(0.01)
    assert haiku.cost(1000, 1000, batch=True) == pytest.approx(haiku.cost(1000, 1000) / 2)


def reserved(ledger: Ledger, *tokens: Any) -> Reservation:
    """What a ledger reserves for a call that it lets through."""
    found = ledger.reserve(*tokens)
    assert isinstance(found, Reservation)
    return found


def test_a_ledger_lets_nothing_through_that_could_pass_its_cap() -> None:
    ledger = Ledger(Price(1.0, 1.0), cap=1.0, calls_left=100)
    first = reserved(ledger, 400_000, 200_000)
    assert first.cost == pytest.approx(0.6) and ledger.reserve(400_000, 100_000) == "cost cap"
    ledger.settle(first, 0.1, has_answer=True)
    assert reserved(ledger, 400_000, 100_000) and ledger.reserve(400_001, 0) == "cost cap"


def test_what_is_asked_about_an_answer_is_reserved_with_it() -> None:
    ledger = Ledger(Price(1.0, 1.0), cap=1.0, calls_left=100)
    first = reserved(ledger, 300_000, 100_000, (200_000, 100_000))
    assert first.cost == pytest.approx(0.4) and ledger.calls_left == 98
    ledger.settle(first, 0.2, has_answer=True)
    assert ledger.reserve(300_000, 0, (300_000, 0)) == "cost cap" and reserved(ledger, 500_000, 0)
    alone = Ledger(Price(1.0, 1.0), cap=1.0, calls_left=1)
    assert reserved(alone, 600_000, 0, (600_000, 0)).later is None, "no run pays for both: the next one pays"


def test_about_a_call_that_failed_nothing_stays_reserved() -> None:
    ledger = Ledger(Price(1.0, 1.0), cap=1.0, calls_left=2)
    failed = reserved(ledger, 300_000, 100_000, (300_000, 100_000))
    ledger.settle(failed, 0.0, has_answer=False)
    assert (ledger.reserved, ledger.spent, ledger.calls_left) == (pytest.approx(0.0), 0.0, 1)


def test_a_draft_is_not_asked_for_if_its_check_has_no_call_left() -> None:
    ledger = Ledger(Price(1.0, 1.0), cap=1.0, calls_left=1)
    assert ledger.reserve(100_000, 0, (100_000, 0)) == "call limit" and reserved(ledger, 100_000, 0)


def test_a_ledger_counts_calls_that_cost_nothing() -> None:
    ledger = Ledger(FREE, cap=0.0, calls_left=2)
    assert [ledger.reserve(1000, 1000) for _ in range(3)] == [Reservation(0.0), Reservation(0.0), "call limit"]


def test_the_pace_keeps_to_ten_a_minute_with_a_burst_of_ten_a_tenth_of_a_second_apart() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pace = Pace(10, 10, 0.1, clock=lambda: now[0], sleep=sleep)
    turns = []
    for _ in range(35):
        pace.wait_for_turn()
        turns.append(now[0])
    assert turns[9] == pytest.approx(0.9)
    assert all(later - earlier >= 0.0999 for earlier, later in pairwise(turns))
    assert all(sum(start <= turn < start + 60 for turn in turns) <= 10 for start in turns)
    pace.hold(500)
    pace.wait_for_turn()
    assert now[0] >= turns[-1] + 500
