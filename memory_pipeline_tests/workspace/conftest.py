"""What tests of what is written get: a store that stays attached between its transactions."""

from __future__ import annotations

import pytest

from memory_pipeline.store import Store


@pytest.fixture(autouse=True)
def kept(kept_store: Store) -> None:
    """The store of the test is kept open until the test ends."""
