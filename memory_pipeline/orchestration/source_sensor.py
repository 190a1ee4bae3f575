"""The sensor of the sources: files that changed and have been quiet for a minute are imported.

What a night has read is known from the store, so that a change that was imported in any way starts nothing. The cursor
keeps the hashes of changed files by size and time, and the state for which a run was started: one change, one run.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from dagster import DefaultSensorStatus, RunRequest, SensorEvaluationContext, SkipReason, sensor

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.plan import next_night, night_of
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.jobs import sources_job
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.records import SourceFile
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

if TYPE_CHECKING:  # importers and masking are loaded by a tick that has a source
    from memory_pipeline.ingest.sources import FoundFile

#: How long a file must not have changed, so that nothing half written is read.
QUIET = timedelta(minutes=1)
#: Bytes that one tick hashes; the next one goes on.
_MOST_BYTES = 200_000_000

Known = Mapping[str, Mapping[str, SourceFile]]


@dataclass
class Cursor:
    """What earlier ticks found: hashes of changed files as `[size, time, hash]`, and the state that started a run."""

    hashes: dict[str, list[int | str]] = field(default_factory=dict)
    started: str = ""

    @classmethod
    def read(cls, text: str | None) -> "Cursor":
        """The cursor as it was written; an unreadable one is empty."""
        try:
            told = json.loads(text or "{}")
            return cls(dict(told.get("hashes", {})), str(told.get("started", "")))
        except (ValueError, AttributeError, TypeError):
            return cls()

    def written(self) -> str:
        """The cursor as text."""
        return json.dumps({"hashes": self.hashes, "started": self.started}, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from what nights have read, by source and name, with their hashes, and their newest time.

    `waiting`: files that were read, and in which something is left for a night, with its time.
    """

    files: dict[str, str]
    newest: datetime | None = None
    problems: tuple[str, ...] = ()
    waiting: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """The same for the same files with the same bytes."""
        return hashlib.sha256(json.dumps(sorted(self.files.items())).encode()).hexdigest()[:32]


def find_changes(settings: Settings, known: Known, cursor: Cursor) -> Changes:
    """Compare the files of every source with what nights have read. Hashes go into the cursor. Files that cannot be
    opened, and sources that cannot be read, start nothing; the night announces them."""
    from memory_pipeline.ingest.candidates import Skipped
    from memory_pipeline.ingest.sources import changed_files, digest_of, find_files

    left = _MOST_BYTES
    hashes: dict[str, list[int | str]] = {}
    found: dict[str, str] = {}
    times: list[int] = []
    problems = [broken.told for broken in settings.broken_sources]
    waiting: dict[str, datetime] = {}

    def hashed(source: str, file: "FoundFile") -> str:
        nonlocal left
        key = f"{source}/{file.name}"
        before = cursor.hashes.get(key)
        if before and before[:2] == [file.size, file.modified_ns]:
            hashes[key] = before
        elif file.size <= left or left == _MOST_BYTES:
            left -= file.size
            hashes[key] = [file.size, file.modified_ns, digest_of(file)]
        return str(hashes[key][2]) if key in hashes else ""

    for source in settings.sources_of_store:
        try:
            files = find_files(source, settings, Skipped())
        except MemoryPipelineError as error:
            problems.append(f"{source.name}: {error}")
            continue
        mine = known.get(source.name, {})
        waiting |= {f"{source.name}/{name}": state.pending_from for name, state in mine.items() if state.pending_from}
        for file in changed_files(files, mine, source, settings, partial(hashed, source.name)):
            if file.digest:
                found[f"{source.name}/{file.name}"] = file.digest
                times.append(file.modified_ns)
    cursor.hashes = hashes
    newest = datetime.fromtimestamp(max(times) / 1e9, UTC) if times else None
    return Changes(found, newest, tuple(problems), waiting)


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
    settings, now = load_project_settings().values, datetime.now(UTC)
    if not settings.sources_of_store and not settings.broken_sources:
        return SkipReason("no source feeds this store; 'memory-pipeline sources add PATH' adds one")
    from memory_pipeline.ingest.sources import with_known_projects

    cursor = Cursor.read(context.cursor)
    changes = find_changes(with_known_projects(settings, Store.of(settings)), _known(settings), cursor)
    answer = _answer(settings, changes, cursor, now)
    if (text := cursor.written()) != context.cursor:
        context.update_cursor(text)
    return answer


def _known(settings: Settings) -> Known:
    """The files of each source as nights have read them."""
    store = Store.of(settings)
    if not store.exists():
        return {}
    with store.reading() as tx:
        return {source.name: tx.sources.files(source.name) for source in settings.sources_of_store}


def _waiting(settings: Settings, changes: Changes, now: datetime) -> list[str]:
    """What was read and is left for a night, in words."""
    if not changes.waiting:
        return []
    day = night_of(min(changes.waiting.values()), next_night(Store.of(settings), now))
    return [f"edits or later entries in {how_many(len(changes.waiting), 'file')} wait for the night of {day}"]


def _answer(settings: Settings, changes: Changes, cursor: Cursor, now: datetime) -> RunRequest | SkipReason:
    """A run, or why there is none. The cursor notes the state that starts one."""
    count = how_many(len(changes.files), "changed file")
    key = latest_complete_day(now).isoformat()
    if changes.newest is None:
        return SkipReason("; ".join(["nothing changed", *_waiting(settings, changes, now), *changes.problems]))
    if changes.newest > now - QUIET:
        return SkipReason(f"{count}, the last one less than a minute ago")
    if changes.state == cursor.started:
        return SkipReason(f"{count}, for which a run was started")
    if key not in DAILY.get_partition_keys(current_time=now):
        return SkipReason(f"{key} is before the first partition")
    cursor.started = changes.state
    return RunRequest(
        run_key=f"sources-{changes.state}-{key}",
        partition_key=key,
        run_config=night_config(settings, up_to_now=True),
        tags={HOLDER_TAG: "sources sensor"},
    )
