"""Makes the rollups of periods and keeps them: in the store first, and then in pages that say the same. What a
correction makes untrue is made again. Lists and shows them, and finds what is wrong with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from memory_pipeline.config.exports import CONTENTS, DEFAULT_CONTENTS, ROLLUPS
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, MemoryPipelineError, in_words
from memory_pipeline.killpoints import reached
from memory_pipeline.models.choose import model_reads
from memory_pipeline.periods.calendar import Period, periods_between, read_period
from memory_pipeline.periods.in_short import SAID, say_in_short
from memory_pipeline.periods.making import BUDGETS, Maker, rollup_id
from memory_pipeline.records.night import ROLLUP_LEVELS, Rollup
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.directory import MEMORY_FILE, pages_of, write_pages
from memory_pipeline.workspace.exporting import ExportResult, problems_of, run_changed, token_counter, write_memory
from memory_pipeline.workspace.playbook_pages import BLOCK, rollup_blocks, rollup_page, write_playbook

_log = logging.getLogger(__name__)
#: Memories of impossible days that are named.
_NAMED = 5
Progress = Callable[[str, int, int], None]
#: A number, or that of what is listed.
Count = Annotated[int, BeforeValidator(lambda value: value if isinstance(value, int) else len(value))]


class ListedRollup(Document):
    """A rollup, as a list shows it."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(description="Its id.")
    project: str = Field(validation_alias="project_id", description="The project.")
    level: str = Field(description="`day`, `week`, `month` or `year`.")
    period: str = Field(description="The period.")
    notes: int = Field(default=0, description="Memories of the period.")
    entries: Count = Field(default=0, validation_alias="memory_ids", description="Memories that it says.")
    tokens: int = Field(default=0, validation_alias="token_count", description="Its tokens.")
    budget: int = Field(validation_alias="budget_tokens", description="The most tokens that it could have.")


class MadeRollup(ListedRollup):
    """One period of a project, and what became of its rollup."""

    file: str | None = Field(description="The file in which it stands.")
    status: str = Field(
        description="`new`, `changed` or `unchanged` in the store; `empty`: there is nothing to say of the period."
    )
    in_short: str | None = Field(
        default=None,
        description="`said`: it begins with what a model says in short; or why it does not. Null if none was asked.",
    )
    problem: str | None = Field(default=None, description="Why its file could not be written.")
    moved: str | None = Field(
        default=None, description="What a person wrote between our marks in it, and where that stands now."
    )


def roll_up(
    store: Store,
    settings: Settings,
    periods: Sequence[Period],
    *,
    holder: str,
    run_id: str,
    projects: Sequence[str] = (),
    progress: Progress = lambda step, done, total: None,
    cached_only: bool = False,
) -> list[MadeRollup]:
    """Make the rollups of periods, finer ones first, of some projects or of all. What a period is made from and is not
    there yet is made too.

    `cached_only`: no model is asked, and of what one says in short the answers that are kept are used.

    The caller holds the lease of the store. A file that cannot be written costs only itself.
    """
    count = token_counter(settings)
    with store.reading() as tx:
        chosen = list(projects) or tx.memories.projects()
    done: list[MadeRollup] = []
    for project in chosen:
        done += _roll_up_project(store, settings, project, periods, count, (holder, run_id), progress, cached_only)
    return done


def finish_rollups(store: Store, settings: Settings, made: Sequence[MadeRollup], *, is_newest: bool) -> list[str]:
    """Does what follows rollups: of the newest day, the pages of what is known now; and the exports that have what
    changed. Returns what could not be written."""
    problems = []
    for project in sorted({rollup.project for rollup in made}):
        failed = _write_memory(store, settings, project) if is_newest else []
        exports = run_changed(store, settings, project, (ROLLUPS, *(DEFAULT_CONTENTS if is_newest else ())))
        problems += [f"{project}: {problem}" for problem in (*failed, *problems_of(exports))]
    return problems


def periods_to_make(store: Store, first: date | None, last: date, ended_by: date) -> list[Period]:
    """The periods that hold days from `first` to `last` and have ended; none that ends before the first memory. The log
    names memories of days that no memory can have, which are in no period."""
    with store.reading() as tx:
        moment = tx.contents.first_moment()
        impossible = tx.contents.of_impossible_days()
    if impossible:
        first_ones = ", ".join(f"'{known}' ({moment.date()})" for known, moment in list(impossible.items())[:_NAMED])
        _log.warning(
            "%s of days before 2000 or after 2199, in no summary: %s", how_many(len(impossible), "memory"), first_ones
        )
    if moment is None:
        return []
    return periods_between(max(first or moment.date(), moment.date()), last, ended_by=ended_by)


def _roll_up_project(
    store: Store,
    settings: Settings,
    project: str,
    periods: Sequence[Period],
    count: Callable[[str], int],
    by: tuple[str, str],
    progress: Progress,
    cached_only: bool,
) -> list[MadeRollup]:
    with store.reading() as tx:
        before = tx.rollups.read(project, [rollup_id(project, period) for period in periods])
        maker = Maker(tx, project, count)
        made: dict[Period, Rollup | None] = {}
        for number, period in enumerate(periods, 1):
            made[period] = maker.rollup(period, anew=True)
            progress(f"rollups of {project}", number, len(periods))
    asked = maker.tellings() if model_reads(settings) else {}
    short, why_not = say_in_short(store, settings, asked, by, count, cached_only=cached_only)
    for known, words in short.items():
        maker.say_in_short(known, words)
    others = maker.made
    made = {period: others[rollup_id(project, period)] for period in made}
    for why in sorted(set(why_not.values())):
        which = how_many(list(why_not.values()).count(why), "rollup")
        _log.warning("%s of %s not said in short: %s", which, project, why)
    rollups = [rollup for rollup in others.values() if rollup is not None]
    empty = [known for known, rollup in others.items() if rollup is None]
    if any(rollup != before.get(rollup.id) for rollup in rollups) or any(known in before for known in empty):
        with store.writing(*by) as tx:
            tx.rollups.keep(rollups, empty)
    reached("rollups.kept")
    root = pages_of(store.path, project)
    blocks = rollup_blocks(rollup for rollup in made.values() if rollup is not None)
    gone = {(rollup_page(period.level, period.key), BLOCK): "" for period, rollup in made.items() if rollup is None}
    written = write_pages(root, {**gone, **blocks}, store.path)
    for note in (*written.problems.values(), *written.told):
        _log.warning("%s", note)
    results = []
    for period, row in made.items():
        page, known, level = rollup_page(period.level, period.key), rollup_id(project, period), period.level
        problem, old = written.problems.get(page), before.get(known)
        nothing = {"id": known, "project": project, "level": level, "period": period.key, "budget": BUDGETS[level]}
        results.append(
            MadeRollup(
                **(ListedRollup.model_validate(row).model_dump() if row else nothing),
                file=str(root / page) if row or problem else None,
                status="empty" if row is None else "new" if old is None else "unchanged" if old == row else "changed",
                in_short=SAID if known in short else why_not.get(known),
                problem=problem,
                moved=written.moved.get(page),
            )
        )
    return results


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
        made = roll_up(store, settings, periods, holder=holder, run_id=run_id, projects=[project], cached_only=True)
        failed = [rollup.problem for rollup in made if rollup.problem]
        has_pages = (pages_of(store.path, project) / MEMORY_FILE).is_file()
        failed += _write_memory(store, settings, project) if has_pages else write_playbook(store)
        reached("pages.renewed")
        done = run_changed(store, settings, project, CONTENTS)
        exports += done
        problems += [*failed, *problems_of(done)]
        if not failed:
            with store.writing(holder, run_id) as tx:
                tx.rollups.note_renewed(mine)
    return exports, problems


def _write_memory(store: Store, settings: Settings, project: str) -> list[str]:
    """Write `MEMORY.md` and the pages beside it; returns what could not be written."""
    try:
        return [*write_memory(store, settings, project).problems.values()]
    except MemoryPipelineError as error:
        return [in_words(error)]


class ShownRollup(ListedRollup):
    """A rollup with its words."""

    text: str = Field(validation_alias="content", description="What it says, as Markdown.")
    memory_ids: tuple[str, ...] = Field(description="The memories that say it.")
    below: tuple[str, ...] = Field(
        validation_alias="below_ids", description="The ids of the rollups that it is made from."
    )


def show_rollups(tx: Transaction, period: Period, project: str | None) -> list[ShownRollup]:
    """The rollup of a period, of one project or of every one that has it. Raises InputError if there is none."""
    chosen = [project] if project else tx.memories.projects()
    rollups = [rollup for name in chosen for rollup in tx.rollups.read(name, [rollup_id(name, period)]).values()]
    if not rollups:
        raise InputError(
            f"there is no rollup of {period.key}; 'memory-pipeline rollups run --from {period.first} --to "
            f"{period.last}' makes it when the period has ended, if there is something to say"
        )
    return [ShownRollup.model_validate(rollup) for rollup in rollups]


def find_problems(store: Store, made: Sequence[MadeRollup]) -> tuple[list[str], list[str], list[str]]:
    """Of the rollups of a run, as they stand in the store and in their files now, in words: those over their budget,
    those that say what is not there, and those that stand in no file."""
    over_budget: list[str] = []
    without_memory: list[str] = []
    not_written: list[str] = []
    for project in sorted({rollup.project for rollup in made}):
        mine = {rollup.id: rollup for rollup in made if rollup.project == project}
        with store.reading() as tx:
            stored = tx.rollups.read(project, mine)
            memories = tx.memories.existing(sorted({i for rollup in stored.values() for i in rollup.memory_ids}))
            below = tx.rollups.read(project, {i for rollup in stored.values() for i in rollup.below_ids})
        for known, rollup in mine.items():
            name = f"{project} {rollup.period}"
            row = stored.get(known)
            if rollup.problem:
                not_written.append(f"{name}: {rollup.problem}")
            if row is None:
                continue
            if row.token_count > row.budget_tokens:
                over_budget.append(f"{name}: {row.token_count} of {row.budget_tokens} tokens")
            lost = [i for i in row.memory_ids if i not in memories] + [i for i in row.below_ids if i not in below]
            if lost:
                without_memory.append(f"{name}: {lost[0]}")
            if rollup.file and not rollup.problem and row.content not in _read_text(Path(rollup.file)):
                not_written.append(f"{name}: '{rollup.file}' says something else")
    return over_budget, without_memory, not_written


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").replace("\r\n", "\n")
    except OSError:
        return ""
