"""Nothing is written into a workspace: its hash is the same after everything that runs without an export."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

import pytest
from dagster import (
    DagsterInstance,
    DagsterRun,
    RunRequest,
    RunStatusSensorDefinition,
    build_run_status_sensor_context,
    build_schedule_context,
    build_sensor_context,
)
from dagster._utils.schedules import schedule_execution_time_iterator

from memory_pipeline.definitions import defs
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.interfaces.in_process import command
from memory_pipeline_tests.sessions.a_session import rows, session_file

pytestmark = pytest.mark.slow
NOW = datetime.now(UTC)
#: The first day of the notes, and the two days that the schedules and sensors run for.
FIRST = NOW.date() - timedelta(days=9)
BEGIN, END = NOW - timedelta(days=2), NOW
CONTENTS = "memory,promotions,playbook,series,user,relational,soul,logs,summaries,rollups"
#: The jobs whose ends sensors watch.
WATCHED = {"ended_periods": ["night"], "ended_days": ["night"], "ended_rollups": ["sum_up_days"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with all that an agent keeps: notes, identity, a talk, and blocks of other programs."""
    root = tmp_path / "agent"
    (root / "memory").mkdir(parents=True)
    (root / "DailyLogs").mkdir()
    (root / "raw").mkdir()
    (root / "MEMORY.md").write_bytes(b"# Long-term\r\n\r\n- Decision: we keep PostgreSQL for the orders.\r\n")
    (root / "USER.md").write_text("# Human\n- Name: Dana\n")
    (root / "SOUL.md").write_text("# Me\n- Name: Nova\n")
    for number in range(8):
        day = FIRST + timedelta(days=number)
        lines = [
            f"- Lesson: restart the payment gateway after rotating its API key, or it keeps the old. Case {number}.",
            f"- [CURATE] Server {number} keeps its backups on disk {number + 3}.",
            f"- TODO: renew the certificate of shop {number}",
            f"- Pre-flight complete in {32 + number}.27s",
        ]
        (root / "memory" / f"{day}.md").write_text(f"# {day}\n\n" + "\n".join(lines) + "\n")
        talk = "Dana: I live in Lisbon with my wife.\n\nNova: Noted.\n\nDana: We decided to use Postgres; I know it.\n"
        (root / "raw" / f"{day}.md").write_text(talk if number == 2 else "Dana: Good morning.\n")
        (root / "DailyLogs" / f"{day}.md").write_text(f"# {day}\n\nQuiet.\n")
    for path in root.rglob("*.md"):
        os.utime(path, (NOW.timestamp() - 86_400 * 9,) * 2)
    return root


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A live session of Claude Code whose context is nearly full."""
    path = session_file(tmp_path / "claude")
    lines = [
        row | {"timestamp": (NOW - timedelta(seconds=100 - number)).isoformat()} for number, row in enumerate(rows())
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def home(tmp_path: Path, workspace: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project home whose settings name both."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.delenv("MEMORY_PIPELINE_STORE_PATH")
    monkeypatch.setenv("MEMORY_PIPELINE_HOME", str(place))
    (place / "memory_pipeline.toml").write_text(
        f'[[sources]]\nname = "agent"\npath = "{workspace}"\n\n'
        f'[[sources]]\nname = "cc"\nformat = "claude-code"\npath = "{transcript.parent.parent}"\n'
    )
    return place


def hash_of(root: Path) -> str:
    """A hash over the paths, bytes and times of a directory."""
    digest = hashlib.sha256()
    for path in sorted([root, *root.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path} {status.st_mode} {status.st_mtime_ns} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def test_no_command_changes_a_workspace(home: Path, workspace: Path, transcript: Path) -> None:
    before = hash_of(workspace)
    last = FIRST + timedelta(days=6)
    for words in (
        ("init", workspace, "--project", "agent", "--quiet"),
        ("night", str(FIRST + timedelta(days=7)), "--quiet"),
        ("conversations", "run", "--all-open"),
        ("rollups", "run", "--quiet"),
        ("rollups", "run", "--from", str(FIRST), "--to", str(last), "--quiet"),
        ("flush", transcript, "--project", "agent"),
        ("compact", transcript, "--project", "agent"),
        ("compact", transcript, "--project", "agent", "--aggressive"),
        ("playbook", "list"),
        ("export", "openclaw", workspace, "--project", "agent", "--contents", CONTENTS, "--dry-run"),
    ):
        done = command(*words)
        assert done.code == 0, (words, done.out, done.err)
        assert hash_of(workspace) == before, words
    names = {p.relative_to(pages_of(home / "data" / "store.duckdb", "agent")).as_posix() for p in _pages(home)}
    assert {"MEMORY.md", "USER.md", f"daily/{FIRST + timedelta(days=2)}.md", f"DailyLogs/{FIRST}.md"} <= names
    assert command("rollback", "--since", f"{last}T00:00:00Z", "--cascade").code == 0
    assert hash_of(workspace) == before


def _pages(home: Path) -> list[Path]:
    return [path for path in (home / "data" / "store.pages" / "agent").rglob("*") if path.is_file()]


def ticks_of_two_days() -> Iterator[tuple[datetime, object]]:
    """Every tick of every schedule in two days, in their order, and every sensor between them."""
    repository = defs.get_repository_def()
    ticks: list[tuple[datetime, object]] = []
    for schedule in repository.schedule_defs:
        times = schedule_execution_time_iterator(BEGIN.timestamp(), schedule.cron_schedule, schedule.execution_timezone)
        ticks += [(at, schedule) for at in takewhile(lambda at: at <= END, times)]
    for hours in range(0, 49, 12):
        ticks += [(BEGIN + timedelta(hours=hours), sensor) for sensor in repository.sensor_defs]
    return iter(sorted(ticks, key=lambda tick: (tick[0].timestamp(), tick[1].name)))  # type: ignore[attr-defined]


def test_no_schedule_and_no_sensor_changes_a_workspace(home: Path, workspace: Path, instance: DagsterInstance) -> None:
    before = hash_of(workspace)
    assert command("init", workspace, "--project", "agent", "--quiet").code == 0
    repository, cursors, started = defs.get_repository_def(), dict[str, str](), list[str]()

    def run(job: str, request: RunRequest) -> None:
        result = defs.resolve_job_def(job).execute_in_process(
            instance=instance,
            partition_key=request.partition_key,
            run_config=request.run_config,
            tags=dict(request.tags),
            raise_on_error=True,
        )
        started.append(job)
        assert hash_of(workspace) == before, (job, request.partition_key)
        follow(result.dagster_run)

    def follow(ended: DagsterRun) -> None:
        """The sensors that watch runs end, as the daemon calls them."""
        for sensor in repository.sensor_defs:
            if ended.job_name not in WATCHED.get(sensor.name, []):
                continue
            (success,) = [
                record.event_log_entry.dagster_event
                for record in instance.get_records_for_run(ended.run_id, limit=10_000).records
                if record.event_log_entry.dagster_event
                and record.event_log_entry.dagster_event.event_type_value == "PIPELINE_SUCCESS"
            ]
            context = build_run_status_sensor_context(sensor.name, success, instance, ended)
            answer = sensor(context)
            for request in (
                [answer] if isinstance(answer, RunRequest) else answer if isinstance(answer, Iterator) else []
            ):
                if isinstance(request, RunRequest):
                    run(request.job_name or sensor.job_name, request)

    for at, tick in ticks_of_two_days():
        if hasattr(tick, "cron_schedule"):
            context = build_schedule_context(instance, scheduled_execution_time=at, repository_def=repository)
            requests, job = tick.evaluate_tick(context).run_requests or [], tick.job_name
        elif isinstance(tick, RunStatusSensorDefinition):
            continue
        else:
            name = tick.name  # type: ignore[attr-defined]
            with build_sensor_context(instance, cursor=cursors.get(name), repository_def=repository) as context:
                done = tick.evaluate_tick(context)  # type: ignore[attr-defined]
            cursors[name] = done.cursor or cursors.get(name, "")
            requests, job = done.run_requests or [], None if not tick.targets else tick.targets[0].job_name  # type: ignore[attr-defined]
        for request in requests:
            run(request.job_name or job, request)
        assert hash_of(workspace) == before, tick
    assert {"night", "sum_up_days", "compact_sessions", "consolidation"} <= set(started)
    assert {path.parent.name for path in _pages(home)} >= {"DailyLogs"}
    assert Store(home / "data" / "store.duckdb").exists()
