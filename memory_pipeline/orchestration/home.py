"""The home of Dagster beside a store, and the files in it that Dagster obeys."""

from __future__ import annotations

import functools
import logging
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import yaml

from memory_pipeline.config import trust
from memory_pipeline.config.exports import BrokenSource, ExportTable, SourceTable
from memory_pipeline.config.loading import LoadedSettings, changes_from, load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import CONFIG_FILE, read_settings_file
from memory_pipeline.errors import HistoryError, InputError, MemoryPipelineError, OutputError, SettingError
from memory_pipeline.files.places import forgetting_mark
from memory_pipeline.files.writing import cause_and_mend, directories, nobody, real_path, write_text
from memory_pipeline.store import Store

#: Names of the files that Dagster's command line obeys in its home and working directory.
INSTANCE_FILES = ("dagster.yaml", "workspace.yaml", ".env")
#: The parts of a `dagster.yaml` that name nothing to load, write or reach.
_HARMLESS = {"concurrency", "run_monitoring", "freshness", "telemetry", "nux"}


def check_instance_files(home: Path, written: Mapping[str, str]) -> None:
    """Raises SettingError for a file of a Dagster home that is neither as `written` by this program, nor trusted.

    A `dagster.yaml` of an earlier version of this program passes too.
    """
    for name in INSTANCE_FILES:
        file = home / name
        content = read_settings_file(file)
        if not content or content.decode("utf-8", "replace") == written.get(name) or trust.is_trusted(file, content):
            continue
        if name != "dagster.yaml" or not _is_harmless(content, written[name]):
            raise SettingError(
                f"'{file}' was not written by this program, and Dagster would run what it names; move it away, or read "
                f"it and run 'memory-pipeline config trust {shlex.quote(str(file))}'"
            )


def _is_harmless(content: bytes, written: str) -> bool:
    ours = yaml.safe_load(written)
    try:
        given = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(given, Mapping) and all(
        key in _HARMLESS or ours.get(key) == value for key, value in given.items()
    )


#: The module that Dagster loads, and the name under which its pages show it.
DEFINITIONS, LOCATION_NAME = "memory_pipeline.definitions", "memory_pipeline"
#: Whether this process runs nights of any store, as the command line does: its partitions then begin with the earliest
#: night there can be. Otherwise they begin with the first memory of the one store that Dagster serves.
serves_any_store = False
#: What Dagster loads beside a store; the project's `workspace.yaml` has the same contents.
WORKSPACE = f"""\
# Written by memory-pipeline for the store beside it.
load_from:
  - python_module:
      module_name: {DEFINITIONS}
      location_name: {LOCATION_NAME}
"""

#: The configuration of a store's run history; the project's `dagster.yaml` has the same contents.
INSTANCE_CONFIG = """\
# Written by memory-pipeline for the store beside it.
storage:
  custom:
    module: memory_pipeline.orchestration.history
    class: RunHistory
    config:
      base_dir:
        env: DAGSTER_HOME
# The IO manager's lines for each file that it reads or writes are no news.
python_logs:
  python_log_level: INFO
# One run at a time: the store has one writer.
concurrency:
  runs:
    max_concurrent_runs: 1
# A run that never starts, or is never done with being cancelled, is given up after three minutes.
run_monitoring:
  enabled: true
freshness:
  enabled: true
telemetry:
  enabled: false
nux:
  enabled: false
"""

_log = logging.getLogger(__name__)
_Table = TypeVar("_Table", SourceTable, ExportTable)


def project_home() -> Path:
    """The directory that relative paths start from; it may not exist yet.

    `MEMORY_PIPELINE_HOME`, else the project that contains the working directory, else the checkout that contains
    this package, else the platform's user data directory (`~/.local/share/memory-pipeline` on Linux). Raises
    SettingError if `MEMORY_PIPELINE_HOME` is not a directory.
    """
    named = os.environ.get("MEMORY_PIPELINE_HOME")
    if named:
        home = real_path(named, "MEMORY_PIPELINE_HOME")
        if not home.is_dir():
            raise SettingError(f"MEMORY_PIPELINE_HOME is '{named}', which is not a directory; create it or unset it")
        return home
    try:
        around = [Path.cwd(), *Path.cwd().parents]
    except OSError:  # the working directory was removed
        around = []
    return next(filter(_is_project, [*around, trust.checkout()]), None) or trust.user_directory()


def home_environment() -> dict[str, str]:
    """The variables with which another process, started anywhere, finds the same settings and trusts them no more."""
    places = {trust.HOME_VARIABLE: str(project_home())}
    if config := os.environ.get(trust.CONFIG_VARIABLE):
        places[trust.CONFIG_VARIABLE] = str(Path(config).absolute())
    discovered = ",".join(name for name in places if trust.user_choice(name) is None)
    return {**places, **({trust.FOUND_VARIABLE: discovered} if discovered else {})}


def _is_project(place: Path) -> bool:
    """True if a directory contains settings, or a Dagster instance with its data, as this project's checkout does."""
    settings = place / CONFIG_FILE
    return settings.is_file() or ((place / "dagster.yaml").is_file() and (place / "data").is_dir())


def load_project_settings(overrides: Mapping[str, object] | None = None) -> LoadedSettings:
    """The settings, from the project's own configuration file, with absolute paths. The log says once what of the file
    is not obeyed."""
    home, config = project_home(), config_file()
    file = config if config.exists() or os.environ.get("MEMORY_PIPELINE_CONFIG") else None
    loaded = load_settings(overrides, config_file=file)
    values = loaded.values
    if loaded.refused:
        _warn_once(loaded.refused)
    absolute: dict[str, object] = {"store.path": _resolve_path("store.path", values.store.path, home)}
    if values.sources or values.exports:
        others = {key: value for key, value in (overrides or {}).items() if key != "store.path"}
        fed = load_settings(others, config_file=file).values.store.path if overrides else values.store.path
        sources, broken = _resolve_all("sources", values.sources, fed, home)
        exports, wrong = _resolve_all("exports", values.exports, fed, home)
        absolute |= {"sources": sources, "exports": exports}
        values = values.without([*broken, *wrong])
    return replace(loaded, values=values.with_values(absolute))


@functools.cache
def _warn_once(message: str) -> None:
    _log.warning("%s", message)


def config_file() -> Path:
    """The project's configuration file: the one that `MEMORY_PIPELINE_CONFIG` names, else the one in its home. It may
    not exist yet."""
    named = os.environ.get("MEMORY_PIPELINE_CONFIG")
    return Path(named) if named else project_home() / CONFIG_FILE


def _resolve_all(
    kind: str, tables: Sequence[_Table], fed: str, home: Path
) -> tuple[tuple[_Table, ...], list[BrokenSource]]:
    """The tables of a list with absolute paths, and those whose path names no file. One that names no store is about
    that of the settings, `fed`."""
    good: list[_Table] = []
    broken = []
    for table in tables:
        paths = {"path": table.path, "store": table.store or fed}
        try:
            resolved = {name: _resolve_path(f"{kind}.{table.name}.{name}", path, home) for name, path in paths.items()}
        except SettingError as error:
            broken.append(BrokenSource(-1, table.name, str(error), table.model_dump(mode="json"), kind))
        else:
            good.append(table.model_copy(update=resolved))
    return tuple(good), broken


def night_config(settings: Settings, **options: object) -> dict[str, Any]:
    """The run configuration that gives a run these settings, whichever process executes it.

    It names the store and the values that differ from the project's own settings, but no secrets; `options` are
    further fields of the night's resource.
    """
    changes = {"store.path": settings.store.path, **changes_from(load_project_settings().values, settings)}
    return {"resources": {"night": {"config": {"settings": changes, **options}}}}


def complete_forgetting(store: Store, settings: Settings, say: Callable[[str], object]) -> None:
    """Complete a forgetting that was interrupted, and say so. If that is not possible now, work goes on: what is made
    of the words goes with them later."""
    if not forgetting_mark(store.path).exists():
        return
    from memory_pipeline.forgetting import documents, forget  # nothing without one needs it

    try:
        done = forget.complete_forgetting(store, settings)
    except MemoryPipelineError as error:
        say(f"Warning: a forgetting that was begun is not complete yet: {error}.")
    else:
        say(documents.forgotten_text(done) if done else "A forgetting that was begun is complete.")


def _resolve_path(key: str, text: str, home: Path) -> str:
    """A path setting as an absolute path. Raises SettingError for an invalid path, or one that is not UTF-8."""
    try:
        path = real_path(home / Path(text).expanduser(), f"setting '{key}'") if text else None
        str(path).encode()
    except (InputError, RuntimeError, UnicodeEncodeError):
        path = None
    if path is None or not path.name:
        raise SettingError(f"setting '{key}' is {text!r}, which names no file; write a path in UTF-8")
    return str(path)


def dagster_home(store_path: Path) -> Path:
    """The Dagster home of a store: a directory next to it, so that histories of two stores never mix."""
    return store_path.parent / f"{store_path.stem}.dagster"


def prepare_dagster_home(store_path: Path) -> Path:
    """Create the Dagster home of a store if it is missing, and return it.

    An empty file (left by a full disk) is rewritten: without `dagster.yaml`, Dagster would run with its defaults,
    including telemetry. Raises HistoryError if this fails, and SettingError if others have put files there.
    """
    home, texts = dagster_home(store_path), {"dagster.yaml": INSTANCE_CONFIG, "workspace.yaml": WORKSPACE}
    check_instance_files(home, texts)
    try:
        for name, text in texts.items():
            file = home / name
            if not file.exists() or not file.stat().st_size:
                with directories(home):
                    write_text(file, text, nobody)
    except (OSError, OutputError) as error:
        why = cause_and_mend(error) if isinstance(error, OSError) else error
        raise HistoryError(f"Dagster's history next to the store, '{home}', cannot be written: {why}") from error
    return home


def named_dagster_home(text: str) -> Path:
    """The directory that `DAGSTER_HOME` names. Raises SettingError unless it is absolute and writable."""
    path = Path(text)
    mend = "or unset DAGSTER_HOME to keep the history next to the store"
    if not path.is_absolute():
        raise SettingError(f"DAGSTER_HOME is '{text}', a relative path; write an absolute one, {mend}")
    if not path.is_dir():
        raise SettingError(f"DAGSTER_HOME names '{text}', which is not a directory; create that directory, {mend}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise SettingError(f"DAGSTER_HOME is '{text}', which is not writable; name another one, {mend}")
    return path
