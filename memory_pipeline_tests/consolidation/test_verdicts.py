"""Verdicts and closing lines say what the rows say: nobody is paged for a night that rightly left things alone."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from memory_pipeline.consolidation.report import closing_line, decide_verdict, make_notice
from memory_pipeline.reporting.model import CountedRun
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for

DAY = date(2026, 3, 3)
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("as_of", "started_at", "finished_at"), FIRST), "partition": DAY, "memories_scanned": 1,
}  # fmt: skip
COMPRESSED, COPIES, FOUND, SETTLED = (
    "clusters_compressed", "duplicates_archived", "clusters_found", "clusters_settled",
)  # fmt: skip


@pytest.mark.parametrize(
    ("figures", "verdict", "reason"),
    [
        ({COMPRESSED: 2, FOUND: 2}, "PASS", "2 clusters compressed"),
        ({COPIES: 5}, "PASS", "5 exact duplicates archived"),
        ({COMPRESSED: 1, COPIES: 1, FOUND: 1}, "PASS", "1 cluster compressed, 1 exact duplicate archived"),
        ({COMPRESSED: 2, FOUND: 3, "errors": 1}, "PARTIAL", "2 clusters compressed, 1 error"),
        ({COPIES: 2, "errors": 2}, "PARTIAL", "2 exact duplicates archived, 2 errors"),
        ({FOUND: 3, "errors": 1}, "FAIL", "no cluster compressed, 1 error"),
        ({"errors": 1}, "FAIL", "no cluster compressed, 1 error"),
        ({COMPRESSED: 2, FOUND: 2, "fatal": "no space"}, "FAIL", "fatal error: no space"),
        ({FOUND: 3, "refusals": {"preservation": 1, "too short": 2}}, "IDLE", "3 clusters declined: too short (2), "),
        ({FOUND: 3, SETTLED: 3}, "IDLE", "all 3 clusters were decided on an earlier night"),
        ({FOUND: 1, SETTLED: 1}, "IDLE", "the only cluster was decided on an earlier night"),
        ({FOUND: 1, "proposals": 1}, "IDLE", "1 proposal awaits review"),
        ({"memories_scanned": 0}, "IDLE", "no memory was eligible"),
        ({}, "IDLE", "no cluster was found"),
    ],
)
def test_verdicts(figures: dict[str, Any], verdict: str, reason: str) -> None:
    counted = CountedRun.read_kept({**NOTHING, **figures})
    errors, fatal = figures.get("errors", 0), figures.get("fatal")
    said = decide_verdict(counted, errors, strict=False, fatal=fatal)
    assert said[0] == verdict and said[1].startswith(reason)
    assert decide_verdict(counted, errors, strict=True, fatal=fatal)[0] == verdict.replace("IDLE", "FAIL")


def test_a_night_whose_clusters_were_all_declined_is_idle_and_pages_nobody(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY, settings_for(store, compression__min_ratio=50.0))
    assert report.clusters_skipped == report.clusters_found == 1 and not report.errors
    assert report.verdict == "IDLE" and make_notice(report, report.finished_at).priority == "info"
    assert closing_line(report) == "COMPRESSION SKIPPED: 1 cluster declined: compression ratio too low (1)"


@pytest.mark.slow
def test_a_night_that_archived_copies_alone_has_passed(store: Store) -> None:
    text = "The warehouse door code changes on the first of the month."
    fill(store, [candidate(text, FIRST + timedelta(hours=n), native_id=str(n)) for n in range(3)])
    foretold = run(store, DAY, dry_run=True)
    assert closing_line(foretold).startswith("COMPRESSION COMPLETE (DRY RUN): 0 potential clusters, 2 entries would")
    report = run(store, DAY)
    assert (report.verdict, report.verdict_reason) == ("PASS", "2 exact duplicates archived")
    saved = report.tokens_before - report.tokens_after
    assert closing_line(report) == f"COMPRESSION COMPLETE: 0 clusters, 2 archived, {saved} tokens saved" and saved > 0


def test_an_error_beside_archived_copies_is_a_partial_night(store: Store) -> None:
    text = "The warehouse door code changes on the first of the month."
    fill(store, [candidate(text, FIRST + timedelta(hours=n), native_id=str(n)) for n in range(2)])
    (store.path.parent / "reports").write_text("a file where a directory should be")
    report = run(store, DAY)
    assert report.verdict == "PARTIAL" and [e.stage for e in report.errors] == ["report"]
    with store.reading() as tx:
        assert tx.journal.report() == report.as_json()
