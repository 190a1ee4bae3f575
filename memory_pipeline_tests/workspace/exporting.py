"""Exports of a test's store."""

from __future__ import annotations

from pathlib import Path

from memory_pipeline.store import Store
from memory_pipeline.workspace.exporting import Exported, export_to
from memory_pipeline_tests.build import settings_for


def state(directory: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def export(store: Store, name: str, directory: Path, **more: object) -> Exported:
    return export_to(store, settings_for(store), name, directory, **more)  # type: ignore[arg-type]
