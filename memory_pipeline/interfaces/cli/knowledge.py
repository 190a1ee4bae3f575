"""The commands about the knowledge base and the playbook."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    ForceOption,
    JsonOption,
    StoreOption,
    app,
    check_project,
    check_target,
    open_store,
    settings_of,
)
from memory_pipeline.interfaces.cli.output import emit, progress_printer, table

playbook_app = typer.Typer(help="Guidance from patterns and principles: list, export.", no_args_is_help=True)
app.add_typer(playbook_app, name="playbook")

ProjectOption = Annotated[str | None, typer.Option("--project", help="Only guidance of this project.")]


@playbook_app.command("list", epilog="Example: memory-pipeline playbook list --project webshop --category ops")
def playbook_list(
    project: ProjectOption = None,
    category: Annotated[str | None, typer.Option("--category", help="Only guidance of this category.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Show the current guidance by category, highest confidence first."""
    from memory_pipeline.distillers import guiding_entries
    from memory_pipeline.knowledge.playbook import DescribedGuidance

    _, opened = open_store(store)
    check_project(opened, project)
    with opened.reading() as tx:
        entries = [e for e in guiding_entries(tx.playbook.read(project)) if category in (None, e.category)]
        known = {e.category for e in tx.playbook.read(project)}
    if category is not None and category not in known:
        which = ", ".join(sorted(known)) or "none"
        where = f" of project '{project}'" if project else ""
        raise InputError(f"there is no category '{category}' in the playbook{where}; it has {which}")
    shown = [DescribedGuidance.of(entry) for entry in entries]
    rows: list[dict[str, object]] = [
        {**row.as_json(), "guidance": " ".join(e.content.split())[:100], "sources": len(e.source_ids), "id": e.id[:8]}
        for row, e in zip(shown, entries, strict=True)
    ]
    columns = ["id", "project_id", "category", "confidence", "sources", "guidance"]
    emit(shown, as_json=json_, text=table(rows, columns) if rows else "The playbook is empty.")


@playbook_app.command("export", epilog="Example: memory-pipeline playbook export ./guidance --project webshop")
def playbook_export(
    directory: Annotated[Path, typer.Argument(help="The directory for the files; one per project and category.")],
    project: ProjectOption = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Write the playbook as Markdown, one file per category."""
    from memory_pipeline.night.playbook import export_playbook

    settings, opened = open_store(store)
    check_target(settings, directory)
    check_project(opened, project)
    files = [str(path) for path in export_playbook(opened, directory, project, force=force)]
    emit(files, as_json=json_, text="\n".join(files) or "The playbook is empty.")


@app.command(
    "kb-compress",
    epilog="Examples: memory-pipeline kb-compress --dry-run; memory-pipeline kb-compress --threshold 0.92",
)
def kb_compress(
    threshold: Annotated[float | None, typer.Option(help="Minimum cosine at which entries become one.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which entries would become one; write nothing.")
    ] = False,
    days: Annotated[int | None, typer.Option(help="Only entries of the last N days.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Make one canonical entry of knowledge-base entries that say the same, and archive the originals."""
    from memory_pipeline.interfaces.cli.instances import instance_of
    from memory_pipeline.interfaces.cli.nights import run_kb_job
    from memory_pipeline.night.plan import NightOptions

    settings = settings_of(store)
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
    emit(report, as_json=json_, text="\n".join([*lines, report.line]))
    if report.blocked:
        raise typer.Exit(1)
