"""The routes of administrators: a consolidation is a Dagster run, and Dagster says how it goes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from memory_pipeline_tests.interfaces.api.running import Client
from memory_pipeline_tests.interfaces.api.test_memories import told

START, STATUS = "/api/v1/admin/consolidate-memories", "/api/v1/admin/consolidation-status"


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ({"memory_types": ["gossip"]}, "scope.memory_types"),
        ({"memory_types": "lesson"}, "scope.memory_types"),
        ({"date_range": ["2026-03-02", "2026-03-01"]}, "swap them"),
        ({"date_range": ["2026-03-02"]}, "scope.date_range"),
        ({"date_range": ["0001-01-01", None]}, "end of the calendar"),
        ({"colour": "red"}, "scope.colour"),
        (5, "scope"),
    ],
)
def test_an_invalid_scope_is_told_as_one(client: Client, scope: Any, said: str) -> None:
    answer = told(client.post(START, {"scope": scope}), 400)
    assert list(answer) == ["error", "message"]
    assert answer["error"] == "invalid_scope" and said in answer["message"]


def test_an_invalid_scope_is_told_as_one_beside_another_mistake(client: Client) -> None:
    answer = told(client.post(START, {"scope": {"colour": "red"}, "colour": "red"}), 400)
    assert answer["error"] == "invalid_scope" and "scope.colour" in answer["message"]
    assert told(client.post(START, {"colour": "red"}), 422)["error"] == "invalid_request"


def test_administration_is_a_scope_of_its_own(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    other = client.as_("read", "write")
    for answer in (
        other.post(START, {}),
        other.get(f"{STATUS}/some"),
        other.get("/api/v1/admin/consolidation-metrics/p"),
    ):
        assert told(answer, 403)["error"] == "forbidden"
    assert told(client.post(START, {"project_id": "nowhere"}), 404)
    assert told(client.as_("admin", projects=("home",)).post(START, {"project_id": "p"}), 403)
    assert "broke off" not in caplog.text


def test_the_metrics_of_a_project_are_its_own(client: Client) -> None:
    figures = told(client.get("/api/v1/admin/consolidation-metrics/home"))
    assert (figures["total_memories"], figures["consolidated_memories"], figures["last_verdict"]) == (1, 0, "PASS")


def test_no_consolidation_starts_while_another_run_has_the_store(client: Client) -> None:
    client.store.take_lease("some-night", "a night")
    try:
        answer = told(client.post(START, {}), 409)
        assert answer["error"] == "conflict" and "in use by a night" in answer["message"]
    finally:
        client.store.release_lease("some-night")


@pytest.mark.slow
def test_a_consolidation_is_a_run_in_dagster_and_its_status_is_dagsters(client: Client) -> None:
    from memory_pipeline.interfaces.cli.instances import instance_of
    from memory_pipeline_tests.build import settings_for

    admin = client.as_("admin", projects=("p",))
    asked = {"scope": {"memory_types": ["lesson"]}, "dry_run": True, "trigger_type": "threshold"}
    started = told(admin.post(START, asked), 202)
    assert list(started) == ["job_id", "status", "message", "estimated_duration_seconds"]
    assert started["status"] in ("pending", "running") and started["estimated_duration_seconds"] > 0
    again = admin.post(START, {})
    if told(admin.get(f"{STATUS}/{started['job_id']}"))["status"] in ("pending", "running"):
        assert (again.status_code, again.json()["error"]) == (409, "conflict")
    deadline = time.monotonic() + 120
    while (job := told(admin.get(f"{STATUS}/{started['job_id']}")))["status"] in ("pending", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert (job["status"], job["dry_run"], job["error"]) == ("completed", True, None)
    assert job["trigger"] == "threshold"
    assert job["scope"] == {"projects": ["p"], "memory_types": ["lesson"]}
    assert job["triggered_by"].startswith("token:t") and "playbook" in job["phases_completed"]
    with instance_of(settings_for(client.store)) as instance:
        run = instance.get_run_by_id(started["job_id"])
        assert run is not None and run.job_name == "consolidation"
    assert told(client.as_("admin", projects=("home",)).get(f"{STATUS}/{job['job_id']}"), 404)
    assert told(admin.get(f"{STATUS}/{job['job_id'][:8]}"), 404)["error"] == "not_found"
