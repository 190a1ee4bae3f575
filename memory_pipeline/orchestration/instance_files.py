"""The files in the Dagster home beside a store, which Dagster obeys: they can name modules to load, other servers, and
variables. Whoever made the store may have put them there."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import yaml

from memory_pipeline.config.sources import read_settings_file
from memory_pipeline.config.trust import is_trusted
from memory_pipeline.errors import SettingError

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
        if not content or content.decode("utf-8", "replace") == written.get(name) or is_trusted(file, content):
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
