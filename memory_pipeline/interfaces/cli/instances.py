"""The Dagster instance of a store, the jobs that this process runs on it, and the processes of its UI."""

from __future__ import annotations

import atexit
import errno
import gc
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from yaml import YAMLError

from memory_pipeline.config.described import own_variable
from memory_pipeline.config.loading import plain
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import HistoryError, InputError, StoreError
from memory_pipeline.files.writing import directories, real_path
from memory_pipeline.orchestration.home import (
    dagster_home,
    home_environment,
    load_project_settings,
    named_dagster_home,
    night_config,
    prepare_dagster_home,
    project_home,
)
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from dagster import DagsterInstance, JobDefinition

#: Ports after a taken one that are tried, to name a free one.
_NEAR = 20
_MENDS = "fill it with 'memory-pipeline init PATH/TO/WORKSPACE', or look at the demo with 'memory-pipeline demo'"
_jobs: dict[str, JobDefinition] = {}


@contextmanager
def _loading() -> Iterator[None]:
    """While large packages are imported: nothing of that is garbage, so that nobody looks for any, then or ever."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                atexit.register(gc.unfreeze)  # extension modules complain of what they find in use at the end
            gc.enable()


def job_of(name: str) -> JobDefinition:
    """A job of the code location, made for this process once.

    `execute_in_process` makes one of its own for every run, with a description that the history knows it by, which
    costs as much as two steps of a quiet night; from a job of this function it takes the same one each time.
    """
    if name not in _jobs:
        with _loading():
            from memory_pipeline.orchestration import home

            home.serves_any_store = True
            from memory_pipeline.definitions import defs

            job = defs.resolve_job_def(name)
        make, made = job.as_ephemeral_job, job.as_ephemeral_job(resource_defs={}, input_values={})
        job.as_ephemeral_job = (  # type: ignore[method-assign]
            lambda **given: make(**given) if any(given.values()) else made
        )
        _jobs[name] = job
    return _jobs[name]


@contextmanager
def instance_of(settings: Settings) -> Iterator[DagsterInstance]:
    """The Dagster instance of a store: that of `DAGSTER_HOME` if set to a home of its own, otherwise the one next to
    the store.

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
    with _loading():
        _quiet_dagster()
        from dagster import DagsterError, DagsterInstance
        from sqlalchemy.exc import SQLAlchemyError

        from memory_pipeline.orchestration import history  # noqa: F401  # the instance would load it
        from memory_pipeline.orchestration.held import end_dead_runs
        from memory_pipeline.orchestration.location import own_runs

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


def check_address(host: str, port: int) -> None:
    """Raises InputError if nothing can listen there, with a free port if another process has this one."""
    from memory_pipeline.interfaces.api.serving import cannot_listen

    error = _why_not(host, port)
    if error is None:
        return
    if error.errno != errno.EADDRINUSE:
        raise cannot_listen(host, port, error)
    free = next((near for near in range(port + 1, min(port + _NEAR, 65_535)) if _why_not(host, near) is None), "N")
    raise InputError(
        f"port {port} of {host} is taken, perhaps by a UI that is already running; use another one: "
        f"memory-pipeline ui --port {free}"
    )


def _why_not(host: str, port: int) -> OSError | None:
    from memory_pipeline.interfaces.api.serving import bind

    try:
        bind(host, port)[0].close()
    except OSError as error:
        return error
    return None


def what_is_missing(settings: Settings) -> str | None:
    """What the UI has nothing to show of, with the next command; None for a store with memories."""
    store = Store.of(settings)
    if not store.exists():
        return f"There is no store at '{store.path}' yet: {_MENDS}."
    try:
        with store.reading() as tx:
            return None if tx.memories.count() else f"The store '{store.path}' is empty: {_MENDS}."
    except StoreError as error:
        return f"The store cannot be read now: {error}."


def start_ui(settings: Settings, host: str, port: int) -> NoReturn:
    """Replace this process with `dagster dev` on the store's own instance, so that ending it ends Dagster."""
    home = prepare_dagster_home(Path(settings.store.path))
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "MEMORY_PIPELINE_STORE_PATH": settings.store.path,
        "PYTHONWARNINGS": "ignore",
        "PYTHONSAFEPATH": "1",  # no module of the directory beside the store is loaded
        own_variable("ui.allowed_hosts"): ",".join([*settings.ui.allowed_hosts, *_name_of(host)]),
        **home_environment(),  # so that Dagster's processes find the same settings, although they run elsewhere
        **_sources_of_another_store(settings),
    }
    command = [sys.executable, "-m", "dagster", "dev", "--workspace", "workspace.yaml", "--log-level", "warning"]
    command += ["--host", host, "--port", str(port)]
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A script's background job ignores SIGINT; Dagster would then ignore SIGTERM too, and could not be stopped.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    with directories(project_home()):
        os.chdir(home)  # elsewhere, Dagster warns of a dagster.yaml that is not that of its home
    os.execve(command[0], command, environment)


def _sources_of_another_store(settings: Settings) -> dict[str, str]:
    """For a store that is not that of the settings, the sources as they are now: those that name no store must not
    feed it."""
    if settings.store.path == load_project_settings().values.store.path:
        return {}
    return {own_variable("sources"): json.dumps(plain(settings.sources))}


def _name_of(host: str) -> list[str]:
    """The name that browsers use for an address to listen at, if it is a name."""
    try:
        ip_address(host)
    except ValueError:
        return [host]
    return []
