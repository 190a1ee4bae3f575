"""Stores of these tests stay attached between transactions, as in a night."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_pipeline.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in a file of its own."""
    made = Store(tmp_path / "store.duckdb", busy_timeout_s=5)
    with made.kept_open():
        yield made
