"""The code location: the runs that belong to it, and the days that its partitions begin with."""

from __future__ import annotations

import socket
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from dagster import (
    DagsterInstance,
    DagsterInvalidConfigError,
    RunsFilter,
    SkipReason,
    build_sensor_context,
    validate_run_config,
)
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin

from memory_pipeline.config.night import EARLIEST_NIGHT
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.definitions import defs
from memory_pipeline.errors import InputError, StoreError
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.interfaces.cli.nights import run_night_job
from memory_pipeline.interfaces.cli.serve import check_address, what_is_missing
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration import home, partitions
from memory_pipeline.orchestration import partitions as earlier_memories
from memory_pipeline.orchestration.home import WORKSPACE
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, settings_for

ROOT = Path(__file__).parents[2]


@pytest.fixture
def one_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is a code server of one store."""
    monkeypatch.setattr(home, "serves_any_store", False)


@pytest.mark.slow
def test_a_night_from_the_command_line_belongs_to_its_job(store: Store) -> None:
    settings = settings_for(store)
    fill(store, [candidate("The nightly backup finished.")])
    with instance_of(settings) as instance:
        run_night_job(instance, settings, NightOptions(date(2026, 3, 3), ""), lambda *_: None)
        (run,) = instance.get_runs(
            RunsFilter(job_name="night", tags={".dagster/repository": "__repository__@memory_pipeline"})
        )
    assert run.tags["dagster/code_location"] == "memory_pipeline"
    assert run.tags[HOLDER_TAG] == "memory-pipeline night"


def test_the_projects_workspace_is_that_of_a_store() -> None:
    assert (ROOT / "workspace.yaml").read_text() == WORKSPACE.partition("\n")[2]


def test_partitions_begin_with_the_first_memory(store: Store, one_store: None, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(store)
    monkeypatch.setattr(partitions, "LOCATION", settings)
    assert partitions.first_day_of(settings) is None
    assert partitions._first_day() == latest_complete_day(datetime.now(UTC))
    fill(store, [candidate("Later.", FIRST + timedelta(days=9)), candidate("First.", FIRST)])
    assert partitions._first_day() == FIRST.date()
    ahead = Store(store.path.with_name("ahead.duckdb"))
    fill(ahead, [candidate("A plan for the year after next.", datetime.now(UTC) + timedelta(days=700))])
    assert partitions.first_day_of(settings_for(ahead)) == latest_complete_day(datetime.now(UTC))


def test_with_a_store_that_cannot_be_read_now_the_code_location_loads_with_every_day(
    store: Store, one_store: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of an old day may be what is loaded; the sensor loads the definitions again later."""
    store.path.write_bytes(b"no database")
    settings = settings_for(store)
    monkeypatch.setattr(partitions, "LOCATION", settings)
    assert partitions._first_day() == EARLIEST_NIGHT
    with pytest.raises(StoreError):
        partitions.first_day_of(settings)


def test_weeks_and_months_begin_with_those_of_the_first_day() -> None:
    for key in (partitions.WEEKLY, partitions.MONTHLY):
        first = key.time_window_for_partition_key(key.get_partition_keys()[0])
        assert first.start.date() <= partitions.FIRST_DAY < first.end.date()


def test_older_memories_load_the_definitions_again(
    store: Store, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = build_sensor_context(instance)
    assert "with the first memory if there is one" in told(context)
    fill(store, [candidate("First.", FIRST)])
    monkeypatch.setattr(earlier_memories, "FIRST_DAY", FIRST.date() + timedelta(days=1))
    assert "reload the definitions" in told(context)  # a code location that cannot be asked to

    asked: list[int] = []

    class Client:
        def reload_code(self, timeout: int) -> None:
            asked.append(timeout)

    monkeypatch.setattr(earlier_memories, "_DELAY_S", 0)
    monkeypatch.setattr(GrpcServerCodeLocationOrigin, "create_client", lambda self: Client())
    origin = GrpcServerCodeLocationOrigin("localhost", 1)
    monkeypatch.setattr(type(context), "code_location_origin", origin)
    timers = []
    timer = earlier_memories.Timer
    monkeypatch.setattr(
        earlier_memories, "Timer", lambda *given, **named: timers.append(timer(*given, **named)) or timers[-1]
    )
    assert "loading the definitions" in told(context)
    timers[0].join(5)
    assert asked


def told(context: object) -> str:
    found = earlier_memories.earlier_memories(context)
    assert isinstance(found, SkipReason)
    return str(found.skip_message)


def test_a_taken_port_is_said_with_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is taken.*use another --port$"):
            check_address("127.0.0.1", port)
    with pytest.raises(InputError, match="use another --host"):
        check_address("192.0.2.1", port)


def test_a_store_without_memories_is_said_with_the_next_command(store: Store) -> None:
    settings = settings_for(store)
    assert "no store at" in (missing := what_is_missing(settings) or "") and "memory-pipeline init" in missing
    with store.writing("test"):
        pass
    assert "is empty" in (what_is_missing(settings) or "")
    fill(store, [candidate("First.")])
    assert what_is_missing(settings) is None


def accepts(job: str, **config: object) -> bool:
    """Whether a job's launchpad takes these fields of the night."""
    try:
        validate_run_config(defs.resolve_job_def(job), {"resources": {"night": {"config": config}}})
    except DagsterInvalidConfigError:
        return False
    return True


def test_launchpads_take_what_a_person_may_set_and_nothing_else() -> None:
    assert accepts("night", projects=["p"], settings={"compression.review": "manual"})
    assert accepts("night_preview", threshold=0.9) and accepts("consolidation", dry_run=True, day="2026-03-03")
    assert accepts("kb_compress", settings={})
    assert not accepts("night_preview", dry_run=False) and not accepts("night", day="2026-03-03")
    assert not accepts("night", holder="me") and not accepts("kb_compress", threshold=0.9)


def test_every_field_of_a_launchpad_says_what_it_is_for() -> None:
    from memory_pipeline.orchestration.resources import JobResource

    fields = JobResource.model_fields
    assert all(fields[name].description for name in fields)
    assert "lesson" in str(fields["memory_types"].description)
    assert "config show" in str(fields["settings"].description)
