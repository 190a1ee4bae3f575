"""The command for the worst day: a store that does not open, or does not read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, kept_copies, open_store
from memory_pipeline.interfaces.cli.output import emit


@app.command(epilog="Examples: memory-pipeline recover --dry-run; memory-pipeline recover")
def recover(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be brought back; change nothing.")] = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Bring back a store that is damaged: from its newest whole snapshot and its log, whatever of them reads.

    The damaged files are kept beside it as NAME.damaged-TIME. A store that is whole is left alone.
    """
    from memory_pipeline.store import recover_store

    _, opened = open_store(store)
    opened.check_is_or_was_there()
    before = kept_copies(opened, "damaged")
    found = recover_store(opened, dry_run=dry_run)
    kept = sorted(kept_copies(opened, "damaged") - before)
    if found.source == "store":
        text = f"The store '{opened.path}' is whole: every block, every table and its log read. Nothing to bring back."
    else:
        source = found.source + (f" (snapshot {found.snapshot})" if found.snapshot else "")
        happened = "Would be brought back" if dry_run else "Brought back"
        text = f"What was wrong: {found.problem}.\n{happened} from: {source}.\nLost: {found.lost}."
        text += f"\nThe damaged files are kept beside it as {' and '.join(kept)}." if kept else ""
    emit({**asdict(found), "kept": kept}, as_json=json_, text=text)
