"""The commands `config`: the effective settings, and the settings files that are trusted."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer
from pydantic import Field

from memory_pipeline.config.loading import ShownSetting
from memory_pipeline.config.sources import from_file, read_settings_file
from memory_pipeline.config.trust import is_own, trust, withdraw_trust
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    StoreOption,
    config_app,
    named_store,
    told_of_broken_sources,
)
from memory_pipeline.orchestration.home import INSTANCE_FILES, config_file, load_project_settings

#: Columns of a setting's meaning.
_WIDTH = 100

FileArgument = Annotated[
    Path | None, typer.Argument(help="The settings file (default: the one of this directory).", show_default=False)
]


class TrustedSettings(Document):
    """A settings file that is trusted, or no longer."""

    file: str = Field(description="The file.")
    trusted: bool = Field(description="Whether all of it is obeyed from now on.")
    sha256: str | None = Field(description="SHA-256 of the contents that are trusted; null if they are no longer.")
    settings: tuple[str, ...] = Field(description="The settings that are obeyed now and were not before.")


@config_app.command("show", epilog="Example: memory-pipeline config show")
def config_show(store: StoreOption = None) -> Answer:
    """Show every setting, its value and where the value came from; secrets are masked."""
    loaded = told_of_broken_sources(load_project_settings(named_store(store)))
    shown = loaded.shown()
    lines = [line for setting in shown for line in _setting_lines(setting)]
    return Answer(shown, "\n".join(lines))


def _setting_lines(setting: ShownSetting) -> list[str]:
    """A setting with its value and where that is from, and below it what it means."""
    beside = f"{setting.key} = {setting.value}  [{setting.from_}]"
    return [beside, *wrap(setting.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ")]


@config_app.command("trust", epilog="Example: memory-pipeline config trust")
def config_trust(file: FileArgument = None) -> Answer:
    """Obey all of a settings file, until it changes. Read it first: it can name addresses that memories are sent to,
    files that are read and written, and programs that run."""
    path = _absolute(file)
    content = read_settings_file(path)
    if content is None:
        raise InputError(f"there is no settings file '{path}'; name the file")
    refused: tuple[str, ...] = ()
    if path.name not in INSTANCE_FILES:  # Dagster's files have no settings of ours
        refused = tuple(from_file(path, content).refused)
    trust(path, content)
    found = TrustedSettings(file=str(path), trusted=True, sha256=hashlib.sha256(content).hexdigest(), settings=refused)
    what = f" Obeyed from now on: {', '.join(refused)}." if refused else ""
    return Answer(found, f"'{path}' is trusted until it changes.{what}")


@config_app.command("untrust", epilog="Example: memory-pipeline config untrust")
def config_untrust(file: FileArgument = None) -> Answer:
    """Trust a settings file no longer."""
    path = _absolute(file)
    if not withdraw_trust(path) and not is_own(path):
        raise InputError(f"'{path}' was not trusted")
    left = (
        " It lies in your own directory of settings, or the environment names it, so it is obeyed still."
        if is_own(path)
        else ""
    )
    found = TrustedSettings(file=str(path), trusted=is_own(path), sha256=None, settings=())
    return Answer(found, f"'{path}' is not on the list of trusted files any more.{left}")


def _absolute(file: Path | None) -> Path:
    """The file under its own name: what a link leads to is trusted for this name alone."""
    return Path(os.path.abspath((file or config_file()).expanduser()))  # noqa: PTH100 - keeps links
