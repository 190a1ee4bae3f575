"""The commands that take, check and restore snapshots, and recover a damaged store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    JsonOption,
    StoreOption,
    app,
    check_target,
    kept_copies,
    open_store,
    snapshot_app,
    utf8_path,
)
from memory_pipeline.interfaces.cli.output import emit, table


@app.command(epilog="Examples: memory-pipeline recover --dry-run; memory-pipeline recover")
def recover(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be recovered; change nothing.")] = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Recover a damaged store from its newest whole snapshot and its log, as far as they can be read.

    The damaged files are kept next to it as NAME.damaged-TIME. A store that is whole is left alone.
    """
    from memory_pipeline.interfaces.cli.results import RecoveryResult
    from memory_pipeline.store import recover_store

    _, opened = open_store(store)
    opened.check_is_or_was_there()
    before = kept_copies(opened, "damaged")
    found = recover_store(opened, dry_run=dry_run)
    kept = sorted(kept_copies(opened, "damaged") - before)
    if found.source == "store":
        text = (
            f"The store '{opened.path}' is whole: every block, every table and its log can be read. Nothing to recover."
        )
    else:
        source = found.source + (f" (snapshot {found.snapshot})" if found.snapshot else "")
        happened = "Would be recovered" if dry_run else "Recovered"
        text = f"Problem: {found.problem}.\n{happened} from: {source}.\nLost: {found.lost}."
        text += f"\nThe damaged files are kept next to it as {' and '.join(kept)}." if kept else ""
    emit(RecoveryResult(**dict(found), kept=tuple(kept)), as_json=json_, text=text)


@snapshot_app.command("list", epilog="Example: memory-pipeline snapshot list")
def snapshot_list(store: StoreOption = None, json_: JsonOption = False) -> None:
    """Show the snapshots, oldest first."""
    from memory_pipeline.store import list_snapshots, snapshot_directory

    _, opened = open_store(store)
    opened.check_is_or_was_there()
    found = list_snapshots(opened)
    if not found and not opened.exists():
        raise InputError(
            f"there is no store at '{opened.path}', and no snapshot next to it; give the right path with --store"
        )
    none = f"No snapshot in '{snapshot_directory(opened)}'."
    rows: list[dict[str, object]] = [snapshot.as_json() for snapshot in found]
    emit(found, as_json=json_, text=table(rows, ["name", "taken_at", "bytes"]) if rows else none)


@snapshot_app.command("create", epilog="Example: memory-pipeline snapshot create --label before-cleanup")
def snapshot_create(
    label: Annotated[str, typer.Option(help="The reason for the snapshot; becomes part of its name.")] = "manual",
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Take a verified snapshot now. It stays until you remove its files; only snapshots of nights are rotated."""
    from memory_pipeline.store import create_snapshot

    _, opened = open_store(store)
    made = create_snapshot(opened, label, datetime.now(UTC), keep=None)
    emit(made, as_json=json_, text=f"Snapshot {made.name}, {made.bytes} bytes, verified.")


@snapshot_app.command("restore", epilog="Example: memory-pipeline snapshot restore 20260314T073000000000Z-night")
def snapshot_restore(
    name: Annotated[str, typer.Argument(help="A name from 'snapshot list'.")],
    to: Annotated[Path | None, typer.Option(help="Restore into this file instead of replacing the store.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Replace the store with a snapshot; the previous store is kept as NAME.before-restore-TIME."""
    from memory_pipeline.interfaces.cli.results import RestoredSnapshot
    from memory_pipeline.store import restore_snapshot

    settings, opened = open_store(store)
    target = utf8_path(to, "--to") if to is not None else None
    if target:
        check_target(settings, target)
    opened.check_is_or_was_there()
    before = kept_copies(opened, "before-restore")
    where = restore_snapshot(opened, name, target)
    kept = sorted(kept_copies(opened, "before-restore") - before)
    text = f"Restored {name} to {where}."
    text += f"\nThe previous store is kept next to it as {' and '.join(kept)}." if kept else ""
    emit(RestoredSnapshot(restored=name, to=str(where), kept=tuple(kept)), as_json=json_, text=text)


@snapshot_app.command("verify", epilog="Example: memory-pipeline snapshot verify 20260314T073000000000Z-night")
def snapshot_verify(
    name: Annotated[str, typer.Argument(help="A name from 'snapshot list'.")],
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Check that a snapshot is whole and contains what was recorded."""
    from memory_pipeline.interfaces.cli.results import VerifiedSnapshot
    from memory_pipeline.store import verify_snapshot

    _, opened = open_store(store)
    opened.check_is_or_was_there()
    found = verify_snapshot(opened, name)
    emit(VerifiedSnapshot(name=name, verified=True), as_json=json_, text=f"Snapshot {found.name} is whole.")
