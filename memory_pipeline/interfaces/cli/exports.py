"""The implementation of `export`."""

from __future__ import annotations

import os
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest import EXPORT_FORMATS, export_memories
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many
from memory_pipeline.workspace import DIRECTORY_FORMATS, Exported, export_to


def check_options(name: str, everything: bool, project: str | None, budget: int | None) -> None:
    """Raises InputError for options that the format does not take, before anything is done."""
    if everything and name in DIRECTORY_FORMATS:
        raise InputError(f"--all is for {' and '.join(EXPORT_FORMATS)}; format {name} writes one project")
    if everything and project is not None:
        raise InputError("--all exports every project; leave --project out")
    if budget is not None and name != "openclaw":
        raise InputError("--budget is for openclaw; leave it out")


def export_once(
    settings: Settings,
    store: Store,
    name: str,
    path: Path,
    *,
    everything: bool,
    project: str | None,
    budget: int | None,
    force: bool,
) -> Exported:
    """Export to a file or a directory."""
    place = Path(os.path.expanduser(path))  # noqa: PTH111 - never raises
    if not everything:
        return export_to(store, settings, name, place, project=project, budget=budget, force=force)
    count = export_memories(store, name, place, everything=True, force=force)
    return Exported.of_file(name, place, None, count)


def exported_text(done: Exported) -> str:
    """The result of an export as text."""
    lines = [f"Exported {how_many(done.exported, 'memory')} to {done.path}."]
    if done.format not in DIRECTORY_FORMATS:
        return lines[0]
    removed = f", {len(done.removed):,} removed" if done.removed else ""
    lines.append(f"Files: {len(done.written):,} written, {done.unchanged:,} unchanged{removed}.")
    if done.tokens:
        lines.append(f"Its agent loads {done.tokens:,} tokens of it at every start.")
    lines += [f"Left out, {reason}: {number:,}" for reason, number in done.left_out.items()]
    lines += [f"Kept as a person changed it: {name}" for name in done.kept]
    lines += [f"Note: {told}." for told in done.moved]
    return "\n".join(lines)
