"""Files of the assets that cannot be read: each is named, with the asset to materialize again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from memory_pipeline.errors import InputError
from memory_pipeline.orchestration.io import ParquetByPartition, to_table
from memory_pipeline.records import DuplicateGroup, EligibleMemory
from memory_pipeline.store import EDGE_SCHEMA
from memory_pipeline_tests.build import FIRST

DAY = "2026-03-03"
ELIGIBLE = [EligibleMemory("m", "p", "other", ("a", "b"), 1.0, 5, FIRST, FIRST)]


def read(place: Path, value: pa.Table | bytes, asset: str = "eligible_memories") -> object:
    """The value of an asset whose file holds a table or any bytes."""
    path = place / asset / f"{DAY}.parquet"
    path.parent.mkdir()
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        pq.write_table(value, path)
    return ParquetByPartition(UPath(place)).value_of(asset, DAY)


def cut(place: Path) -> bytes:
    path = place / "whole.parquet"
    pq.write_table(to_table(ELIGIBLE), path)
    return path.read_bytes()[:-40]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"PAR1 half",
        b"not Parquet at all",
        pa.table({"id": ["without the other fields"]}),
        pa.table({"report": ["{}"]}),
        to_table([DuplicateGroup("p", "h", "m", ("n",))]),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, value: pa.Table | bytes) -> None:
    with pytest.raises(
        InputError, match=rf"eligible_memories/{DAY}.parquet' is damaged, .*materialize that asset again"
    ):
        read(tmp_path, value)


def test_a_file_that_was_cut_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is damaged"):
        read(tmp_path, cut(tmp_path))


@pytest.mark.parametrize("value", [to_table([]), pa.table({"a": ["x"], "b": ["y"]}), to_table(ELIGIBLE)])
def test_pairs_are_read_only_from_a_table_of_pairs(tmp_path: Path, value: pa.Table) -> None:
    with pytest.raises(InputError, match="'similarity_batches'"):
        read(tmp_path, value, "similarity_batches")


def test_a_file_of_the_asset_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, to_table(ELIGIBLE)) == ELIGIBLE
    assert read(tmp_path, to_table([]), "clusters") == []
    assert read(tmp_path, EDGE_SCHEMA.empty_table(), "similarity_batches") == EDGE_SCHEMA.empty_table()


def test_an_asset_that_was_never_materialized_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ParquetByPartition(UPath(tmp_path)).value_of("clusters", DAY)
