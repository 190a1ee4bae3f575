"""The commands that inspect the past, undo and decide: rollback, history, as-of, diff, proposals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.review import decisions
from memory_pipeline.consolidation.review.proposals import describe_proposals, proposal_text
from memory_pipeline.consolidation.review.rollback import RollbackScope, as_text, preview_rollback, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import begins_with, check_output, write_text
from memory_pipeline.ingest.exporting import check_export, write_rows
from memory_pipeline.interfaces.cli.base import (
    Answer,
    ExportedFile,
    ForceOption,
    OnlyProjectOption,
    app,
    check_target,
    current_user,
    group,
)
from memory_pipeline.interfaces.cli.output import table
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.moments import check_has_come, read_day, read_moment
from memory_pipeline.recall.past import describe_hits, diff_states, diff_text, list_state, read_state, search_state
from memory_pipeline.reporting.pages import DIFFERENCE_MARK, difference_page
from memory_pipeline.store import Event, Store


@app.command(
    epilog="Examples: memory-pipeline rollback 2026-03-14 --dry-run; memory-pipeline rollback --run-id 3f0c...; "
    "memory-pipeline rollback --since 2026-03-14T00:00Z --cascade"
)
def rollback(
    settings: Settings,
    store: Store,
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN_ID|DATE]", help="The same as --run-id.", show_default=False)
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(
            "--run-id",
            help="Undo one run, given its id or the start of it, or the night of a day, however often it ran.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="ISO", help="Undo every run that wrote at or after this time.")
    ] = None,
    abstraction: Annotated[
        str | None, typer.Option("--abstraction", metavar="ID", help="Undo one abstraction.")
    ] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Also roll back what was made from it later.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be restored; write nothing.")] = False,
) -> Answer:
    """Restore archived memories and retire the abstractions made of them, which stay on record."""
    if run is not None and run_id is not None:
        raise InputError(f"give the run once: '{run}' or --run-id '{run_id}'")
    moment = read_moment(since, "--since") if since is not None else None
    if moment:
        check_has_come(moment.date(), str(since), datetime.now(UTC))
    scope = RollbackScope(run if run is not None else run_id, moment, abstraction)
    result = (preview_rollback if dry_run else roll_back)(store, settings, scope, cascade=cascade)
    return Answer(result, as_text(result))


#: A day as it is written.
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@app.command(epilog="Examples: memory-pipeline history 8c1f0a52-...; memory-pipeline history 2026-03-14")
def history(
    store: Store,
    memory_id: Annotated[
        str, typer.Argument(metavar="MEMORY_ID|DATE", help="A memory (its id or handle), or the day of a night.")
    ],
) -> Answer:
    """Show everything that ever happened to a memory, or that the runs of a night did: who, what, when, in which run,
    before and after."""
    if DAY.fullmatch(memory_id):
        read_day(memory_id, "MEMORY_ID|DATE")
    with store.reading() as tx:
        runs = tx.runs.on(memory_id)
        events = tx.history.of_runs(runs) if runs else tx.history.of(memory_id)
    return Answer(events, history_lines(events))


_WORDS = {
    ("memories", "insert"): "was added to the store:",
    ("memories", "baseline"): "existed when the history began:",
    ("memories", "update"): "changed:",
    ("memories", "forget"): "forgot its words:",
    ("lineage", "insert"): "became a source:",
    ("lineage", "delete"): "is no longer a source:",
    ("conflicts", "insert"): "found a contradiction:",
    ("conflicts", "update"): "settled a contradiction:",
    ("compression_log", "insert"): "decided:",
    ("compression_log", "update"): "decided anew:",
}
#: Columns of memories and of entries of sources that words tell instead, or that only keep how a change is undone.
_IN_WORDS = {"archived_at", "archived_by", "consolidated_into_id", "importance_before", "updated_at"}
_IN_WORDS |= {"gone_at", "superseded_by", "run_id"}


def history_lines(events: Sequence[Event]) -> list[str]:
    """Events a line each, those together that one after the other only counted uses."""
    lines: list[str] = []
    for counts, run in groupby(events, _only_counts_use):
        same = list(run)
        if counts and len(same) > 1:
            span = f"{same[0].happened_at:%Y-%m-%d %H:%M:%S} to {same[-1].happened_at:%Y-%m-%d %H:%M:%S}"
            lines.append(f"{span}: {len(same)} times recalled or called useful")
        else:
            lines += map(_event_text, same)
    return lines


def _only_counts_use(event: Event) -> bool:
    before, after = event.before or {}, event.after or {}
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return event.before is not None and bool(changed) and changed <= {"reuse_count", "useful_count"}


def _event_text(event: Event) -> str:
    before, after = event.before or {}, event.after or {}
    names = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    run = f" in run {event.run_id}" if event.run_id else ""
    words = _WORDS.get((event.table, event.action), f"{event.action} in {event.table.replace('_', ' ')}:")
    if "archived_at" in names and event.action == "update":
        into = after.get("consolidated_into_id")
        words = ("was archived" + f" into {into}" * bool(into) if after.get("archived_at") else "is active again") + ":"
        names.discard("importance")  # lowered with it, and restored
    elif "gone_at" in names:
        by = after.get("superseded_by")
        words = "stands in its source again:"
        if after.get("gone_at"):
            words = "stands no longer in its source" + f", but {by} in its place" * bool(by) + ":"
    changed = [
        f"{name.replace('_', ' ')} {before.get(name)} -> {after.get(name)}" for name in sorted(names - _IN_WORDS)
    ]
    words = f"{words} {event.row_id}"
    return f"{event.happened_at:%Y-%m-%d %H:%M:%S}  {event.actor}{run}: {words}" + (
        f" ({'; '.join(changed)})" if changed else ""
    )


@app.command(
    "as-of",
    epilog="Examples: memory-pipeline as-of 2026-03-14; memory-pipeline as-of 2026-03-14 search 'gateway key'; "
    "memory-pipeline as-of before:night:2026-03-14 export jsonl then.jsonl",
)
def as_of(
    settings: Settings,
    store: Store,
    when: Annotated[str, typer.Argument(help="A day, a moment, night:DATE, a run, before:..., or a snapshot.")],
    action: Annotated[str, typer.Argument(metavar="list|search|export", help="What to do with it.")] = "list",
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY | FORMAT PATH]", help="Arguments of search or export.")
    ] = None,
    project: OnlyProjectOption = None,
    archived: Annotated[
        bool, typer.Option("--archived", help="Include archived memories in a list or an export.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of search results, 1 to 100.")] = 10,
    force: ForceOption = False,
) -> Answer:
    """List, search or export the memories as they were at a past time."""
    arguments = words or []
    if action not in ("list", "search", "export"):
        raise InputError(f"as-of accepts list, search and export, not '{action}'")
    if action == "list" and arguments:
        raise InputError(
            f"list takes no further argument, but '{arguments[0]}' was given; did you mean search or export?"
        )
    if action == "search" and not arguments:
        raise InputError("search needs words: memory-pipeline as-of WHEN search 'gateway key'")
    if action == "export":
        if len(arguments) != 2:
            raise InputError("export needs a format and a file: memory-pipeline as-of WHEN export jsonl then.jsonl")
        check_target(settings, Path(arguments[1]), force=force)
        check_export(store, arguments[0], Path(arguments[1]), force=force)
    state = read_state(store, when)
    memories = [m for m in state.memories if (archived or m.archived_at is None) and project in (None, m.project_id)]
    if action == "list":
        listing = list_state(state, memories)
        rows = [{**m.as_json(), "content": " ".join(m.content.split())[:100]} for m in listing.memories]
        text = f"{len(rows)} memories at {state.label}\n{table(rows, ['id', 'project', 'created', 'content'])}"
        return Answer(listing, text)
    if action == "search":
        hits = search_state(store, state, choose_embedder(settings), " ".join(arguments), project, limit, settings)
        results = describe_hits(state, hits)
        marks = [name for name in ("superseded_by", "newer") if any(getattr(hit, name) for hit in results.results)]
        text = table([hit.as_json() for hit in results.results], ["score", "id", "archived", *marks, "content"])
        return Answer(results, text)
    with store.reading() as tx:
        links = tx.lineage.of([memory.id for memory in memories])
    count = write_rows(store, arguments[0], Path(arguments[1]), memories, links, force=force)
    return Answer(ExportedFile(exported=count, path=arguments[1]), f"Exported {count} memories to {arguments[1]}.")


@app.command(
    epilog="Examples: memory-pipeline diff before:night:2026-03-14 night:2026-03-14; memory-pipeline diff 2026-03-01"
)
def diff(
    settings: Settings,
    store: Store,
    from_: Annotated[str, typer.Argument(metavar="FROM", help="Day, moment, night:DATE, run, before:... or snapshot.")],
    to: Annotated[str, typer.Argument(metavar="[TO]", help="The same; left out: now.")] = "now",
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write it as an HTML page.")] = None,
    force: ForceOption = False,
) -> Answer:
    """Show what changed in the active memory between two states."""
    if html is not None:
        check_target(settings, html, force=force)
        check_output(html, begins_with(DIFFERENCE_MARK), force=force)
    difference = diff_states(read_state(store, from_), read_state(store, to))
    if html is not None:
        write_text(html, difference_page(difference), begins_with(DIFFERENCE_MARK), force=force)
    return Answer(difference, diff_text(difference))


IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids, or the start of them.")]
AllOption = Annotated[bool, typer.Option("--all", help="Every waiting proposal.")]


proposals_app = group(
    "proposals", "What nights would have done in projects that you review: list, show, approve, reject."
)


@proposals_app.command("list", epilog="Example: memory-pipeline proposals list")
def proposals_list(
    store: Store, all_: Annotated[bool, typer.Option("--all", help="Also show decided proposals.")] = False
) -> Answer:
    """Show the proposals that await a decision."""
    with store.reading() as tx:
        proposals = describe_proposals(tx, tx.proposals.list(None if all_ else "pending"))
    rows = [
        {
            **proposal.as_json(),
            "memories": len(proposal.members),
            "becomes": " ".join(proposal.abstraction.split())[:80],
        }
        for proposal in proposals
    ]
    return Answer(proposals, table(rows, ["id", "status", "partition", "policy", "memories", "becomes"]))


@proposals_app.command("show", epilog="Example: memory-pipeline proposals show 3f0c")
def proposals_show(store: Store, ids: IdsArgument = None) -> Answer:
    """Show each cluster next to the text that would replace it: what is kept, what is attached."""
    proposals = decisions.find_proposals(store, ids or [])
    with store.reading() as tx:
        described = describe_proposals(tx, proposals)
    return Answer(described, "\n\n".join(map(proposal_text, described)) or "No proposal is waiting.")


@proposals_app.command("approve", epilog="Examples: memory-pipeline proposals approve 3f0c; ... approve --all")
def proposals_approve(settings: Settings, store: Store, ids: IdsArgument = None, all_: AllOption = False) -> Answer:
    """Apply proposals as of their nights, each in one transaction."""
    return _decided(decisions.approve_proposals(store, settings, _named(ids, all_=all_), current_user()))


@proposals_app.command("reject", epilog="Example: memory-pipeline proposals reject 3f0c --reason 'two different nodes'")
def proposals_reject(
    store: Store,
    ids: IdsArgument = None,
    all_: AllOption = False,
    reason: Annotated[str | None, typer.Option(help="The reason; kept with the proposal.")] = None,
) -> Answer:
    """Reject proposals; no night makes them again."""
    return _decided(decisions.reject_proposals(store, _named(ids, all_=all_), current_user(), reason))


def _named(ids: list[str] | None, *, all_: bool) -> list[str]:
    if bool(ids) == all_:
        raise InputError("give the ids of proposals, or --all for all waiting ones")
    return ids or []


def _decided(results: list[decisions.DecidedProposal]) -> Answer:
    lines = [f"{result.id}: {result.outcome}" for result in results] or ["No proposal is waiting."]
    failed = any(result.outcome.startswith(("not applied", "failed")) for result in results)
    return Answer(results, lines, failed=failed)
