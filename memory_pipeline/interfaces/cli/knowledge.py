"""The commands about the knowledge base, the playbook, series and causal atoms."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    ExportedFile,
    ForceOption,
    OnlyProjectOption,
    app,
    check_target,
    group,
)
from memory_pipeline.interfaces.cli.instances import instance_of, run_config, run_job
from memory_pipeline.interfaces.cli.output import progress_printer, terminal_width
from memory_pipeline.interfaces.cli.recall import ProjectOption, opened_memory
from memory_pipeline.recall.atoms import DescribedAtom
from memory_pipeline.recall.series import export_series, list_series, series_text, show_series
from memory_pipeline.records import Causal
from memory_pipeline.reporting.summary import Heading
from memory_pipeline.store import Store
from memory_pipeline.store.runs import KB_ACTOR
from memory_pipeline.text.guidance import DescribedGuidance
from memory_pipeline.text.steering import guiding_entries

series_app = group("series", "Lines that differ only in values: list, show and export their readings.")
playbook_app = group("playbook", "Guidance from patterns and principles: list.")


@playbook_app.command("list", epilog="Example: memory-pipeline playbook list --project webshop --category ops")
def playbook_list(
    store: Store,
    project: OnlyProjectOption = None,
    category: Annotated[str | None, typer.Option("--category", help="Only guidance of this category.")] = None,
) -> Answer:
    """Show the current guidance by category, highest confidence first."""
    with store.reading() as tx:
        entries = [e for e in guiding_entries(tx.playbook.read(project)) if category in (None, e.category)]
        known = {e.category for e in tx.playbook.read(project)}
    if category is not None and category not in known:
        which = ", ".join(sorted(known)) or "none"
        where = f" of project '{project}'" if project else ""
        raise InputError(f"there is no category '{category}' in the playbook{where}; it has {which}")
    guidance = [DescribedGuidance.model_validate(entry, from_attributes=True) for entry in entries]
    return Answer(guidance, "\n".join(_playbook_lines(guidance)) or "The playbook is empty.")


def _playbook_lines(guidance: Sequence[DescribedGuidance]) -> Iterator[str]:
    """The guidance whole, under its project and category."""
    above = ""
    for entry in guidance:
        title = f"{entry.project_id}: {entry.category}"
        if title != above:
            yield from ["", Heading(title)] if above else [Heading(title)]
            above = title
        text = f"{' '.join(entry.content.split())} ({entry.id[:8]})"
        before, width = f"  {entry.confidence:.2f}  ", terminal_width()
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
    NightOptions(datetime.now(UTC).date(), "check", threshold=threshold, days=days)  # refuse before doing any work
    options = {"threshold": threshold, "days": days, "dry_run": dry_run}
    op = {"config": {name: value for name, value in options.items() if value is not None}}
    config = {**run_config(settings), "ops": {"compress_entries": op}}
    with instance_of(settings) as instance:
        result = run_job(instance, "kb_compress", KB_ACTOR, config, progress_printer())
    report: KnowledgeBaseReport = result.output_for_node("compress_entries")
    lines = [f"{cluster.size} entries: {cluster.topic}" for cluster in report.clusters_created]
    lines += [f"Left alone: {case.reason}" for case in report.left_alone]
    if "found 0)" in report.line:
        lines.append("An entry is a memory with the lines 'Title:' and 'Recommendation:'.")
    lines += [f"Report: {report.report_file}"] if report.report_file else []
    lines += [f"The store reports: {report.blocked}"] if report.blocked else []
    return Answer(report, "\n".join([*lines, report.line]), failed=report.blocked)


@series_app.command("list", epilog="Example: memory-pipeline series list --project webshop")
def series_list(store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the series memories: what each says, and how many readings it stands for."""
    with store.reading() as tx:
        series = list_series(tx, project)
    lines = [f"{row.id[:8]}  {row.project_id}  {row.readings} readings  {row.content}" for row in series]
    return Answer(series, "\n".join(lines) or "No series.")


@series_app.command("show", epilog="Example: memory-pipeline series show 3f2a9c1e")
def series_show(
    store: Store,
    series_id: Annotated[str, typer.Argument(metavar="id", help="The series memory, or the start of its id.")],
) -> Answer:
    """Show a series: what it says, each figure over time, and every reading."""
    with store.reading() as tx:
        series = show_series(tx, series_id)
    return Answer(series, series_text(series))


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
    check_target(settings, path, force=force)
    count = export_series(store, format_, path, series or (), force=force)
    return Answer(ExportedFile(exported=count, path=str(path)), f"{count} values exported to {path}.")


atoms_app = group("atoms", "Causes and effects: search, follow and add causal atoms.")


@atoms_app.command(
    "search",
    epilog="Examples: memory-pipeline atoms search 'build cache' --project webshop; atoms search --field outcome",
)
def atoms_search(
    settings: Settings,
    store: Store,
    query: Annotated[
        str | None,
        typer.Argument(help="What to search for; without it, the atoms with the highest confidence are shown."),
    ] = None,
    field: Annotated[str | None, typer.Option(help="Only this field: subject, action or outcome.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of atoms.")] = 10,
    project: ProjectOption = None,
) -> Answer:
    """Find atoms by meaning and field, nearest first."""
    with opened_memory(settings, store, project) as memory:
        atoms = memory.atoms(query, field, limit).atoms
    return Answer(atoms, [_line(row) for row in atoms] or "No atoms.")


@atoms_app.command("chain", epilog="Example: memory-pipeline atoms chain 'build cache was cold' --project webshop")
def atoms_chain(
    settings: Settings,
    store: Store,
    query: Annotated[str, typer.Argument(help="The start of the chains: a subject, an action, or both.")],
    limit: Annotated[int, typer.Option(min=1, max=20, help="Maximum number of chains.")] = 3,
    project: ProjectOption = None,
) -> Answer:
    """Follow causes and effects: the outcome of one atom is the start of the next one."""
    with opened_memory(settings, store, project) as memory:
        chains = memory.atom_chains(query, limit)
    text = "\n\n".join("\n".join("  " * depth + _line(row) for depth, row in enumerate(chain)) for chain in chains)
    return Answer(chains, text or "No atoms.")


@atoms_app.command(
    "add",
    epilog="Example: memory-pipeline atoms add --project webshop --subject 'build cache' --action 'is cold' "
    "--outcome 'deploys take 20 minutes'",
)
def atoms_add(
    settings: Settings,
    store: Store,
    subject: Annotated[str, typer.Option(help="What the action is applied to.")],
    action: Annotated[str, typer.Option(help="What is done or happens.")],
    outcome: Annotated[str, typer.Option(help="What follows.")],
    consequences: Annotated[str, typer.Option(help="What follows further on.")] = "",
    source: Annotated[list[str] | None, typer.Option(help="A memory that supports it; may be repeated.")] = None,
    project: ProjectOption = None,
) -> Answer:
    """Add an atom yourself, with confidence 1.0. Adding it again changes nothing."""
    with opened_memory(settings, store, project) as memory:
        made = memory.state_atom(Causal(subject, action, outcome, consequences), source or [])
    return Answer(made, _line(made))


def _line(row: DescribedAtom) -> str:
    further = f"; {row.consequences}" if row.consequences else ""
    return f"{row.confidence:.1f}  {row.subject} | {row.action} -> {row.outcome}{further}  ({row.score:.2f}, {row.id})"
