"""The commands that check and recover a store, take and restore snapshots of it, and have memories forgotten."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.gates import lost_in_levels, unreadable_drafts
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.forgetting.documents import forgotten_text, preview_text
from memory_pipeline.forgetting.forget import Selection, preview
from memory_pipeline.forgetting.forget import forget as forget_all
from memory_pipeline.interfaces.cli.base import (
    Answer,
    JsonOption,
    OnlyProjectOption,
    app,
    check_target,
    current_user,
    group,
    list_copies,
    utf8_path,
)
from memory_pipeline.interfaces.cli.output import emit, say, table
from memory_pipeline.reporting.model import StoreFacts
from memory_pipeline.store import (
    Finding,
    Recovery,
    Store,
    create_snapshot,
    list_snapshots,
    recover_store,
    restore_snapshot,
    snapshot_directory,
    verify_snapshot,
)

#: Whether `--yes` is taken without a terminal, as a person's own script needs it: `allow`.
WITHOUT_TERMINAL = "MEMORY_PIPELINE_FORGET"


@app.command(epilog="Examples: memory-pipeline recover --dry-run; memory-pipeline recover")
def recover(
    store: Store,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be recovered; change nothing.")] = False,
) -> Answer:
    """Recover a damaged store from its newest whole snapshot and its log, as far as they can be read.

    The damaged files are kept next to it as NAME.damaged-TIME. A store that is whole is left alone.
    """
    store.check_is_or_was_there()
    before = list_copies(store, "damaged")
    recovery = recover_store(store, dry_run=dry_run)
    copies = sorted(list_copies(store, "damaged") - before)
    if recovery.source == "store":
        text = (
            f"The store '{store.path}' is whole: every block, every table and its log can be read. Nothing to recover."
        )
    else:
        source = recovery.source + (f" (snapshot {recovery.snapshot})" if recovery.snapshot else "")
        happened = "Would be recovered" if dry_run else "Recovered"
        text = f"Problem: {recovery.problem}.\n{happened} from: {source}.\nLost: {recovery.lost}."
        text += f"\nThe damaged files are kept next to it as {' and '.join(copies)}." if copies else ""
    return Answer(RecoveryResult(**dict(recovery), kept=tuple(copies)), text)


snapshot_app = group("snapshot", "Verified copies of the store: list, create, restore, verify.")


@snapshot_app.command("list", epilog="Example: memory-pipeline snapshot list")
def snapshot_list(store: Store) -> Answer:
    """Show the snapshots, oldest first."""
    store.check_is_or_was_there()
    snapshots = list_snapshots(store)
    if not snapshots and not store.exists():
        raise InputError(
            f"there is no store at '{store.path}', and no snapshot next to it; give the right path with --store"
        )
    none = f"No snapshot in '{snapshot_directory(store)}'."
    rows = [snapshot.as_json() for snapshot in snapshots]
    return Answer(snapshots, table(rows, ["name", "taken_at", "bytes"], none))


@snapshot_app.command("create", epilog="Example: memory-pipeline snapshot create --label before-cleanup")
def snapshot_create(
    store: Store,
    label: Annotated[str, typer.Option(help="The reason for the snapshot; becomes part of its name.")] = "manual",
) -> Answer:
    """Take a verified snapshot now. It stays until you remove its files; only snapshots of nights are rotated."""
    made = create_snapshot(store, label, datetime.now(UTC), keep=None)
    return Answer(made, f"Snapshot {made.name}, {made.bytes} bytes, verified.")


@snapshot_app.command("restore", epilog="Example: memory-pipeline snapshot restore 20260314T073000000000Z-night")
def snapshot_restore(
    settings: Settings,
    store: Store,
    name: Annotated[str, typer.Argument(help="A name from 'snapshot list'.")],
    to: Annotated[Path | None, typer.Option(help="Restore into this file instead of replacing the store.")] = None,
) -> Answer:
    """Replace the store with a snapshot; the previous store is kept as NAME.before-restore-TIME."""
    target = utf8_path(to, "--to") if to is not None else None
    if target:
        check_target(settings, target)
    store.check_is_or_was_there()
    before = list_copies(store, "before-restore")
    where = restore_snapshot(store, name, target)
    copies = sorted(list_copies(store, "before-restore") - before)
    text = f"Restored {name} to {where}."
    text += f"\nThe previous store is kept next to it as {' and '.join(copies)}." if copies else ""
    return Answer(RestoredSnapshot(restored=name, to=str(where), kept=tuple(copies)), text)


@snapshot_app.command("verify", epilog="Example: memory-pipeline snapshot verify 20260314T073000000000Z-night")
def snapshot_verify(store: Store, name: Annotated[str, typer.Argument(help="A name from 'snapshot list'.")]) -> Answer:
    """Check that a snapshot is whole and contains what was recorded."""
    store.check_is_or_was_there()
    snapshot = verify_snapshot(store, name)
    return Answer(VerifiedSnapshot(name=name, verified=True), f"Snapshot {snapshot.name} is whole.")


@app.command(
    epilog="Examples: memory-pipeline forget openclaw:home:memory/2026-03-14.md#c0d53754526b; memory-pipeline forget "
    "--search 'gateway password' --only 1 --only 3; memory-pipeline forget --source memory/2026-03-14.md --yes "
    "--code 5f3a09c1"
)
def forget(
    settings: Settings,
    store: Store,
    memory_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[MEMORY_ID]...", help="The memories, by their whole ids.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Every note that contains all of these words, in any case.")
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="FILE", help="Everything that came from this file.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Every turn of this conversation: its file, or the name of it.")
    ] = None,
    only: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Of what was found, only this place of the list; repeatable.")
    ] = None,
    project: OnlyProjectOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Forget what was shown, without a question.")] = False,
    code: Annotated[
        str | None, typer.Option(metavar="CODE", help="The code of the preview: refuse if something else would go.")
    ] = None,
    json_: JsonOption = False,
) -> Answer | None:
    """Show what goes with a memory, and erase its words everywhere: the exception to "nothing is ever deleted".

    Without --yes it shows everything that would go, and asks at a terminal. What stays is a tombstone: that something
    was forgotten, when and by whom, and keyed hashes that keep imports from bringing it back.
    """
    if yes and not sys.stdin.isatty() and os.environ.get(WITHOUT_TERMINAL) != "allow":
        raise InputError(
            f"forgetting is a person's decision, so --yes is taken at a terminal only; in a script of your own, set "
            f"{WITHOUT_TERMINAL}=allow"
        )
    selection = Selection(tuple(memory_ids or ()), search, source, conversation, project, tuple(only or ()))
    if yes and not code and not memory_ids:
        raise InputError("--yes needs the --code of a preview here, so that exactly what you saw is forgotten")
    selected = preview(store, settings, selection)
    if not yes:
        hint = f"To forget exactly this, at a terminal: the same command with --yes --code {selected.code}"
        text = f"{preview_text(selected, choosing=not memory_ids)}\n{hint}"
        emit(selected, as_json=json_, text=text)
        if json_ or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return None
        answer = typer.prompt(f"Type {selected.going} to forget, or press Enter to leave all as it is", default="")
        if answer.strip() != str(selected.going):
            return Answer(selected, "Nothing was changed.")
    snapshots = len(list_snapshots(store))
    say(f"Writing the store and its snapshots ({snapshots}) anew, which may take minutes ...")
    result = forget_all(store, settings, selection, code=code or selected.code, actor=current_user())
    return Answer(result, forgotten_text(result), failed=result.left)


class CheckResult(StoreFacts):
    """The soundness of a store, with its row counts."""

    sound: bool = Field(description="Whether there is no finding.")
    findings: tuple[Finding, ...] = Field(description="What is wrong, at most twenty for each rule.")
    warnings: tuple[Finding, ...] = Field(
        description="What is not wrong but needs a decision, with the same fields as a finding; only with `--deep`."
    )
    active_hash: str = Field(
        description="SHA-256 over the active memories and their lineage: a rollback brings back the one before the run."
    )
    hash: str = Field(
        description="SHA-256 over all memories, archived and retired ones included, and all lineage; not over "
        "`updated_at`. Two stores with equal hashes hold the same memories."
    )


class RestoredSnapshot(Document):
    """A snapshot that was restored."""

    restored: str = Field(description="The name of the snapshot.")
    to: str = Field(description="The file that it was restored to.")
    kept: tuple[str, ...] = Field(description="The names under which the previous store is kept next to it.")


class VerifiedSnapshot(Document):
    """A snapshot that is whole."""

    name: str = Field(description="The name of the snapshot.")
    verified: bool = Field(description="Always true; a snapshot that is not whole is an error.")


class RecoveryResult(Recovery):
    """A recovery, with the files that it kept."""

    kept: tuple[str, ...] = Field(description="The names under which the damaged files are kept next to the store.")


@app.command(epilog="Examples: memory-pipeline check; memory-pipeline check --deep")
def check(
    store: Store,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also recompute ratios, sources, replacements and the audit log.")
    ] = False,
) -> Answer:
    """Check the store: blocks, links, hashes of sources, vectors, log and audit trail. Exits with 1 if something is
    wrong."""
    if store.exists():
        store.verify()
    with store.reading() as tx:
        findings = tx.integrity.check(deep=deep, facts=deep)
        facts = tx.facts()
        digest, active = tx.contents.digest(), tx.contents.digest(active_only=True)
        doubts = [*lost_in_levels(tx), *unreadable_drafts(tx)] if deep else []
    lines = [f"{f.rule}: {f.where}: {f.problem}. To fix: {f.mend}." for f in findings]
    lines += [f"Warning: {f.rule}: {f.where} {f.problem}. To fix: {f.mend}." for f in doubts]
    summary = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in facts.items())
    hashes = f"hash of the active memories {active[:16]}, of all with archived and retired ones {digest[:16]}"
    lines.append(f"{'NOT SOUND' if findings else 'SOUND'}: {summary}; {hashes}")
    result = CheckResult(
        **facts, sound=not findings, findings=tuple(findings), warnings=tuple(doubts), active_hash=active, hash=digest
    )
    return Answer(result, "\n".join(lines), failed=findings)
