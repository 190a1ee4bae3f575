"""The commands `serve` and `mcp`, and the commands about tokens."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    JsonOption,
    QuietOption,
    app,
    current_user,
    group,
)
from memory_pipeline.interfaces.cli.output import emit, say, table
from memory_pipeline.store import Store


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
    from memory_pipeline.interfaces.api import serving
    from memory_pipeline.interfaces.api.tokens import Tokens
    from memory_pipeline.interfaces.cli.results import ApiAddress

    tokens = Tokens(store.path)
    listening = serving.listen(host, port, tokens)
    if not store.exists():
        say(f"There is no store at '{store.path}' yet; a new one begins.")
        with store.writing("memory-pipeline serve"):
            pass
    if not tokens.any_good(datetime.now(UTC)):
        say("There is no token yet; 'memory-pipeline token create NAME --all-projects' makes one.")
    bound = listening.getsockname()
    url = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
    emit(ApiAddress(url=url), as_json=json_, text=f"API at {url} (Ctrl-C stops it)")
    sys.stdout.flush()
    serving.serve(settings, store, listening, verbose=verbose)


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
    from memory_pipeline.interfaces.api.tokens import Tokens

    if bool(project) == all_projects:
        raise InputError("say which projects the token is good for: --project NAME, or --all-projects")
    if not store.exists():
        say(f"There is no store at '{store.path}' yet; a new one begins.")
        with store.writing("memory-pipeline token"):
            pass
    now = datetime.now(UTC)
    expires_at = now + timedelta(days=expires_in) if expires_in else None
    made = Tokens(store.path).create(name, scope or ["read", "write"], project or None, now, expires_at)
    return Answer(made, made.token)


@token_app.command("list", epilog="Example: memory-pipeline token list")
def token_list(store: Store) -> Answer:
    """Show the tokens: names, scopes, projects, last use. The tokens themselves are not kept."""
    from memory_pipeline.interfaces.api.tokens import Tokens

    now = datetime.now(UTC)
    found = Tokens(store.path).all()
    rows = [
        {
            "id": one.id,
            "name": one.name,
            "scopes": " ".join(one.scopes),
            "projects": "all" if one.projects is None else " ".join(one.projects),
            "expires": f"{one.expires_at:%Y-%m-%d}" if one.expires_at else "never",
            "last used": f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never",
            "state": "revoked" if one.revoked_at else "good" if one.is_good(now) else "expired",
        }
        for one in found
    ]
    return Answer(found, table(rows, none="There is no token yet."))


@token_app.command("revoke", epilog="Example: memory-pipeline token revoke my-agent")
def token_revoke(
    store: Store, name: Annotated[str, typer.Argument(metavar="NAME|ID", help="The token's name or id.")]
) -> Answer:
    """End a token; servers that are running refuse it at once."""
    from memory_pipeline.interfaces.api.tokens import Tokens

    ended = Tokens(store.path).revoke(name, datetime.now(UTC))
    return Answer(ended, f"The token '{ended.name}' is revoked.")


@app.command(
    epilog="Examples: memory-pipeline mcp --project webshop; memory-pipeline mcp install claude-code --write",
)
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
    from memory_pipeline.interfaces.mcp.install import CLIENTS, install, installed_text, own_command

    if action != "install" or client not in CLIENTS:
        raise InputError(f"'mcp {' '.join(filter(None, (action, client)))}' is nothing to do; "
                         f"write 'mcp install' with one of {', '.join(CLIENTS)}")  # fmt: skip
    done = install(client, name, own_command(store.path, project), write=write)
    return Answer(done, installed_text(done))
