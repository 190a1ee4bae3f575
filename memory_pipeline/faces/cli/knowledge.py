"""The commands about what is made of patterns and entries: the knowledge base, the playbook."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_pipeline.faces.cli.base import JsonOption, StoreOption, app, settings_of
from memory_pipeline.faces.cli.output import emit, progress_printer


@app.command(
    "kb-compress",
    epilog="Examples: memory-pipeline kb-compress --dry-run; memory-pipeline kb-compress --threshold 0.92",
)
def kb_compress(
    threshold: Annotated[float | None, typer.Option(help="Cosine from which entries become one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would become one; write nothing.")] = False,
    days: Annotated[int | None, typer.Option(help="Only entries of the last N days.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Make one canonical entry of knowledge-base entries that say the same, and archive the originals."""
    from memory_pipeline.faces.cli.running import instance_of, run_kb_job

    settings = settings_of(store)
    options = {"threshold": threshold, "days": days, "dry_run": dry_run}
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
