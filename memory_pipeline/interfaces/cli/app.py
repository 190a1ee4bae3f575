"""The main commands. Each reads its settings, calls one domain function, and prints the result."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast, get_args

import pyarrow as pa
import typer
from typer.core import TyperArgument, TyperCommand

from memory_pipeline import __version__
from memory_pipeline.config.exports import CONTENTS, EXPORT_FORMATS
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    ForceOption,
    JsonOption,
    NamesOption,
    QuietOption,
    RecordOption,
    StoreOption,
    app,
    check_target,
    recording,
    settings_of,
)
from memory_pipeline.interfaces.cli.failures import guarded
from memory_pipeline.interfaces.cli.output import emit, prepare_streams, progress_printer, say
from memory_pipeline.moments import read_day
from memory_pipeline.orchestration.home import project_home
from memory_pipeline.processes import end_process
from memory_pipeline.store import Store


def main() -> NoReturn:
    """Run the command line and end the process. An error that a user can fix gives one sentence and a non-zero exit
    code."""
    from memory_pipeline.store import settle_stores

    prepare_streams()
    _spare_pandas()
    arguments = sys.argv[1:]
    code = guarded(lambda: app(arguments, prog_name="memory-pipeline"), arguments)
    settle_stores(quietly=code != 0)
    end_process(code)


def _spare_pandas() -> None:
    """Arrow imports pandas, in a third of a second, to recognise its objects; the command line has none."""
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _WithoutPandas())
        try:
            pa.scalar(None)  # Arrow looks for pandas once
        finally:
            del sys.meta_path[0]


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command(epilog="Example: memory-pipeline demo")
def demo(quiet: QuietOption = False, store: StoreOption = None) -> Answer:
    """Run the last seven nights of the demo workspace, and score the results against the truth file."""
    from memory_pipeline.interfaces.cli.setup import run_demo

    path = store or project_home() / "data" / "demo" / "store.duckdb"
    card, text = run_demo(settings_of(path), say, progress_printer())
    return Answer(card, text)


@app.command(epilog="Examples: memory-pipeline init; memory-pipeline init ~/.openclaw/workspace --tz Europe/Lisbon")
def init(
    settings: Settings,
    store: Store,
    place: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="A workspace, or another directory or file with memories (default: the usual place that has some).",
        ),
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="Project of the memories (default: the directory's name).")
    ] = None,
    tz: Annotated[str | None, typer.Option(help="Time zone of times that name none.")] = None,
    verbose: NamesOption = False,
    quiet: QuietOption = False,
) -> Answer:
    """Import your own workspace and preview a night: its figures and the largest clusters. The preview archives
    nothing. Without a path, the usual places of agents are searched; if there are several, choose one by its path."""
    from memory_pipeline.interfaces.cli.setup import initialise

    report, text = initialise(settings, store, place, project, tz, say, progress_printer(), verbose=verbose)
    return Answer(report, text)


class _ImportCommand(TyperCommand):
    """Adds the formats to its help. They are loaded only then, because loading them takes a while."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from memory_pipeline.ingest import IMPORTERS

        (argument,) = (parameter for parameter in self.params if parameter.name == "format_")
        *names, last = IMPORTERS
        cast(TyperArgument, argument).help = f"auto (told by the content), {', '.join(names)} or {last}."
        super().format_help(ctx, formatter)


@app.command(
    "import",
    cls=_ImportCommand,
    epilog="Examples: memory-pipeline import auto ~/exports/memories.jsonl; "
    "memory-pipeline import jsonl memories.jsonl --project webshop --tz Europe/Berlin",
)
def import_(
    settings: Settings,
    store: Store,
    format_: Annotated[str, typer.Argument(metavar="FORMAT")],
    path: Annotated[
        Path | None,
        typer.Argument(help="A directory, or a file; brain has a default, connectors.brain."),
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project of memories that name none.")] = None,
    tz: Annotated[str | None, typer.Option(metavar="ZONE", help="Time zone of times that name none.")] = None,
    verbose: NamesOption = False,
    quiet: QuietOption = False,
) -> Answer:
    """Import memories into the store. Importing the same input again changes nothing."""
    from memory_pipeline.interfaces.cli.setup import import_into, import_text, named_or_recognised, nothing_was_read

    format_, path = named_or_recognised(settings, format_, path, say)
    summary = import_into(settings, store, format_, path, project, tz, progress_printer())
    problem = nothing_was_read(summary, format_, path)
    text = import_text(summary, verbose=verbose)
    return Answer(summary.as_report(), text, failed=InputError(problem) if problem else False)


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
    from memory_pipeline.consolidation.report import closing_line
    from memory_pipeline.interfaces.cli.instances import instance_of
    from memory_pipeline.interfaces.cli.nights import NightRequest, check_request, run_night_job
    from memory_pipeline.interfaces.cli.results import NightResult
    from memory_pipeline.moments import latest_complete_day
    from memory_pipeline.reporting.files import report_page
    from memory_pipeline.reporting.model import LARGEST
    from memory_pipeline.reporting.pages import as_markdown
    from memory_pipeline.reporting.summary import summary

    settings = recording(settings, record)
    partition = read_day(day, "DATE") if day else latest_complete_day(datetime.now(UTC))
    request = NightRequest(partition, dry_run, threshold, days, cluster_id, no_cache, verbose)
    check_request(settings, request)
    with instance_of(settings) as instance:
        report = run_night_job(instance, settings, request, progress_printer())
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
    from memory_pipeline.consolidation.report import Report, closing_line
    from memory_pipeline.interfaces.cli.instances import instance_of
    from memory_pipeline.interfaces.cli.nights import NightRequest, check_days, reader_of_all, run_night_job
    from memory_pipeline.interfaces.cli.results import BackfillResult
    from memory_pipeline.interfaces.cli.rollups import run_ended_periods
    from memory_pipeline.store import Store

    first, last = read_day(from_, "--from"), read_day(to, "--to")
    if last < first:
        raise InputError(f"--to {last} is before --from {first}; swap them")
    settings = recording(settings, record)
    check_days(settings, first, last)
    reports: list[Report] = []
    failed_periods: list[str] = []
    with instance_of(settings) as instance, Store.of(settings).kept_open():
        day = first
        while day <= last:
            report = run_night_job(instance, settings, NightRequest(day, verbose=verbose), lambda *_: None)
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
    return Answer(summary, [reader_of_all(settings, reports), line], failed=failed or failed_periods)


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
    from memory_pipeline.consolidation.report import Kind, Report
    from memory_pipeline.reporting.files import report_page
    from memory_pipeline.reporting.pages import as_markdown
    from memory_pipeline.reporting.summary import summary

    if kind not in (kinds := (*get_args(Kind), "any")):
        raise InputError(f"--kind is '{kind}'; use {', '.join(kinds)}")
    with store.reading() as tx:
        named = None if run_id == "latest" else tx.journal.reported_run(run_id)
        kept = tx.journal.report(named, None if kind == "any" else kind)
    if kept is None:
        which = "no night has been reported yet; run 'memory-pipeline night'"
        raise InputError(
            which if kind == "night" else f"nothing of the kind '{kind}' has been reported yet; see --help"
        )
    found = Report.read_kept(kept)
    with store.reading() as tx:
        others = [f"{name} ({kind_})" for name, kind_ in tx.runs.on(str(found.partition)).items()]
    page = report_page(settings.reports_path, found.run_id)
    text = summary(found, page)
    if len(others) > 1:
        text.append(f"Runs of this day: {', '.join(others)}")
    return Answer(found, as_markdown(found) if verbose else text, sort_keys=True)


@app.command(
    epilog="Examples: memory-pipeline export openclaw ~/.openclaw/workspace; memory-pipeline export obsidian ~/vault "
    "--project webshop; memory-pipeline export jsonl active.jsonl; memory-pipeline export parquet all.parquet --all"
)
def export(
    settings: Settings,
    store: Store,
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="jsonl, parquet, openclaw, claude-code or obsidian.")
    ],
    path: Annotated[Path, typer.Argument(help="The file to write, or the directory.")],
    all_: Annotated[
        bool,
        typer.Option(
            "--all", help="jsonl and parquet: export everything in the store, so that an import gives the same store."
        ),
    ] = False,
    project: Annotated[str | None, typer.Option(help="The project, where the store has several.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="openclaw: the most tokens in MEMORY.md (default: setting export.budget_tokens).", min=200),
    ] = None,
    contents: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"openclaw: what is written, of {', '.join(CONTENTS)}.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what each file of a directory would have; write nothing.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show the lines that differ, file by file.")] = False,
    force: ForceOption = False,
) -> Answer:
    """Write the active memories, or everything, to a file; or one project to a directory for an agent or a person."""
    from memory_pipeline.interfaces.cli.exports import check_options, export_once, exported_text

    chosen = check_options(format_, all_, project, budget, contents)
    if (dry_run or diff) and format_ in EXPORT_FORMATS:
        raise InputError("--dry-run and --diff are for directories; leave them out")
    check_target(settings, path, force=force and not path.is_dir())
    done = export_once(
        settings,
        store,
        format_,
        path,
        everything=all_,
        project=project,
        budget=budget,
        contents=chosen,
        force=force,
        preview=dry_run,
        with_diff=diff,
    )
    return Answer(done, exported_text(done))


@app.command(epilog="Examples: memory-pipeline check; memory-pipeline check --deep")
def check(
    store: Store,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also recompute ratios, sources, replacements and the audit log.")
    ] = False,
) -> Answer:
    """Check the store: blocks, links, hashes of sources, vectors, log and audit trail. Exits with 1 if something is
    wrong."""
    from memory_pipeline.consolidation.gates import levels_that_lack, unreadable_drafts
    from memory_pipeline.interfaces.cli.results import CheckResult

    if store.exists():
        store.verify()
    with store.reading() as tx:
        findings, facts = tx.integrity.check(deep=deep, facts=deep), tx.contents.facts()
        digest, active = tx.contents.digest(), tx.contents.digest(active_only=True)
        doubts = [*levels_that_lack(tx), *unreadable_drafts(tx)] if deep else []
    lines = [f"{f.rule}: {f.where}: {f.problem}. To fix: {f.mend}." for f in findings]
    lines += [f"Warning: {f.rule}: {f.where} {f.problem}. To fix: {f.mend}." for f in doubts]
    summary = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in facts.items())
    hashes = f"hash of the active memories {active[:16]}, of all with archived and retired ones {digest[:16]}"
    lines.append(f"{'NOT SOUND' if findings else 'SOUND'}: {summary}; {hashes}")
    found = CheckResult(
        **facts, sound=not findings, findings=tuple(findings), warnings=tuple(doubts), active_hash=active, hash=digest
    )
    return Answer(found, "\n".join(lines), failed=findings)


@app.command(epilog="Example: memory-pipeline ui --port 3000")
def ui(
    settings: Settings,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    json_: JsonOption = False,
) -> None:
    """Start the Dagster UI, its daemon and the code location on a store; Ctrl-C stops them."""
    from memory_pipeline.interfaces.cli.instances import check_address, start_ui, what_is_missing
    from memory_pipeline.interfaces.cli.results import UiAddress

    check_address(host, port)
    if (missing := what_is_missing(settings)) is not None:
        say(missing)
    emit(
        UiAddress(url=f"http://{host}:{port}"),
        as_json=json_,
        text=f"Dagster UI at http://{host}:{port} (Ctrl-C stops it)",
    )
    sys.stdout.flush()
    start_ui(settings, host, port)
