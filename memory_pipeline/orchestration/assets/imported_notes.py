"""The night's first asset: what the sources hold, as of the night."""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    Output,
    PythonObjectDagsterType,
    asset,
)

from memory_pipeline.night.order import STEPS
from memory_pipeline.night.plan import waiting_in_words
from memory_pipeline.night.run import report_failure, take_snapshot
from memory_pipeline.orchestration.assets.sources import SOURCE_KEYS, observation_of
from memory_pipeline.orchestration.describe import preview, schema_of
from memory_pipeline.orchestration.held import unchecked, why_held
from memory_pipeline.orchestration.location import IO, NIGHTLY, OWNERS, SOURCES_GROUP, SOURCES_JOB
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.records import SourceReading
from memory_pipeline.wording.counts import how_many

#: With a larger share of rows in quarantine, a source is probably read in the wrong way.
_MOST_QUARANTINED = 0.1
_COUNTS = (
    "files", "files_read", "rows_read", "new", "changed", "gone", "quarantined", "masked", "later", "edits_later",
)  # fmt: skip
NAME = "imported_notes"
SOURCE_CHECKS = [
    AssetCheckSpec(
        "sources_readable", asset=NAME, description="Every enabled source, and every file of it, can be read."
    ),
    AssetCheckSpec(
        "rows_accepted",
        asset=NAME,
        description=f"At most {_MOST_QUARANTINED:.0%} of the rows of any source that was read are in quarantine.",
    ),
]


@asset(
    name=NAME,
    partitions_def=DAILY,
    deps=[*SOURCE_KEYS, "memory_store"],
    group_name=SOURCES_GROUP,
    owners=OWNERS,
    kinds={"duckdb", "markdown"},
    io_manager_key=IO,
    freshness_policy=NIGHTLY,
    output_required=False,
    check_specs=SOURCE_CHECKS,
    dagster_type=PythonObjectDagsterType(list, name="SourceReadings"),
    metadata={"dagster/column_schema": schema_of(SourceReading)},
    description=(
        "Reads every source (`[[sources]]` in the settings) as of the night: what is dated before its end and the "
        "store does not have becomes a memory, masked and checked as by `import`. Unchanged files are skipped. Edited "
        "words supersede the old ones, and removed ones are marked. A source that cannot be read costs only itself. A "
        "snapshot of the store is taken first. If another run holds the store, the night is skipped."
    ),
)
def imported_notes(
    context: AssetExecutionContext, night: NightResource
) -> Iterator[Output[list[SourceReading]] | AssetCheckResult]:
    tonight = night.open(context.run.run_id, context.partition_key, context.log)
    if held := why_held(context, tonight):
        yield from (unchecked(spec.name, held) for spec in SOURCE_CHECKS)
        return
    try:
        if context.job_name != SOURCES_JOB:
            take_snapshot(tonight)
        readings: list[SourceReading] = STEPS[NAME].run(tonight)
    except Exception as error:
        if context.job_name == SOURCES_JOB:
            raise
        report_failure(tonight, error, night.started_at(context.run.run_id))
        raise
    if any(r.new or r.changed or r.gone or r.error or r.edits_later for r in readings):
        context.log.info(in_words(readings))
    settings = night.effective_settings()
    known = {source.name for source in settings.sources}
    for reading in readings:
        if reading.source in known:
            context.log_event(observation_of(reading.source, settings, reading))
    yield Output(readings, metadata=_metadata(readings, tonight.as_of.isoformat()))
    yield from _checks(readings)


def in_words(readings: Sequence[SourceReading]) -> str:
    """What was read, as one sentence."""
    total = {name: sum(getattr(reading, name) for reading in readings) for name in _COUNTS}
    failed = [reading.source for reading in readings if reading.error]
    words = (
        f"{how_many(total['new'], 'new entry')}, {total['changed']:,} edited and {total['gone']:,} no longer there, in "
        f"{total['files_read']:,} of {how_many(total['files'], 'file')} of {how_many(len(readings), 'source')}"
    )
    if waits := _waiting(readings):
        words += f"; {waits}"
    return words + (f"; could not be read: {', '.join(failed)}" if failed else "")


def _waiting(readings: Sequence[SourceReading]) -> str:
    """What was left for later nights, in words."""
    nights = [reading.waits_for for reading in readings if reading.waits_for]
    edits, entries = sum(r.edits_later for r in readings), sum(r.later for r in readings)
    return waiting_in_words(edits, entries, min(nights, default=None))


def _metadata(readings: Sequence[SourceReading], as_of: str) -> dict[str, Any]:
    rows: list[dict[str, object]] = [
        {"source": r.source, "status": r.status, **{n: getattr(r, n) for n in _COUNTS}, "problem": r.error or ""}
        for r in readings
    ]
    return {
        **{name: sum(getattr(reading, name) for reading in readings) for name in _COUNTS},
        "as_of": as_of,
        "left_for_later": _waiting(readings) or "nothing",
        **preview(rows, "No source feeds this store; `memory-pipeline sources add PATH` adds one."),
    }


def _checks(readings: Sequence[SourceReading]) -> Iterator[AssetCheckResult]:
    failed = [f"{reading.source}: {reading.error}" for reading in readings if reading.error]
    refused = [
        f"{reading.source}: {reading.quarantined} of {reading.rows_read} rows"
        for reading in readings
        if reading.quarantined > _MOST_QUARANTINED * reading.rows_read
    ]
    for spec, failures in zip(SOURCE_CHECKS, (failed, refused), strict=True):
        yield AssetCheckResult(
            asset_key=AssetKey(NAME),
            check_name=spec.name,
            passed=not failures,
            severity=AssetCheckSeverity.WARN,
            metadata={
                "looked_at": len(readings),
                "failures": len(failures),
                "first": "; ".join(failures[:5]) or "none",
            },
        )
