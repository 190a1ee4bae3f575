"""What is the store's and Dagster's own is nobody's to write to, by whatever path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_pipeline.errors import OutputError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.models import Session
from memory_pipeline.orchestration.home import dagster_home
from memory_pipeline.store import Store, snapshot_directory


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "store.duckdb"
    path.parent.mkdir()
    path.write_bytes(b"the only copy")
    return path


@pytest.mark.parametrize(
    "name",
    [
        "store.duckdb",
        "STORE.DuckDB",
        "store.duckdb.wal",
        "Store.duckdb.WAL",
        ".store.duckdb.incoming",
        "store.duckdb.before-restore-20260314T000000000000Z",
        "store.snapshots",
        "store.snapshots/x.jsonl",
        "store.dagster/dagster.yaml",
        "store.night/clusters/2026-03-14.parquet",
        "store.demo",
        "../data/store.duckdb",
        "nowhere/../store.duckdb",
    ],
)
def test_the_stores_own_is_refused_though_it_need_not_exist(store_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"is the store itself|belongs to the store"):
        check_is_free(store_path.parent / name, store_path)


def test_the_store_is_known_behind_links(store_path: Path, tmp_path: Path) -> None:
    (tmp_path / "soft").symlink_to(store_path)
    os.link(store_path, tmp_path / "hard")
    (tmp_path / "other").symlink_to(store_path.parent, target_is_directory=True)
    for name in ("soft", "hard", "other/store.duckdb", "other/store.duckdb.wal", "other/store.dagster/x"):
        with pytest.raises(OutputError):
            check_is_free(tmp_path / name, store_path)
        with pytest.raises(OutputError):
            check_is_free(tmp_path / name, tmp_path / "other" / "store.duckdb")


@pytest.mark.parametrize("name", ["store.jsonl", "all.jsonl", "store2.duckdb", "reports/x.json", "mystore.duckdb.wal"])
def test_what_only_lies_beside_it_is_free(store_path: Path, name: str) -> None:
    check_is_free(store_path.parent / name, store_path)


def test_other_places_that_are_kept_are_refused_with_all_below_them(store_path: Path, tmp_path: Path) -> None:
    kept = [tmp_path / "dagster", tmp_path / "memory_pipeline.toml"]
    for name in ("dagster", "dagster/history/runs.db", "Memory_Pipeline.toml"):
        with pytest.raises(OutputError, match="no command overwrites"):
            check_is_free(tmp_path / name, store_path, kept)
    check_is_free(tmp_path / "dagster.txt", store_path, kept)


def test_every_place_that_the_program_keeps_beside_a_store_is_known(store_path: Path) -> None:
    store = Store(store_path)
    answers = Session(store, "run", "test", preview=True)._sidecar
    for place in (snapshot_directory(store), dagster_home(store_path), answers):
        with pytest.raises(OutputError, match="belongs to the store"):
            check_is_free(place, store_path)
