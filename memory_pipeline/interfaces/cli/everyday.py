"""The commands that gather what several others show: audit, review, show, undo."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.audit import Audit, audit
from memory_pipeline.consolidation.review.decisions import Inbox, read_inbox
from memory_pipeline.consolidation.review.rollback import RollbackScope, as_text, preview_rollback, roll_back
from memory_pipeline.errors import InputError, ModelError
from memory_pipeline.files.writing import begins_with, check_output, nobody, write_text
from memory_pipeline.interfaces.cli.base import (
    Answer,
    Commands,
    JsonOption,
    QuietOption,
    StoreOption,
    app,
    check_target,
    choose_project,
    open_store,
    settings_of,
)
from memory_pipeline.interfaces.cli.days import conversations_app
from memory_pipeline.interfaces.cli.history import DAY, history_lines, proposals_app
from memory_pipeline.interfaces.cli.output import emit, progress_printer, terminal_width
from memory_pipeline.interfaces.cli.recall import ProjectOption, opened_memory
from memory_pipeline.interfaces.cli.review import conflicts_app, patterns_app, quarantine
from memory_pipeline.interfaces.cli.setup import named_or_recognised
from memory_pipeline.interfaces.operations import lineage_lines
from memory_pipeline.models.choose import model_name, require_model
from memory_pipeline.recall.documents import ShownMemory
from memory_pipeline.recall.evaluation import Evaluation, evaluate, read_questions
from memory_pipeline.recall.evaluation_by_model import generate_questions, judge_merges
from memory_pipeline.reporting.pages import EVALUATION_MARK, evaluation_page
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped

review_app = Commands(
    help="Everything that waits for your decision, and the commands that decide it.", invoke_without_command=True
)
app.add_typer(review_app, name="review")
review_app.add_typer(proposals_app, name="proposals")
review_app.add_typer(conflicts_app, name="conflicts")
review_app.add_typer(patterns_app, name="patterns")
review_app.add_typer(conversations_app, name="conversations")
review_app.command("quarantine")(quarantine)

#: Entries of one kind that are shown.
_SHOWN = 10
#: Characters of each side of what waits: enough to tell both apart.
_LONGEST_SIDE = 300
#: Characters of an entry that an audit shows.
_LONGEST_ENTRY = 100
#: Places of secrets, and of attempts to steer, that are named on the screen.
_MOST_PLACES = 20
#: Questions without an answer that the screen names.
_MOST_MISSED = 10


@review_app.callback(epilog="Examples: memory-pipeline review; memory-pipeline review conflicts show 3f0c")
def review(
    context: typer.Context, project: ProjectOption = None, store: StoreOption = None, json_: JsonOption = False
) -> None:
    """Everything that waits for your decision, and the commands that decide it."""
    if context.invoked_subcommand is not None:
        return

    settings, opened = open_store(store, project)
    inbox = read_inbox(opened, project, datetime.now(UTC).date(), settings.compression.critical_floor)
    emit(inbox, as_json=json_, text="\n".join(_inbox_lines(inbox)))


def _inbox_lines(inbox: Inbox) -> list[str]:
    lines = [f"{how_many(inbox.count, 'decision')} to make." if inbox.count else "Nothing waits for a decision."]
    for kind in dict.fromkeys(item.kind for item in inbox.waiting):
        of_kind = [item for item in inbox.waiting if item.kind == kind]
        ways = " (keep newer, newest, a, b or both; 'memory-pipeline conflicts show ID' names a and b)"
        lines += ["", how_many(len(of_kind), kind) + (ways if kind == "conflict" else "")]
        for item in of_kind[:_SHOWN]:
            sides = item.text.split("\n")
            older = max(len(sides) - _SHOWN, 0)  # those of a conflict stand by day; all else is one line
            first, *others = [clipped(side, _LONGEST_SIDE) for side in sides[older:]]
            others += [f"({how_many(older, 'older one')} not shown)"] if older else []
            lines += [f"  {item.id[:8]}  {item.project}: {first}", *(f"            {side}" for side in others)]
            lines.append(f"            {item.decide}")
        if len(of_kind) > _SHOWN:
            lines.append(f"  and {len(of_kind) - _SHOWN} more: memory-pipeline review {kind}s list")
    if inbox.quarantined:
        rows = how_many(inbox.quarantined, "row")
        lines += ["", f"{rows} that no import could take: memory-pipeline review quarantine"]
    return lines


@app.command("audit", epilog="Example: memory-pipeline audit ~/.openclaw/workspace")
def audit_(
    path: Annotated[Path, typer.Argument(help="A file or a directory with memories.")],
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="One of those of import; default: told by the content.")
    ] = "auto",
    tz: Annotated[str | None, typer.Option(metavar="ZONE", help="Time zone of times that name none.")] = None,
    quiet: QuietOption = False,
) -> Answer:
    """Say what a memory is made of: copies, readings, routine, contradictions, secrets, and what nights would
    change. It writes nothing, needs no store and asks no model."""
    command = "memory-pipeline audit --format {format} {path}"
    name, place = named_or_recognised(settings_of(None), format_, path, command)
    result = audit(name, place, tz, progress_printer())
    return Answer(result, _audit_lines(result))


def _audit_lines(result: Audit) -> list[str]:
    def part(number: int, text: str) -> str:
        share = f"({number / result.entries:.0%})" if number else ""
        return f"  {number:>8,} {share:<6} {text}"

    near = "nearly what another says" + (", by their words" if result.by_words else "")
    lines = [
        f"{how_many(result.entries, 'entry')} in {result.tokens:,} tokens: {max(result.cost_usd, 0.0001):.4f} USD "
        "each time an agent is given all of them.",
        "",
        "What they are",
        part(result.copies, "say word for word what another says"),
        part(result.near_copies, f"say {near}"),
        part(result.readings, f"are readings, in {how_many(result.series, 'series', 'series')}"),
    ]
    if result.routine is not None:
        sampled = f", of {how_many(result.sampled, 'entry')} that the classifier judged"
        lines.append(f"  {result.routine:>8.0%}        are routine{sampled}")
    lines += [
        "",
        "What to look at",
        *_contradictions(result, part),
        *(
            f"             {day or 'undated'!s:<10}  {clipped(says, _LONGEST_ENTRY)}"
            for pair in result.examples
            for day, says in ((pair.one_day, pair.one), (pair.other_day, pair.other))
        ),
        part(result.steering, "try to steer whoever reads them"),
        *_listed(result.steering_at, _MOST_PLACES, 13),
        part(sum(result.masked.values()), "secrets and personal data" + _kinds(result.masked)),
        *_listed(result.masked_at, _MOST_PLACES, 13),
        part(result.undated, "have no date of their own"),
        part(result.unreadable, "rows cannot be read"),
        part(sum(result.left_out.values()), "parts are no memories" + _kinds(result.left_out)),
        "",
        f"Nights without a model would put {how_many(result.archived, 'entry')} away, and leave "
        f"{result.tokens_after:,} of {result.tokens:,} tokens. Nothing was written.",
        "Try it: memory-pipeline init PATH",
    ]
    return lines


def _contradictions(result: Audit, part: Callable[[int, str], str]) -> list[str]:
    """The contradictions that the next night finds, and those that a later one does."""
    if result.contradictions is None:
        why = (
            "among so many entries here; nights do that"
            if result.by_words
            else "without the model; 'memory-pipeline model install' installs it"
        )
        return [f"{' ' * 18}contradictions are not looked for {why}"]
    later = result.contradictions_later
    more = [part(later, "more between entries that the next night does not look at yet")] if later else []
    shown = len(result.examples)
    clearest = f", the {shown} clearest of all" if shown < result.contradictions + later else ""
    return [part(result.contradictions, f"contradictions{clearest}"), *more]


def _listed(texts: Sequence[str], most: int, indent: int) -> list[str]:
    """The first of some texts a line each, and how many more there are."""
    more = [f"and {len(texts) - most:,} more; --json names all"] if len(texts) > most else []
    return [f"{' ' * indent}{text}" for text in (*texts[:most], *more)]


def _kinds(counts: dict[str, int]) -> str:
    return f" ({', '.join(f'{number:,} {kind}' for kind, number in sorted(counts.items()))})" if counts else ""


@app.command("evaluate", epilog="Example: memory-pipeline evaluate --questions questions.jsonl --project webshop")
def evaluate_(
    settings: Settings,
    store: Store,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON lines with question and answer, and optionally stale or absent; default: rare values of notes.",
        ),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, max=1000, help="Questions that are made without a file.")] = 50,
    generate: Annotated[
        bool, typer.Option("--make-questions", help="The model that is chosen makes the questions of sampled notes.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the questions that the model made, for --questions.")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, max=500, help="Memories that nights made, to be judged.")] = 20,
    wrong: Annotated[
        str | None, typer.Option(metavar="1,4", help="The numbers of those that are wrong; none: 0.")
    ] = None,
    judge: Annotated[bool, typer.Option("--judge", help="The model that is chosen says which are wrong.")] = False,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as an HTML page with a plot.")] = None,
    project: ProjectOption = None,
    quiet: QuietOption = False,
) -> Answer:
    """Say what a memory answers within 250 to 2,000 tokens, before and after its nights, beside what an agent would
    read instead, and show a sample of what nights made for you to judge. It works on a copy, and asks a model only to
    make questions or to judge."""
    if questions is not None and generate:
        raise InputError("--questions names a file of questions, --make-questions makes others; leave one out")
    if save is not None and not generate:
        raise InputError("--save keeps questions that a model made; add --make-questions")
    if wrong is not None and judge:
        raise InputError("--wrong is your judgement, --judge a model's; leave one out")
    if save is not None and page is not None and save.absolute() == page.absolute():
        raise InputError(f"--save and --page both name '{save}'; the questions and the page are two files")
    if judge:
        require_model(settings, "judge")
    for target, is_replaceable in ((save, nobody), (page, begins_with(EVALUATION_MARK))):
        if target is not None:
            check_target(settings, target)
            check_output(target, is_replaceable)
    chosen = choose_project(store, project, "--project", create=False)
    asked, made_by = (read_questions(questions), questions.name) if questions else (None, "values")
    cost = 0.0
    if generate:
        asked, cost = generate_questions(store, settings, chosen, most, progress_printer())
        made_by = model_name(settings)
        if save is not None:
            lines = [
                json.dumps({"question": question.question, "answer": question.answer[0]}, ensure_ascii=False)
                for question in asked
            ]
            write_text(save, "\n".join([*lines, ""]), nobody)
    evaluation = evaluate(
        store,
        settings,
        chosen,
        asked,
        made_by=made_by,
        most=most,
        sample=sample,
        wrong=None if wrong is None else _parse_numbers(wrong),
        progress=progress_printer(),
    )
    evaluation = evaluation.model_copy(update={"cost_usd": cost})
    unjudged: ModelError | None = None
    if judge:
        try:
            evaluation = judge_merges(store, settings, evaluation, progress_printer())
        except ModelError as error:  # what was counted stands without it
            unjudged = error
    if page is not None:
        write_text(page, evaluation_page(evaluation), begins_with(EVALUATION_MARK))
    return Answer(evaluation, _evaluation_lines(evaluation), failed=unjudged)


def _parse_numbers(text: str) -> list[int]:
    try:
        return [number for number in map(int, text.split(",")) if number]
    except ValueError:
        raise InputError(
            f"--wrong is '{text}'; write the numbers of the sample with commas between them, or 0"
        ) from None


def _evaluation_lines(evaluation: Evaluation) -> list[str]:
    lines = [
        evaluation.summary,
        "",
        f"{how_many(evaluation.questions, 'question')} {evaluation.asked_of}; all "
        f"{evaluation.tokens_of_notes:,} tokens of notes answer {evaluation.all_notes}. "
        f"The active memory has {evaluation.tokens_now:,} tokens.",
        "",
        f"  {'answered within':<26}"
        + "".join(f"{f'{budget:,}':>8}" for budget in evaluation.rows[0].answered)
        + "  tokens",
        *(f"  {row.method:<26}" + "".join(f"{n:>8}" for n in row.answered.values()) for row in evaluation.rows),
    ]
    if evaluation.changed:
        lines += [
            "",
            f"  The newest answer stands before the stale one in {evaluation.newest_first} of {evaluation.changed}.",
        ]
    if evaluation.absent:
        lines.append(
            f"  Of {evaluation.absent} questions without an answer, a search finds nothing for "
            f"{evaluation.absent_said}."
        )
    if evaluation.missed:
        lines += ["", "  No context answers:", *_listed(evaluation.missed, _MOST_MISSED, 4)]
    if evaluation.sample:
        lines += ["", evaluation.judged]
    for merge in evaluation.sample:
        if evaluation.wrong is None or merge.objection is not None:
            lines += ["", f"{merge.number:>4}  {' '.join(merge.content.split())}"]
            lines += [f"      < {source}" for source in merge.sources]
            lines += [f"      wrong: {merge.objection or 'no reason is given'}"] if merge.objection is not None else []
    if evaluation.sample and evaluation.wrong is None:
        lines += ["", "Say which are wrong: the same command with --wrong 3,7 (or --wrong 0), or --judge for a model."]
    return lines


@app.command(epilog="Examples: memory-pipeline show k3xq; memory-pipeline show 8c1f0a52-...")
def show(
    settings: Settings,
    store: Store,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or its handle in a context.")],
    project: ProjectOption = None,
) -> Answer:
    """Show a memory: what it says, what it was made from, what has replaced it, and everything that happened to it."""
    if project is None:
        with store.reading() as tx:
            full_id = tx.memories.whole_id(memory_id)
            project = next((row.project_id for row in tx.memories.read([full_id]).values()), None)
    with opened_memory(settings, store, project) as memory:
        lineage = memory.lineage(memory_id)
    with store.reading() as tx:
        content = tx.memories.read([lineage.id])[lineage.id].content
        events = tuple(tx.history.of(lineage.id))
    text = [content, "", *lineage_lines(lineage, terminal_width()), "", "History:", *history_lines(events)]
    return Answer(ShownMemory(content=content, lineage=lineage, history=events), text)


@app.command(epilog="Examples: memory-pipeline undo 2026-03-14 --dry-run; memory-pipeline undo 3f0c")
def undo(
    settings: Settings,
    store: Store,
    what: Annotated[
        str, typer.Argument(metavar="DATE|RUN_ID|MEMORY", help="The day of a night, a run, or a memory that was made.")
    ],
    cascade: Annotated[bool, typer.Option("--cascade", help="Also undo what was made from it later.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be restored; write nothing.")] = False,
) -> Answer:
    """Undo a night, another run, or one memory that was made: its sources are active again, and it stays on record."""
    is_day = DAY.fullmatch(what)
    with store.reading() as tx:
        memory_id = what if is_day else tx.memories.whole_id(what)
        is_memory = not is_day and bool(tx.memories.read([memory_id]))
        if is_memory and memory_id != what and tx.runs.starting(what):
            raise InputError(
                f"'{what}' is the handle of the memory '{memory_id}', and a run's id starts so too; write more of one"
            )
    scope = RollbackScope(abstraction=memory_id) if is_memory else RollbackScope(run_id=what)
    undone = (preview_rollback if dry_run else roll_back)(store, settings, scope, cascade=cascade)
    return Answer(undone, as_text(undone))
