"""What a person reads of a job."""

from __future__ import annotations

from typing import Any

import pytest

from memory_pipeline.orchestration.consolidation import JobRecord, job_text


def a_job(**fields: Any) -> JobRecord:
    """A completed job with nothing special about it."""
    job: dict[str, Any] = {
        "job_id": "j", "status": "completed", "trigger": "manual", "triggered_by": "dana", "scope": {},
        "dry_run": False, "phases_completed": (), "created_at": "2026-11-22T07:44:05+00:00",
        "started_at": "2026-11-22T07:44:06.123+00:00", "completed_at": "2026-11-22T07:44:09.523+00:00",
        "duration_seconds": 3.4, "retry_count": 0, "max_retries": 3, "metrics": {}, "error": None, "skipped": None,
    }  # fmt: skip
    return JobRecord(**{**job, **fields})


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ({}, "everything"),
        ({"date_range": ["2026-11-01", None], "memory_types": ["lesson"]}, "from 2026-11-01, type lesson"),
        ({"date_range": ["2026-11-01", "2026-11-03"]}, "from 2026-11-01 to 2026-11-03"),
        ({"projects": ["shop", "web"], "unconsolidated_only": True}, "projects shop and web, only raw memories"),
    ],
)
def test_a_scope_is_told_in_words(scope: dict[str, Any], words: str) -> None:
    lines = job_text(a_job(scope=scope)).splitlines()
    assert f"  scope: {words}" in lines
    assert "  started 2026-11-22 07:44:06 UTC, 3.4 s, 0 of 3 retries used" in lines
