"""The commands by which a person decides: conflicts, patterns, and what could not be imported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, cast

import typer
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.review.conflicts import (
    Decision,
    Keep,
    conflict_text,
    describe_conflicts,
    list_conflicts,
    reopen_conflict,
    resolve_conflict,
)
from memory_pipeline.consolidation.review.patterns import decide_pattern, list_patterns, pattern_as_text
from memory_pipeline.consolidation.review.rollback import as_text
from memory_pipeline.ingest.candidates import RejectedRow
from memory_pipeline.interfaces.cli.base import Answer, OnlyProjectOption, app, current_user, group
from memory_pipeline.interfaces.cli.output import table
from memory_pipeline.moments import read_day
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

conflicts_app = group("conflicts", "Memories that contradict each other: list, show, resolve, reopen.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The conflict's id, or the start of it.")]


@conflicts_app.command("list", epilog="Example: memory-pipeline conflicts list --project webshop")
def conflicts_list(
    store: Store,
    all_: Annotated[bool, typer.Option("--all", help="Also show settled conflicts.")] = False,
    project: OnlyProjectOption = None,
    each: Annotated[
        bool, typer.Option("--each", help="Show every conflict, not one of several that share memories.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of conflicts.")] = 50,
) -> Answer:
    """Show the contradictions that await a decision, clearest first; of several that share memories, only one."""
    conflicts = list_conflicts(store, settled=all_, project=project, each=each)
    rows = [
        {
            **row.as_json(),
            "id": row.id[:8],
            "found": row.found_at.date(),
            "project": row.project_id,
            "newer": {row.a.id: "one side", row.b.id: "the other"}.get(row.newer_id or "", ""),
            "one side": " ".join(row.a.content.split())[:60],
            "the other": " ".join(row.b.content.split())[:60],
        }
        for row in conflicts[:limit]
    ]
    columns = ["id", "found", "project", "status", "kind", "detail", "alike", "newer", "one side", "the other"]
    lines = [table(rows, columns, _none_words(project, settled=all_))]
    if len(conflicts) > limit:
        lines.append(f"and {len(conflicts) - limit} more (--limit, --project)")
    if alike := sum(row.alike or 0 for row in conflicts):
        lines.append(
            f"{how_many(len(conflicts), 'conflict')} of {len(conflicts) + alike} pairs; of those that share memories, "
            "only one is shown (--each shows all)."
        )
    return Answer(conflicts[:limit], "\n".join(lines))


def _none_words(project: str | None, *, settled: bool) -> str:
    """The message for an empty list, with the project that was asked for."""
    scope = f" of project '{project}'" if project is not None else ""
    none = f"The store has no conflict{scope}" if settled else f"No conflict{scope} awaits a decision"
    return f"{none}; 'memory-pipeline conflicts list --all' shows every conflict." if scope else f"{none}."


@conflicts_app.command("show", epilog="Example: memory-pipeline conflicts show 3f0c")
def conflicts_show(store: Store, conflict_id: IdArgument) -> Answer:
    """Show both sides of a contradiction, and how it was settled."""
    with store.reading() as tx:
        (conflict,) = describe_conflicts(tx, [tx.conflicts.read(conflict_id)])
    return Answer(conflict, conflict_text(conflict))


@conflicts_app.command(
    "resolve",
    epilog="Examples: memory-pipeline conflicts resolve 3f0c --keep newer; memory-pipeline conflicts resolve 3f0c "
    "--keep both; memory-pipeline conflicts resolve 3f0c --keep both --scope-a 'on staging' --scope-b 'in production'",
)
def conflicts_resolve(
    settings: Settings,
    store: Store,
    conflict_id: IdArgument,
    keep: Annotated[
        str,
        typer.Option(
            help="newer, newest (the later side, also of every pair that shares memories with it), a, b, or both."
        ),
    ],
    scope_a: Annotated[str | None, typer.Option("--scope-a", help="With both: where side a applies.")] = None,
    scope_b: Annotated[str | None, typer.Option("--scope-b", help="With both: where side b applies.")] = None,
    note: Annotated[str | None, typer.Option(help="The reason; kept with the decision.")] = None,
) -> Answer:
    """Settle a contradiction. The side that is not kept is archived into the other one; nothing is deleted. With both,
    they contradict nothing, or each applies where its scope says."""
    decision = Decision(cast(Keep, keep), current_user(), scope_a, scope_b, note)
    case = resolve_conflict(store, settings, conflict_id, decision)
    with store.reading() as tx:
        (conflict,) = describe_conflicts(tx, [case])
    lines = [conflict_text(conflict)]
    lines += ["  and with it all conflicts that share memories with it"] if keep == "newest" else []
    return Answer(conflict, [*lines, f"Undo with: memory-pipeline conflicts reopen {case.id[:8]}"])


@conflicts_app.command("reopen", epilog="Example: memory-pipeline conflicts reopen 3f0c")
def conflicts_reopen(settings: Settings, store: Store, conflict_id: IdArgument) -> Answer:
    """Reverse a decision: what it archived is active again, and the contradiction is open."""
    result = reopen_conflict(store, settings, conflict_id)
    return Answer(result, f"{as_text(result)}\nThe conflict is open again.")


patterns_app = group(
    "patterns", "How a human and an agent work together: list what waits for a decision, confirm, reject."
)

PatternArgument = Annotated[
    str,
    typer.Argument(metavar="id", help="The pattern: its id, the start of it, or the handle of a memory that says it."),
]


@patterns_app.command("list", epilog="Examples: memory-pipeline patterns list; memory-pipeline patterns list --all")
def patterns_list(
    store: Store,
    project: OnlyProjectOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that hold, and those that were decided.")
    ] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="DAY", help="Confidence as of this day.")] = None,
) -> Answer:
    """List the patterns that wait for a decision: those that fade, and those that something may contradict."""
    day = read_day(as_of, "--as-of") if as_of else datetime.now(UTC).date()
    patterns = list_patterns(store, project, day, everything=everything)
    empty = "No pattern." if everything else "No pattern waits for a decision; --all lists the others."
    return Answer(patterns, "\n".join(map(pattern_as_text, patterns)) or empty)


@patterns_app.command("confirm", epilog="Example: memory-pipeline patterns confirm 3f2a9c1e")
def patterns_confirm(settings: Settings, store: Store, pattern: PatternArgument) -> Answer:
    """Say that a pattern holds: it counts as said once more, today."""
    return _decided(settings, store, pattern, "confirmed")


@patterns_app.command("reject", epilog="Example: memory-pipeline patterns reject 3f2a9c1e")
def patterns_reject(settings: Settings, store: Store, pattern: PatternArgument) -> Answer:
    """Say that a pattern does not hold: it is no longer written."""
    return _decided(settings, store, pattern, "rejected")


def _decided(settings: Settings, store: Store, pattern: str, decision: Literal["confirmed", "rejected"]) -> Answer:
    done, problems = decide_pattern(store, settings, pattern, decision, actor=current_user(), now=datetime.now(UTC))
    lines = [pattern_as_text(done), *(f"Could not be written: {problem}" for problem in problems)]
    return Answer(done, lines, failed=problems)


_SHOWN = 200


class QuarantinedRow(RejectedRow):
    """A row that no import could take."""

    first_seen_at: datetime = Field(description="When an import first met it.")


@app.command(epilog="Examples: memory-pipeline quarantine list; memory-pipeline quarantine notes.csv")
def quarantine(
    store: Store,
    file: Annotated[
        str | None, typer.Argument(metavar="[list|FILE]", help="Only rows of files whose name contains FILE.")
    ] = None,
) -> Answer:
    """List the rows that no import could take, with file, line and reason. They stay listed after they were mended."""
    named = None if file == "list" else file
    with store.reading() as tx:
        rejected = tx.journal.rejected(named)
        others = len(tx.journal.rejected()) if named is not None and not rejected else 0
        quarantined = [
            QuarantinedRow(file=name, line=line, reason=reason, excerpt=excerpt, first_seen_at=seen_at)
            for name, line, reason, excerpt, seen_at in rejected
        ]
    lines = []
    for row in quarantined[:_SHOWN]:
        lines.append(f"{row.file}:{row.line}  {row.first_seen_at:%Y-%m-%d}  {row.reason}")
        if row.excerpt:
            lines.append(f"    {' '.join(row.excerpt.split())[:100]}")
    if len(quarantined) > _SHOWN:
        lines.append(f"and {len(quarantined) - _SHOWN:,} more; --json has all")
    none = "Nothing is in quarantine."
    if others:
        rows = how_many(others, "row")
        none = (
            f"Nothing is in quarantine of a file with '{named}' in its name; 'quarantine list' shows {rows} of others."
        )
    return Answer(quarantined, "\n".join(lines) or none)
