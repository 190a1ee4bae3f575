"""The commands about contradictions: list, show, resolve, reopen."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, check_project, current_user, open_store
from memory_pipeline.interfaces.cli.output import emit, table

conflicts_app = typer.Typer(
    help="Memories that contradict each other: list, show, resolve, reopen.", no_args_is_help=True
)
app.add_typer(conflicts_app, name="conflicts")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The conflict's id, or the start of it.")]


@conflicts_app.command("list", epilog="Example: memory-pipeline conflicts list --project webshop")
def conflicts_list(
    all_: Annotated[bool, typer.Option("--all", help="Also show settled conflicts.")] = False,
    project: Annotated[str | None, typer.Option("--project", help="Only conflicts of this project.")] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only conflicts of this kind: negation, number, ...")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Show every conflict, not one of several that share memories.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of conflicts.")] = 50,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Show the contradictions that await a decision, clearest first; of several that share memories, only one."""
    from memory_pipeline.review.conflicts import list_conflicts

    _, opened = open_store(store)
    check_project(opened, project)
    shown = list_conflicts(opened, settled=all_, project=project, kind=kind, each=each)
    rows: list[dict[str, object]] = [
        {
            **row.as_json(),
            "id": row.id[:8],
            "found": row.found_at.date(),
            "project": row.project_id,
            "newer": {row.a.id: "one side", row.b.id: "the other"}.get(row.newer_id or ""),
            "one side": " ".join(row.a.content.split())[:60],
            "the other": " ".join(row.b.content.split())[:60],
        }
        for row in shown[:limit]
    ]
    columns = ["id", "found", "project", "status", "kind", "detail", "alike", "newer", "one side", "the other"]
    lines = [table(rows, columns) if rows else _none_words(project, kind, settled=all_)]
    if len(shown) > limit:
        lines.append(f"and {len(shown) - limit} more (--limit, --kind, --project)")
    if alike := sum(row.alike or 0 for row in shown):
        lines.append(
            f"{len(shown) + alike} conflicts; of several that share memories, only one is shown (--each shows all)."
        )
    emit(shown[:limit], as_json=json_, text="\n".join(lines))


def _none_words(project: str | None, kind: str | None, *, settled: bool) -> str:
    """The message for an empty list, with the filters."""
    named = {"project": project, "kind": kind}
    which = " and ".join(f"{name} '{value}'" for name, value in named.items() if value is not None)
    of = f" of {which}" if which else ""
    none = f"The store has no conflict{of}" if settled else f"No conflict{of} awaits a decision"
    return f"{none}; 'memory-pipeline conflicts list --all' shows every conflict." if which else f"{none}."


@conflicts_app.command("show", epilog="Example: memory-pipeline conflicts show 3f0c")
def conflicts_show(conflict_id: IdArgument, store: StoreOption = None, json_: JsonOption = False) -> None:
    """Show both sides of a contradiction, and how it was settled."""
    from memory_pipeline.review.conflicts import conflict_text, describe_conflicts

    _, opened = open_store(store)
    with opened.reading() as tx:
        (shown,) = describe_conflicts(tx, [tx.conflicts.read(conflict_id)])
    emit(shown, as_json=json_, text=conflict_text(shown))


@conflicts_app.command(
    "resolve",
    epilog="Examples: memory-pipeline conflicts resolve 3f0c --keep newer; memory-pipeline conflicts resolve 3f0c "
    "--keep both --scope-a 'on staging' --scope-b 'in production'",
)
def conflicts_resolve(
    conflict_id: IdArgument,
    keep: Annotated[str, typer.Option(help="newer, a, b, or both.")],
    scope_a: Annotated[str | None, typer.Option("--scope-a", help="With both: where side a applies.")] = None,
    scope_b: Annotated[str | None, typer.Option("--scope-b", help="With both: where side b applies.")] = None,
    note: Annotated[str | None, typer.Option(help="The reason; kept with the decision.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Settle a contradiction. The side that is not kept is archived into the other one; nothing is deleted."""
    from memory_pipeline.review.conflicts import conflict_text, describe_conflicts
    from memory_pipeline.review.resolution import Decision, Keep, resolve_conflict

    settings, opened = open_store(store)
    decision = Decision(cast(Keep, keep), current_user(), scope_a, scope_b, note)
    case = resolve_conflict(opened, settings, conflict_id, decision)
    with opened.reading() as tx:
        (shown,) = describe_conflicts(tx, [case])
    undo = f"Undo with: memory-pipeline conflicts reopen {case.id[:8]}"
    emit(shown, as_json=json_, text=f"{conflict_text(shown)}\n{undo}")


@conflicts_app.command("reopen", epilog="Example: memory-pipeline conflicts reopen 3f0c")
def conflicts_reopen(conflict_id: IdArgument, store: StoreOption = None, json_: JsonOption = False) -> None:
    """Reverse a decision: what it archived is active again, and the contradiction is open."""
    from memory_pipeline.review.resolution import reopen_conflict
    from memory_pipeline.review.rollback import as_text

    settings, opened = open_store(store)
    result = reopen_conflict(opened, settings, conflict_id)
    emit(result, as_json=json_, text=f"{as_text(result)}\nThe conflict is open again.")
