"""The sensor of the sources: files that changed and have been quiet for a minute are imported.

What a night has read is known from the store, so that a change that was imported in any way starts nothing. The cursor
keeps the state of the files for which a run was started: one change, one run.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dagster import DefaultSensorStatus, RunRequest, SensorEvaluationContext, SkipReason, sensor

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.jobs import sources_job
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

#: How long a file must not have changed, so that nothing half written is read.
QUIET = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from what nights have read, by source and name, with their hashes, and their newest time."""

    files: Mapping[str, str]
    newest: datetime | None = None
    problems: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The same for the same files with the same bytes."""
        return hashlib.sha256(json.dumps(sorted(self.files.items())).encode()).hexdigest()[:32]


def find_changes(settings: Settings) -> Changes:
    """Compare the files of every source with what nights have read. Files that cannot be opened, and sources that
    cannot be read, start nothing; the night announces them."""
    from memory_pipeline.ingest.candidates import Skipped  # importers and masking: for a tick that has a source
    from memory_pipeline.ingest.sources import changed_files, find_files, with_known_projects

    store = Store.of(settings)
    settings = with_known_projects(settings, store)
    known = {}
    if store.exists():
        with store.reading() as tx:
            known = {source.name: tx.sources.files(source.name) for source in settings.sources_of_store}
    found: dict[str, str] = {}
    times: list[int] = []
    problems = [broken.told for broken in settings.broken_sources]
    for source in settings.sources_of_store:
        try:
            files = find_files(source, settings, Skipped())
        except MemoryPipelineError as error:
            problems.append(f"{source.name}: {error}")
            continue
        for file in changed_files(files, known.get(source.name, {}), source, settings):
            if file.digest:
                found[f"{source.name}/{file.name}"] = file.digest
                times.append(file.modified_ns)
    newest = datetime.fromtimestamp(max(times) / 1e9, UTC) if times else None
    return Changes(found, newest, tuple(problems))


@sensor(
    job=sources_job,
    minimum_interval_seconds=30,
    default_status=DefaultSensorStatus.RUNNING,
    description=(
        "Imports what is new in the sources, up to now, once their changed files have been quiet for a minute. Edits "
        "and removals wait for the night. One change starts one run."
    ),
)
def changed_sources(context: SensorEvaluationContext) -> RunRequest | SkipReason:
    settings = load_project_settings().values
    if not settings.sources_of_store and not settings.broken_sources:
        return SkipReason("no source feeds this store; 'memory-pipeline sources add PATH' adds one")
    changes = find_changes(settings)
    answer = answer_to(changes, settings, context.cursor, datetime.now(UTC))
    if isinstance(answer, RunRequest):
        context.update_cursor(changes.state)
    return answer


def answer_to(changes: Changes, settings: Settings, started: str | None, now: datetime) -> RunRequest | SkipReason:
    """A run, or why there is none. `started`: the state for which a run was started."""
    count = how_many(len(changes.files), "changed file")
    key = latest_complete_day(now).isoformat()
    if changes.newest is None:
        return SkipReason("; ".join(["nothing changed", *changes.problems]))
    if changes.newest > now - QUIET:
        return SkipReason(f"{count}, the last one less than a minute ago")
    if changes.state == started:
        return SkipReason(f"{count}, for which a run was started")
    if key not in DAILY.get_partition_keys(current_time=now):
        return SkipReason(f"{key} is before the first partition; see the setting night.first_partition")
    return RunRequest(
        run_key=f"sources-{changes.state}-{key}",
        partition_key=key,
        run_config=night_config(settings, up_to_now=True),
        tags={HOLDER_TAG: "sources sensor"},
    )
