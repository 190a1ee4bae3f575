"""The commands about patterns of how a human and an agent work together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from memory_pipeline.interfaces.cli.base import (
    JsonOption,
    StoreOption,
    app,
    as_day,
    check_project,
    current_user,
    open_store,
)
from memory_pipeline.interfaces.cli.output import emit

patterns_app = typer.Typer(
    help="How a human and an agent work together: list what waits for a decision, confirm, reject.",
    no_args_is_help=True,
)
app.add_typer(patterns_app, name="patterns")

PatternArgument = Annotated[
    str,
    typer.Argument(metavar="id", help="The pattern: its id, the start of it, or the handle of a memory that says it."),
]


@patterns_app.command("list", epilog="Examples: memory-pipeline patterns list; memory-pipeline patterns list --all")
def patterns_list(
    project: Annotated[str | None, typer.Option("--project", help="Only patterns of this project.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that hold, and those that were decided.")
    ] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="DAY", help="Confidence as of this day.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """List the patterns that wait for a decision: those that fade, and those that something may contradict."""
    from memory_pipeline.review.patterns import list_patterns, pattern_as_text

    _, opened = open_store(store)
    check_project(opened, project)
    day = as_day(as_of, "--as-of") if as_of else datetime.now(UTC).date()
    found = list_patterns(opened, project, day, everything=everything)
    empty = "No pattern." if everything else "No pattern waits for a decision; --all lists the others."
    emit(found, as_json=json_, text="\n".join(map(pattern_as_text, found)) or empty)


@patterns_app.command("confirm", epilog="Example: memory-pipeline patterns confirm 3f2a9c1e")
def patterns_confirm(pattern: PatternArgument, store: StoreOption = None, json_: JsonOption = False) -> None:
    """Say that a pattern holds: it counts as said once more, today."""
    _decide(pattern, "confirmed", store, json_)


@patterns_app.command("reject", epilog="Example: memory-pipeline patterns reject 3f2a9c1e")
def patterns_reject(pattern: PatternArgument, store: StoreOption = None, json_: JsonOption = False) -> None:
    """Say that a pattern does not hold: it is no longer written."""
    _decide(pattern, "rejected", store, json_)


def _decide(pattern: str, decision: Literal["confirmed", "rejected"], store: StoreOption, json_: bool) -> None:
    from memory_pipeline.review.patterns import decide_pattern, pattern_as_text

    settings, opened = open_store(store)
    done, problems = decide_pattern(opened, settings, pattern, decision, actor=current_user(), now=datetime.now(UTC))
    lines = [pattern_as_text(done), *(f"Could not be written: {problem}" for problem in problems)]
    emit(done, as_json=json_, text="\n".join(lines))
    if problems:
        raise typer.Exit(1)
