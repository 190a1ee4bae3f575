"""The command `serve`: the HTTP API on a store."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, QuietOption, StoreOption, app, open_store
from memory_pipeline.interfaces.cli.output import emit, say


@app.command(epilog="Example: memory-pipeline serve --port 8377")
def serve(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 for any free one.")] = 8377,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    verbose: Annotated[bool, typer.Option("--verbose", help="Show one line for each request.")] = False,
    quiet: QuietOption = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Answer agents over HTTP: search, context, remember, feedback, lineage, consolidation. Ctrl-C stops it."""
    from memory_pipeline.interfaces.api import serving
    from memory_pipeline.interfaces.api.tokens import Tokens
    from memory_pipeline.interfaces.cli.results import ApiAddress

    settings, opened = open_store(store)
    tokens = Tokens(opened.path)
    listening = serving.listen(host, port, tokens)
    if not opened.exists():
        say(f"There is no store at '{opened.path}' yet; a new one begins.")
        with opened.writing("memory-pipeline serve"):
            pass
    if not tokens.any_good(datetime.now(UTC)):
        say("There is no token yet; 'memory-pipeline token create NAME --all-projects' makes one.")
    bound = listening.getsockname()
    url = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
    emit(ApiAddress(url=url), as_json=json_, text=f"API at {url} (Ctrl-C stops it)")
    sys.stdout.flush()
    serving.serve(settings, opened, listening, verbose=verbose)
