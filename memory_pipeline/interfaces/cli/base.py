"""The parts that all commands share: the program, its command groups, the options `--store` and `--json`, and how what
they answer is printed."""

from __future__ import annotations

import getpass
import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import Field
from typer.core import TyperGroup

from memory_pipeline import __version__
from memory_pipeline.config.loading import LoadedSettings
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import CONFIG_FILE
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.files.writing import real_path
from memory_pipeline.interfaces.cli.output import be_quiet, complain, emit
from memory_pipeline.orchestration.home import complete_forgetting, config_file, load_project_settings, project_home
from memory_pipeline.store import Store

#: The commands that most people need, by what they are for, in the order in which they are needed.
_PURPOSES = {
    "Set up": {
        "audit": "What a memory is made of; it writes nothing.",
        "init": "Import your own workspace, and preview a night.",
        "sources": "The workspaces and files that nights read first.",
        "model": "The language model that reads: check, list, use.",
        "demo": "Seven nights of a demo workspace, and their score.",
    },
    "Nights": {
        "night": "Run one night.",
        "backfill": "Run the nights of past days.",
        "report": "What a night did.",
        "ui": "Start the Dagster UI.",
    },
    "Ask": {
        "search": "Find memories by words and meaning.",
        "context": "What an agent should know for a task, in few tokens.",
        "remember": "Write a memory.",
        "show": "A memory, where it comes from, what happened to it.",
    },
    "Decide": {"review": "Everything that waits for your decision."},
    "Undo and keep": {
        "undo": "Undo a night, a run, or one memory that was made.",
        "snapshot": "Verified copies of the store.",
        "forget": "Erase a memory's words everywhere.",
    },
    "For agents": {
        "serve": "Answer over HTTP.",
        "mcp": "Answer as an MCP server over stdio.",
        "export": "Write memories to a file, or to an agent's directory.",
    },
}


class _ByPurpose(TyperGroup):
    """Shows the commands by purpose, and of the others their names: a first screen that can be read."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for purpose, names in _PURPOSES.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:<8}", summary) for name, summary in names.items()])
        listed = {name for names in _PURPOSES.values() for name in names}
        with formatter.section("More, each with --help"):
            formatter.write_text(", ".join(name for name in sorted(self.commands) if name not in listed))


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command: the value as one JSON document with `--json`, otherwise the text, whole or as lines.

    `failed`: the exit code is 1; an error is raised once the answer is printed.
    """

    value: object
    text: str | Sequence[str]
    failed: object = False


_Command = TypeVar("_Command", bound=Callable[..., Answer | None])


class Commands(typer.Typer):
    """Commands that return what they answer. One that takes `Settings` or `Store` has `--store`; all have `--json`."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[_Command], _Command]:
        """Declare a function as a command; `options`: as `typer.Typer.command` takes them."""
        declare = super().command(name, **options)

        def declared(command: _Command) -> _Command:
            declare(_with_options(command))
            return command

        return declared


app = Commands(
    name="memory-pipeline",
    cls=_ByPurpose,
    help="The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def group(name: str, about: str) -> Commands:
    """A new group of the program's commands."""
    made = Commands(help=about, no_args_is_help=True)
    app.add_typer(made, name=name)
    return made


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


class ExportedFile(Document):
    """A file that was exported."""

    exported: int = Field(description="The number of memories in the file, or of values of a series, one a row.")
    path: str = Field(description="The file.")


StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="The store (default: setting store.path).")
]
OnlyProjectOption = Annotated[str | None, typer.Option("--project", help="Only this project.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite a file that this command did not write; never a store.")
]
NamesOption = Annotated[bool, typer.Option("--verbose", help="Name every file that gave no memory.")]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print the result only, without progress.",
        callback=lambda quiet: be_quiet(quiet=bool(quiet)),
        expose_value=False,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Ask no server: use recorded answers (model.answers), and write to FILE each question that has none.",
    ),
]


def _with_options(command: Callable[..., Answer | None]) -> Callable[..., None]:
    """The command as it is called from the command line: with the options that it does not name itself."""
    named = signature(command, eval_str=True)
    given = {name: of.annotation for name, of in named.parameters.items() if of.annotation in (Settings, Store)}
    parameters = [parameter for name, parameter in named.parameters.items() if name not in given]
    is_checked = any(parameter.annotation is OnlyProjectOption for parameter in parameters)

    def run(**options: Any) -> None:
        as_json = options["json_"] if "json_" in named.parameters else options.pop("json_")
        if given:
            path, project = options.pop("store"), options["project"] if is_checked else None
            settings, store = open_store(path, project) if Store in given.values() else (settings_of(path), None)
            options |= {name: settings if kind is Settings else store for name, kind in given.items()}
        answer = command(**options)
        if answer is None:
            return
        emit(answer.value, as_json=as_json, text=answer.text)
        if isinstance(answer.failed, MemoryPipelineError):
            raise answer.failed
        if answer.failed:
            raise typer.Exit(1)

    if given:
        parameters.append(Parameter("store", Parameter.KEYWORD_ONLY, default=None, annotation=StoreOption))
    if "json_" not in named.parameters:
        parameters.append(Parameter("json_", Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption))
    run.__module__, run.__name__, run.__doc__ = command.__module__, command.__name__, command.__doc__
    run.__annotations__ = {}
    run.__signature__ = named.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def recording(settings: Settings, record: Path | None) -> Settings:
    """The settings of a run that writes its open questions to a file. Raises OutputError for a file of the store's."""
    if record is None:
        return settings
    check_target(settings, record)
    return settings.with_values({"model.provider": "recorded", "model.record": str(real_path(record, "--record"))})


def settings_of(store: Path | None) -> Settings:
    """The effective settings, with the given store."""
    return loaded_settings(store).values


def loaded_settings(store: Path | None) -> LoadedSettings:
    """The settings with their origins; what is wrong with a source or an export is printed on standard error."""
    loaded = load_project_settings(named_store(store))
    for broken in (*loaded.values.broken("sources"), *loaded.values.broken("exports")):
        complain(f"Warning: {broken.told}.")
    return loaded


def named_store(store: Path | None) -> dict[str, object] | None:
    """The setting that `--store` sets. Raises InputError for a path that cannot be a file."""
    if store is None:
        return None
    return {"store.path": str(utf8_path(store, "--store"))}


def utf8_path(path: Path, option: str) -> Path:
    """The absolute path of a file that DuckDB can open. Raises InputError for no name, or one that is not UTF-8."""
    try:
        real = real_path(path, option)
        str(real).encode()
    except UnicodeEncodeError:
        raise InputError(f"{option} is {str(path)!r}, which is not UTF-8; rename the file or its directory") from None
    if not real.name:
        raise InputError(f"{option} is '{path}', which is a directory; name a file")
    return real


def open_store(store: Path | None, project: str | None = None) -> tuple[Settings, Store]:
    """The effective settings and their store. Raises InputError if a project is named that it does not have."""
    settings = settings_of(store)
    opened = Store.of(settings)
    complete_forgetting(opened, settings, complain)
    if project is not None:
        with opened.reading() as tx:
            known = tx.memories.projects()
        if project not in known:
            raise InputError(f"there is no project '{project}' in the store; it has {', '.join(known) or 'none'}")
    return settings, opened


def list_copies(store: Store, why: str) -> set[str]:
    """The names of the files next to the store that were kept as NAME.why-TIME."""
    return {file.name for file in store.path.parent.glob(f"{glob.escape(store.path.name)}.{why}-*")}


def check_target(settings: Settings, path: Path, *, force: bool = False) -> None:
    """Refuse an output file that belongs to the store, Dagster, the settings or the workspace.

    Raises OutputError. Call it before doing any work.
    """
    if str(path) == "-":
        raise InputError("'-' stands for standard output elsewhere, and a file is written here; name it")
    home = project_home()
    dagster = os.environ.get("DAGSTER_HOME")
    taken = [home / CONFIG_FILE, config_file(), home / "dagster.yaml", home / "workspace.yaml"]
    if dagster and real_path(dagster) != home:
        taken.append(Path(dagster))
    if force and real_path(path).exists():
        taken += [Path(source.path) for source in settings.sources]
    check_is_free(path, Path(settings.store.path), taken)


def current_user() -> str:
    """The user who runs the command, for the audit log; in a container the user id may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"


def choose_project(store: Store, named: str | None, mend: str = "project=...", *, create: bool = False) -> str:
    """The given project, or the only one; with `create` also a new one of that name.

    Raises InputError if there are several and none is named, or none of this name.
    """
    if create and named is not None:
        return named
    with store.reading() as tx:
        known = tx.memories.projects()
    if named in known:
        return str(named)
    if named is None and len(known) == 1:
        return known[0]
    if not known:
        raise InputError("the store is empty; import something")
    which = f"there is no project '{named}'" if named is not None else "the store has several projects"
    raise InputError(f"{which}; name one with {mend}: {', '.join(known)}")
