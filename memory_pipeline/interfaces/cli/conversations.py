"""The commands about conversations: read their days, and show what went where."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import (
    day_as_text,
    list_days,
    run_conversations,
    show_day,
    speakers_in_words,
)
from memory_pipeline.consolidation.review.decisions import decide_extraction
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import Answer, OnlyProjectOption, QuietOption, current_user, group
from memory_pipeline.interfaces.cli.output import progress_printer, table
from memory_pipeline.moments import read_day
from memory_pipeline.store import Store

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
    done = run_conversations(
        store,
        settings,
        [read_day(day, "--date") for day in days or ()] or None,
        projects=[project] if project else (),
        now=datetime.now(UTC),
        progress=progress_printer(),
    )
    lines = [day_as_text(day) for day in done.days]
    lines += [f"Could not be done: {problem}" for problem in done.problems]
    lines += [f"Note: {told}." for told in done.moved]
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
    found = list_days(store, project, datetime.now(UTC).date(), settings)
    rows = [one.as_json() for one in found]
    columns = ["day", "project_id", "turns", "state", "kept"]
    columns += ["unanswered"] if any(one.unanswered for one in found) else []
    lines = [table(rows, columns, "No conversation was imported."), speakers_in_words(found)]
    return Answer(found, [line for line in lines if line])


@conversations_app.command("show", epilog="Example: memory-pipeline conversations show 2026-03-02")
def conversations_show(
    store: Store,
    day: Annotated[str, typer.Argument(metavar="day", help="The day, by UTC.")],
    project: OnlyProjectOption = None,
) -> Answer:
    """Show what was read on a day, what was kept and where it went, and what was dropped and why."""
    found = show_day(store, read_day(day, "the day"), project)
    if not found:
        raise InputError(f"no conversation of {day} was read; 'memory-pipeline conversations list' has the days")
    return Answer(found, [day_as_text(one) for one in found])


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
    told = "is not so, and is written nowhere" if decision == "rejected" else "is so"
    lines = [f"{done.id[:8]}  {done.project_id}  {told}: {done.text}"]
    lines += [f"Note: {done.note}."] if done.note else []
    lines += [f"Note: {moved}." for moved in done.moved]
    lines += [f"Could not be written: {problem}" for problem in done.problems]
    return Answer(done, lines, failed=done.problems)
