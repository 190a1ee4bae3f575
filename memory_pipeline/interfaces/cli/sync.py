"""The commands that write what nights made back to where the memories came from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, open_store
from memory_pipeline.interfaces.cli.output import emit
from memory_pipeline.wording.counts import how_many

sync_app = typer.Typer(help="Write what nights made back to where the memories came from.", no_args_is_help=True)
app.add_typer(sync_app, name="sync")


@sync_app.command(
    "brain",
    epilog="Examples: memory-pipeline sync brain --dry-run; memory-pipeline sync brain ~/.openclaw/workspace/brain.db "
    "--tz Europe/Lisbon",
)
def sync_brain_(
    path: Annotated[Path | None, typer.Argument(help="The brain.db (default: setting connectors.brain).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")] = False,
    tz: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Time zone of its times that name none, unless it was imported in another."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait while another program holds it.")] = 30.0,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Write abstractions, archive fields and the compression log back into a brain.db, in one transaction, after a
    verified copy of it. Only what came from this very brain is written back; a second sync changes nothing."""
    from memory_pipeline.ingest.dates import zone
    from memory_pipeline.ingest.stores.brain_sync import sync_brain

    settings, opened = open_store(store)
    brain = (path or Path(settings.connectors.brain)).expanduser()
    done = sync_brain(
        opened,
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
    emit(done, as_json=json_, text="\n".join(lines))
