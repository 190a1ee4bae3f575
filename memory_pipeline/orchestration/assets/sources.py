"""The external sources of the asset graph: what nights read. Dagster observes them for changes but never writes
them."""

import hashlib
from pathlib import Path

from dagster import DataVersion, ObserveResult, observable_source_asset

from memory_pipeline.orchestration.asset_defaults import GROUP
from memory_pipeline.orchestration.resources import NightResource


@observable_source_asset(
    group_name=GROUP,
    description=(
        "The agent's workspace on disk, set by `connectors.workspace`. An observation shows the number of note "
        "files and whether any has changed; `memory-pipeline import openclaw` imports them into the store."
    ),
)
def memory_workspace(night: NightResource) -> ObserveResult:
    named = night.effective_settings().connectors.workspace
    root = Path(named).expanduser() if named else None
    if root is None or not root.is_dir():
        return ObserveResult(data_version=DataVersion("none"), metadata={"workspace": named or "not set", "files": 0})
    digest = hashlib.sha256()
    files = sorted(path for path in root.rglob("*.md") if path.is_file())
    size = 0
    for path in files:
        status = path.stat()
        size += status.st_size
        digest.update(f"{path.relative_to(root)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return ObserveResult(
        data_version=DataVersion(digest.hexdigest()[:16]),
        metadata={"workspace": str(root), "files": len(files), "bytes": size},
    )


@observable_source_asset(
    group_name=GROUP,
    description=(
        "The store: every memory of the agents, active and archived, with vectors, lineage and log, in one "
        "DuckDB file. An observation shows the row counts and a hash that changes when any memory changes."
    ),
)
def memory_store(night: NightResource) -> ObserveResult:
    store = night.store()
    if not store.exists():
        return ObserveResult(data_version=DataVersion("none"), metadata={"store": str(store.path), "active": 0})
    with store.reading() as tx:
        version, facts = tx.contents.digest(), tx.contents.facts()
    return ObserveResult(
        data_version=DataVersion(version[:16]),
        metadata={"store": str(store.path), "bytes": store.path.stat().st_size, **facts},
    )


SOURCES = [memory_workspace, memory_store]
