"""The commands about live contexts: what is kept of a session before its agent forgets it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import Answer, StoreOption, app, current_user, group
from memory_pipeline.interfaces.cli.output import table
from memory_pipeline.interfaces.hooks import hooks_text, install_hooks, remove_hooks
from memory_pipeline.sessions.acting import compact_and_index, note
from memory_pipeline.sessions.compacting import compact_session
from memory_pipeline.sessions.documents import KeptOfSession, list_events
from memory_pipeline.sessions.documents import instruction as instruction_at
from memory_pipeline.sessions.flushing import flush_session
from memory_pipeline.sessions.transcripts import Session, read_session_file
from memory_pipeline.sessions.triggers import find_sessions, judge_sessions, named_session
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

triggers_app = group("triggers", "What starts flushes and compactions of live sessions: check, list.")
hooks_app = group("hooks", "Hooks by which a host keeps what a session said before it is compacted: install, remove.")

SessionsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SESSION]...",
        help="Transcripts, or the beginnings of the names of live sessions (default: every live session with one).",
    ),
]
ProjectOption = Annotated[str | None, typer.Option(help="Project of what is kept (default: the session's own).")]
PreviewOption = Annotated[bool, typer.Option("--preview", help="Show what would be written; write nothing.")]


@app.command(
    epilog="Examples: memory-pipeline flush ~/.claude/projects/-home-dana-app/5f0e8400.jsonl --preview; "
    "memory-pipeline flush; memory-pipeline flush --instruction"
)
def flush(
    settings: Settings,
    sessions: SessionsArgument = None,
    project: ProjectOption = None,
    preview: PreviewOption = False,
    instruction: Annotated[
        bool, typer.Option("--instruction", help="Print what an agent is to be told that flushes itself.")
    ] = False,
) -> Answer:
    """Write the decisions, rules, dead ends, facts, changed settings and progress of live sessions into the daily log,
    word for word, before their agents forget them. What is flushed again replaces what was there."""
    if instruction:
        text = instruction_at(datetime.now(UTC))
        return Answer({"instruction": text}, text)
    done = []
    for session in read_sessions(settings, sessions, project):
        done.append(flush_session(settings, session, preview=preview))
        if not preview:
            note(settings, session, "command", "flush", current_user(), "a command", ok=True)  # no sensor does it again
    lines = []
    for flushed in done:
        counts = ", ".join(
            how_many(number, word, many)
            for number, word, many in (
                (flushed.decisions, "decision", ""),
                (flushed.rules, "standing rule", ""),
                (flushed.dead_ends, "dead end", ""),
                (flushed.facts, "fact", ""),
                (flushed.configurations, "changed setting", ""),
                (flushed.progress, "entry of progress", "entries of progress"),
            )
            if number
        )
        lines += _session_lines(flushed, f"{how_many(flushed.turns, 'turn')}; {counts or 'nothing to keep'}")
        if preview and flushed.text:
            lines += ["", *flushed.text.split("\n"), ""]
    return Answer(done, lines or ["No session is live; name a transcript."])


@app.command(
    epilog="Examples: memory-pipeline compact --preview; "
    "memory-pipeline compact ~/.claude/projects/-home-dana-app/5f0e8400.jsonl --aggressive"
)
def compact(
    settings: Settings,
    sessions: SessionsArgument = None,
    project: ProjectOption = None,
    aggressive: Annotated[
        bool, typer.Option("--aggressive", help="Leave out progress and facts that are not sure; halve the summary.")
    ] = False,
    preview: PreviewOption = False,
) -> Answer:
    """Flush live sessions, keep their rules, reasoned decisions and sure facts in MEMORY.md, and summarise them into
    the daily log. Exits with 1 if a gate failed that may not: then every file has its bytes back."""
    done = []
    for session in read_sessions(settings, sessions, project):
        if preview:
            done.append(compact_session(settings, session, aggressive=aggressive, preview=True))
            continue
        done.append(compact_and_index(settings, session, current_user(), aggressive=aggressive))
        if session.turns:
            ok = done[-1].outcome != "rolled back"
            note(settings, session, "command", "compact", current_user(), "a command", ok=ok)
    lines = []
    for compacted in done:
        lines += _session_lines(
            compacted,
            f"{compacted.outcome}; {how_many(compacted.turns, 'turn')}, {how_many(compacted.kept, 'entry')} in the "
            f"daily log, {len(compacted.promoted)} in MEMORY.md, {compacted.tokens_before} tokens became "
            f"{compacted.tokens_after}",
        )
        lines += [f"  {'PROBLEM' if gate.severity == 'rolls back' else 'Warning'}: {gate.name}: {gate.found}."
                  for gate in compacted.gates if not gate.passed]  # fmt: skip
        if preview:
            lines += ["", "MEMORY.md would have:", *compacted.promoted, "", *compacted.summary.split("\n"), ""]
    return Answer(
        done,
        lines or ["No session is live; name a transcript."],
        failed=any(compacted.outcome == "rolled back" for compacted in done),
    )


def _session_lines(session: KeptOfSession, outcome: str) -> list[str]:
    """A session, what became of it and of its files, and how that is taken back."""
    lines = [f"{session.session} ({session.agent}, project {session.project}): {outcome}."]
    lines += [f"  The model: {session.model}."] if session.model else []
    lines += [f"  {file.outcome}: {file.file}" for file in session.files]
    lines += [f"  Note: {file.told}." for file in session.files if file.told]
    lines += [f"  Taken back with: memory-pipeline rollback --run-id {session.run_id[:8]}"] if session.run_id else []
    return lines


def read_sessions(settings: Settings, named: list[str] | None, project: str | None) -> Iterator[Session]:
    """The sessions that are named, or all live ones, each read when it is its turn."""
    live = find_sessions(settings, datetime.now(UTC))
    if live.problems and not live.usages and not named:
        raise InputError("; ".join(live.problems))
    transcripts = [named_session(name, live.usages) for name in named or ()]
    for transcript in transcripts or [usage.transcript for usage in live.usages if usage.transcript]:
        yield read_session_file(transcript, settings, project)


@triggers_app.command("check", epilog="Example: memory-pipeline triggers check")
def triggers_check(settings: Settings, store: Store) -> Answer:
    """Show how full the context of every live session is, what would fire now, and why or why not. Starts nothing."""
    sessions, problems = judge_sessions(settings, store, datetime.now(UTC))
    lines = [
        f"{session.session} ({session.agent}{f', project {session.project}' if session.project else ''}): "
        f"{f'{session.fires} would start {session.action}' if session.fires else 'nothing would start'}; {session.why}."
        for session in sessions
    ]
    return Answer(sessions, [*(lines or ["No session is live."]), *(f"PROBLEM: {problem}." for problem in problems)])


@triggers_app.command("list", epilog="Example: memory-pipeline triggers list --most 50")
def triggers_list(
    store: Store, most: Annotated[int, typer.Option(help="The most events to show.", min=1, max=10_000)] = 20
) -> Answer:
    """Show what fired, when, at what share of the window, and what became of it; the newest first."""
    events = list_events(store, most)
    rows = [
        {
            "fired": f"{event.fired_at:%Y-%m-%d %H:%M}",
            "session": event.session[:13],
            "trigger": event.kind,
            "action": event.action,
            "window": f"{event.share:.0%}",
            "outcome": event.outcome,
            "by": event.fired_by,
        }
        for event in events
    ]
    return Answer(events, table(rows, none="Nothing has fired yet."))


HostArgument = Annotated[str, typer.Argument(metavar="HOST", help="claude-code or openclaw.")]


@hooks_app.command(
    "install",
    epilog="Examples: memory-pipeline hooks install claude-code; memory-pipeline hooks install openclaw --write",
)
def hooks_install(
    store: Store,
    host: HostArgument,
    write: Annotated[bool, typer.Option("--write", help="Write the hooks into the host's files.")] = False,
) -> Answer:
    """Show what lets a host compact a session into its project's files before it forgets it, and at its end; with
    --write, put it there. Everything else in the host's settings stays byte for byte; what they were is kept beside."""
    done = install_hooks(host, store.path, write=write)
    return Answer(done, hooks_text(done))


@hooks_app.command("remove", epilog="Example: memory-pipeline hooks remove claude-code")
def hooks_remove(host: HostArgument, preview: PreviewOption = False, store: StoreOption = None) -> Answer:
    """Take the hooks out of a host's settings again. Everything else in them stays byte for byte."""
    done = remove_hooks(host, preview=preview)
    return Answer(done, hooks_text(done))
