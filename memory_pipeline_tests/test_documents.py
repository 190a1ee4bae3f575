"""What users see as JSON: whole, described, and still read when an earlier version kept it."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, run


def test_a_report_of_an_earlier_version_still_reads(store: Store) -> None:
    fill(store, lesson(4))
    kept = run(store, date(2026, 3, 3)).as_json()
    assert Report.read_kept(kept).as_json() == kept
    for name in ("kind", "policies", "recall_rate", "store", "duplicates_archived", "sources_sha256", "refusals"):
        del kept[name]
    del kept["largest_clusters"][0]["member_ids"]
    report = Report.read_kept({**kept, "clusters_hummed": 3})
    assert (report.kind, report.policies, report.recall_rate, report.duplicates_archived) == ("night", (), None, 0)
    assert (report.sources_sha256, report.refusals, report.store.active) == ("", {}, 0)
    assert report.memories_archived == 4 and "“Restart the payment gateway" in as_markdown(report)


def test_a_report_holds_what_it_declares_and_cannot_be_changed(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, date(2026, 3, 3))
    with pytest.raises(ValidationError, match="clusters_hummed"):
        Report.model_validate({**report.as_json(), "clusters_hummed": 3})
    with pytest.raises(ValidationError, match="frozen"):
        report.verdict = "FAIL"  # type: ignore[misc]
