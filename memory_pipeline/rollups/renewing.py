"""Rollups follow the memories that they say: what a rollback takes back leaves them too."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memory_pipeline.config.settings import Settings
from memory_pipeline.records import Memory
from memory_pipeline.records.rollup import ROLLUP_LEVELS, Rollup
from memory_pipeline.rollups.periods import read_period
from memory_pipeline.rollups.running import roll_up
from memory_pipeline.store import Store, Transaction


def rollups_of(tx: Transaction, memories: Iterable[Memory]) -> list[Rollup]:
    """The rollups that say any of these memories or are of their days."""
    ids = [memory.id for memory in memories]
    return tx.rollups.about(ids) if ids else []


def renew_rollups(store: Store, settings: Settings, memory_ids: Collection[str], *, holder: str, run_id: str) -> None:
    """Make those rollups again that say any of these memories or are of their days, finer ones first.

    The caller holds the lease of the store. Nothing is asked of a model.
    """
    with store.reading() as tx:
        found = tx.rollups.about(memory_ids) if memory_ids else []
    for project in sorted({one.project_id for one in found}):
        mine = [one for one in found if one.project_id == project]
        mine.sort(key=lambda one: (ROLLUP_LEVELS.index(one.level), one.starts_at))
        periods = [read_period(one.period) for one in mine]
        roll_up(store, settings, periods, holder=holder, run_id=run_id, projects=[project], only_kept=True)
