"""Makes again what follows from the memories that stay: rollups, pages, playbook and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.night.playbook import export_playbook
from memory_pipeline.records.rollup import ROLLUP_LEVELS
from memory_pipeline.reporting.report import render_changed_reports
from memory_pipeline.rollups.periods import read_period
from memory_pipeline.rollups.running import memory_file_of, renew_memory, roll_up
from memory_pipeline.store import Store
from memory_pipeline.wording.own_words import FORGOTTEN
from memory_pipeline.workspace.conversation_files import write_files
from memory_pipeline.workspace.nightly import run_exports


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
        if memory_file_of(store, settings, project) is not None and (why := renew_memory(store, settings, project)):
            problems.append(f"MEMORY.md of {project}: {why}")
    try:
        render_changed_reports(store, settings.reports_path, FORGOTTEN)
    except (MemoryPipelineError, OSError, ValueError) as error:
        problems.append(f"{settings.reports_path}: {in_words(error)}")
    if settings.playbook_path.is_dir():
        try:
            export_playbook(store, settings.playbook_path)
        except (MemoryPipelineError, OSError) as error:
            problems.append(f"{settings.playbook_path}: {in_words(error)}")
    if newest is not None:
        results = run_exports(store, settings, newest)
        problems += [f"export {one.name}: {one.problem}" for one in results if one.problem]
    return problems
