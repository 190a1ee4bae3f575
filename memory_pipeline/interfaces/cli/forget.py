"""The command by which a person has memories forgotten. There is no tool, route or function of it for agents."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, check_project, current_user, open_store
from memory_pipeline.interfaces.cli.output import emit

#: Whether `--yes` is taken without a terminal, as a person's own script needs it: `allow`.
WITHOUT_TERMINAL = "MEMORY_PIPELINE_FORGET"


@app.command(
    epilog="Examples: memory-pipeline forget openclaw:home:memory/2026-03-14.md#c0d53754526b; memory-pipeline forget "
    "--search 'gateway password' --only 1 --only 3; memory-pipeline forget --source memory/2026-03-14.md --yes "
    "--code 5f3a09c1"
)
def forget(
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
    project: Annotated[str | None, typer.Option(help="Only of this project.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Forget what was shown, without a question.")] = False,
    code: Annotated[
        str | None, typer.Option(metavar="CODE", help="The code of the preview: refuse if something else would go.")
    ] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Show what goes with a memory, and erase its words everywhere: the exception to "nothing is ever deleted".

    Without --yes it shows everything that would go, and asks at a terminal. What stays is a tombstone: that something
    was forgotten, when and by whom, and keyed hashes that keep imports from bringing it back.
    """
    from memory_pipeline.forgetting import Selection, preview
    from memory_pipeline.forgetting import forget as forget_all
    from memory_pipeline.forgetting.documents import forgotten_text, preview_text

    settings, opened = open_store(store)
    check_project(opened, project)
    if yes:
        _check_is_a_person()
    selection = Selection(tuple(memory_ids or ()), search, source, conversation, project, tuple(only or ()))
    if yes and not code and not memory_ids:
        raise InputError("--yes needs the --code of a preview here, so that exactly what you saw is forgotten")
    shown = preview(opened, settings, selection)
    if not yes:
        hint = f"To forget exactly this, at a terminal: the same command with --yes --code {shown.code}"
        text = f"{preview_text(shown, choosing=not memory_ids)}\n{hint}"
        emit(shown, as_json=json_, text=text)
        if json_ or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return
        answer = typer.prompt(f"Type {shown.going} to forget, or press Enter to leave all as it is", default="")
        if answer.strip() != str(shown.going):
            emit(shown, as_json=False, text="Nothing was changed.")
            return
    result = forget_all(opened, settings, selection, code=code or shown.code, actor=current_user())
    emit(result, as_json=json_, text=forgotten_text(result))
    if result.left:
        raise typer.Exit(1)


def _check_is_a_person() -> None:
    if not sys.stdin.isatty() and os.environ.get(WITHOUT_TERMINAL) != "allow":
        raise InputError(
            f"forgetting is a person's decision, so --yes is taken at a terminal only; in a script of your own, set "
            f"{WITHOUT_TERMINAL}=allow"
        )
