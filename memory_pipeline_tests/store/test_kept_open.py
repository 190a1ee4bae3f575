"""A store that stays attached between the transactions of one piece of work, and gets out of the way of others."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from memory_pipeline.errors import DamagedStoreError
from memory_pipeline.store import Store, engine
from memory_pipeline.store.seal import InUseError, StoreLock, log_path
from memory_pipeline_tests.build import sql_rows
from memory_pipeline_tests.store.damaging import note, notes

#: Takes the lock as soon as it is free, and says how long that took.
_WAITER = """
import sys, time
from memory_pipeline.store import Store
print("ready", flush=True)
sys.stdin.readline()
began = time.monotonic()
with Store(sys.argv[1], busy_timeout_s=10).writing("waiter"):
    pass
print(time.monotonic() - began, flush=True)
"""


def is_free(store: Store) -> bool:
    """Whether another process could write to the store now."""
    try:
        StoreLock.take(store.path, shared=False).close()
    except InUseError:
        return False
    return True


def within(seconds: float, store: Store) -> bool:
    until = time.monotonic() + seconds
    while not is_free(store) and time.monotonic() < until:
        time.sleep(0.01)
    return is_free(store)


def look(store: Store) -> None:
    with store.reading() as tx:
        sql_rows(tx, "select count(*) from memories")[0]


def test_a_store_is_free_between_transactions_unless_it_is_kept_open(store: Store) -> None:
    with store.writing("test"):
        assert not is_free(store)
    assert is_free(store)
    with store.kept_open():
        with store.writing("test"):
            pass
        assert not is_free(store)
        look(store)
    assert is_free(store)


def test_a_kept_store_is_free_as_soon_as_nothing_is_asked_of_it(store: Store) -> None:
    with store.kept_open():
        for _ in range(2):
            with store.writing("test"):
                pass
            assert within(2, store)


def test_a_transaction_that_failed_lets_the_file_go(store: Store) -> None:
    with store.kept_open():
        with pytest.raises(KeyError), store.writing("test"):
            raise KeyError
        assert is_free(store)


def test_who_reads_and_then_writes_needs_nobody_to_let_go(store: Store) -> None:
    with store.writing("test"):
        pass
    with store.kept_open():
        look(store)
        store.take_lease("run", "test")
        look(store)
        store.verify()
        store.fold()
    look(store)


def test_a_file_that_duckdb_has_not_let_go_of_yet_is_waited_for(store: Store) -> None:
    note(store, "first")
    store.settle()
    engine._engine().execute(f"attach '{store.path}' as lingering")
    letting_go = threading.Timer(0.1, lambda: engine._engine().execute("detach lingering"))
    letting_go.start()
    look(store)
    letting_go.join()


@pytest.mark.slow
def test_another_process_gets_its_turn_while_one_writes_without_a_pause(store: Store) -> None:
    with store.writing("test"):
        pass
    command = [sys.executable, "-c", _WAITER, str(store.path)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waiter,
        store.kept_open(),
    ):
        assert waiter.stdin is not None and waiter.stdout is not None
        assert waiter.stdout.readline() == "ready\n"
        waiter.stdin.write("go\n")
        waiter.stdin.flush()
        until = time.monotonic() + 20
        while waiter.poll() is None and time.monotonic() < until:
            with store.writing("busy"):
                pass
        assert waiter.poll() == 0
        assert float(waiter.stdout.readline()) < 10


def test_what_another_program_writes_behind_the_log_never_hides_a_commit(store: Store) -> None:
    with store.kept_open():
        note(store, "first")
        with log_path(store.path).open("ab") as log:
            log.write(b"\0" * 8)
        with pytest.raises(DamagedStoreError, match="another program"):
            note(store, "refused")
        for number in range(3):
            note(store, f"later {number}")
    assert notes(Store(store.path)) == 4
    store.settle()
    assert notes(Store(store.path)) == 4


def test_a_store_that_is_kept_open_for_more_is_left_as_one_file_when_that_is_over(store: Store) -> None:
    note(store, "before")
    with store.kept_open():
        note(store, "within")
        store.settle()
        assert log_path(store.path).exists()
    store.settle()
    assert not log_path(store.path).exists() and notes(store) == 2


def test_an_engine_that_attached_many_files_is_replaced_when_none_is_open_and_keeps_its_limit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(store, "one")
    monkeypatch.setattr(engine, "_MOST_ATTACHMENTS", 3)
    with engine.memory_limit(200):
        first = engine._engine()
        with store.kept_open():
            for _ in range(5):
                assert notes(store) == 1
        for _ in range(5):
            assert notes(store) == 1
        limit = engine._engine().execute("select current_setting('memory_limit')").fetchall()
        assert engine._engine() is not first and limit == [("190.7 MiB",)]
    assert engine._engine().execute("select current_setting('memory_limit')").fetchall() != limit
