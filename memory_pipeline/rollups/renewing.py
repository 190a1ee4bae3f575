"""What a correction made untrue is made again: the rollups that say it, the pages, and the exports that are set."""

from __future__ import annotations

from collections.abc import Iterable

from memory_pipeline.config.exports import CONTENTS
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.killpoints import reached
from memory_pipeline.records import Memory
from memory_pipeline.records.rollup import ROLLUP_LEVELS, Rollup
from memory_pipeline.rollups.periods import read_period
from memory_pipeline.rollups.running import roll_up
from memory_pipeline.store import Store, Transaction
from memory_pipeline.workspace.nightly import ExportResult, problems_of, run_changed
from memory_pipeline.workspace.pages import write_memory
from memory_pipeline.workspace.places import MEMORY_FILE, pages_of
from memory_pipeline.workspace.playbook_pages import write_playbook


def rollups_of(tx: Transaction, memories: Iterable[Memory]) -> list[Rollup]:
    """The rollups that say any of these memories or are of their days."""
    ids = [memory.id for memory in memories]
    return tx.rollups.about(ids) if ids else []


def renew_stale(store: Store, settings: Settings, *, holder: str, run_id: str) -> tuple[list[ExportResult], list[str]]:
    """Make all again that is untrue since a correction, also one whose process was killed; finer rollups first.
    Returns the exports that have it, and what could not be written.

    The caller holds the lease of the store. Nothing is asked of a model.
    """
    with store.reading() as tx:
        stale = tx.rollups.stale()
    exports: list[ExportResult] = []
    problems: list[str] = []
    for project in sorted({row[0] for row in stale}):
        mine = [row for row in stale if row[0] == project]
        of_levels = sorted((row for row in mine if row[1]), key=lambda row: (ROLLUP_LEVELS.index(row[1]), row[2]))
        periods = [read_period(period) for _, _, period in of_levels]
        made = roll_up(store, settings, periods, holder=holder, run_id=run_id, projects=[project], only_kept=True)
        failed = [one.problem for one in made if one.problem]
        failed += _renew_memory(store, settings, project)
        reached("pages.renewed")
        done = run_changed(store, settings, project, CONTENTS)
        exports += done
        problems += [*failed, *problems_of(done)]
        if not failed:
            with store.writing(holder, run_id) as tx:
                tx.rollups.note_renewed(mine)
    return exports, problems


def _renew_memory(store: Store, settings: Settings, project: str) -> list[str]:
    """What could not be written of the playbook, and of `MEMORY.md` and the pages beside it if a project has it."""
    if not (pages_of(store.path, project) / MEMORY_FILE).is_file():
        return write_playbook(store)
    try:
        return [*write_memory(store, settings, project).problems.values()]
    except MemoryPipelineError as error:
        return [in_words(error)]
