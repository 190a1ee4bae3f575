"""The input of nights: the external sources, which Dagster observes for changes but never writes, and the asset of what
was imported from them."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.plan import waiting_in_words
from memory_pipeline.consolidation.run import STEPS, take_snapshot
from memory_pipeline.errors import InputError
from memory_pipeline.orchestration import location
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource, reporting, why_held
from memory_pipeline.orchestration.showing import Found, attributes, preview, result_of, schema_of, specs_of, unchecked
from memory_pipeline.records import Memory, SourceReading
from memory_pipeline.text.counts import how_many

#: With a larger share of rows in quarantine, a source is probably read in the wrong way.
_MOST_QUARANTINED = 0.1
_COUNTS = (
    "files", "files_read", "rows_read", "new", "changed", "gone", "quarantined", "masked", "later", "edits_later",
)  # fmt: skip
NAME = "imported_notes"
_CHECKS = {
    "sources_readable": "Every enabled source, and every file of it, can be read.",
    "rows_accepted": f"At most {_MOST_QUARANTINED:.0%} of the rows of any source that was read are in quarantine.",
}


def source_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(["sources", name])


def source_asset(source: SourceTable) -> dg.AssetsDefinition:
    """A source of the settings as an asset that is observed."""
    key = source_key(source.key)
    kinds = {"markdown" if source.format == "openclaw" else source.format, "file"}
    columns = dg.TableSchema([dg.TableColumn("entry", "str", "A line, paragraph or row, which becomes a memory.")])
    spec = dg.AssetSpec(
        key,
        description=f"The source `{source.name}`: {source.path}, read as format `{source.format}` by the first step of "
        "each night. An observation shows its files and their last change.",
        **attributes(location.SOURCES_GROUP, kinds, location.OBSERVED, columns),
    ).merge_attributes(metadata={"path": dg.MetadataValue.path(source.path)})

    def observe(night: NightResource) -> Iterator[dg.ObserveResult]:
        yield dg.ObserveResult(asset_key=key, **_observed(source, night.effective_settings()))

    decorate: Callable[[Callable[..., Any]], dg.AssetsDefinition] = dg.multi_observable_source_asset(
        specs=[spec], name=f"observe_{source.key}"
    )
    return decorate(observe)


def make_observation(name: str, settings: Settings, read: SourceReading) -> dg.AssetObservation:
    """The observation of a source by a night or an import that has looked at it, so that its page is up to date without
    a run of its own."""
    source = next(source for source in settings.sources if source.name == name)
    seen = _observed(source, settings)
    taken = {"new": read.new, "edited": read.changed, "waiting": read.later + read.edits_later}
    return dg.AssetObservation(
        source_key(source.key), metadata=seen["metadata"] | taken, tags={DATA_VERSION_TAG: seen["data_version"].value}
    )


def _observed(source: SourceTable, settings: Settings) -> dict[str, Any]:
    """The data version of a source and what the UI shows of it."""
    from memory_pipeline.ingest.candidates import Skipped
    from memory_pipeline.ingest.sources import find_files, project_of

    try:
        files = find_files(source, settings, Skipped())
    except InputError as error:
        return {"data_version": dg.DataVersion("unreadable"), "metadata": {"files": 0, "problem": str(error)}}
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file.size}\0{file.modified_ns}\n".encode("utf-8", "backslashreplace"))
    changed = datetime.fromtimestamp(max(file.modified_ns for file in files) / 1e9, UTC)
    return {
        "data_version": dg.DataVersion(digest.hexdigest()[:16]),
        "metadata": {
            "files": len(files),
            "bytes": sum(file.size for file in files),
            "last_change": dg.MetadataValue.timestamp(changed),
            "project": project_of(source),
        },
    }


@dg.multi_observable_source_asset(  # type: ignore[untyped-decorator]
    specs=[
        dg.AssetSpec(
            "memory_store",
            description="The store: every memory of the agents, active and archived, with vectors, lineage and log, in "
            "one DuckDB file. An observation shows the row counts and a hash that changes when any memory changes.",
            **attributes(location.SOURCES_GROUP, {"duckdb"}, location.OBSERVED, schema_of(Memory)),
        )
    ],
    name="observe_store",
)
def memory_store(night: NightResource) -> Iterator[dg.ObserveResult]:
    store = night.store()
    if not store.exists():
        yield dg.ObserveResult(data_version=dg.DataVersion("none"), metadata={"store": str(store.path), "active": 0})
        return
    with store.reading() as tx:
        version = tx.contents.digest()
        facts = tx.facts()
    metadata: dict[str, Any] = {"store": str(store.path), "bytes": store.path.stat().st_size, **facts}
    yield dg.ObserveResult(data_version=dg.DataVersion(version[:16]), metadata=metadata)


#: The project's own sources, whichever store a run works on: Dagster reads them when it loads the code location.
_FED = [source for source in location.LOCATION.sources if source in location.LOCATION.sources_of_store]
SOURCES: list[dg.AssetsDefinition] = [*map(source_asset, _FED), memory_store]


@location.documented(
    dg.asset,
    name=NAME,
    partitions_def=DAILY,
    deps=[*(source_key(source.key) for source in _FED), "memory_store"],
    io_manager_key=location.IO,
    output_required=False,
    check_specs=specs_of(_CHECKS, NAME),
    dagster_type=dg.PythonObjectDagsterType(list, name="SourceReadings"),
    **attributes(location.SOURCES_GROUP, {"duckdb", "markdown"}, location.NIGHTLY, schema_of(SourceReading)),
)
def imported_notes(
    context: dg.AssetExecutionContext, night: NightResource
) -> Iterator[dg.Output[list[SourceReading]] | dg.AssetCheckResult]:
    """Reads every source (`[[sources]]` in the settings) as of the night: what is dated before its end and the store
    does not have becomes a memory, masked and checked as by `import`. Unchanged files are skipped. Edited words
    supersede the old ones, and removed ones are marked. A source that cannot be read costs only itself. A snapshot of
    the store is taken first. If another run holds the store, the night is skipped."""
    tonight = night.open(context.run.run_id, context.partition_key, context.log)
    if reason := why_held(context, tonight):
        yield from (unchecked(name, reason) for name in _CHECKS)
        return
    is_night = context.job_name != location.SOURCES_JOB
    with reporting(tonight) if is_night else nullcontext():
        if is_night:
            take_snapshot(tonight)
        readings: list[SourceReading] = STEPS[NAME].run(tonight)
    if any(r.new or r.changed or r.gone or r.error or r.edits_later for r in readings):
        context.log.info(in_words(readings))
    settings = night.effective_settings()
    known = {source.name for source in settings.sources}
    for reading in readings:
        if reading.source in known:
            context.log_event(make_observation(reading.source, settings, reading))
    yield dg.Output(readings, metadata=_metadata(readings, tonight.as_of.isoformat()))
    failed = [f"{reading.source}: {reading.error}" for reading in readings if reading.error]
    refused = [
        f"{reading.source}: {reading.quarantined} of {reading.rows_read} rows"
        for reading in readings
        if reading.quarantined > _MOST_QUARANTINED * reading.rows_read
    ]
    for name, failures in zip(_CHECKS, (failed, refused), strict=True):
        yield result_of(name, Found(failures, len(readings)))


def in_words(readings: Sequence[SourceReading]) -> str:
    """The readings as one sentence."""
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
    """The edits and entries left for later nights, in words."""
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
