"""Nights with Claude over real HTTP, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.models import client
from memory_pipeline.models.limits import NIGHTLY
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, night_of, settings_for
from memory_pipeline_tests.messages_server import Body, MessagesServer, Reaction, faithful

DAY = date(2026, 3, 3)
TOPICS = ("gateway", "printer", "scanner")


@contextmanager
def serving(script: Callable[[Body, int], Reaction] = faithful, **options: Any) -> Iterator[MessagesServer]:
    with MessagesServer(script, **options).running() as server:
        yield server


@contextmanager
def patience(**changes: Any) -> Iterator[None]:
    """Nights wait for a model only so long: the fields of Patience."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "NIGHTLY", replace(NIGHTLY, **changes))
        yield


def claude_settings(store: Store, server: MessagesServer, **changes: object) -> Settings:
    model: dict[str, object] = {
        "reading__ask_model": False,  # these nights are about clusters
        "anthropic__api_key": server.key,
        "anthropic__base_url": server.url,
        "model__burst": 1000,
        "model__spacing_s": 0.0,
        "compression__rate_limit_per_min": 10_000,
    }
    return settings_for(store, **{**model, **changes})


def night(store: Store, server: MessagesServer, run_id: str = "r", **changes: Any) -> Report:
    options = {name: changes.pop(name) for name in ("dry_run", "no_cache") if name in changes}
    day = changes.pop("day", DAY)
    settings = claude_settings(store, server, **changes)
    return run_night(night_of(store, day, settings, run_id=run_id, **options))


def abstractions(store: Store) -> list[str]:
    with store.reading() as tx:
        return [memory.content for memory in tx.memories.all() if memory.compressed_from and not memory.archived_at]


def three_lessons(store: Store) -> None:
    fill(store, [note for topic in TOPICS for note in lesson(4, topic=topic)])
