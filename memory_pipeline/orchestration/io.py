"""Stores the values that flow between the assets: Parquet files by partition, each written completely or not at all."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter
from upath import UPath

from memory_pipeline.consolidation.run import STEPS
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import writing_whole
from memory_pipeline.killpoints import reached
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.store import EDGE_SCHEMA


def to_table(value: Any) -> pa.Table:
    """Convert a table, a report or a list of records to a table."""
    if isinstance(value, pa.Table):
        return value
    if isinstance(value, Document):
        return pa.table({"report": [json.dumps(value.as_json(), sort_keys=True)]})
    if not isinstance(value, Sequence):
        raise TypeError(f"an asset returned {type(value).__name__}; assets return records, tables or reports")
    if not value:
        return pa.table({})
    record: Any = type(value[0])
    return pa.Table.from_pylist(_make_adapter(list[record]).dump_python(list(value)))


def from_table(table: pa.Table, asset: str) -> Any:
    """The value of a step of the night that `to_table` made a table of. Raises an error of pydantic or Python for a
    table of another kind."""
    kind = get_type_hints(STEPS[asset].run)["return"]
    if kind is not pa.Table:
        return _make_adapter(kind).validate_python(table.to_pylist())
    if not set(EDGE_SCHEMA.names) <= set(table.column_names):
        raise TypeError(f"{asset} has the columns {', '.join(EDGE_SCHEMA.names)}")
    return table


#: The adapter that turns a list of records of a kind, with those in them, into rows and back.
_make_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


class ParquetByPartition(dg.UPathIOManager):
    """One Parquet file per asset and partition, on any file system that UPath reaches."""

    extension = ".parquet"

    def __init__(self, base_path: UPath) -> None:
        """Files below `base_path`. Values that the run itself has written are kept in memory, by file."""
        super().__init__(base_path)
        self._written: dict[UPath, Any] = {}

    def dump_to_path(self, context: dg.OutputContext, obj: Any, path: UPath) -> None:
        """Write under another name, then rename: neither a crash nor a full disk leaves an incomplete file."""
        if isinstance(path, Path):
            with writing_whole(Path(path), lambda _: True, place="asset.written") as file:
                pq.write_table(to_table(obj), file)
        else:
            partial = path.with_name(f".{path.name}.partial")
            with partial.open("wb") as file:
                pq.write_table(to_table(obj), file)
            reached("asset.written")
            partial.rename(path)
        self._written[path] = obj

    def load_from_path(self, context: dg.InputContext, path: UPath) -> Any:
        """Read the value of this partition. Raises InputError for a file that is damaged or of another version."""
        return _read(path, context.asset_key.path[-1])

    def value_of(self, asset: str, partition: str) -> Any:
        """The value of an asset: from memory if this run has made it, else from the partition's file.

        Raises FileNotFoundError if the asset was never materialized for the partition, and InputError for a file that
        is damaged, of another version, or not one of this asset.
        """
        path = self._with_extension(self._base_path / asset / partition)
        return self._written[path] if path in self._written else _read(path, asset)


def _read(path: UPath, asset: str) -> Any:
    with path.open("rb") as file:
        try:
            return from_table(pq.ParquetFile(file).read(), asset)
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(
                f"'{path}' is damaged, or was not written by the asset '{asset}' of this version of memory_pipeline; "
                "materialize that asset again for this partition"
            ) from error


@dg.io_manager(
    required_resource_keys={"night"},
    config_schema={
        "base_path": dg.Field(str, is_required=False, description="The directory, or an address of UPath's.")
    },
    description="The files of the night's assets; by default, in a directory next to the store of the run.",
)
def night_files(context: dg.InitResourceContext) -> ParquetByPartition:
    """Without `base_path`, `<store>.night` next to the store is used."""
    night: NightResource = context.resources.night
    beside = f"{night.effective_settings().store.path.removesuffix('.duckdb')}.night"
    return ParquetByPartition(base_path=UPath(context.resource_config.get("base_path") or beside))
