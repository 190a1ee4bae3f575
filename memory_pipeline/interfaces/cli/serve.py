"""The commands that serve: the HTTP API with its tokens, the MCP server, and the Dagster UI."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import Field

from memory_pipeline.config.described import own_variable
from memory_pipeline.config.loading import plain
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, StoreError
from memory_pipeline.files.writing import directories
from memory_pipeline.interfaces.api.access import Tokens
from memory_pipeline.interfaces.cli.base import Answer, JsonOption, QuietOption, app, current_user, group
from memory_pipeline.interfaces.cli.output import emit, say, table
from memory_pipeline.interfaces.mcp.install import CLIENTS, install, installed_text, own_command
from memory_pipeline.orchestration.home import (
    home_environment,
    load_project_settings,
    prepare_dagster_home,
    project_home,
)
from memory_pipeline.store import Store

_MENDS = "fill it with 'memory-pipeline init PATH/TO/WORKSPACE', or look at the demo with 'memory-pipeline demo'"


class Address(Document):
    """The address of a server."""

    url: str = Field(description="The address of the HTTP API, or that to open in a browser.")


@app.command(epilog="Example: memory-pipeline serve --port 8377")
def serve(
    settings: Settings,
    store: Store,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 for any free one.")] = 8377,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    verbose: Annotated[bool, typer.Option("--verbose", help="Show one line for each request.")] = False,
    quiet: QuietOption = False,
    json_: JsonOption = False,
) -> None:
    """Answer agents over HTTP: search, context, remember, feedback, lineage, consolidation. Ctrl-C stops it."""
    from memory_pipeline.interfaces.api import app as serving

    tokens = Tokens(store.path)
    listening = serving.listen(host, port, tokens)
    _begin_if_missing(store, "memory-pipeline serve")
    if not tokens.any_good(datetime.now(UTC)):
        say("There is no token yet; 'memory-pipeline token create NAME --all-projects' makes one.")
    bound = listening.getsockname()
    url = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
    emit(Address(url=url), as_json=json_, text=f"API at {url} (Ctrl-C stops it)")
    serving.serve(settings, store, listening, verbose=verbose)


def _begin_if_missing(store: Store, actor: str) -> None:
    if not store.exists():
        say(f"There is no store at '{store.path}' yet; a new one begins.")
        with store.writing(actor):
            pass


token_app = group("token", "Tokens of the HTTP API: create, list, revoke.")


@token_app.command(
    "create",
    epilog="Examples: memory-pipeline token create my-agent --project webshop; memory-pipeline token create ops "
    "--scope read --scope admin --all-projects --expires-in 90",
)
def token_create(
    store: Store,
    name: Annotated[str, typer.Argument(help="Who will use it; stands in the audit log.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="read, write or admin; may be repeated (default: read and write)."),
    ] = None,
    project: Annotated[
        list[str] | None, typer.Option("--project", help="A project that it is good for; may be repeated.")
    ] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="Good for every project.")] = False,
    expires_in: Annotated[
        int | None, typer.Option("--expires-in", metavar="DAYS", min=1, max=3650, help="Days until it ends.")
    ] = None,
) -> Answer:
    """Make a token for a program and print it, this once; the store's neighbour file keeps its hash alone."""
    if bool(project) == all_projects:
        raise InputError("say which projects the token is good for: --project NAME, or --all-projects")
    _begin_if_missing(store, "memory-pipeline token")
    now = datetime.now(UTC)
    expires_at = now + timedelta(days=expires_in) if expires_in else None
    made = Tokens(store.path).create(name, scope or ["read", "write"], project or None, now, expires_at)
    return Answer(made, made.token)


@token_app.command("list", epilog="Example: memory-pipeline token list")
def token_list(store: Store) -> Answer:
    """Show the tokens: names, scopes, projects. The tokens themselves are not kept."""
    now = datetime.now(UTC)
    tokens = Tokens(store.path).all()
    rows = [
        {
            "id": token.id,
            "name": token.name,
            "scopes": " ".join(token.scopes),
            "projects": "all" if token.projects is None else " ".join(token.projects),
            "expires": f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "never",
            "state": "revoked" if token.revoked_at else "good" if token.is_good(now) else "expired",
        }
        for token in tokens
    ]
    return Answer(tokens, table(rows, none="There is no token yet."))


@token_app.command("revoke", epilog="Example: memory-pipeline token revoke my-agent")
def token_revoke(
    store: Store, name: Annotated[str, typer.Argument(metavar="NAME|ID", help="The token's name or id.")]
) -> Answer:
    """End a token; servers that are running refuse it at once."""
    ended = Tokens(store.path).revoke(name, datetime.now(UTC))
    return Answer(ended, f"The token '{ended.name}' is revoked.")


@app.command(epilog="Examples: memory-pipeline mcp --project webshop; memory-pipeline mcp install claude-code --write")
def mcp(
    settings: Settings,
    store: Store,
    action: Annotated[
        str | None, typer.Argument(metavar="[install]", help="Show a client's entry instead of serving.")
    ] = None,
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT]", help="claude-code, claude-desktop, cursor or openclaw.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the entry into the client's file.")] = False,
    name: Annotated[str, typer.Option(help="The server's name in the client's file.")] = "memory",
    project: Annotated[
        str | None, typer.Option("--project", help="Serve this project only; its first memory begins it.")
    ] = None,
) -> Answer | None:
    """Serve the memory to an agent as an MCP server over standard input and output, or install it in a client."""
    if action is None:
        from memory_pipeline.interfaces.mcp.server import serve_stdio

        if sys.stdin.isatty():
            say(
                "Waiting for an MCP client on standard input; a client starts this itself ('mcp install'). Ctrl-C ends."
            )
        serve_stdio(settings, store, current_user(), project)
        return None

    if action != "install" or client not in CLIENTS:
        raise InputError(f"'mcp {' '.join(filter(None, (action, client)))}' is nothing to do; "
                         f"write 'mcp install' with one of {', '.join(CLIENTS)}")  # fmt: skip
    done = install(client, name, own_command(store.path, project), write=write)
    return Answer(done, installed_text(done))


@app.command(epilog="Example: memory-pipeline ui --port 3000")
def ui(
    settings: Settings,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    json_: JsonOption = False,
) -> None:
    """Start the Dagster UI, its daemon and the code location on a store; Ctrl-C stops them."""
    check_address(host, port)
    if (missing := what_is_missing(settings)) is not None:
        say(missing)
    url = f"http://{host}:{port}"
    emit(Address(url=url), as_json=json_, text=f"Dagster UI at {url} (Ctrl-C stops it)")
    start_ui(settings, host, port)


def check_address(host: str, port: int) -> None:
    """Raises InputError if nothing can listen there."""
    from memory_pipeline.interfaces.api.app import bind, cannot_listen

    try:
        bind(host, port)[0].close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken, perhaps by a UI that is already running; use another --port"
            ) from None
        raise cannot_listen(host, port, error) from None


def what_is_missing(settings: Settings) -> str | None:
    """The reason why the UI has nothing to show, with the next command; None for a store with memories."""
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
        own_variable("server.allowed_hosts"): ",".join([*settings.server.allowed_hosts, *_list_names(host)]),
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
    """For another store than the settings name, the sources as they are: those without a store must not feed it."""
    if settings.store.path == load_project_settings().values.store.path:
        return {}
    return {own_variable("sources"): json.dumps(plain(settings.sources))}


def _list_names(host: str) -> list[str]:
    """The name that browsers use for an address to listen at, if it is a name."""
    try:
        ip_address(host)
    except ValueError:
        return [host]
    return []
