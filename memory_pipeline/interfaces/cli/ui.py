"""The implementation of `ui`: Dagster's own processes on a store, and what would keep them from being of use."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn

from memory_pipeline.config.described import own_variable
from memory_pipeline.config.loading import plain
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, StoreError
from memory_pipeline.files import cause_and_mend, directories
from memory_pipeline.interfaces.api.serving import resolve_address
from memory_pipeline.orchestration.home import (
    home_environment,
    load_project_settings,
    prepare_dagster_home,
    project_home,
)
from memory_pipeline.store import Store

#: Ports after a taken one that are tried, to name a free one.
_NEAR = 20
_MENDS = "fill it with 'memory-pipeline init PATH/TO/WORKSPACE', or look at the demo with 'memory-pipeline demo'"


def check_address(host: str, port: int) -> None:
    """Raises InputError if nothing can listen there, with a free port if another process has this one."""
    error = _why_not(host, port)
    if error is None:
        return
    if error.errno != errno.EADDRINUSE:
        raise InputError(f"nothing can listen at {host}:{port}: {cause_and_mend(error)}; use another --host or --port")
    free = next((near for near in range(port + 1, min(port + _NEAR, 65_535)) if _why_not(host, near) is None), "N")
    raise InputError(
        f"port {port} of {host} is taken, perhaps by a UI that is already running; use another one: "
        f"memory-pipeline ui --port {free}"
    )


def _why_not(host: str, port: int) -> OSError | None:
    try:
        family, kind, protocol, _, address = resolve_address(host, port)
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
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
