"""The command that lists what could not be imported."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer
from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, open_store
from memory_pipeline.interfaces.cli.output import emit
from memory_pipeline.wording.counts import how_many

_SHOWN = 200


class QuarantinedRow(Document):
    """A row that no import could take."""

    file: str = Field(description="The file, as its memories would name it.")
    line: int = Field(description="The line, row or item in it; 0 if the whole file was refused.")
    reason: str = Field(description="Why.")
    excerpt: str = Field(description="The start of its content, with secrets masked.")
    first_seen_at: datetime = Field(description="When an import first met it.")


@app.command(epilog="Examples: memory-pipeline quarantine list; memory-pipeline quarantine notes.csv")
def quarantine(
    file: Annotated[
        str | None, typer.Argument(metavar="[list|FILE]", help="Only rows of files whose name contains FILE.")
    ] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """List the rows that no import could take, with file, line and reason. They stay listed after they were mended."""
    _, opened = open_store(store)
    named = None if file == "list" else file
    with opened.reading() as tx:
        rejected = tx.journal.rejected(named)
        others = len(tx.journal.rejected()) if named is not None and not rejected else 0
        found = [
            QuarantinedRow(file=name, line=line, reason=reason, excerpt=excerpt, first_seen_at=seen_at)
            for name, line, reason, excerpt, seen_at in rejected
        ]
    lines = []
    for row in found[:_SHOWN]:
        lines.append(f"{row.file}:{row.line}  {row.first_seen_at:%Y-%m-%d}  {row.reason}")
        if row.excerpt:
            lines.append(f"    {' '.join(row.excerpt.split())[:100]}")
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN:,} more; --json has all")
    none = "Nothing is in quarantine."
    if others:
        rows = how_many(others, "row")
        none = (
            f"Nothing is in quarantine of a file with '{named}' in its name; 'quarantine list' shows {rows} of others."
        )
    emit(found, as_json=json_, text="\n".join(lines) or none)
