"""The summary of a report: a screenful of plain text."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.consolidation.report import make_notice
from memory_pipeline.reporting.model import ErrorReport
from memory_pipeline.reporting.summary import Heading, summary
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run

DAY = date(2026, 3, 4)
TOPICS = ("gateway", "printer", "scanner")


def test_a_summary_fits_a_screen_and_says_what_became_of_what(store: Store) -> None:
    told = [
        f"Invoice {n} of the warehouse was paid on time by somebody called {name}." for n, name in enumerate("abcdef")
    ]
    fill(store, [*(note for topic in TOPICS for note in lesson(4, topic=topic)), *map(candidate, told)])
    report = run(store, DAY)
    lines = summary(report, Path("report.html"))
    text = "\n".join(lines)
    assert len(lines) <= 40 and max(map(len, lines)) <= 104
    assert lines[0] == f"Night of {DAY}: PASS" and isinstance(lines[0], Heading)
    assert f"{report.tokens_before:,} -> {report.tokens_after:,} tokens (-" in text
    assert "12 archived into 3 new ones" in text and "nothing to decide" in text
    assert text.count("4 memories of p became:") == 3 and "    Restart the payment gateway" in text
    assert lines[-1] == "Everything: report.html" and "**" not in text and "|" not in text


@pytest.mark.slow
def test_a_summary_of_a_preview_says_would_and_of_an_idle_night_nothing_empty(store: Store) -> None:
    fill(store, lesson(4))
    preview = "\n".join(summary(run(store, DAY, dry_run=True)))
    assert "4 would be archived into 1 new one" in preview and "4 memories of p would become:" in preview
    assert "A preview: nothing was written to the store." in preview
    run(store, DAY)
    again = summary(run(store, DAY, run_id="again"))
    assert not [line for line in again if line.startswith("What ")] and "0 archived" in "\n".join(again)


@pytest.mark.usefixtures("judged")
def test_a_summary_names_what_waits_for_a_person(store: Store) -> None:
    ports = [f"The staging database of the web shop listens on port {port}." for port in (5432, 5433)]
    fill(store, [candidate(text, native_id=str(n)) for n, text in enumerate(ports)])
    assert "1 contradiction (memory-pipeline conflicts list)" in "\n".join(summary(run(store, DAY)))


def test_a_summary_says_what_the_sources_brought(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY).model_copy(update={"entries_new": 5, "entries_changed": 1, "entries_gone": 3})
    text = "\n".join(summary(report))
    assert "Sources         5 new, 1 edited (the new words supersede the old), 2 gone" in text


def test_a_summary_names_memories_that_were_not_found_again_and_what_to_do(store: Store) -> None:
    fill(store, lesson(4))
    found = {"recall_sampled": 50, "recall_found": 48, "recall_rate": 0.96}
    report = run(store, DAY).model_copy(update=found)
    text = "\n".join(summary(report))
    assert "Found again     48 of 50 archived memories that were asked for; enough, nothing needs doing" in text
    assert "nothing to decide" in text
    text = "\n".join(summary(report.model_copy(update={"recall_found": 47, "recall_rate": 0.94})))
    assert "3 archived memories that a search did not bring back (below, under 'Not found again')" in text
    assert "Not found again\n" in text and "nothing to decide" not in text and "rollback --abstraction" in text


def test_a_notice_names_the_first_error(store: Store) -> None:
    fill(store, lesson(4))
    broken = ErrorReport(cluster_id="", stage="source notes", error="it is gone; check its path", timestamp=FIRST)
    notice = make_notice(run(store, DAY).model_copy(update={"errors": (broken,)}), FIRST)
    assert notice.body.endswith("1 errors. The first: source notes: it is gone; check its path")
