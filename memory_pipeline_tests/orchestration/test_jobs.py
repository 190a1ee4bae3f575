"""Consolidation jobs: a run with a scope and a record, a time limit, retries, cancelling; schedule and sensor."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from dagster import (
    AssetMaterialization,
    DagsterInstance,
    DagsterRunStatus,
    RunRequest,
    SkipReason,
    build_run_status_sensor_context,
    build_schedule_context,
    build_sensor_context,
    job,
)

from memory_pipeline.consolidation import run as phases
from memory_pipeline.consolidation.context import Night
from memory_pipeline.definitions import defs
from memory_pipeline.errors import InputError
from memory_pipeline.orchestration import consolidation
from memory_pipeline.orchestration.consolidation import (
    BY_TAG,
    JOB_NAME,
    TRIGGER_TAG,
    JobRecord,
    cancel_job,
    check_scope,
    find_job,
    job_record,
    job_text,
    list_jobs,
    status_text,
    with_verdicts,
)
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.orchestration.schedules import consolidation_schedule, knowledge_base_schedule, principles_schedule
from memory_pipeline.orchestration.sensors import ended_periods, failed_run_notice, unconsolidated_sensor
from memory_pipeline.records import Verdict
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, settings_for
from memory_pipeline_tests.orchestration.test_job_texts import a_job

ALL = ("duplicates", "series", "merge", "canonical", "patterns", "principles", "playbook")


def start(instance: DagsterInstance, tags: dict[str, str] | None = None, **scope: Any) -> JobRecord:
    result = defs.resolve_job_def(JOB_NAME).execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags=tags,
        run_config={
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            "resources": {"night": {"config": scope}},
        },
    )
    return job_record(instance, find_job(instance, result.run_id))


def archived(store: Store) -> set[str]:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        assert tx.lease.holder() is None
        return {memory.id for memory in tx.memories.all() if memory.archived_at}


@pytest.mark.slow
def test_a_job_goes_through_its_phases_and_its_record_says_what_it_did(instance: DagsterInstance, store: Store) -> None:
    fill(store, [*lesson(4), candidate(lesson(1)[0].content, FIRST + timedelta(hours=9), native_id="copy")])
    job = start(instance, {TRIGGER_TAG: "manual", BY_TAG: "dana"})
    assert (job.status, job.trigger, job.triggered_by, job.scope) == ("completed", "manual", "dana", {})
    assert job.phases_completed == ALL and (job.retry_count, job.max_retries) == (0, 3)
    figures = {k: v for k, v in job.metrics.items() if v}
    assert figures["duplicates_archived"] == 1 and figures["pattern_archived"] == 4
    assert figures["pattern_created"] == figures["playbook_created"] == 1
    assert job.started_at < job.completed_at and job.duration_seconds > 0 and job.error is None
    assert list_jobs(instance) == [job] and "phases completed: duplicates, series, merge" in job_text(job)
    (judged,) = with_verdicts(settings_for(store), [job])
    assert judged.verdict == "PASS" and "completed (PASS), manual" in job_text(judged)
    with store.reading() as tx:
        report, night = tx.journal.report(job.job_id), tx.journal.report()
    assert report is not None and night is None
    assert (report["kind"], report["verdict"], report["memories_archived"]) == ("job", "PASS", 5)
    assert (report["duplicates_archived"], report["patterns_created"], report["playbook_created"]) == (1, 1, 1)
    assert report["recall_found"] == report["recall_sampled"] == 5 and report["facts_found"] > 0
    assert archived(store) == {"gateway-0", "gateway-1", "gateway-2", "gateway-3", "copy"}
    with store.reading() as tx:
        before = tx.contents.digest(with_log=True)
    start(instance)
    with store.reading() as tx:
        assert tx.contents.digest(with_log=True) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope", "touched"),
    [
        ({"projects": ["a"]}, {"a"}),
        ({"memory_types": ["warning"]}, {"b"}),
        ({"first_day": "2026-03-10"}, {"b"}),
        ({"last_day": "2026-03-09"}, {"a"}),
        ({"dry_run": True}, set()),
    ],
)
def test_a_job_touches_its_scope_alone(
    instance: DagsterInstance, store: Store, scope: dict[str, Any], touched: set[str]
) -> None:
    for project, kind, at in (("a", "lesson", FIRST), ("b", "warning", FIRST + timedelta(days=9))):
        notes = [candidate(note.content, at, memory_type=kind) for note in lesson(4)]
        fill(store, notes, project=project)
    job = start(instance, **scope)
    assert job.status == "completed"
    with store.reading() as tx:
        assert {memory.project_id for memory in tx.memories.all() if memory.archived_at} == touched
    first, last = scope.get("first_day"), scope.get("last_day")
    assert job.scope.get("date_range") == ([first, last] if first or last else None)


@pytest.mark.slow
def test_unconsolidated_only_leaves_merged_memories(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(4))
    fill(store, [candidate(lesson(5)[4].content, FIRST, native_id="level-1", abstraction_level=1)])
    assert start(instance, unconsolidated_only=True).status == "completed"
    assert "level-1" not in archived(store)


@pytest.mark.slow
def test_a_named_project_is_taken_though_nights_leave_it_alone(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PIPELINE_CONSOLIDATION_PROJECTS", "other")
    fill(store, lesson(4))
    start(instance)
    assert archived(store) == set()
    start(instance, projects=["p"])
    assert len(archived(store)) == 4


@pytest.mark.slow
def test_a_phase_that_fails_is_tried_again(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    calls: list[int] = []

    def shaky(night: Night) -> dict[str, int]:
        calls.append(1)
        if len(calls) < 3:
            raise OSError("the line broke")
        return {"done": 1}

    monkeypatch.setitem(phases.PHASES, "merge", shaky)  # type: ignore[arg-type]
    job = start(instance)
    assert (job.status, job.retry_count, len(calls)) == ("completed", 2, 3)
    monkeypatch.setitem(phases.PHASES, "merge", lambda night: 1 / 0)  # type: ignore[arg-type]
    job = start(instance)
    assert (job.status, job.retry_count, job.phases_completed) == ("failed", 3, ("duplicates", "series"))
    assert "division by zero" in job.error
    assert archived(store) == {"gateway-0", "gateway-1", "gateway-2", "gateway-3"}


def test_a_job_is_one_op_and_no_second_graph_of_the_night() -> None:
    assert [node.name for node in consolidation.consolidation_job.graph.nodes] == ["consolidate"]


def test_a_mistake_of_the_user_is_not_tried_again(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(1))
    job = start(instance, first_day="yesterday")
    assert (job.status, job.retry_count) == ("failed", 0)
    assert job.error == "first_day is 'yesterday', which is not a date; write it as YYYY-MM-DD"


@pytest.mark.parametrize("verdict", ["PARTIAL", "FAIL"])
def test_a_completed_job_whose_report_is_worse_says_so(store: Store, verdict: Verdict) -> None:
    with store.writing("test") as tx:
        tx.journal.keep_report("3f0c", FIRST.date(), verdict, {"verdict": verdict}, FIRST)
    jobs = [a_job(job_id=job_id) for job_id in ("3f0c", "without a report")]
    told = [status_text(job) for job in with_verdicts(settings_for(store), jobs)]
    assert told == [f"completed ({verdict})", "completed"]
    elsewhere = settings_for(store.path.with_name("none.duckdb"))
    assert [job.verdict for job in with_verdicts(elsewhere, jobs)] == [None, None]


@pytest.mark.slow
def test_a_job_ends_at_its_time_limit_with_what_it_has_done(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    real = phases.PHASES["patterns"]

    def slow(night: Night) -> dict[str, int]:
        figures = real(night)
        night.keep_going._deadline = time.monotonic()  # type: ignore[attr-defined]
        night.keep_going()
        return figures

    monkeypatch.setitem(phases.PHASES, "patterns", slow)  # type: ignore[arg-type]
    job = start(instance)
    assert (job.status, job.retry_count, job.error) == (
        "failed",
        0,
        "timed out after 600 s (setting consolidation.timeout)",
    )
    assert job.phases_completed == ("duplicates", "series", "merge", "canonical") and len(archived(store)) == 4
    with store.reading() as tx:
        report = tx.journal.report(job.job_id)
    assert report is not None and (report["verdict"], report["memories_archived"]) == ("FAIL", 4)
    assert "timed out after 600 s" in report["verdict_reason"]
    assert [error["stage"] for error in report["errors"]] == ["night"]
    monkeypatch.undo()


def test_a_running_job_is_cancelled_between_two_pieces_of_work(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    monkeypatch.setattr(consolidation, "_LOOK_EVERY_S", 0.2)
    waiting = threading.Event()

    def endless(night: Night) -> dict[str, int]:
        waiting.set()
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            night.keep_going()
            time.sleep(0.05)
        raise AssertionError("nobody cancelled it")

    monkeypatch.setitem(phases.PHASES, "patterns", endless)  # type: ignore[arg-type]

    def cancel() -> JobRecord:
        assert waiting.wait(60)
        (running,) = list_jobs(instance)
        assert running.status == "running"
        return cancel_job(instance, running.job_id[:8])

    # The run has the main thread, as it has outside tests: in another one Dagster sets no signal handlers, and where
    # SIGINT is ignored (a background job of a script) the process that copies its output would outlive SIGTERM.
    with ThreadPoolExecutor(1) as pool:
        cancelling = pool.submit(cancel)
        ended = start(instance)
        job = cancelling.result(60)
    assert job.status == ended.status == "cancelled" and ended.retry_count == 0
    assert job.phases_completed == ("duplicates", "series", "merge", "canonical") and archived(store) == set()
    with pytest.raises(InputError, match="has ended"):
        cancel_job(instance, job.job_id)


def test_a_waiting_job_is_cancelled_before_it_begins(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(4))
    run = instance.create_run_for_job(defs.resolve_job_def(JOB_NAME), status=DagsterRunStatus.NOT_STARTED)
    assert job_record(instance, find_job(instance, run.run_id)).status == "pending"
    assert cancel_job(instance, run.run_id).status == "cancelled"


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ({"projects": ["nowhere"]}, "there is no project 'nowhere' in the store; it has p"),
        ({"memory_types": ["poem"]}, "there is no memory type 'poem'"),
        ({"first_day": "2026-03-02", "last_day": "2026-03-01"}, "swap them"),
        ({"last_day": "soon"}, "last_day is 'soon'"),
    ],
)
def test_a_scope_that_cannot_be_is_refused(store: Store, scope: dict[str, Any], says: str) -> None:
    fill(store, lesson(1))
    with pytest.raises(InputError, match=says):
        check_scope(settings_for(store), scope)


def test_two_oclock_takes_the_newest_day_whose_night_has_had_its_turn(store: Store) -> None:
    fill(store, lesson(1))
    for tick, day in (
        (datetime(2026, 3, 20, 6, 0, tzinfo=UTC), "2026-03-18"),
        (datetime(2026, 11, 2, 7, 0, tzinfo=UTC), "2026-10-31"),
    ):
        request = consolidation_schedule(build_schedule_context(scheduled_execution_time=tick))
        assert isinstance(request, RunRequest) and request.tags[TRIGGER_TAG] == "scheduled"
        assert request.run_config["resources"]["night"]["config"]["day"] == day
    assert consolidation_schedule.cron_schedule == "0 2 * * *"
    assert consolidation_schedule.execution_timezone == "America/New_York"


def test_a_tick_takes_the_newest_week_and_month_whose_nights_have_all_had_their_turn(
    instance: DagsterInstance,
) -> None:
    """At 00:00 UTC the night of the day that has just ended is hours away."""
    for schedule, asset, tick, key in (
        (principles_schedule, "principles", datetime(2026, 3, 15, tzinfo=UTC), "2026-03-01"),
        (knowledge_base_schedule, "knowledge_base", datetime(2026, 4, 1, tzinfo=UTC), "2026-02-01"),
    ):
        context = build_schedule_context(instance=instance, scheduled_execution_time=tick)
        request = schedule(context)
        assert isinstance(request, RunRequest) and request.partition_key == key
        instance.report_runless_asset_event(AssetMaterialization(asset, partition=key))
        assert isinstance(schedule(context), SkipReason)
    assert (principles_schedule.cron_schedule, knowledge_base_schedule.cron_schedule) == ("0 0 * * 0", "0 0 1 * *")


@pytest.mark.parametrize(
    ("day", "asked_for"),
    [
        ("2026-02-28", {"weekly_principles": "2026-02-22", "monthly_knowledge_base": "2026-02-01"}),
        ("2026-03-07", {"weekly_principles": "2026-03-01"}),
        ("2026-03-31", {"monthly_knowledge_base": "2026-03-01"}),
        ("2026-03-10", {}),
    ],
)
def test_the_last_night_of_a_week_or_month_is_followed_by_what_is_made_of_it(
    instance: DagsterInstance, day: str, asked_for: dict[str, str]
) -> None:
    result = job(name="nothing")(lambda: None).execute_in_process(instance=instance)
    ended = next(event for event in result.all_events if event.event_type_value == "PIPELINE_SUCCESS")
    night = result.dagster_run.with_tags({"dagster/partition": day})
    answer = ended_periods(build_run_status_sensor_context("ended_periods", ended, instance, night))
    requests = [request for request in answer if isinstance(request, RunRequest)]
    assert {r.job_name: r.partition_key for r in requests} == asked_for


def test_a_pile_of_new_memories_starts_one_job(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PIPELINE_CONSOLIDATION_THRESHOLD", "10")
    fill(store, [candidate(f"Note number {n} on subject {n * 7}", FIRST, native_id=f"n{n}") for n in range(9)])
    context = build_sensor_context(instance=instance)
    skipped = unconsolidated_sensor(context)
    assert isinstance(skipped, SkipReason) and "9 unconsolidated memories; 10 start" in (skipped.skip_message or "")
    now = datetime.now(UTC)
    fill(store, [candidate("Too fresh to touch", now, native_id="fresh")])
    fill(store, [candidate("A critical one", FIRST, native_id="critical", importance=2.9)])
    assert isinstance(unconsolidated_sensor(context), SkipReason)
    fill(store, [candidate("The tenth", FIRST, native_id="n10")])
    request = unconsolidated_sensor(context)
    assert isinstance(request, RunRequest) and request.tags == {
        TRIGGER_TAG: "threshold",
        BY_TAG: "unconsolidated_sensor",
        HOLDER_TAG: "unconsolidated sensor",
    }
    assert isinstance(unconsolidated_sensor(context), SkipReason)
    job = start(instance, request.tags, **request.run_config["resources"]["night"]["config"])
    assert (job.status, job.trigger) == ("completed", "threshold")
    assert isinstance(unconsolidated_sensor(build_sensor_context(instance=instance)), SkipReason)


def test_the_week_and_the_month_are_assets_with_their_lineage(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(4))
    for name, partition, asset in (
        ("weekly_principles", "2026-03-01", "principles"),
        ("monthly_knowledge_base", "2026-03-01", "knowledge_base"),
    ):
        result = defs.resolve_job_def(name).execute_in_process(instance=instance, partition_key=partition)
        assert result.success
        (event,) = result.get_asset_materialization_events()
        assert event.asset_key and event.asset_key.path == [asset] and event.partition == partition
        assert all(check.passed for check in result.get_asset_check_evaluations())
    graph = defs.resolve_asset_graph()
    parents = {key.path[-1]: {p.path[-1] for p in graph.get(key).parent_keys} for key in graph.get_all_asset_keys()}
    assert parents["principles"] == {"archives"} and parents["knowledge_base"] == {"canonical_entries"}


@pytest.mark.slow
def test_a_job_that_failed_is_announced_once(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(1))
    monkeypatch.setitem(phases.PHASES, "merge", lambda night: 1 / 0)  # type: ignore[arg-type]
    result = defs.resolve_job_def(JOB_NAME).execute_in_process(instance=instance, raise_on_error=False)
    failure = next(event for event in result.all_events if event.event_type_value == "PIPELINE_FAILURE")
    for _ in range(2):
        context = build_run_status_sensor_context(
            "failed_run_notice", failure, instance, instance.get_run_by_id(result.run_id)
        ).for_run_failure()
        failed_run_notice(context)
    (line,) = (store.path.parent / "reports" / "notices.jsonl").read_text().splitlines()
    assert json.loads(line)["subject"].startswith("COMPRESSION RUN FAIL: 0 abstractions")
    assert json.loads(line)["priority"] == "action"
