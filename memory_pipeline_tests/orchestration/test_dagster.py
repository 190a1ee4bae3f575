"""The night in Dagster: real runs on a real instance, checks that warn, schedules across daylight saving."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetCheckSeverity,
    DagsterInstance,
    Definitions,
    RunRequest,
    SkipReason,
    build_schedule_context,
    materialize,
)

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.consolidation import gates
from memory_pipeline.consolidation.run import STEPS
from memory_pipeline.definitions import defs
from memory_pipeline.errors import OutputError
from memory_pipeline.orchestration import io
from memory_pipeline.orchestration.assets.night import RESULT_TAG, VERDICT_TAG
from memory_pipeline.orchestration.assets.sources import SOURCES, make_observation, source_asset
from memory_pipeline.orchestration.assets.steps import NIGHT_ASSETS
from memory_pipeline.orchestration.consolidation import JOB_NAME
from memory_pipeline.orchestration.history import RunHistory
from memory_pipeline.orchestration.home import INSTANCE_CONFIG
from memory_pipeline.orchestration.resources import NightResource, skipped_reason
from memory_pipeline.orchestration.schedules import (
    consolidation_schedule,
    duplicates_schedule,
    knowledge_base_schedule,
    night_schedule,
    principles_schedule,
)
from memory_pipeline.orchestration.sensors import failed_night_notice
from memory_pipeline.records import (
    SourceReading,
)
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.messages_server import MessagesServer, faithful
from memory_pipeline_tests.reading.model_answers import attentive

DAY = "2026-03-03"
ASSETS = (
    "imported_notes",
    "conversation_logs",
    "conversation_chunks",
    "extractions",
    "routed_updates",
    "exact_duplicates",
    "series",
    "readings",
    "eligible_memories",
    "similarity_batches",
    "merges",
    "canonical_entries",
    "clusters",
    "distillations",
    "archives",
    "atoms",
    "playbook",
    "reports",
    "exports",
)


def launch(instance: DagsterInstance, day: str = DAY, job: str = "night", **options: Any) -> Any:
    return defs.resolve_job_def(job).execute_in_process(
        instance=instance,
        partition_key=day,
        raise_on_error=False,
        run_config={"resources": {"night": {"config": options}}},
    )


def test_a_night_is_its_assets_in_one_run_and_the_same_as_the_plain_function(
    instance: DagsterInstance, store: Store, tmp_path: Path
) -> None:
    fill(store, lesson(5))
    plain = Store(tmp_path / "plain" / "store.duckdb")
    fill(plain, lesson(5))
    run(plain, date.fromisoformat(DAY))
    result = launch(instance)
    assert result.success
    assert {e.asset_key.path[-1] for e in result.get_asset_materialization_events()} == set(ASSETS)
    with store.reading() as one, plain.reading() as other:
        assert one.contents.digest(with_log=True) == other.contents.digest(with_log=True)
    tags = instance.get_run_by_id(result.run_id).tags  # type: ignore[union-attr]
    assert tags[VERDICT_TAG] == "PASS" and tags[RESULT_TAG].startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived")


def test_a_step_that_fails_for_a_reason_that_one_can_mend_says_it_in_a_sentence(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(5))

    def broken(*_: object) -> None:
        raise OutputError("the directory 'reports' is full; make room")

    monkeypatch.setattr(STEPS["atoms"], "run", broken)
    (failed,) = [event for event in launch(instance).all_events if event.is_step_failure]
    assert failed.step_failure_data.user_failure_data.description == "the directory 'reports' is full; make room"


@pytest.mark.slow
def test_every_check_is_evaluated_and_the_metadata_says_what_happened(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(5))
    result = launch(instance)
    evaluated = {e.check_name: e.passed for e in result.get_asset_check_evaluations()}
    expected = {spec.name for assets in NIGHT_ASSETS for spec in assets.check_specs}
    assert set(evaluated) == expected and len(evaluated) == 24
    assert evaluated["nothing_lost"] and evaluated["sources_intact"] and evaluated["store_sound"]
    metadata = {e.asset_key.path[-1]: e.materialization.metadata for e in result.get_asset_materialization_events()}
    assert metadata["eligible_memories"]["memories_scanned"].value == 5
    assert metadata["archives"]["memories_archived"].value == 5
    assert "keeps using the old key" in metadata["distillations"]["all_shown"].value
    assert metadata["reports"]["tokens_after"].value < metadata["reports"]["tokens_before"].value


@pytest.mark.slow
def test_a_night_with_claude_shows_its_bill_and_keeps_its_key(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(store, lesson(5))
    key = "sk-ant-secret-key-of-the-test"
    with MessagesServer(faithful, key=key).running() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        monkeypatch.setenv("MEMORY_PIPELINE_READING_ASK_MODEL", "false")
        monkeypatch.setenv("MEMORY_PIPELINE_DISTILLATION_BASE_URL", server.url)
        result = launch(instance)
    assert result.success and len(server.requests) == 1
    metadata = {e.asset_key.path[-1]: e.materialization.metadata for e in result.get_asset_materialization_events()}
    assert metadata["reports"]["total_llm_calls"].value == 2
    assert metadata["reports"]["estimated_cost_usd"].value > 0
    shown = capfd.readouterr().err
    assert "accepted: 1." in shown and "the cap is 0.25 USD" in shown
    events = "".join(entry.to_json() for entry in instance.all_logs(result.run_id))
    files = b"".join(path.read_bytes() for path in store.path.parent.rglob("*") if path.is_file())
    assert key not in shown + events and key.encode() not in files


@pytest.mark.slow
def test_a_draft_that_does_not_pass_a_gate_is_skipped_and_the_night_goes_on(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(5))
    wrong = ("a source may not be archived", lambda evidence: ["something is wrong"])
    monkeypatch.setitem(gates.GATES, "unsafe_members", wrong)
    result = launch(instance)
    assert result.success
    (warned,) = [e for e in result.get_asset_check_evaluations() if not e.passed and e.check_name == "sources_intact"]
    assert warned.severity == AssetCheckSeverity.WARN
    report = result.output_for_node("reports")
    assert (report.verdict, report.refusals) == ("IDLE", {"a source may not be archived": 1})
    with store.reading() as tx:
        assert not any(memory.archived_at for memory in tx.memories.all())


@pytest.mark.slow
def test_a_failed_day_is_reported_by_its_rows_and_can_be_run_again_alone(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(5))

    def broken(*_: object) -> None:
        raise RuntimeError("the step fell over")

    with monkeypatch.context() as patched:
        patched.setattr(STEPS["atoms"], "run", broken)
        failed = launch(instance)
    assert not failed.success
    with store.reading() as tx:
        assert tx.lease.holder() is None
        report = tx.journal.report(failed.run_id)
    assert report and (report["verdict"], report["memories_archived"]) == ("FAIL", 5)
    assert report["verdict_reason"] == "fatal error: RuntimeError: the step fell over"
    again = launch(instance)
    assert again.success and again.output_for_node("reports").memories_archived == 0
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


def test_the_preview_job_writes_nothing(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(5))
    before = store.path.read_bytes()
    result = launch(instance, job="night_preview")
    assert result.output_for_node("preview_night").clusters_compressed == 1
    assert store.path.read_bytes() == before


@pytest.mark.slow
def test_options_and_settings_of_a_run_come_from_its_configuration(instance: DagsterInstance, store: Store) -> None:
    fill(store, lesson(5))
    launch(instance, job="night_preview", threshold=0.99)
    high = launch(instance, job="night_preview", threshold=0.99).output_for_node("preview_night")
    strict = launch(instance, job="night_preview", settings={"compression.min_ratio": 90}).output_for_node(
        "preview_night"
    )
    assert high.clusters_found == 0 and strict.clusters_skipped == 1
    assert not launch(instance, job="night_preview", settings={"compression.min_ration": 2}).success


@pytest.mark.slow
def test_the_duplicates_alone_are_reported_and_their_lease_goes_back(instance: DagsterInstance, store: Store) -> None:
    fill(store, [*lesson(5), replace(lesson(1)[0], native_id="copy", created_at=FIRST + timedelta(hours=9))])
    alone = launch(instance, job="duplicates")
    assert alone.success
    with store.reading() as tx:
        report = tx.journal.report(alone.run_id)
        assert tx.lease.holder() is None and tx.journal.reports() == []
    assert report and (report["kind"], report["verdict"], report["duplicates_archived"]) == ("duplicates", "PASS", 1)
    assert report["recall_sampled"] == 1 and (store.path.parent / "reports" / "notices.jsonl").exists()
    again = launch(instance, job="duplicates")
    night = launch(instance)
    assert again.success and night.output_for_node("reports").kind == "night"
    with store.reading() as tx:
        assert tx.journal.report(again.run_id) is None  # it changed nothing
        assert tx.integrity.check(deep=True) == []


@pytest.mark.parametrize("job", ["night", "weekly_principles", "monthly_knowledge_base", JOB_NAME])
def test_a_run_that_meets_a_held_store_is_skipped_and_names_the_holder(
    instance: DagsterInstance, store: Store, job: str
) -> None:
    fill(store, lesson(5))
    store.take_lease("other", "somebody else")
    result = defs.resolve_job_def(job).execute_in_process(
        instance=instance,
        partition_key={"night": DAY, JOB_NAME: None}.get(job, "2026-03-01"),
        raise_on_error=False,
    )
    assert result.success and not result.get_asset_materialization_events()
    assert "somebody else on" in (skipped_reason(instance, result.run_id) or "")
    warnings = [entry for entry in instance.all_logs(result.run_id) if entry.level == logging.WARNING]
    assert len(warnings) == 1 and "somebody else on" in warnings[0].user_message
    with store.reading() as tx:
        assert tx.journal.report(result.run_id) is None and "somebody else" in (tx.lease.holder() or "")


def test_a_tick_that_meets_a_held_store_starts_nothing_unless_the_holder_is_in_its_own_queue(
    instance: DagsterInstance, store: Store
) -> None:
    fill(store, lesson(5))
    ticks = (night_schedule, duplicates_schedule, consolidation_schedule, principles_schedule, knowledge_base_schedule)
    store.take_lease("other", "somebody else")
    for schedule in ticks:
        now = datetime(2026, 4, 5, 7, 30, tzinfo=UTC)
        held = schedule(build_schedule_context(instance=instance, scheduled_execution_time=now))
        assert isinstance(held, SkipReason) and "somebody else on" in (held.skip_message or "")
    store.release_lease("other")
    queued = instance.create_run_for_job(defs.resolve_job_def("duplicates"))
    store.take_lease(queued.run_id, "dagster")
    asked = night_schedule(build_schedule_context(instance=instance, scheduled_execution_time=now))
    assert isinstance(asked, RunRequest)


def test_a_night_that_finds_a_source_unchanged_observes_it_too(
    instance: DagsterInstance, store: Store, tmp_path: Path
) -> None:
    source = SourceTable(name="w", path=str(tmp_path / "w"))
    (tmp_path / "w" / "memory").mkdir(parents=True)
    (tmp_path / "w" / "memory" / "2026-03-01.md").write_text("- one\n")
    read = SourceReading("w", "unchanged", files=1, later=2)
    seen = make_observation("w", settings_for(store, sources=(source,)), read)
    assert seen.metadata["files"].value == 1 and seen.metadata["waiting"].value == 2
    assert seen.asset_key.path == ["sources", "w"] and seen.data_version


def test_sources_are_observed(instance: DagsterInstance, store: Store, tmp_path: Path) -> None:
    from dagster._core.definitions.observe import observe

    (tmp_path / "w" / "memory").mkdir(parents=True)
    (tmp_path / "w" / "memory" / "2026-03-01.md").write_text("- one\n")
    fill(store, lesson(5))
    mine = [source_asset(SourceTable(name=name, path=str(tmp_path / name))) for name in ("w", "missing")]
    assert mine[0].owners_by_key and mine[0].group_names_by_key.popitem()[1] == "sources"
    result = observe([*mine, *SOURCES], instance=instance, resources={"night": NightResource()})
    found = {
        e.asset_key.path[-1]: e.asset_observation_data.asset_observation.metadata
        for e in result.get_asset_observation_events()
    }
    assert found["memory_store"]["active"].value == 5
    assert found["w"]["files"].value == 1 and "last_change" in found["w"]
    assert "does not exist" in found["missing"]["problem"].value


def test_a_failed_run_is_reported_and_announced(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster import build_run_status_sensor_context

    """One that could not report itself: the file of an asset broke, or its process died."""
    fill(store, lesson(5))

    def torn(table: object, file: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(io.pq, "write_table", torn)
    result = launch(instance)
    failure = next(event for event in result.all_events if event.event_type_value == "PIPELINE_FAILURE")
    context = build_run_status_sensor_context(
        "failed_night_notice", failure, instance, instance.get_run_by_id(result.run_id)
    ).for_run_failure()
    failed_night_notice(context)
    with store.reading() as tx:
        report = tx.journal.report(result.run_id)
    assert report is not None and report["verdict"] == "FAIL"
    notice = json.loads((store.path.parent / "reports" / "notices.jsonl").read_text())
    assert notice["priority"] == "action" and notice["subject"].startswith("COMPRESSION RUN FAIL")


def test_the_instance_files_of_the_project_and_of_a_store_agree() -> None:
    import yaml

    shipped = yaml.safe_load((Path(__file__).parents[2] / "dagster.yaml").read_text())
    written = yaml.safe_load(INSTANCE_CONFIG)
    for storage in (shipped.pop("storage")["custom"], written.pop("storage")["custom"]):
        assert (storage["module"], storage["class"]) == (RunHistory.__module__, RunHistory.__name__)
    assert {name: shipped[name] for name in written} == written


@pytest.mark.slow
def test_only_assets_that_were_asked_for_run(instance: DagsterInstance, store: Store) -> None:
    """Materializing one asset of a past night reads its inputs from what that night wrote."""
    from memory_pipeline.orchestration.assets.steps import NIGHT_ASSETS

    fill(store, lesson(5))
    assert launch(instance).success
    again = materialize(
        NIGHT_ASSETS,
        selection=["reports"],
        partition_key=DAY,
        instance=instance,
        resources={"night": NightResource(), "night_files": io.night_files},
    )
    assert again.success
    with store.reading() as tx:
        assert tx.lease.holder() is None


def test_the_code_location_loads_as_dagster_loads_it() -> None:
    """What only the whole shows: names that clash, jobs and schedules that do not fit together."""
    Definitions.validate_loadable(defs)
    names = {
        "night",
        "duplicates",
        "night_preview",
        "weekly_principles",
        "monthly_knowledge_base",
        "kb_compress",
        "consolidation",
    }
    assert names < {job.name for job in defs.resolve_all_job_defs()}


@pytest.mark.slow
def test_the_extractions_show_what_a_model_was_asked_and_what_it_cost(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "Peanuts have sent me to the emergency room twice."
    spoken = candidate(words, datetime(2026, 3, 2, 9, tzinfo=UTC), memory_type="conversation", tags=("human",))
    fill(store, [spoken])
    with MessagesServer(attentive((words, "fact", {}))).running() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
        monkeypatch.setenv("MEMORY_PIPELINE_DISTILLATION_BASE_URL", server.url)
        result = launch(instance, "2026-03-02")
    metadata = {e.asset_key.path[-1]: e.materialization.metadata for e in result.get_asset_materialization_events()}
    shown = {name: metadata["extractions"][name].value for name in metadata["extractions"] if "model" in name}
    assert shown["model_calls"] == shown["model_questions"] == shown["extracted_by_model"] == 1
    assert shown["model_cost_usd"] > 0 and shown["model_problems"] == "none"
    assert metadata["reports"]["total_llm_calls"].value == 1
    assert all(e.passed for e in result.get_asset_check_evaluations())
