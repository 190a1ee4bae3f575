"""The Dagster instance of a store, the jobs that this process runs on it, and why one of them failed."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yaml import YAMLError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import HistoryError, MemoryPipelineError, StoreBusyError
from memory_pipeline.files.writing import cause_and_mend, real_path
from memory_pipeline.orchestration.home import (
    dagster_home,
    named_dagster_home,
    night_config,
    prepare_dagster_home,
    project_home,
)

if TYPE_CHECKING:
    from dagster import DagsterInstance, ExecuteInProcessResult, JobDefinition


@functools.cache
def resolve_job(name: str) -> JobDefinition:
    """A job of the code location, made for this process once."""
    from memory_pipeline.orchestration import home

    home.serves_any_store = True
    from memory_pipeline.definitions import defs

    return defs.resolve_job_def(name)


@contextmanager
def instance_of(settings: Settings) -> Iterator[DagsterInstance]:
    """The Dagster instance of a store: that of `DAGSTER_HOME` if that is a home of its own, else the one beside it.

    Raises SettingError for an unusable `DAGSTER_HOME`, and HistoryError if the history cannot be opened, read or
    written, now or later.
    """
    store_path = Path(settings.store.path)
    given = os.environ.get("DAGSTER_HOME")
    if not given or real_path(given, "DAGSTER_HOME") in (project_home(), real_path(dagster_home(store_path))):
        home = prepare_dagster_home(store_path)
    else:
        home = named_dagster_home(given)
    # Not a setting of ours: the instance's own dagster.yaml gets its paths from this variable.
    os.environ["DAGSTER_HOME"] = str(home)
    _quiet_dagster()
    from dagster import DagsterError, DagsterInstance
    from sqlalchemy.exc import SQLAlchemyError

    from memory_pipeline.orchestration.location import own_runs
    from memory_pipeline.orchestration.resources import end_dead_runs

    with ExitStack() as stack:
        try:
            instance = stack.enter_context(DagsterInstance.get())
        except (DagsterError, SQLAlchemyError, YAMLError) as error:
            raise HistoryError(f"Dagster's history in '{home}' cannot be opened: {_history_words(error)}") from error
        try:
            end_dead_runs(instance)
            own_runs(instance)
            yield instance
        except SQLAlchemyError as error:
            raise HistoryError(f"Dagster's history in '{home}' cannot be written: {_history_words(error)}") from error


def _history_words(error: Exception) -> str:
    """The message of SQLite or Dagster, and how to fix it."""
    text = str(getattr(error, "orig", None) or error).strip()
    low = text.lower()
    if "full" in low or "disk i/o" in low:
        return f"the disk is full or broken ({text}); free some space and run again"
    if "readonly" in low or "unable to open" in low:
        return f"it is not writable ({text}); check the owner of the files there, or name another DAGSTER_HOME"
    if "not a database" in low or "malformed" in low:
        return f"it is damaged ({text}); move that directory away to begin a new history"
    return f"{' '.join(text.split())[:500]}; fix its dagster.yaml, or move that directory away"


def run_config(settings: Settings, level: str = "CRITICAL", **options: object) -> dict[str, Any]:
    """The settings, the options of the night, and how much of Dagster's log is shown."""
    return {"loggers": {"console": {"config": {"log_level": level}}}, **night_config(settings, **options)}


def _quiet_dagster() -> None:
    """Suppresses Dagster's warnings about its own beta interfaces, which a user cannot do anything about."""
    warnings.filterwarnings("ignore", module=r"dagster\..*")
    from dagster import BetaWarning, PreviewWarning

    for category in (BetaWarning, PreviewWarning):
        warnings.filterwarnings("ignore", category=category)


def run_job(
    instance: DagsterInstance,
    name: str,
    holder: str,
    config: Mapping[str, Any],
    progress: Callable[[str, int, int], None],
    *,
    tags: Mapping[str, str] | None = None,
    **given: Any,
) -> ExecuteInProcessResult:
    """Run a Dagster job in this process and return its result. `holder`: who holds the store meanwhile, for others.

    Raises StoreBusyError if the run was skipped because others hold the store, MemoryPipelineError with the cause of a
    run that failed, and KeyboardInterrupt if a person ended it.
    """
    from dagster._core.errors import DagsterExecutionInterruptedError
    from sqlalchemy.exc import SQLAlchemyError

    from memory_pipeline.orchestration import resources

    resources.listeners[:] = [progress]
    job, tags = resolve_job(name), {resources.HOLDER_TAG: holder, **(tags or {})}
    try:
        result = job.execute_in_process(instance=instance, tags=tags, run_config=dict(config), **given)
    except SQLAlchemyError:  # the history cannot be written
        raise
    except DagsterExecutionInterruptedError:  # Dagster would begin the next run
        raise KeyboardInterrupt from None
    except Exception as error:
        raise _find_cause(error) from error
    if reason := resources.skipped_reason(instance, result.run_id):
        raise StoreBusyError(reason)
    return result


def _find_cause(error: BaseException) -> MemoryPipelineError:
    """The first error behind that of a run that says how to fix it; without one, the one behind all the others."""
    while not isinstance(error, MemoryPipelineError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, MemoryPipelineError):
        return error
    place = f"'{error.filename}': " if isinstance(error, OSError) and error.filename else ""
    words = f"{place}{cause_and_mend(error)}" if isinstance(error, OSError) else str(error)
    return MemoryPipelineError(" ".join(words.split()))
