"""The commands that run nights and show their reports: the same Dagster jobs, in this process, on the store's own
instance.

So every night is in the UI's history, whoever started it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from pydantic import Field

from memory_pipeline.config.night import EARLIEST_NIGHT
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.report import closing_line, report_run
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, MemoryPipelineError, StoreBusyError
from memory_pipeline.interfaces.cli.base import Answer, QuietOption, RecordOption, app, recording
from memory_pipeline.interfaces.cli.instances import instance_of, run_config, run_job
from memory_pipeline.interfaces.cli.output import complain, progress_printer, say
from memory_pipeline.models.choose import Waiting, describe_reader, model_reads
from memory_pipeline.moments import latest_complete_day, read_day
from memory_pipeline.reporting.model import LARGEST, Kind, Report
from memory_pipeline.reporting.pages import as_markdown, report_page
from memory_pipeline.reporting.summary import summary
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from dagster import DagsterInstance


def run_night_job(
    instance: DagsterInstance,
    settings: Settings,
    asked: NightOptions,
    progress: Callable[[str, int, int], None],
    *,
    verbose: bool = False,
) -> Report:
    """Run one night as a Dagster job and return its report; its id is that of the job's run.

    Raises StoreBusyError if another process holds the store. Any other failure is reported as FAIL, also in the store.
    """
    check_request(settings, asked)
    named = ("threshold", "days", "cluster_id", "no_cache")
    config = {name: value for name in named if (value := getattr(asked, name)) not in (None, False)}
    started = datetime.now(UTC)
    asked = replace(asked, run_id=str(uuid.uuid4()))
    try:
        result = run_job(
            instance,
            "night_preview" if asked.dry_run else "night",
            "memory-pipeline night",
            run_config(settings, "INFO" if verbose else "CRITICAL", **config),
            progress,
            run_id=asked.run_id,
            partition_key=asked.partition.isoformat(),
        )
    except StoreBusyError:  # nothing is stored of it
        raise
    except (MemoryPipelineError, KeyboardInterrupt) as error:
        if asked.dry_run:
            raise
        if isinstance(error, KeyboardInterrupt):
            _failed(settings, asked, "stopped by Ctrl-C", started)
            raise
        with Store.of(settings).reading() as tx:
            reported = tx.journal.report(asked.run_id)
        return Report.read_kept(reported) if reported else _failed(settings, asked, str(error), started)
    if asked.dry_run:
        return cast("Report", result.output_for_node("preview_night"))
    if settings.exports_of_store:
        _print_exports(result)
    return cast("Report", result.output_for_node("reports"))


def describe_readers(settings: Settings, reports: Sequence[Report]) -> str:
    """The readers of some nights together, and what waits after the last of them."""
    last = reports[-1]
    if not model_reads(settings):
        return last.read_by
    with Store.of(settings).reading() as tx:
        calls = [call for report in reports for call in tx.models.calls_of(report.run_id)]
    return describe_reader(settings, calls, Waiting(notes=last.notes_waiting, turns=last.turns_waiting))


def _print_exports(result: Any) -> None:
    """Print what became of the exports of a night, which its report does not know."""
    for event in result.get_asset_materialization_events():
        if event.asset_key is not None and event.asset_key.path == ["exports"]:
            written = event.materialization.metadata["written"].value
            if written != "none":
                say(f"Exports written: {written}.")
    for check in result.get_asset_check_evaluations():
        if check.asset_key.path == ["exports"] and not check.passed:
            complain(f"Warning: not every export was written: {check.metadata['first'].value}.")


def check_request(settings: Settings, asked: NightOptions) -> None:
    """Raises InputError for an impossible night and StoreBusyError while another one runs, before any work is done."""
    store = Store.of(settings)
    check_days(asked.partition, asked.partition)
    if not store.exists() and settings.sources_of_store and not asked.dry_run:
        with store.writing("memory-pipeline night"):
            pass  # the night's first step fills it
    with store.reading() as tx:
        holder = tx.lease.holder()
    if holder and not asked.dry_run:
        raise store.in_use_by(holder)


def check_days(first: date, last: date) -> None:
    """Raises InputError for days that cannot have a night."""
    latest = latest_complete_day(datetime.now(UTC))
    for day in (first, last):
        if not EARLIEST_NIGHT <= day <= latest:
            raise InputError(
                f"there is no night of {day}: nights run from {EARLIEST_NIGHT} to {latest}, the last day that has "
                "ended (UTC)"
            )


def _failed(settings: Settings, asked: NightOptions, why: str, started: datetime) -> Report:
    return report_run(Night(Store.of(settings), settings, asked), "night", started, fatal=why)


class NightResult(Report):
    """A night with its closing line."""

    result: str = Field(description="The closing line: COMPLETE, SKIPPED or BLOCKED.")


class BackfillResult(Document):
    """The nights of several days."""

    nights: int = Field(description="The number of nights that were run.")
    failed: tuple[str, ...] = Field(
        description="What failed: the days of nights, and weekly or monthly jobs as `JOB PARTITION`."
    )
    reports: tuple[Report, ...] = Field(description="The report of each night, in order.")
    result: str = Field(description="The closing line: COMPLETE or BLOCKED.")


@app.command(
    epilog="Examples: memory-pipeline night --dry-run --verbose; memory-pipeline night 2026-03-14 --threshold 0.85"
)
def night(
    settings: Settings,
    day: Annotated[
        str | None, typer.Argument(metavar="[DATE]", help="The day (UTC); default: the last complete day.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; write nothing to the store.")
    ] = False,
    threshold: Annotated[float | None, typer.Option(help="Similarity threshold for this run.")] = None,
    days: Annotated[int | None, typer.Option(help="Only memories of the last N days.")] = None,
    cluster_id: Annotated[str | None, typer.Option(help="Only the cluster with this id or fingerprint.")] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask the model again instead of using cached answers.")
    ] = False,
    record: RecordOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log and the whole report.")] = False,
    quiet: QuietOption = False,
) -> Answer:
    """Run one night. Exits with 0 if it is done, skipped or blocked by another run, and with 1 if it failed."""
    settings = recording(settings, record)
    partition = read_day(day, "DATE") if day else latest_complete_day(datetime.now(UTC))
    asked = NightOptions(partition, "", dry_run, threshold, days, cluster_id, no_cache)
    check_request(settings, asked)
    with instance_of(settings) as instance:
        report = run_night_job(instance, settings, asked, progress_printer(), verbose=verbose)
    line = closing_line(report)
    unknown = cluster_id is not None and report.clusters_found == report.clusters_settled and not report.errors
    if unknown:
        line = (
            f"COMPRESSION BLOCKED: no cluster of the night of {partition} has the id or fingerprint '{cluster_id}'; "
            f"'memory-pipeline night {partition} --dry-run --json' lists the {LARGEST} largest"
        )
    page = None if dry_run else report_page(settings.reports_path, report.run_id)
    body = as_markdown(report).split("\n") if verbose else [*summary(report, page), ""]
    return Answer(
        NightResult(**dict(report), result=line),
        [*body, line],
        failed=unknown or (report.verdict == "FAIL" and not dry_run),
    )


@app.command(epilog="Example: memory-pipeline backfill --from 2026-02-18 --to 2026-04-03")
def backfill(
    settings: Settings,
    from_: Annotated[str, typer.Option("--from", metavar="DATE", help="First day.")],
    to: Annotated[str, typer.Option("--to", metavar="DATE", help="Last day.")],
    record: RecordOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
    quiet: QuietOption = False,
) -> Answer:
    """Run the nights of past days in order, with the weekly and monthly steps after the last night of each period. A
    failed day does not stop the next one."""
    first, last = read_day(from_, "--from"), read_day(to, "--to")
    if last < first:
        raise InputError(f"--to {last} is before --from {first}; swap them")
    settings = recording(settings, record)
    check_days(first, last)
    reports: list[Report] = []
    failed_periods: list[str] = []
    with instance_of(settings) as instance, Store.of(settings).kept_open():
        day = first
        while day <= last:
            report = run_night_job(instance, settings, NightOptions(day, ""), lambda *_: None, verbose=verbose)
            reports.append(report)
            say(f"{day} {report.verdict:<7} {closing_line(report)}")
            for period, line in run_ended_periods(instance, settings, day).items():
                say(f"{period}: {line}")
                failed_periods += [period] if line.startswith("FAILED") else []
            day += timedelta(days=1)
    failed = [report for report in reports if report.verdict == "FAIL"]
    saved = sum(report.tokens_before - report.tokens_after for report in reports)
    archived = sum(report.memories_archived for report in reports)
    made = sum(report.abstractions_created for report in reports)
    line = f"COMPRESSION COMPLETE: {made} clusters, {archived} archived, {saved} tokens saved"
    if failed:
        line = (
            f"COMPRESSION BLOCKED: {len(failed)} of {len(reports)} nights failed, the first {failed[0].partition}; "
            f"see 'memory-pipeline report {failed[0].run_id}'"
        )
    elif failed_periods:
        line = f"COMPRESSION BLOCKED: {failed_periods[0]} failed; its run is shown by 'memory-pipeline ui'"
    nights = [str(report.partition) for report in failed]
    summary = BackfillResult(
        nights=len(reports), failed=(*nights, *failed_periods), reports=tuple(reports), result=line
    )
    return Answer(summary, [describe_readers(settings, reports), line], failed=failed or failed_periods)


@app.command(
    epilog="Examples: memory-pipeline report; memory-pipeline report 2026-03-14; memory-pipeline report 3f0c --json;"
    " memory-pipeline report --kind job"
)
def report(
    settings: Settings,
    store: Store,
    run_id: Annotated[
        str,
        typer.Argument(
            metavar="[RUN_ID|DATE|latest]",
            help="The run's id, or the start of it, or the day of a night; default: the latest of --kind.",
        ),
    ] = "latest",
    kind: Annotated[
        str,
        typer.Option(
            help="Without RUN_ID, the latest report of this kind: night, duplicates, job, review, canonical, "
            "principles, any."
        ),
    ] = "night",
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the whole report as Markdown.")] = False,
) -> Answer:
    """Show the report of a night, or of another run that archived memories: a summary, with the file of the whole."""
    if kind not in (kinds := (*get_args(Kind), "any")):
        raise InputError(f"--kind is '{kind}'; use {', '.join(kinds)}")
    with store.reading() as tx:
        named = None if run_id == "latest" else tx.journal.reported_run(run_id)
        stored = tx.journal.report(named, None if kind == "any" else kind)
        if stored is None:
            which = f"nothing of the kind '{kind}' has been reported yet; see --help"
            raise InputError(
                "no night has been reported yet; run 'memory-pipeline night'" if kind == "night" else which
            )
        loaded = Report.read_kept(stored)
        others = [f"{name} ({kind_})" for name, kind_ in tx.runs.on(str(loaded.partition)).items()]
    text = summary(loaded, report_page(settings.reports_path, loaded.run_id))
    if len(others) > 1:
        text.append(f"Runs of this day: {', '.join(others)}")
    return Answer(loaded, as_markdown(loaded) if verbose else text)


def run_ended_periods(instance: DagsterInstance, settings: Settings, day: date) -> dict[str, str]:
    """Run the steps of the week and month that end with a day; returns the outcomes, by job and partition."""
    from memory_pipeline.orchestration.jobs import PERIOD_JOBS
    from memory_pipeline.orchestration.partitions import periods_ending_with

    ended = periods_ending_with(day).items()
    jobs = ((PERIOD_JOBS[partitions].name, key) for partitions, key in ended if partitions in PERIOD_JOBS)
    return {f"{name} {key}": _outcome(instance, settings, name, key, {}) for name, key in jobs}


def run_rollups(instance: DagsterInstance, settings: Settings, last_day: date) -> dict[str, str]:
    """Sum up every day from the first memory to `last_day`, and each week, month and year of them that has ended: a run
    for each level. Returns the outcome in words, by job and span."""
    from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

    from memory_pipeline.orchestration.jobs import ROLLUP_JOBS, daily_rollups_job
    from memory_pipeline.orchestration.partitions import DAILY, first_day_of, newest_period

    begin = datetime.combine(first_day_of(settings) or last_day, datetime.min.time(), UTC).timestamp()
    results = {}
    for partitions, job in {DAILY: daily_rollups_job, **ROLLUP_JOBS}.items():
        first = partitions.get_partition_key_for_timestamp(begin)
        newest = newest_period(partitions, last_day, datetime.now(UTC))
        if newest is not None and newest >= first:
            span = {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: newest}
            results[f"{job.name} {first} to {newest}"] = _outcome(instance, settings, job.name, None, span)
    return results


def _outcome(
    instance: DagsterInstance, settings: Settings, name: str, partition: str | None, tags: Mapping[str, str]
) -> str:
    """Run a job, and say what became of it."""
    config, by = run_config(settings), "memory-pipeline backfill"
    try:
        run_job(instance, name, by, config, lambda *_: None, partition_key=partition, tags=tags)
    except MemoryPipelineError as error:
        return f"FAILED: {error}"
    return "done"
