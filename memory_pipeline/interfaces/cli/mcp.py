"""The command `mcp`: the MCP server over standard input and output, and its entry in the files of clients."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, current_user, open_store
from memory_pipeline.interfaces.cli.output import emit, say


@app.command(
    epilog="Examples: memory-pipeline mcp --project webshop; memory-pipeline mcp install claude-code --write",
)
def mcp(
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
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Serve the memory to an agent as an MCP server over standard input and output, or install it in a client."""
    settings, opened = open_store(store)
    if action is None:
        from memory_pipeline.interfaces.mcp.stdio import serve_stdio

        if sys.stdin.isatty():
            say(
                "Waiting for an MCP client on standard input; a client starts this itself ('mcp install'). Ctrl-C ends."
            )
        serve_stdio(settings, opened, current_user(), project)
        return
    from memory_pipeline.interfaces.mcp.install import CLIENTS, install, installed_text, own_command

    if action != "install" or client not in CLIENTS:
        raise InputError(f"'mcp {' '.join(filter(None, (action, client)))}' is nothing to do; "
                         f"write 'mcp install' with one of {', '.join(CLIENTS)}")  # fmt: skip
    done = install(client, name, own_command(opened.path, project), write=write)
    emit(done, as_json=json_, text=installed_text(done))
