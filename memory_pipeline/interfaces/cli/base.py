"""What all commands share: the program, its groups, and the options `--store` and `--json`."""

from __future__ import annotations

import getpass
import glob
import os
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import CONFIG_FILE
from memory_pipeline.errors import InputError
from memory_pipeline.files import real_path
from memory_pipeline.moments import read_day
from memory_pipeline.orchestration.home import load_project_settings, project_home
from memory_pipeline.places import check_is_free
from memory_pipeline.store import Store

app = typer.Typer(
    name="memory-pipeline",
    help="The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing.",
    no_args_is_help=True,
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


ForceOption = Annotated[
    bool, typer.Option("--force", help="Write over a file that this command did not make; never over a store.")
]


def settings_of(store: Path | None) -> Settings:
    """The settings in force, with the store that was named."""
    return load_project_settings(named_store(store)).values


def named_store(store: Path | None) -> dict[str, object] | None:
    """The setting that `--store` stands for. Raises InputError for what can be no file."""
    if store is None:
        return None
    try:
        path = str(real_path(store, "--store"))
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"--store is {str(store)!r}, which is not UTF-8; rename the file or its directory") from None
    return {"store.path": path}


def open_store(store: Path | None) -> tuple[Settings, Store]:
    """The settings in force and the store that they name."""
    settings = settings_of(store)
    return settings, Store.of(settings)


def kept_copies(store: Store, why: str) -> set[str]:
    """The names of the files that were put aside as NAME.why-TIME, beside the store."""
    return {file.name for file in store.path.parent.glob(f"{glob.escape(store.path.name)}.{why}-*")}


def check_target(settings: Settings, path: Path, *, force: bool = False) -> None:
    """Refuse a file to be written that is the store's, Dagster's, or what the settings or the workspace consist of.

    Raises OutputError; to be called before any work is done.
    """
    home = project_home()
    dagster = os.environ.get("DAGSTER_HOME")
    kept = [home / CONFIG_FILE, home / "dagster.yaml", home / "workspace.yaml"]
    kept += [Path(named) for name in ("MEMORY_PIPELINE_CONFIG",) if (named := os.environ.get(name))]
    if dagster and real_path(dagster) != home:
        kept.append(Path(dagster))
    if force and settings.connectors.workspace and real_path(path).exists():
        kept.append(Path(settings.connectors.workspace))
    check_is_free(path, Path(settings.store.path), kept)


def check_project(store: Store, named: str | None) -> None:
    """Raises InputError for a project that the store does not have."""
    if named is None:
        return
    with store.reading() as tx:
        known = tx.memories.projects()
    if named not in known:
        raise InputError(f"there is no project '{named}' in the store; it has {', '.join(known) or 'none'}")


def as_day(text: str, name: str) -> date:
    """An argument as a day. Raises InputError for anything else."""
    return read_day(text, name)


def current_user() -> str:
    """Who runs the command, for the audit log; in a container there may be no name for the number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"
