"""The commands about conversations, which read their days and show what went where, and about what days, weeks, months
and years amount to."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation import conversation_runs
from memory_pipeline.consolidation.review.decisions import decide_extraction
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import Answer, OnlyProjectOption, QuietOption, current_user, group
from memory_pipeline.interfaces.cli.output import progress_printer, table
from memory_pipeline.moments import latest_complete_day, read_day
from memory_pipeline.periods import running
from memory_pipeline.periods.calendar import read_period
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

conversations_app = group("conversations", "What is kept of conversations: read their days, and show what went where.")


@conversations_app.command(
    "run",
    epilog="Examples: memory-pipeline conversations run --all-open; memory-pipeline conversations run --date "
    "2026-03-02",
)
def conversations_run(
    settings: Settings,
    store: Store,
    days: Annotated[
        list[str] | None, typer.Option("--date", metavar="DAY", help="Read this day, by UTC; may be repeated.")
    ] = None,
    all_open: Annotated[
        bool,
        typer.Option(
            "--all-open",
            help="Read every day that was never read, to which turns came late, or "
            "before which an earlier day was read.",
        ),
    ] = False,
    project: OnlyProjectOption = None,
    quiet: QuietOption = False,
) -> Answer:
    """Read days of conversations, and write what is worth keeping to where it belongs. A day that was read before is
    replaced."""
    if bool(days) == all_open:
        raise InputError("give --date DAY, or --all-open")
    done = conversation_runs.run_conversations(
        store,
        settings,
        [read_day(day, "--date") for day in days or ()] or None,
        projects=[project] if project else (),
        now=datetime.now(UTC),
        progress=progress_printer(),
    )
    lines = [conversation_runs.day_as_text(day) for day in done.days]
    lines += [f"Could not be done: {problem}" for problem in done.problems]
    lines += [f"Note: {note}." for note in done.moved]
    if done.days:
        lines.append(f"Run {done.run_id}: {len(done.days)} read, {done.changed} changed.")
    elif not done.problems:
        lines.append("No day is open.")
    if done.open_again:
        which = "1 later day is" if len(done.open_again) == 1 else f"{len(done.open_again)} later days are"
        lines.append(
            f"{which} open again, since what stands before changed: the next night reads them, or "
            "'memory-pipeline conversations run --all-open'."
        )
    lines += [f"{done.left}."] if done.left else []
    return Answer(done, lines, failed=done.problems)


@conversations_app.command("list", epilog="Example: memory-pipeline conversations list --project webshop")
def conversations_list(settings: Settings, store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the days on which something was said, and whether they were read."""
    days = conversation_runs.list_days(store, project, datetime.now(UTC).date(), settings)
    rows = [day.as_json() for day in days]
    columns = ["day", "project_id", "turns", "state", "kept"]
    columns += ["unanswered"] if any(day.unanswered for day in days) else []
    lines = [table(rows, columns, "No conversation was imported."), conversation_runs.speakers_in_words(days)]
    return Answer(days, [line for line in lines if line])


@conversations_app.command("show", epilog="Example: memory-pipeline conversations show 2026-03-02")
def conversations_show(
    store: Store,
    day: Annotated[str, typer.Argument(metavar="day", help="The day, by UTC.")],
    project: OnlyProjectOption = None,
) -> Answer:
    """Show what was read on a day, what was kept and where it went, and what was dropped and why."""
    days_read = conversation_runs.show_day(store, read_day(day, "the day"), project)
    if not days_read:
        raise InputError(f"no conversation of {day} was read; 'memory-pipeline conversations list' has the days")
    return Answer(days_read, [conversation_runs.day_as_text(day_read) for day_read in days_read])


_ExtractionArgument = Annotated[
    str, typer.Argument(metavar="ID", help="What was extracted, or the start of its id, as `show` prints it.")
]


@conversations_app.command("reject", epilog="Example: memory-pipeline conversations reject 3f2a9c1e")
def conversations_reject(settings: Settings, store: Store, extraction: _ExtractionArgument) -> Answer:
    """Say that something which was extracted is not so: it stays on record, and is written nowhere any more, not even
    when its day is read again."""
    return _decided(settings, store, extraction, "rejected")


@conversations_app.command("accept", epilog="Example: memory-pipeline conversations accept 3f2a9c1e")
def conversations_accept(settings: Settings, store: Store, extraction: _ExtractionArgument) -> Answer:
    """Take back that something which was extracted is not so."""
    return _decided(settings, store, extraction, "confirmed")


def _decided(settings: Settings, store: Store, extraction: str, decision: Literal["confirmed", "rejected"]) -> Answer:
    done = decide_extraction(store, settings, extraction, decision, actor=current_user(), now=datetime.now(UTC))
    outcome = "is not so, and is written nowhere" if decision == "rejected" else "is so"
    lines = [f"{done.id[:8]}  {done.project_id}  {outcome}: {done.text}"]
    lines += [f"Note: {done.note}."] if done.note else []
    lines += [f"Note: {moved}." for moved in done.moved]
    lines += [f"Could not be written: {problem}" for problem in done.problems]
    return Answer(done, lines, failed=done.problems)


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
    periods = running.periods_to_make(store, first, last, newest)
    run_id = str(uuid.uuid4())
    holder = f"rollups of {current_user()}"
    with store.leased(run_id, holder):
        made = running.roll_up(
            store,
            settings,
            periods,
            holder=holder,
            run_id=run_id,
            projects=[project] if project else (),
            progress=progress_printer(),
        )
        failed = running.finish_rollups(store, settings, made, is_newest=True)
    counts = Counter(rollup.status for rollup in made)
    lines = [f"Rollups: {counts['new']:,} new, {counts['changed']:,} changed, {counts['unchanged']:,} as they were."]
    lines += [f"Nothing to say of {how_many(counts['empty'], 'period')}."] if counts["empty"] else []
    lines += [f"Not written: {rollup.problem}" for rollup in made if rollup.problem]
    lines += [f"Note: {rollup.moved}." for rollup in made if rollup.moved]
    lines += [f"Not written: {problem}" for problem in failed]
    is_whole = not failed and not any(rollup.problem for rollup in made)
    return Answer([rollup for rollup in made if rollup.status != "empty"], lines, failed=not is_whole)


@rollups_app.command("list", epilog="Example: memory-pipeline rollups list --project webshop")
def rollups_list(store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the summaries: their periods, how many notes each has, and their tokens."""
    with store.reading() as tx:
        rollups = [running.ListedRollup.model_validate(rollup) for rollup in tx.rollups.all(project)]
    lines = [
        f"{rollup.project}  {rollup.level:<5}  {rollup.period:<10}  {rollup.notes:>6,} notes  "
        f"{rollup.entries:>4} entries  {rollup.tokens:>5,} of {rollup.budget:,} tokens"
        for rollup in rollups
    ]
    return Answer(rollups, "\n".join(lines) or "No rollups yet; 'memory-pipeline rollups run' makes them.")


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
        rollups = running.show_rollups(tx, asked, project)
    return Answer(rollups, "\n\n".join(rollup.text for rollup in rollups))
