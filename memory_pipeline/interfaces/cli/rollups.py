"""The commands about what days, weeks, months and years amount to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import Answer, OnlyProjectOption, QuietOption, current_user, group
from memory_pipeline.interfaces.cli.output import progress_printer
from memory_pipeline.moments import latest_complete_day, read_day
from memory_pipeline.periods.calendar import read_period
from memory_pipeline.periods.running import (
    MadeRollup,
    finish_rollups,
    list_rollups,
    periods_to_make,
    roll_up,
    show_rollups,
)
from memory_pipeline.store import Store

rollups_app = group("rollups", "What days, weeks, months and years amount to: run, show, list.")


@rollups_app.command("run", epilog="Example: memory-pipeline rollups run --from 2026-03-01 --to 2026-03-31")
def rollups_run(
    settings: Settings,
    store: Store,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="First day (default: that of the first memory).")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Last day (default: the last complete one).")
    ] = None,
    project: OnlyProjectOption = None,
    quiet: QuietOption = False,
) -> Answer:
    """Make the summaries of every day, week, month and year that holds one of these days and has ended, and write their
    pages beside the store. Running it again changes nothing, unless the notes of a day have changed."""
    newest = latest_complete_day(datetime.now(UTC))
    last = min(read_day(to, "--to"), newest) if to else newest
    first = read_day(from_, "--from") if from_ else None
    if first and first > last:
        raise InputError(f"--from {first} is after {last}; give an earlier day")
    periods = periods_to_make(store, first, last, newest)
    run_id = str(uuid.uuid4())
    holder = f"rollups of {current_user()}"
    store.take_lease(run_id, holder)
    try:
        made = roll_up(
            store,
            settings,
            periods,
            holder=holder,
            run_id=run_id,
            projects=[project] if project else (),
            progress=progress_printer(),
        )
        failed = finish_rollups(store, settings, made, is_newest=True)
    finally:
        store.release_lease(run_id)
    told = [_ran(made), *(f"Not written: {problem}" for problem in failed)]
    return Answer(
        [one for one in made if one.status != "empty"],
        "\n".join(told),
        failed=failed or any(one.problem for one in made),
    )


@rollups_app.command("list", epilog="Example: memory-pipeline rollups list --project webshop")
def rollups_list(store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the summaries: their periods, how many notes each has, and their tokens."""
    with store.reading() as tx:
        found = list_rollups(tx, project)
    lines = [
        f"{one.project}  {one.level:<5}  {one.period:<10}  {one.notes:>6,} notes  {one.entries:>4} entries  "
        f"{one.tokens:>5,} of {one.budget:,} tokens"
        for one in found
    ]
    return Answer(found, "\n".join(lines) or "No rollups yet; 'memory-pipeline rollups run' makes them.")


@rollups_app.command("show", epilog="Example: memory-pipeline rollups show 2026-W11")
def rollups_show(
    store: Store,
    period: Annotated[
        str, typer.Argument(metavar="period", help="2026-03-14, 2026-W11, 2026-03 or 2026; a week begins on Sunday.")
    ],
    project: OnlyProjectOption = None,
) -> Answer:
    """Show the summary of a day, a week, a month or a year, with the memories behind it."""
    asked = read_period(period)
    with store.reading() as tx:
        found = show_rollups(tx, asked, project)
    return Answer(found, "\n\n".join(one.text for one in found))


def _ran(made: Sequence[MadeRollup]) -> str:
    counted = {status: sum(one.status == status for one in made) for status in ("new", "changed", "unchanged", "empty")}
    told = [f"Rollups: {counted['new']:,} new, {counted['changed']:,} changed, {counted['unchanged']:,} as they were."]
    if counted["empty"]:
        told.append(f"Nothing to say of {counted['empty']:,} periods.")
    told += [f"Not written: {one.problem}" for one in made if one.problem]
    told += [f"Note: {one.moved}." for one in made if one.moved]
    return "\n".join(told)
