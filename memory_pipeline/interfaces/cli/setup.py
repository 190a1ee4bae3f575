"""The commands that fill a store: `demo`, `init` and `import`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import import_source
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.report import closing_line
from memory_pipeline.consolidation.source_checks import list_not_taken
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.ingest import formats
from memory_pipeline.ingest.candidates import ImportSummary, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.interfaces.cli.base import Answer, NamesOption, QuietOption, StoreOption, app, settings_of
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.interfaces.cli.nights import run_ended_periods, run_night_job, run_rollups
from memory_pipeline.interfaces.cli.output import complain, progress_printer, say
from memory_pipeline.interfaces.cli.settings import save_table
from memory_pipeline.interfaces.cli.sources import new_source
from memory_pipeline.models.check import find_models
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.home import config_file, load_project_settings, project_home
from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.summary import Heading, summary
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.redaction import redact

_MOST_PROJECTS = 12
Progress = Callable[[str, int, int], None]


class InitResult(Document):
    """A workspace that was imported, and the preview of a night."""

    import_: ImportSummary = Field(alias="import", description="The result of the import.")
    preview: Report = Field(description="The report of the preview; nothing was archived.")


def import_into(
    settings: Settings, store: Store, name: str, path: Path, project: str | None, tz: str | None, progress: Progress
) -> ImportSummary:
    """Import a path. The project defaults to the workspace's name, or to `default` for files."""
    default_zone = zone(settings.import_.timezone if tz is None else tz)
    if project is not None and not project.strip():
        raise InputError("--project is empty; name the project, or leave the option out")
    now = datetime.now(UTC)
    skipped = Skipped()
    reading = formats.read_format(name, path, default_zone, now, settings, skipped)
    summary = import_memories(
        store,
        reading,
        project=project or formats.importer_of(name).default_project(path),
        embedder=choose_embedder(settings),
        now=now,
        mask=settings.import_.redact,
        progress=progress,
        critical_floor=settings.compression.critical_floor,
    )
    summary.note_skipped(skipped)
    return summary


def named_or_recognised(
    settings: Settings, name: str, path: Path | None, command: str = "memory-pipeline import {format} {path}"
) -> tuple[str, Path]:
    """The format and the real place of what is imported; `auto` is replaced by what the content shows, which is
    said. Without a path it is where the format usually is. `command`: how a format is named, for the errors."""
    if path is None:
        path = None if name == formats.AUTO else formats.importer_of(name).default_path(settings)
    if path is None:
        raise InputError(f"name the path to import: 'memory-pipeline import {name} PATH'")
    place = Path(os.path.expanduser(path))  # noqa: PTH111 - never raises
    if name != formats.AUTO:
        return name, place
    recognised = formats.the_format_of(place, command)
    say(f"'{path}' is read as {recognised.importer.name}: it has {recognised.evidence}.")
    return recognised.importer.name, place


def choose_place() -> Path:
    """The only usual place that holds memories, which is said. Raises InputError if there is none, or if there are
    several, which are printed with the command for each."""
    places = formats.find_places(os.environ, Path.home(), Path.cwd())
    descriptions = [f"{place.path} ({place.format}, {how_many(place.files, 'file')})" for place in places]
    if len(places) == 1:
        say(f"Found {descriptions[0]}: it has {places[0].evidence}.")
        return places[0].path
    if not places:
        usual = ", ".join(f"~/{name}" for name, _ in formats.USUAL_PLACES)
        raise InputError(
            f"no memories were found in the usual places ({usual}, {formats.BRAIN}, the current directory); give the "
            "path of a workspace, or see what the program can do with 'memory-pipeline demo'"
        )
    for place, words in zip(places, descriptions, strict=True):
        complain(f"Found {words}\n  memory-pipeline init {shlex.quote(str(place.path))}")
    raise InputError("memories were found in several places; choose one by its path, with a command above")


def import_text(summary: ImportSummary, *, verbose: bool = False) -> str:
    """The summary of an import as text; with `verbose`, every file that gave nothing is named."""
    versions = f", {summary.new_versions} of them as new versions" if summary.new_versions else ""
    lines = [
        f"Read {summary.read} entries: {summary.imported} imported{versions}; {summary.unchanged} known already, "
        f"{summary.quarantined} quarantined."
    ]
    if summary.projects:
        into = (f"{name} ({count:,})" for name, count in summary.projects.most_common(_MOST_PROJECTS))
        more = len(summary.projects) - _MOST_PROJECTS
        names = ", ".join(into) + (f" and {how_many(more, 'other')}" if more > 0 else "")
        lines.append(f"{'Projects' if len(summary.projects) > 1 else 'Project'}: {names}.")
    if summary.replaced:
        lines.append(f"Archived, because their id has other words now: {summary.replaced}.")
    if summary.expired:
        lines.append(f"Archived, because their time is over in the source: {summary.expired}; searches find them.")
    if summary.dates:
        words = {"exact": "exact", "date": "day only", "mtime": "file time", "import": "import time"}
        lines.append("Dates: " + ", ".join(f"{n} {words.get(q, q)}" for q, n in sorted(summary.dates.items())) + ".")
    lines += [*list_not_taken(summary, 20, verbose=verbose), *summary.notes]
    if summary.embedding_error:
        lines.append(f"Not embedded yet: {summary.embedding_error}.")
    return "\n".join(lines)


def nothing_was_read(summary: ImportSummary, name: str, path: Path) -> str | None:
    """The error of an import that could not read a single row, with a guess at the cause."""
    if not summary.quarantined or summary.quarantined < summary.read:
        return None
    masked, guess = redact(str(path))[0], formats.looks_like(path, name)
    return f"not one row of '{masked}' could be imported; the reasons are above{guess}"


def _choose_source(settings: Settings, root: Path, project: str | None, tz: str | None) -> SourceTable:
    """The workspace as a source of the store: the one in the settings, with what is given now, or a new one."""
    if project is not None and not project.strip():
        raise InputError("--project is empty; name the project, or leave the option out")
    for source in settings.sources_of_store:
        if Path(source.path) == root:
            given = {"project": project or source.project, "timezone": tz or source.timezone}
            return source.model_copy(update=given)
    return new_source(
        load_project_settings().values, root, project=project, store=Path(settings.store.path), timezone=tz or ""
    )


def _relative(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _command() -> str:
    """The command that the user can type to run this program."""
    script = Path(sys.argv[0])
    return _relative(script.absolute()) if script.name == "memory-pipeline" else "memory-pipeline"


@app.command(epilog="Example: memory-pipeline demo")
def demo(quiet: QuietOption = False, store: StoreOption = None) -> Answer:
    """Run the last seven nights of the demo workspace, and score the results against the truth file."""
    from memory_pipeline.demo import scoring
    from memory_pipeline.demo.generate import LAST_DAY
    from memory_pipeline.demo.workspace import import_demo, last_nights, recorded_answers

    path = store or project_home() / "data" / "demo" / "store.duckdb"
    # Free of charge, even with an API key, and of nobody's own notes.
    answers = recorded_answers()
    reader = {"model.provider": "recorded", "model.answers": str(answers)} if answers else {"model.provider": "none"}
    settings = settings_of(path).with_values({**reader, "sources": (), "exports": ()})
    opened = Store.of(settings)
    say("Importing the demo workspace ...")
    say(import_text(import_demo(opened, settings, progress_printer())))
    before = scoring.measure(opened, settings)
    plain = None
    if answers:
        say("Seven nights without a model, on a copy ...")
        plain = scoring.score_without_model(opened, settings, before)
        say("The same nights with the recorded answers of a model, through Dagster:")
    with instance_of(settings) as instance, opened.kept_open():
        for day in last_nights():
            report = run_night_job(instance, settings, NightOptions(day, ""), lambda *_: None)
            say(f"Night of {day}: {report.verdict}, {closing_line(report)}")
            for period, line in run_ended_periods(instance, settings, day).items():
                say(f"{period}: {line}")
        for level, line in run_rollups(instance, settings, LAST_DAY).items():
            say(f"{level}: {line}")
    report_file = settings.reports_path / f"compression-{report.run_id}.html"
    card = scoring.score(opened, settings, before)
    read = card if answers else None
    result = scoring.DemoResult(without_model=plain or card, with_model=read, report=str(report_file))
    relative = _relative(Path(settings.store.path))
    text = (
        f"{scoring.as_text(result)}\n\n"
        f"Report of the last night: {report_file}\n"
        f"See these nights in Dagster: {_command()} ui --store {relative}\n"
        f"Then your own memories:      {_command()} init PATH/TO/WORKSPACE"
    )
    return Answer(result, text)


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
    root = real_path(place or choose_place(), "the path")
    if not root.exists():
        raise InputError(f"'{place}' does not exist; check the path, or leave it out to search the usual places")
    source = _choose_source(settings, root, project, tz)
    brought = import_source(store, settings, source, progress_printer())
    say(import_text(brought, verbose=verbose))
    config = config_file()
    if all(known.name != source.name for known in settings.sources):
        config = save_table(source)
    with instance_of(settings) as instance:
        from memory_pipeline.orchestration.partitions import first_day_of

        request = NightOptions(latest_complete_day(datetime.now(UTC)), "", dry_run=True)
        report = run_night_job(instance, settings, request, progress_printer())
    readers = [] if has_model(settings) else find_models(settings)
    first = first_day_of(settings) or request.partition
    with store.reading() as tx:
        moment = tx.contents.last_noted()
    last = min(request.partition, max(first, moment.date() + timedelta(days=1))) if moment else request.partition
    is_named = store.path.absolute() != Path(load_project_settings().values.store.path).absolute()
    beside = f" --store {_relative(store.path)}" if is_named else ""
    text = [
        *summary(report),
        "",
        *(
            [Heading("Who could read"), *(f"  {model.choose:<60}  {model.what}" for model in readers), ""]
            if readers
            else []
        ),
        Heading("Next"),
        f"  Source '{source.name}' is in {config}; every night reads it first.",
        *(
            f"  {f'memory-pipeline {command}{beside}' if command else '':<60}  {what}"
            for command, what in (
                ("night --dry-run --verbose", "the whole preview"),
                ("night", f"run it; one night takes all up to {request.partition}"),
                (f"backfill --from {first} --to {last}", "first: a night for each day so far,"),
                ("", f"{(last - first).days + 1:,} of them, of some seconds each"),
                ("ui", "see it in Dagster, which runs a night at 03:30"),
                ("", "New York time"),
            )
        ),
        "",
        closing_line(report),
    ]
    return Answer(InitResult(import_=brought, preview=report), text)


@app.command(
    "import",
    epilog="Examples: memory-pipeline import auto ~/exports/memories.jsonl; "
    "memory-pipeline import jsonl memories.jsonl --project webshop --tz Europe/Berlin",
)
def import_(
    settings: Settings,
    store: Store,
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"auto (told by the content), or {', '.join(formats.IMPORTERS)}.")
    ],
    path: Annotated[
        Path | None, typer.Argument(help="A directory, or a file; brain has a default, connectors.brain.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project of memories that name none.")] = None,
    tz: Annotated[str | None, typer.Option(metavar="ZONE", help="Time zone of times that name none.")] = None,
    verbose: NamesOption = False,
    quiet: QuietOption = False,
) -> Answer:
    """Import memories into the store. Importing the same input again changes nothing."""
    format_, path = named_or_recognised(settings, format_, path)
    summary = import_into(settings, store, format_, path, project, tz, progress_printer())
    problem = nothing_was_read(summary, format_, path)
    text = import_text(summary, verbose=verbose)
    return Answer(summary, text, failed=InputError(problem) if problem else False)
