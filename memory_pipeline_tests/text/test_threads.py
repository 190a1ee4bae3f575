"""What is open, and when it is done: boxes that are ticked, and statements that take the place of others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory_pipeline.records import Source
from memory_pipeline.store import Store
from memory_pipeline.text.threads import find_threads, opens
from memory_pipeline_tests.build import candidate, fill, memory, run

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)


def is_closed(task: str, later: str) -> bool:
    notes = [memory("a", task, MONDAY), memory("b", later, TUESDAY)]
    (thread,) = [one for one in find_threads(notes, {}) if one.memory.id == "a"]
    return thread.closed_by is not None


@pytest.mark.parametrize(
    ("task", "later"),
    [
        ("TODO: phone Tomas about refunds", "DONE: phone Tomas about refunds"),
        ("- [ ] buy milk", "- [x] buy milk"),
        ("- [ ] buy milk", "- [x] Buy **milk**"),
        ("[ ] OPS-142 move the backups", "✅ OPS-142 move the backups"),
        ("09:17 TODO: ask for the manual", "[11:30] DONE: ask for the manual"),
    ],
)
def test_a_task_is_closed_by_its_end(task: str, later: str) -> None:
    assert is_closed(task, later)


@pytest.mark.parametrize(
    ("task", "later"),
    [
        ("TODO: send Marta the invoice", "DONE: send Ines the invoice"),
        ("- [ ] buy milk", "- [ ] buy milk"),
        ("TODO: buy milk", "Somebody should buy milk"),
    ],
)
def test_another_task_or_no_end_closes_nothing(task: str, later: str) -> None:
    assert not is_closed(task, later)


def test_what_is_ticked_opens_nothing() -> None:
    assert not opens(memory("a", "- [x] wait for the keys", MONDAY))
    assert opens(memory("a", "- [ ] wait for the keys", MONDAY))


def test_a_statement_of_what_is_open_is_closed_by_the_one_that_replaces_it() -> None:
    made = Source("night", "reading")
    open_ = memory("a", "Open: Tom was asked about the quota.", MONDAY, tags=("kind:thread",), source=made,
                   archived_at=TUESDAY, consolidated_into_id="b")  # fmt: skip
    answer = memory("b", "Tom raised the quota to 500.", TUESDAY, tags=("kind:fact",), source=made)
    (thread,) = find_threads([open_, answer], {})
    assert (thread.closed_at, thread.closed_by) == (TUESDAY, answer)
    merged = memory("b", "Open: Tom was asked about the quota.", TUESDAY, source=Source("night", "merge"))
    (thread,) = find_threads([open_, merged], {})
    assert thread.closed_at is None


@pytest.mark.parametrize("done", ["[x] water the plants of the office", "[X] Water the plants of the **office**"])
def test_a_night_leaves_a_ticked_task_beside_the_open_one(store: Store, done: str) -> None:
    texts = ("[ ] water the plants of the office", done)
    fill(store, [candidate(text, MONDAY + timedelta(days=n), native_id=f"n{n}") for n, text in enumerate(texts)])
    run(store, (MONDAY + timedelta(days=9)).date())
    with store.reading() as tx:
        memories = tx.memories.all()
        assert all(memory.archived_at is None for memory in memories)
        (thread,) = find_threads(memories, {})
        assert thread.closed_by is not None and tx.integrity.check(deep=True) == []
        assert len(tx.erasure.of(["n0"]).memory_ids) == 2, "their words are the same, and are forgotten together"


def test_a_task_that_is_noted_again_after_it_was_done_is_open_again() -> None:
    days = [MONDAY + timedelta(days=n) for n in range(4)]
    texts = ("[ ] Clean the trough", "[ ] Clean the trough", "[x] Clean the trough", "[ ] Clean the trough")
    notes = [memory(f"n{n}", text, day) for n, (text, day) in enumerate(zip(texts, days, strict=True))]
    threads = find_threads(notes, {})
    assert [(one.memory.id, one.closed_by and one.closed_by.id) for one in threads] == [("n0", "n2"), ("n3", None)]
