"""The demo workspace on disk: where it is, and how it is imported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo.generate import LAST_DAY, TABLES, ZONES, write_demo
from memory_pipeline.errors import InputError
from memory_pipeline.files.places import demo_mark
from memory_pipeline.files.writing import begins_with, directories, write_text
from memory_pipeline.ingest.candidates import ImportSummary, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.orchestration.home import dagster_home, project_home
from memory_pipeline.store import Store, snapshot_directory

_MARK = "This store holds the demo and is made anew by 'memory-pipeline demo'.\n"
#: The clock of the shipped demo: its nights have happened.
NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)


def last_nights() -> list[date]:
    """The seven nights that the demo shows; the first of them works through all the days before."""
    return [LAST_DAY - timedelta(days=days) for days in range(6, -1, -1)]


def demo_directory(settings: Settings) -> Path:
    """The workspace of the demo: the shipped one; if the package came without it, one that is made beside the store."""
    shipped = project_home() / "data" / "demo_workspace"
    if (shipped / "truth.json").exists():
        return shipped
    made = Path(settings.store.path).with_suffix(".workspace")
    if not (made / "truth.json").exists():
        write_demo(made)
    return made


def recorded_answers() -> Path | None:
    """The answers of a model to all questions of the demo; None if the package came without them."""
    path = project_home() / "data" / "answers" / "demo.jsonl"
    return path if path.exists() else None


def load_truth(directory: Path) -> dict[str, Any]:
    """The truth about the demo's memories, by kind."""
    return dict(json.loads((directory / "truth.json").read_text(encoding="utf-8")))


def import_demo(
    store: Store, settings: Settings, progress: Callable[[str, int, int], None] = lambda *_: None
) -> ImportSummary:
    """Fill a new store with the demo, replacing an earlier one.

    Raises InputError if the file contains anything but a demo: it might be someone's only copy.
    """
    _clear_earlier_demo(store)
    with directories(store.path.parent):
        write_text(demo_mark(store.path), _MARK, begins_with(_MARK))
    directory = demo_directory(settings)
    embedder = choose_embedder(settings)
    total = ImportSummary()
    sources = [("openclaw", directory / project, project, name) for project, name in ZONES.items()]
    sources += [("jsonl", directory / f"{project}.jsonl", project, "UTC") for project in TABLES]
    for name, path, project, zone_name in sources:
        skipped = Skipped()
        reading = read_format(name, path, zone(zone_name), NOW, settings, skipped)
        part = import_memories(store, reading, project=project, embedder=embedder, now=NOW, progress=progress)
        part.note_skipped(skipped)
        total.add(part)
    return total


def _clear_earlier_demo(store: Store) -> None:
    """Remove an earlier demo, and nothing else: without its mark, or with others' memories, it may be a real store."""
    directories = [store.path.with_suffix(suffix) for suffix in (".night", ".workspace")]
    beside = [snapshot_directory(store), dagster_home(store.path), *directories]
    log = store.path.with_name(f"{store.path.name}.wal")
    if not demo_mark(store.path).exists() and (
        present := [path for path in (store.path, log, *beside) if path.exists()]
    ):
        raise InputError(
            f"'{present[0]}' is there already and was not made by the demo; name another file with --store"
        )
    if store.exists():
        with store.reading() as tx:
            foreign = sorted(set(tx.memories.projects()) - {*ZONES, *TABLES})
        if foreign:
            raise InputError(
                f"'{store.path}' holds memories of your own ({foreign[0]}); name another file with --store"
            )
        store.path.unlink()
    for leftover in beside:
        shutil.rmtree(leftover, ignore_errors=True)
    log.unlink(missing_ok=True)
