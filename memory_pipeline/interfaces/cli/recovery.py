"""The command that recovers a damaged store."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, kept_copies, open_store
from memory_pipeline.interfaces.cli.output import emit


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
