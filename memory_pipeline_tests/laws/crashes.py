"""Nights in processes of their own, which tests may kill. Imported by the processes too."""

from __future__ import annotations

import os
from datetime import date, timedelta
from pathlib import Path
from unittest import mock

from memory_pipeline.consolidation import context
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for

DAY = date(2026, 3, 4)


def prepare(path: Path) -> Store:
    """A store with three lessons, exact copies, near-copies, entries and a contradiction, without vectors as yet."""
    store = Store(path)
    copies = [
        candidate(f"Copied  words number {n % 3}", FIRST + timedelta(minutes=n), native_id=f"copy-{n}")
        for n in range(9)
    ]
    ports = [candidate(f"The gateway listens on port {n}.", native_id=f"port-{n}") for n in (5432, 5433)]
    turned = ("Restart the mail relay after changing its rules.", "After changing its rules restart the mail relay.")
    near = [candidate(text, native_id=f"near-{n}") for n, text in enumerate(turned)]
    form = "Title: Mail\nRecommendation: Restart the relay.\nExamples:\n- S-{}: it hung"
    near += [candidate(form.format(n), native_id=f"entry-{n}") for n in range(2)]
    topics = [entry for topic in ("gateway", "printer", "scanner") for entry in lesson(5, topic=topic)]
    fill(store, [*topics, *copies, *near, *ports])
    store.settle()
    return store


def night(path: str) -> None:
    """One whole night, as a program ends it; the lease's holder is this process, and need not renew it: each night
    commits as often as any other, however busy the machine is."""
    store = Store(path)
    with mock.patch.object(context, "LEASE_EXPIRY_S", 12 * 3600.0):
        run(store, DAY, settings_for(store), run_id=f"run-{os.getpid()}", snapshot=True)
    store.settle()


def state_of(store: Store) -> tuple[str, str]:
    """Hash of the store with its log, and of its sources; the deep check has to be clean."""
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.contents.digest(with_log=True), tx.contents.sources_fingerprint()
