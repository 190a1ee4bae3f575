"""The external sources of the asset graph: what nights read. Dagster observes them for changes but never writes
them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from dagster import AssetSpec, DataVersion, ObserveResult, TableColumn, TableSchema, multi_observable_source_asset

from memory_pipeline.orchestration.asset_defaults import OBSERVED, OWNERS, SOURCES_GROUP
from memory_pipeline.orchestration.describe import schema_of
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.records import Memory


def _source(name: str, description: str, kinds: set[str], columns: TableSchema) -> AssetSpec:
    return AssetSpec(
        name,
        description=description,
        group_name=SOURCES_GROUP,
        owners=OWNERS,
        kinds=kinds,
        freshness_policy=OBSERVED,
        metadata={"dagster/column_schema": columns},
    )


@multi_observable_source_asset(  # type: ignore[untyped-decorator]
    specs=[
        _source(
            "memory_workspace",
            "The agent's workspace on disk, set by `connectors.workspace`. An observation shows the number of note "
            "files and whether any has changed; `memory-pipeline import openclaw` imports them into the store.",
            {"markdown"},
            TableSchema([TableColumn("note", "str", "A line or paragraph of a note file, which becomes a memory.")]),
        )
    ],
    name="observe_workspace",
)
def memory_workspace(night: NightResource) -> Iterator[ObserveResult]:
    named = night.effective_settings().connectors.workspace
    root = Path(named).expanduser() if named else None
    if root is None or not root.is_dir():
        yield ObserveResult(data_version=DataVersion("none"), metadata={"workspace": named or "not set", "files": 0})
        return
    digest = hashlib.sha256()
    files = sorted(path for path in root.rglob("*.md") if path.is_file())
    size = 0
    for path in files:
        status = path.stat()
        size += status.st_size
        digest.update(f"{path.relative_to(root)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    yield ObserveResult(
        data_version=DataVersion(digest.hexdigest()[:16]),
        metadata={"workspace": str(root), "files": len(files), "bytes": size},
    )


@multi_observable_source_asset(  # type: ignore[untyped-decorator]
    specs=[
        _source(
            "memory_store",
            "The store: every memory of the agents, active and archived, with vectors, lineage and log, in one "
            "DuckDB file. An observation shows the row counts and a hash that changes when any memory changes.",
            {"duckdb"},
            schema_of(Memory),
        )
    ],
    name="observe_store",
)
def memory_store(night: NightResource) -> Iterator[ObserveResult]:
    store = night.store()
    if not store.exists():
        yield ObserveResult(data_version=DataVersion("none"), metadata={"store": str(store.path), "active": 0})
        return
    with store.reading() as tx:
        version, facts = tx.contents.digest(), tx.contents.facts()
    yield ObserveResult(
        data_version=DataVersion(version[:16]),
        metadata={"store": str(store.path), "bytes": store.path.stat().st_size, **facts},
    )


SOURCES = [memory_workspace, memory_store]
