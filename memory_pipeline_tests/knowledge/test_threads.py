"""When a later note says that a task is done, and when it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory_pipeline.knowledge.threads import find_threads, opens
from memory_pipeline_tests.build import memory

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def is_closed(task: str, later: str) -> bool:
    notes = [memory("a", task, MONDAY), memory("b", later, MONDAY + timedelta(days=1))]
    (thread,) = [one for one in find_threads(notes, {}) if one.memory.id == "a"]
    return thread.closed_by is not None


@pytest.mark.parametrize(
    ("task", "later"),
    [
        ("TODO: phone Tomas about refunds", "DONE: phone Tomas about refunds"),
        ("TODO: phone Tomas about refunds", "Done: phoned Tomas, he will look at the refunds"),
        ("TODO: write the runbook of the shop database", "Done: wrote the runbook of the shop database."),
        ("Blocked: waiting for the keys", "- [x] waiting for the keys"),
        ("- [ ] buy milk", "- [x] buy milk"),
        ("TODO: buy milk", "DONE: bought milk"),
        ("TODO: renew the TLS certificate of the shop", "Renewed the TLS certificate of the shop."),
        ("TODO: send Marta the invoice", "Sent Marta the invoice this morning."),
        ("Blocked: waiting for Marta to send the new VAT rates.", "Marta sent the new VAT rates."),
        ("Pending: OPS-142 move the backups", "✅ OPS-142"),
    ],
)
def test_a_task_is_closed_by_its_end(task: str, later: str) -> None:
    assert is_closed(task, later)


@pytest.mark.parametrize(
    ("task", "later"),
    [
        ("TODO: send Marta the invoice", "Done: send Ines the invoice"),
        ("TODO: phone Tomas about refunds", "DONE: phone Tomas about taxes"),
        ("TODO: buy milk", "DONE: buy milk powder for the office"),
        ("TODO: renew the TLS certificate of the shop", "The TLS certificate of the shop is not renewed yet."),
        (
            "TODO: renew the TLS certificate of the shop",
            "If we renewed the TLS certificate of the shop, it would stop.",
        ),
        ("TODO: renew the TLS certificate of the shop", "Dana asked who renewed the TLS certificate of the shop"),
        ("TODO: renew the TLS certificate of the shop", "Renew the TLS certificate of the shop every March."),
        ("TODO: write the runbook of the shop database", "- [ ] wrote no runbook of the shop database"),
    ],
)
def test_another_task_or_no_end_closes_nothing(task: str, later: str) -> None:
    assert not is_closed(task, later)


def test_what_is_ticked_opens_nothing() -> None:
    assert not opens(memory("a", "- [x] waiting for the keys", MONDAY))
    assert not opens(memory("a", "Done: waiting for the keys", MONDAY))
    assert opens(memory("a", "Waiting for the keys", MONDAY))
