"""The implementation of `export`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.config.exports import check_contents
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest import EXPORT_FORMATS, export_memories
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace import DIRECTORY_FORMATS, Exported, export_to


def check_options(
    name: str, everything: bool, project: str | None, budget: int | None, contents: str | None = None
) -> tuple[str, ...]:
    """The contents that are named. Raises InputError for options that the format does not take, before anything is
    done."""
    if everything and name in DIRECTORY_FORMATS:
        raise InputError(f"--all is for {' and '.join(EXPORT_FORMATS)}; format {name} writes one project")
    if everything and project is not None:
        raise InputError("--all exports every project; leave --project out")
    if budget is not None and name != "openclaw":
        raise InputError("--budget is for openclaw; leave it out")
    if contents is not None and name != "openclaw":
        raise InputError("--contents is for openclaw; leave it out")
    try:
        return check_contents([one.strip() for one in contents.split(",")]) if contents is not None else ()
    except ValueError as error:
        raise InputError(f"--contents: {error}") from None


def export_once(
    settings: Settings,
    store: Store,
    name: str,
    path: Path,
    *,
    everything: bool,
    project: str | None,
    budget: int | None,
    contents: Sequence[str],
    force: bool,
    preview: bool,
    with_diff: bool,
) -> Exported:
    """Export to a file or a directory."""
    place = Path(os.path.expanduser(path))  # noqa: PTH111 - never raises
    if not everything:
        return export_to(
            store,
            settings,
            name,
            place,
            project=project,
            budget=budget,
            contents=contents,
            force=force,
            preview=preview,
            with_diff=with_diff,
        )
    count = export_memories(store, name, place, everything=True, force=force)
    return Exported.of_file(name, place, None, count)


def exported_text(done: Exported) -> str:
    """The result of an export as text."""
    would = "Would export" if done.dry_run else "Exported"
    named = f" ({', '.join(done.contents)})" if done.contents else ""
    lines = [f"{would} {how_many(done.exported, 'memory')} to {done.path}{named}."]
    if done.format not in DIRECTORY_FORMATS:
        return lines[0]
    removed = f", {len(done.removed):,} removed" if done.removed else ""
    if done.dry_run:
        lines.append("Nothing was written; each file would be:")
    else:
        lines.append(f"Files: {len(done.written):,} written, {done.unchanged:,} unchanged{removed}.")
    for one in done.changes:
        if one.outcome != "kept":
            lines.append(f"  {one.outcome}: {one.file} (lines +{one.added:,} -{one.removed:,})")
            lines += [f"    its first original is kept in {one.original}"] if one.original else []
            lines += [f"    {line}" for line in one.diff.split("\n")] if one.diff else []
    if done.tokens:
        lines.append(f"Its agent loads {done.tokens:,} tokens of it at every start.")
    lines += [f"Left out, {reason}: {number:,}" for reason, number in done.left_out.items()]
    lines += [f"Kept as a person changed it: {name}" for name in done.kept]
    lines += [f"Note: {told}." for told in done.moved]
    return "\n".join(lines)
