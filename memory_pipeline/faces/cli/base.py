"""What all commands share: the program, its groups, and the options `--store` and `--json`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.errors import InputError
from memory_pipeline.orchestration.home import load_project_settings
from memory_pipeline.settings import Settings
from memory_pipeline.store import Store

app = typer.Typer(
    name="memory-pipeline",
    help="The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
snapshot_app = typer.Typer(help="Verified copies of the store: list, create, restore, verify.", no_args_is_help=True)
config_app = typer.Typer(help="The settings in force.", no_args_is_help=True)
proposals_app = typer.Typer(
    help="What nights would have done in projects that you review: list, show, approve, reject.", no_args_is_help=True
)
app.add_typer(snapshot_app, name="snapshot")
app.add_typer(config_app, name="config")
app.add_typer(proposals_app, name="proposals")

StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="The store (default: setting store.path).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def settings_of(store: Path | None) -> Settings:
    """The settings in force, with the store that was named."""
    return load_project_settings({"store.path": str(store.resolve())} if store else None).values


def open_store(store: Path | None) -> tuple[Settings, Store]:
    """The settings in force and the store that they name."""
    settings = settings_of(store)
    return settings, Store.of(settings)


def as_day(text: str, name: str) -> date:
    """An argument as a day. Raises InputError for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', no date; write it as YYYY-MM-DD") from None
