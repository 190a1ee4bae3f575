"""The external sources of the asset graph: what nights read. Dagster observes them for changes but never writes
them."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from dagster import (
    AssetKey,
    AssetObservation,
    AssetsDefinition,
    AssetSpec,
    DataVersion,
    MetadataValue,
    ObserveResult,
    TableColumn,
    TableSchema,
    multi_observable_source_asset,
)
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.orchestration.describe import schema_of
from memory_pipeline.orchestration.location import LOCATION, OBSERVED, OWNERS, SOURCES_GROUP
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.records import Memory, SourceReading
from memory_pipeline.store import Store


def source_key(name: str) -> AssetKey:
    """The asset of a source."""
    return AssetKey(["sources", name])


def _source(
    key: str | AssetKey, description: str, kinds: set[str], columns: TableSchema, **metadata: object
) -> AssetSpec:
    return AssetSpec(
        key,
        description=description,
        group_name=SOURCES_GROUP,
        owners=OWNERS,
        kinds=kinds,
        freshness_policy=OBSERVED,
        metadata={"dagster/column_schema": columns, **metadata},
    )


def source_asset(source: SourceTable) -> AssetsDefinition:
    """A source of the settings as an asset that is observed."""
    key = source_key(source.key)
    spec = _source(
        key,
        f"The source `{source.name}`: {source.path}, read as format `{source.format}` by the first step of each night. "
        "An observation shows its files and their last change.",
        {"markdown" if source.format == "openclaw" else source.format, "file"},
        TableSchema([TableColumn("entry", "str", "A line, paragraph or row, which becomes a memory.")]),
        path=MetadataValue.path(source.path),
    )

    def observe(night: NightResource) -> Iterator[ObserveResult]:
        yield ObserveResult(asset_key=key, **_observed(source, night.effective_settings()))

    decorate: Callable[[Callable[..., Any]], AssetsDefinition] = multi_observable_source_asset(
        specs=[spec], name=f"observe_{source.key}"
    )
    return decorate(observe)


def observation_of(name: str, settings: Settings, read: SourceReading | None = None) -> AssetObservation:
    """What a night or an import that has looked at a source saw of it, so that its page is up to date without a run of
    its own."""
    source = next(one for one in settings.sources if one.name == name)
    seen = _observed(source, settings)
    taken = {"new": read.new, "edited": read.changed, "waiting": read.later + read.edits_later} if read else {}
    return AssetObservation(
        source_key(source.key), metadata=seen["metadata"] | taken, tags={DATA_VERSION_TAG: seen["data_version"].value}
    )


def _observed(source: SourceTable, settings: Settings) -> dict[str, Any]:
    """The data version of a source and what the UI shows of it."""
    from memory_pipeline.ingest.candidates import Skipped
    from memory_pipeline.ingest.sources import find_files, project_of

    try:
        files = find_files(source, settings, Skipped())
    except InputError as error:
        return {"data_version": DataVersion("unreadable"), "metadata": {"files": 0, "problem": str(error)}}
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file.size}\0{file.modified_ns}\n".encode("utf-8", "backslashreplace"))
    changed = datetime.fromtimestamp(max(file.modified_ns for file in files) / 1e9, UTC)
    return {
        "data_version": DataVersion(digest.hexdigest()[:16]),
        "metadata": {
            "files": len(files),
            "bytes": sum(file.size for file in files),
            "last_change": MetadataValue.timestamp(changed),
            "project": project_of(source),
        },
    }


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
    version, metadata = describe_store(night.store())
    yield ObserveResult(data_version=version, metadata=metadata)


def describe_store(store: Store) -> tuple[DataVersion, dict[str, Any]]:
    """The data version of a store and what the UI shows of it."""
    if not store.exists():
        return DataVersion("none"), {"store": str(store.path), "active": 0}
    with store.reading() as tx:
        version, facts = tx.contents.digest(), tx.contents.facts()
    return DataVersion(version[:16]), {"store": str(store.path), "bytes": store.path.stat().st_size, **facts}


#: The project's own sources, whichever store a run works on: Dagster reads them when it loads the code location.
_FED = [source for source in LOCATION.sources if source in LOCATION.sources_of_store]
SOURCE_KEYS = [source_key(source.key) for source in _FED]
SOURCES: list[AssetsDefinition] = [*map(source_asset, _FED), memory_store]
