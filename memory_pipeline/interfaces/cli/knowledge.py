"""The commands about what is made of patterns and entries: the knowledge base, the playbook."""

from __future__ import annotations

from dataclasses import asdict
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

ProjectOption = Annotated[str | None, typer.Option("--project", help="Of this project alone.")]


@playbook_app.command("list", epilog="Example: memory-pipeline playbook list --project webshop --category ops")
def playbook_list(
    project: ProjectOption = None,
    category: Annotated[str | None, typer.Option("--category", help="Of this category alone.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Show the guidance that stands, by category, the surest first."""

    _, opened = open_store(store)
    check_project(opened, project)
    with opened.reading() as tx:
        entries = [e for e in tx.playbook.read(project) if category in (None, e.category)]
        known = {e.category for e in tx.playbook.read(project)}
    if category is not None and category not in known:
        which = ", ".join(sorted(known)) or "none"
        raise InputError(f"there is no category '{category}' in the playbook; it has {which}")
    shown = [asdict(entry) for entry in entries]
    rows: list[dict[str, object]] = [
        {**row, "guidance": " ".join(e.content.split())[:100], "sources": len(e.source_ids), "id": e.id[:8]}
        for row, e in zip(shown, entries, strict=True)
    ]
    columns = ["id", "project_id", "category", "confidence", "sources", "guidance"]
    emit(shown, as_json=json_, text=table(rows, columns) if rows else "The playbook is empty.")


@playbook_app.command("export", epilog="Example: memory-pipeline playbook export playbook --project webshop")
def playbook_export(
    directory: Annotated[Path, typer.Argument(help="Where the files go; one a project and category.")],
    project: ProjectOption = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Write the playbook as Markdown, one file a category."""
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
    threshold: Annotated[float | None, typer.Option(help="Cosine at or above which entries become one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would become one; write nothing.")] = False,
    days: Annotated[int | None, typer.Option(help="Only entries of the last N days.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Make one canonical entry of knowledge-base entries that say the same, and archive the originals."""
    from memory_pipeline.interfaces.cli.nights import instance_of, run_kb_job
    from memory_pipeline.night.plan import NightOptions

    settings = settings_of(store)
    options = {"threshold": threshold, "days": days, "dry_run": dry_run}
    NightOptions(datetime.now(UTC).date(), "check", threshold=threshold, days=days)  # refused before any work is done
    with instance_of(settings) as instance:
        report = run_kb_job(instance, settings, options, progress_printer())
    lines = [f"{c['size']} entries: {c['topic']}" for c in report.get("clusters_created", [])]
    lines += [f"Left alone: {case['reason']}" for case in report.get("left_alone", [])]
    if "found 0)" in report["line"]:
        lines.append(
            "An entry is a memory with the lines 'Title:' and 'Recommendation:'; the setting "
            "knowledge_base.memory_types makes entries of whole types."
        )
    lines += [f"Report: {report['report_file']}"] if "report_file" in report else []
    lines += [f"The store says: {report['blocked']}"] if "blocked" in report else []
    emit(report, as_json=json_, text="\n".join([*lines, report["line"]]))
    if "blocked" in report:
        raise typer.Exit(1)
