"""Makes again what follows from the memories that stay: rollups, pages, playbook and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.records.rollup import ROLLUP_LEVELS
from memory_pipeline.reporting.report import render_changed_reports
from memory_pipeline.rollups.periods import read_period
from memory_pipeline.rollups.running import roll_up
from memory_pipeline.store import Store
from memory_pipeline.wording.own_words import FORGOTTEN
from memory_pipeline.workspace.conversation_pages import write_files
from memory_pipeline.workspace.nightly import problems_of, run_exports
from memory_pipeline.workspace.pages import write_memory
from memory_pipeline.workspace.playbook_pages import write_playbook


def renew_files(
    store: Store, settings: Settings, periods: Mapping[str, Sequence[str]], *, holder: str, run_id: str
) -> list[str]:
    """Make rollups of these periods, by project, and every file that says what the store holds, again; returns what
    could not be written, in sentences."""
    problems: list[str] = []
    for project, keys in periods.items():
        wanted = sorted(map(read_period, keys), key=lambda one: (ROLLUP_LEVELS.index(one.level), one.key))
        made = roll_up(store, settings, wanted, holder=holder, run_id=run_id, projects=[project], only_kept=True)
        problems += [f"{one.file}: {one.problem}" for one in made if one.problem]
    problems += write_files(store, settings, holder, run_id).problems
    with store.reading() as tx:
        projects, newest = tx.memories.projects(), tx.journal.newest_night()
    for project in projects:
        try:
            problems += write_memory(store, settings, project).problems.values()
        except MemoryPipelineError as error:
            problems.append(f"the pages of {project}: {in_words(error)}")
    try:
        render_changed_reports(store, settings.reports_path, FORGOTTEN)
    except (MemoryPipelineError, OSError, ValueError) as error:
        problems.append(f"{settings.reports_path}: {in_words(error)}")
    problems += write_playbook(store)
    if newest is not None:
        problems += problems_of(run_exports(store, settings, newest))
    return problems
