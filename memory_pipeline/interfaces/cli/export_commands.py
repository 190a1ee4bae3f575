"""The commands that write what nights made: exports, and back to where the memories came from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.exports import CONTENTS
from memory_pipeline.config.settings import Settings
from memory_pipeline.interfaces.cli.base import Answer, StoreOption, group, settings_of
from memory_pipeline.interfaces.cli.output import table
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

exports_app = group("exports", "What nights write for agents and people to read: list, add, remove.")

_COLUMNS = ["name", "format", "path", "project", "budget", "enabled"]


@exports_app.command("list", epilog="Example: memory-pipeline exports list")
def exports_list(settings: Settings) -> Answer:
    """Show every export of the settings."""
    from memory_pipeline.interfaces.cli.exports import describe_exports

    shown = describe_exports(settings)
    rows = [
        {
            **one.as_json(),
            "project": one.project or "-",
            "budget": one.budget if one.format == "openclaw" else "-",
            "enabled": "yes" if one.enabled else "no",
        }
        for one in shown
    ]
    wrong = [f"PROBLEM with {one.name}: {one.problem}." for one in shown if one.problem]
    hint = "No export yet; 'memory-pipeline exports add openclaw PATH' adds one that every night writes."
    return Answer(shown, "\n".join([table(rows, _COLUMNS), *wrong]) if rows else hint)


@exports_app.command(
    "add",
    epilog="Examples: memory-pipeline exports add openclaw ~/.openclaw/workspace; "
    "memory-pipeline exports add obsidian ~/vault --project webshop",
)
def exports_add(
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="openclaw, claude-code, obsidian, jsonl or parquet.")
    ],
    path: Annotated[Path, typer.Argument(help="The directory, or the file.")],
    name: Annotated[str | None, typer.Option(help="Name of the export (default: its format).")] = None,
    project: Annotated[str | None, typer.Option(help="The project, where the store has several.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="openclaw: the most tokens in MEMORY.md (default: setting export.budget_tokens).", min=200),
    ] = None,
    contents: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"openclaw: what is written, of {', '.join(CONTENTS)}.")
    ] = None,
    store: StoreOption = None,
) -> Answer:
    """Add an export to the settings file; the last step of every night writes it. Nothing is written now."""
    from memory_pipeline.interfaces.cli.exports import DescribedExport, add_export

    export, file = add_export(settings_of(None), name, format_, path, project, budget, contents, store)
    text = (
        f"Export '{export.name}' ({export.format}, {export.path}) is in {file}; the next night writes it.\n"
        f"Write it now: memory-pipeline export {export.format} {export.path}"
        + (f" --project {export.project}" if export.project else "")
        + (f" --contents {','.join(export.contents)}" if export.contents else "")
    )
    return Answer(DescribedExport.of(export, settings_of(store)), text)


@exports_app.command("remove", epilog="Example: memory-pipeline exports remove openclaw")
def exports_remove(settings: Settings, name: Annotated[str, typer.Argument(help="The name of the export.")]) -> Answer:
    """Remove an export from the settings file. What it wrote stays."""
    from memory_pipeline.interfaces.cli.exports import remove_export

    described, file = remove_export(settings, name)
    text = f"Export '{described.name}' was removed from {file}; what it wrote stays."
    return Answer(described, text)


sync_app = group("sync", "Write what nights made back to where the memories came from.")


@sync_app.command(
    "brain",
    epilog="Examples: memory-pipeline sync brain --dry-run; memory-pipeline sync brain ~/.openclaw/workspace/brain.db "
    "--tz Europe/Lisbon",
)
def sync_brain_(
    settings: Settings,
    store: Store,
    path: Annotated[Path | None, typer.Argument(help="The brain.db (default: setting connectors.brain).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")] = False,
    tz: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Time zone of its times that name none, unless it was imported in another."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait while another program holds it.")] = 30.0,
) -> Answer:
    """Write abstractions, archive fields and the compression log back into a brain.db, in one transaction, after a
    verified copy of it. Only what came from this very brain is written back; a second sync changes nothing."""
    from memory_pipeline.ingest.dates import zone
    from memory_pipeline.ingest.stores.brain_sync import sync_brain

    brain = (path or Path(settings.connectors.brain)).expanduser()
    done = sync_brain(
        store,
        brain,
        zone(settings.import_.timezone if tz is None else tz),
        now=datetime.now(UTC),
        dry_run=dry_run,
        wait_s=wait,
        keep=settings.store.snapshots_kept,
    )
    did = "Would write" if dry_run else "Wrote"
    lines = [
        f"{did} to '{brain}': {how_many(done.added, 'abstraction')} added, "
        f"{how_many(done.archived, 'memory')} archived, {done.restored} active again, {done.retired} retired."
    ]
    if not (done.added or done.archived or done.restored or done.retired):
        lines = [f"'{brain}' has everything already; nothing was written."]
    lines += [f"  {change}" for change in done.changes] if dry_run else []
    lines += [f"Left alone: {number} {why}." for why, number in done.left.items()]
    if done.copy_:
        lines.append(f"The file as it was: {done.copy_}")
    return Answer(done, "\n".join(lines))
