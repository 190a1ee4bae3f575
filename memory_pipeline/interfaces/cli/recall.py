"""The commands with which agents and people use a project's memory: search, context, remember, feedback, lineage,
metrics."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from heapq import merge
from itertools import accumulate
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces import operations
from memory_pipeline.interfaces.cli.base import Answer, app, choose_project, current_user
from memory_pipeline.interfaces.cli.output import terminal_width
from memory_pipeline.moments import read_day, read_moment
from memory_pipeline.recall.documents import DEFAULT_BUDGET, SearchResults
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

ProjectOption = Annotated[
    str | None, typer.Option("--project", help="The project; optional if the store has only one.")
]
#: A text that stands for standard input, and the most of it that is read, in characters.
_STDIN, _MOST_READ = "-", 1_000_000
#: From this importance on a memory is critical, which no command makes it.
MOST_IMPORTANCE = 2.5


@app.command(
    epilog="Examples: memory-pipeline search 'gateway key' --limit 5; memory-pipeline search backups --level 2 --json"
)
def search(
    settings: Settings,
    store: Store,
    query: Annotated[str, typer.Argument(help="What to look for, in a few words or a question.")],
    limit: Annotated[int, typer.Option(help="Maximum number of memories, 1 to 100.")] = 10,
    level: Annotated[
        list[int] | None, typer.Option(help="Only this level: 0 raw, 1 merged, 2 pattern, 3 principle. Repeatable.")
    ] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", help="Only this memory type. Repeatable.")] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(help="Only patterns of this type: success, failure, decision, workflow or gotcha. Repeatable."),
    ] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category. Repeatable.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Only memories of this day or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Only memories of this day or earlier.")] = None,
    archived: Annotated[
        bool | None, typer.Option("--archived/--active", help="Only archived, or only active memories (default: both).")
    ] = None,
    sources: Annotated[
        bool, typer.Option("--sources", help="Show what each was made from; archived sources are found beside it.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each why it stands where it stands.")] = False,
    project: ProjectOption = None,
) -> Answer:
    """Find memories by words and meaning, best first; in all projects, unless one is named."""
    first, last = (read_day(day, name) if day else None for day, name in ((since, "--since"), (until, "--until")))
    with store.reading() as tx:
        known = tx.memories.projects()
    by_project = []
    for name in [project] if project is not None or len(known) < 2 else known:
        with opened_memory(settings, store, name) as memory:
            by_project.append(
                memory.search(
                    query,
                    limit,
                    include_sources=sources,
                    levels=level or (),
                    memory_types=type_ or (),
                    pattern_types=pattern or (),
                    categories=category or (),
                    since=first,
                    until=last,
                    archived=archived,
                    explain=explain,
                )
            )
    results = by_project[0] if len(by_project) == 1 else _joined(by_project, limit)
    return Answer(results, operations.search_lines(results, terminal_width()))


@app.command(epilog="Example: memory-pipeline context 'rotate the key of the payment gateway' --budget 800")
def context(
    settings: Settings,
    store: Store,
    task: Annotated[str, typer.Argument(help="What you are about to do.")],
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Maximum size (default 1500).")] = None,
    sources: Annotated[bool, typer.Option("--sources", help="Say where each memory was read.")] = False,
    project: ProjectOption = None,
) -> Answer:
    """Print what an agent should know for a task, as Markdown within a number of tokens: what a search finds, best
    first, and guidance. Each memory stands under its day, and ends with a handle that the other commands take as an
    id."""
    with opened_memory(settings, store, project) as memory:
        made = memory.context(task, DEFAULT_BUDGET if budget is None else budget, with_sources=sources)
    return Answer(made, made.text or operations.NOTHING_KNOWN)


@app.command(epilog="Example: memory-pipeline ask 'which port has the gateway?' --project webshop")
def ask(
    settings: Settings,
    store: Store,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    project: ProjectOption = None,
) -> Answer:
    """Answer a question in a sentence or two, from what a search finds, with the memories that say so; or say that the
    memory does not hold it. A model reads: one has to be chosen."""
    with opened_memory(settings, store, project) as memory:
        reply = memory.ask(question)
    return Answer(reply, operations.reply_lines(reply))


@app.command(
    epilog="Examples: memory-pipeline remember 'The staging port is 5433 now.' --type fact; "
    "git log -1 | memory-pipeline remember - --project webshop"
)
def remember(
    settings: Settings,
    store: Store,
    content: Annotated[str, typer.Argument(metavar="TEXT|-", help="What to remember; - reads standard input.")],
    type_: Annotated[
        str | None, typer.Option("--type", help="Memory type, such as lesson (default: told from the words).")
    ] = None,
    category: Annotated[list[str] | None, typer.Option(help="A subject that it is about. Repeatable.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A further label. Repeatable.")] = None,
    importance: Annotated[float, typer.Option(help="0 to below 2.5.")] = 1.0,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was learned (default: now).")] = None,
    id_: Annotated[
        str | None, typer.Option("--id", help="An id of your own: the same text again changes nothing.")
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Begin the project if the store does not have it.")] = False,
    project: ProjectOption = None,
) -> Answer:
    """Write a memory. A search finds it at once, and the next night takes it up."""
    if not 0 <= importance < MOST_IMPORTANCE:
        raise InputError(f"--importance is {importance:g}; use 0 to below {MOST_IMPORTANCE:g}")
    moment = read_moment(at, "--at") if at else None
    text = _standard_input() if content == _STDIN else content
    with opened_memory(settings, store, project, create=create) as memory:
        remembered = memory.remember(
            text,
            memory_type=type_,
            categories=tuple(category or ()),
            tags=tuple(tag or ()),
            importance=importance,
            created_at=moment,
            id=id_,
        )
    return Answer(remembered, operations.remembered_line(remembered))


@app.command(epilog="Examples: memory-pipeline feedback k3xq --useful; memory-pipeline feedback m-17 --not-useful")
def feedback(
    settings: Settings,
    store: Store,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or its handle in a context.")],
    useful: Annotated[bool, typer.Option("--useful/--not-useful", help="Whether it helped.")] = True,
    project: ProjectOption = None,
) -> Answer:
    """Say whether a memory helped. One that did rises a little in searches."""
    with opened_memory(settings, store, project) as memory:
        result = memory.feedback(memory_id, useful)
    return Answer(result, operations.feedback_line(result))


@app.command(epilog="Examples: memory-pipeline lineage k3xq; memory-pipeline lineage 8c1f0a52-...")
def lineage(
    settings: Settings,
    store: Store,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or its handle in a context.")],
    project: ProjectOption = None,
) -> Answer:
    """Show what a memory was made from, down to the raw notes, and what has replaced it."""
    with opened_memory(settings, store, project) as memory:
        tree = memory.lineage(memory_id)
    return Answer(tree, operations.lineage_lines(tree, terminal_width()))


@app.command(epilog="Example: memory-pipeline metrics --project webshop")
def metrics(settings: Settings, store: Store, project: ProjectOption = None) -> Answer:
    """Show how far a project is consolidated: memories, tokens, types, levels, and when nights ran and will run."""
    with opened_memory(settings, store, project) as memory:
        figures = memory.metrics()
    return Answer(figures, operations.metrics_lines(figures, terminal_width()))


def opened_memory(settings: Settings, store: Store, project: str | None, *, create: bool = False) -> ProjectMemory:
    """The memory of the chosen project in the store of this command."""
    chosen = choose_project(store, project, "--project", create=create)
    return ProjectMemory(store, settings, chosen, actor=current_user())


def _joined(by_project: Sequence[SearchResults], limit: int) -> SearchResults:
    """The best of several projects, each in its own order: a later value stands before one with a better score."""
    ranked = []
    for results in by_project:
        scores = [memory.relevance_score or 0.0 for memory in results.results]
        best_from = list(accumulate(reversed(scores), max))[::-1]
        ranked.append([(-score, memory) for score, memory in zip(best_from, results.results, strict=True)])
    best = [memory for _, memory in merge(*ranked, key=lambda candidate: (candidate[0], candidate[1].project_id))]
    return by_project[0].model_copy(
        update={
            "results": tuple(best[:limit]),
            "total_found": sum(results.total_found for results in by_project),
            "search_time_ms": sum(results.search_time_ms for results in by_project),
            "nothing_near": all(results.nothing_near for results in by_project),
        }
    )


def _standard_input() -> str:
    """The text on standard input. Raises InputError if it is no text, or too much of it."""
    try:
        text = sys.stdin.read(_MOST_READ + 1)
    except UnicodeDecodeError:
        raise InputError("standard input is no text in UTF-8") from None
    if len(text) > _MOST_READ:
        raise InputError(f"standard input has more than {_MOST_READ:,} characters; 'import' reads files")
    return text.strip()
