"""The commands about exports: what the night's last step writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.exports import CONTENTS
from memory_pipeline.interfaces.cli.base import JsonOption, StoreOption, app, settings_of
from memory_pipeline.interfaces.cli.output import emit, table

exports_app = typer.Typer(
    help="What nights write for agents and people to read: list, add, remove.", no_args_is_help=True
)
app.add_typer(exports_app, name="exports")

_COLUMNS = ["name", "format", "path", "project", "budget", "enabled"]


@exports_app.command("list", epilog="Example: memory-pipeline exports list")
def exports_list(store: StoreOption = None, json_: JsonOption = False) -> None:
    """Show every export of the settings."""
    from memory_pipeline.interfaces.cli.export_settings import describe_exports

    shown = describe_exports(settings_of(store))
    rows: list[dict[str, object]] = [
        {
            **one.as_json(),
            "project": one.project or "-",
            "budget": one.budget if one.format == "openclaw" else "-",
            "enabled": "yes" if one.enabled else "no",
        }
        for one in shown
    ]
    wrong = [f"PROBLEM with {one.name}: {one.problem}." for one in shown if one.problem]
    hint = "No export yet; 'memory-pipeline exports add openclaw PATH' adds one that every night writes."
    emit(shown, as_json=json_, text="\n".join([table(rows, _COLUMNS), *wrong]) if rows else hint)


@exports_app.command(
    "add",
    epilog="Examples: memory-pipeline exports add openclaw ~/.openclaw/workspace; "
    "memory-pipeline exports add obsidian ~/vault --project webshop",
)
def exports_add(
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="openclaw, claude-code, obsidian, jsonl or parquet.")
    ],
    path: Annotated[Path, typer.Argument(help="The directory, or the file.")],
    name: Annotated[str | None, typer.Option(help="Name of the export (default: its format).")] = None,
    project: Annotated[str | None, typer.Option(help="The project, where the store has several.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="openclaw: the most tokens in MEMORY.md (default: setting export.budget_tokens).", min=200),
    ] = None,
    contents: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"openclaw: what is written, of {', '.join(CONTENTS)}.")
    ] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Add an export to the settings file; the last step of every night writes it. Nothing is written now."""
    from memory_pipeline.interfaces.cli.export_settings import DescribedExport, add_export

    export, file = add_export(settings_of(None), name, format_, path, project, budget, contents, store)
    text = (
        f"Export '{export.name}' ({export.format}, {export.path}) is in {file}; the next night writes it.\n"
        f"Write it now: memory-pipeline export {export.format} {export.path}"
        + (f" --project {export.project}" if export.project else "")
        + (f" --contents {','.join(export.contents)}" if export.contents else "")
    )
    emit(DescribedExport.of(export, settings_of(store)), as_json=json_, text=text)


@exports_app.command("remove", epilog="Example: memory-pipeline exports remove openclaw")
def exports_remove(
    name: Annotated[str, typer.Argument(help="The name of the export.")],
    store: StoreOption = None,
    json_: JsonOption = False,
) -> None:
    """Remove an export from the settings file. What it wrote stays."""
    from memory_pipeline.interfaces.cli.export_settings import remove_export

    described, file = remove_export(settings_of(store), name)
    text = f"Export '{described.name}' was removed from {file}; what it wrote stays."
    emit(described, as_json=json_, text=text)
