"""The commands about the knowledge base, the playbook and series."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    ForceOption,
    OnlyProjectOption,
    app,
    check_target,
    group,
)
from memory_pipeline.interfaces.cli.output import progress_printer, terminal_width
from memory_pipeline.interfaces.cli.results import ExportedReadings
from memory_pipeline.reporting.summary import Heading
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from memory_pipeline.text.guidance import DescribedGuidance

series_app = group("series", "Lines that differ only in values: list, show and export their readings.")
playbook_app = group("playbook", "Guidance from patterns and principles: list.")


@playbook_app.command("list", epilog="Example: memory-pipeline playbook list --project webshop --category ops")
def playbook_list(
    store: Store,
    project: OnlyProjectOption = None,
    category: Annotated[str | None, typer.Option("--category", help="Only guidance of this category.")] = None,
) -> Answer:
    """Show the current guidance by category, highest confidence first."""
    from memory_pipeline.text.guidance import DescribedGuidance
    from memory_pipeline.text.orders import guiding_entries

    with store.reading() as tx:
        entries = [e for e in guiding_entries(tx.playbook.read(project)) if category in (None, e.category)]
        known = {e.category for e in tx.playbook.read(project)}
    if category is not None and category not in known:
        which = ", ".join(sorted(known)) or "none"
        where = f" of project '{project}'" if project else ""
        raise InputError(f"there is no category '{category}' in the playbook{where}; it has {which}")
    shown = [DescribedGuidance.of(entry) for entry in entries]
    return Answer(shown, "\n".join(_playbook_lines(shown)) or "The playbook is empty.")


def _playbook_lines(shown: Sequence[DescribedGuidance]) -> Iterator[str]:
    """The guidance whole, under its project and category."""
    above = ""
    for one in shown:
        title = f"{one.project_id}: {one.category}"
        if title != above:
            yield from ["", Heading(title)] if above else [Heading(title)]
            above = title
        text = f"{' '.join(one.content.split())} ({one.id[:8]})"
        before, width = f"  {one.confidence:.2f}  ", terminal_width()
        yield from (
            textwrap.wrap(text, width, initial_indent=before, subsequent_indent=" " * 8) if width else [before + text]
        )


@app.command(
    "kb-compress",
    epilog="Examples: memory-pipeline kb-compress --dry-run; memory-pipeline kb-compress --threshold 0.92",
)
def kb_compress(
    settings: Settings,
    threshold: Annotated[float | None, typer.Option(help="Minimum cosine at which entries become one.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which entries would become one; write nothing.")
    ] = False,
    days: Annotated[int | None, typer.Option(help="Only entries of the last N days.")] = None,
) -> Answer:
    """Make one canonical entry of knowledge-base entries that say the same, and archive the originals."""
    from memory_pipeline.consolidation.plan import NightOptions
    from memory_pipeline.interfaces.cli.instances import instance_of
    from memory_pipeline.interfaces.cli.nights import run_kb_job

    options = {"threshold": threshold, "days": days, "dry_run": dry_run}
    NightOptions(datetime.now(UTC).date(), "check", threshold=threshold, days=days)  # refuse before doing any work
    with instance_of(settings) as instance:
        report = run_kb_job(instance, settings, options, progress_printer())
    lines = [f"{cluster.size} entries: {cluster.topic}" for cluster in report.clusters_created]
    lines += [f"Left alone: {case.reason}" for case in report.left_alone]
    if "found 0)" in report.line:
        lines.append(
            "An entry is a memory with the lines 'Title:' and 'Recommendation:'; with the setting "
            "knowledge_base.memory_types, all memories of some types are entries."
        )
    lines += [f"Report: {report.report_file}"] if report.report_file else []
    lines += [f"The store reports: {report.blocked}"] if report.blocked else []
    return Answer(report, "\n".join([*lines, report.line]), failed=report.blocked)


@series_app.command("list", epilog="Example: memory-pipeline series list --project webshop")
def series_list(store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the series memories: what each says, and how many readings it stands for."""
    from memory_pipeline.recall.series import list_series

    with store.reading() as tx:
        found = list_series(tx, project)
    lines = [f"{one.id[:8]}  {one.project_id}  {one.readings} readings  {one.content}" for one in found]
    return Answer(found, "\n".join(lines) or "No series.")


@series_app.command("show", epilog="Example: memory-pipeline series show 3f2a9c1e")
def series_show(
    store: Store,
    series_id: Annotated[str, typer.Argument(metavar="id", help="The series memory, or the start of its id.")],
) -> Answer:
    """Show a series: what it says, each figure over time, and every reading."""
    from memory_pipeline.recall.series import series_text, show_series

    with store.reading() as tx:
        shown = show_series(tx, series_id)
    return Answer(shown, series_text(shown))


@series_app.command("export", epilog="Example: memory-pipeline series export csv readings.csv")
def series_export(
    settings: Settings,
    store: Store,
    format_: Annotated[str, typer.Argument(metavar="format", help="`csv`, `json` or `parquet`.")],
    path: Annotated[Path, typer.Argument(metavar="path", help="The file to write.")],
    series: Annotated[
        list[str] | None, typer.Option("--id", help="Only this series (or the start of its id); may be repeated.")
    ] = None,
    force: ForceOption = False,
) -> Answer:
    """Write every value of every reading as a row to a file."""
    from memory_pipeline.recall.series import export_series

    check_target(settings, path, force=force)
    count = export_series(store, format_, path, series or (), force=force)
    result = ExportedReadings(exported=count, path=str(path))
    return Answer(result, f"{count} values exported to {path}.")
