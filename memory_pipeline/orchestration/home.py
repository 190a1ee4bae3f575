"""Where things are: the project's home, the store, and the Dagster home that lies beside each store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import memory_pipeline
from memory_pipeline.configuration import CONFIG_FILE, LoadedSettings, load_settings

#: What the run history of a store is set up with; `dagster.yaml` of the project says the same.
INSTANCE_CONFIG = """\
# Written by memory-pipeline for the store beside it. One run at a time: the store has one writer.
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


def project_home() -> Path:
    """The directory that relative paths start from.

    `MEMORY_PIPELINE_HOME`, else the checkout that holds this package (it has a `workspace.yaml`), else the
    working directory.
    """
    named = os.environ.get("MEMORY_PIPELINE_HOME")
    if named:
        return Path(named).resolve()
    checkout = Path(memory_pipeline.__file__).resolve().parent.parent
    return checkout if (checkout / "workspace.yaml").exists() else Path.cwd()


def load_project_settings(overrides: Mapping[str, object] | None = None) -> LoadedSettings:
    """The settings, with the project's own configuration file and absolute paths."""
    home = project_home()
    config = home / CONFIG_FILE
    named = os.environ.get("MEMORY_PIPELINE_CONFIG")
    loaded = load_settings(overrides, config_file=config if config.exists() and not named else None)
    values = loaded.values
    absolute: dict[str, object] = {"store_path": str((home / Path(values.store_path).expanduser()).resolve())}
    if values.reports_dir:
        absolute["reports_dir"] = str((home / Path(values.reports_dir).expanduser()).resolve())
    if values.playbook_dir:
        absolute["playbook_dir"] = str((home / Path(values.playbook_dir).expanduser()).resolve())
    return LoadedSettings(values.model_copy(update=absolute), loaded.origins)


def dagster_home(store_path: Path) -> Path:
    """The Dagster home of a store: a directory beside it, so that histories of two stores never mingle."""
    return store_path.parent / f"{store_path.stem}.dagster"


def prepare_dagster_home(store_path: Path) -> Path:
    """Create the Dagster home of a store where it is missing, and return it."""
    home = dagster_home(store_path)
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        config.write_text(INSTANCE_CONFIG, encoding="utf-8")
    return home
