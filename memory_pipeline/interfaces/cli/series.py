"""The commands about series: lines that machinery writes again and again, each as one memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import ForceOption, JsonOption, StoreOption, app, check_target, open_store
from memory_pipeline.interfaces.cli.output import emit
from memory_pipeline.interfaces.cli.results import ExportedReadings

series_app = typer.Typer(
    help="Lines that differ only in values: list, show and export their readings.", no_args_is_help=True
)
app.add_typer(series_app, name="series")


@series_app.command("list", epilog="Example: memory-pipeline series list --project webshop")
def series_list(
    project: Annotated[str | None, typer.Option("--project", help="Only this project.")] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """List the series memories: what each says, and how many readings it stands for."""
    from memory_pipeline.recall.series import list_series

    _, opened = open_store(store)
    with opened.reading() as tx:
        found = list_series(tx, project)
    lines = [f"{one.id[:8]}  {one.project_id}  {one.readings} readings  {one.content}" for one in found]
    emit(found, as_json=json_, text="\n".join(lines) or "No series.")


@series_app.command("show", epilog="Example: memory-pipeline series show 3f2a9c1e")
def series_show(
    series_id: Annotated[str, typer.Argument(metavar="id", help="The series memory, or the start of its id.")],
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Show a series: what it says, each figure over time, and every reading."""
    from memory_pipeline.recall.series import series_text, show_series

    _, opened = open_store(store)
    with opened.reading() as tx:
        shown = show_series(tx, series_id)
    emit(shown, as_json=json_, text=series_text(shown))


@series_app.command("export", epilog="Example: memory-pipeline series export csv readings.csv")
def series_export(
    format_: Annotated[str, typer.Argument(metavar="format", help="`csv`, `json` or `parquet`.")],
    path: Annotated[Path, typer.Argument(metavar="path", help="The file to write.")],
    series: Annotated[
        list[str] | None, typer.Option("--id", help="Only this series (or the start of its id); may be repeated.")
    ] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Write every value of every reading as a row to a file."""
    from memory_pipeline.recall.series import export_series

    settings, opened = open_store(store)
    check_target(settings, path, force=force)
    count = export_series(opened, format_, path, series or (), force=force)
    result = ExportedReadings(exported=count, path=str(path))
    emit(result, as_json=json_, text=f"{count} values exported to {path}.")
