"""The effective settings, from the run's overrides, the environment, `memory_pipeline.toml` and the defaults, in that
order."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import to_jsonable_python

from memory_pipeline.config.described import describe_settings
from memory_pipeline.config.exports import BrokenSource, ExportTable, NamedTable, SourceTable, check_tables, key_of
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import Given, from_environment, from_file, nearest, nested, withhold_keys
from memory_pipeline.documents import Document
from memory_pipeline.errors import SettingError

#: What to write instead of a value of the wrong type, by pydantic's name of the error.
_MENDS = {
    "string_type": "write a text in quotes",
    "tuple_type": 'write a list like ["one", "two"]',
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
}
#: The most errors of a table of a list that are named.
_MOST_ERRORS = 3


class ShownSetting(Document):
    """A setting with its effective value."""

    key: str = Field(description="Its dotted key.")
    value: Any = Field(description="Its value; a secret is shown as `***`.")
    from_: str = Field(
        alias="from",
        description="Where the value came from: `default`, the path of a file, `environment NAME` or `run config`.",
    )
    meaning: str = Field(description="What it is for.")


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The effective settings, the source of each value by dotted key, and of a settings file that the user has not
    trusted what is not obeyed, with the mend (empty for any other)."""

    values: Settings
    origins: Mapping[str, str]
    refused: str = ""

    def shown(self) -> list[ShownSetting]:
        """Every setting as `config show` prints it, under each of its names, with secrets masked."""
        settings = []
        for info in describe_settings():
            value = info.value_in(self.values)
            displayed = (
                ("***" if value else "") if info.secret else plain(value) if info.table or info.tables else value
            )
            settings += [
                ShownSetting(key=key, value=displayed, from_=self.origins[info.key], meaning=meaning)
                for key, meaning in ((info.key, info.meaning), *((name, info.another_name) for name in info.aliases))
            ]
        return settings


def load_settings(
    overrides: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> LoadedSettings:
    """Read the settings from the run's overrides, the environment, the file and the defaults.

    `config_file` defaults to what `MEMORY_PIPELINE_CONFIG` names. Of a file that the user has not trusted, only what is
    safe is obeyed. Tables of policies and profiles are merged by name. An API key is left out if the address that it
    would be sent to is not its own (`withheld_keys`). Raises SettingError for an unknown key, a value of the wrong type
    or outside its range, or two names of one setting with different values. A table of `sources` or `exports` that
    cannot be used is left out and kept in `broken`: it costs itself alone.
    """
    environment = os.environ if environment is None else environment
    if config_file is None and environment.get("MEMORY_PIPELINE_CONFIG"):
        config_file = Path(environment["MEMORY_PIPELINE_CONFIG"])
    given = Given((tuple(key.split(".")), value, "run config") for key, value in (overrides or {}).items())
    sources = (given, from_environment(environment), from_file(config_file))
    withheld = withhold_keys(sources)
    origins = {info.key: "default" for info in describe_settings()}
    for source in reversed(sources):
        origins |= source.origins
    tree = nested(sources)
    broken: list[BrokenSource] = []
    for model in (SourceTable, ExportTable):
        if model.kind in tree:
            tree[model.kind], wrong = _sort_out(model, tree[model.kind], origins[model.kind])
            broken += wrong
    try:
        made = Settings.model_validate(tree)
    except ValidationError as error:
        raise SettingError(_in_words(error, origins)) from error
    keys = ", ".join(sources[-1].refused)
    refused = (
        f"'{config_file}' is not trusted, so what it says of {keys} is not obeyed; read it, and if you want all of it, "
        f"run 'memory-pipeline config trust {shlex.quote(str(config_file))}'"
    )
    return LoadedSettings(made.without(broken, withheld), origins, refused if keys else "")


def _sort_out(
    model: type[NamedTable], tables: object, origin: str
) -> tuple[tuple[NamedTable, ...], list[BrokenSource]]:
    """The tables of a list that can be used, and the others by name, or, if that is none or taken, by number."""
    kind = model.kind
    if not isinstance(tables, Sequence) or isinstance(tables, str | bytes):
        problem = f"'{kind}' is no list: begin each of its tables with [[{kind}]]"
        return (), [BrokenSource(0, kind, problem, tables if isinstance(tables, Mapping) else {}, kind)]
    good: list[NamedTable] = []
    wrong: list[tuple[int, Mapping[str, object], str]] = []
    for number, given in enumerate(tables, start=1):
        try:
            table = model.model_validate(given)
            check_tables([*good, table])
            good.append(table)
            continue
        except ValidationError as error:
            errors = [_in_a_table(model, number, each["loc"], each, origin) for each in error.errors()[:_MOST_ERRORS]]
            problem = "; ".join(errors)
        except ValueError as error:
            problem = f"table {number} of [[{kind}]]: {error}"
        fields = given.model_dump(mode="json") if isinstance(given, NamedTable) else given
        wrong.append((number, fields if isinstance(fields, Mapping) else {}, problem))
    taken = {table.key for table in good}
    broken: list[BrokenSource] = []
    for number, fields, problem in wrong:
        name = fields.get("name")
        if not (isinstance(name, str) and name.strip() and name.isprintable() and key_of(name) not in taken):
            name = f"table-{number}"
            while key_of(name) in taken:
                name = f"broken-{name}"
        broken.append(BrokenSource(number, name, problem, fields, kind))
        taken.add(broken[-1].key)
    return tuple(good), broken


def changes_from(base: Settings, settings: Settings) -> dict[str, Any]:
    """The overrides that turn `base` into `settings`, by dotted key, as plain values; secrets are never included."""
    return {
        info.key: plain(info.value_in(settings))
        for info in describe_settings()
        if not info.secret and info.value_in(settings) != info.value_in(base)
    }


def plain(value: object) -> Any:
    """A setting's value in its JSON form."""
    return to_jsonable_python(value, exclude_none=True)


def _in_words(error: ValidationError, origins: Mapping[str, str]) -> str:
    """The first error: the key, the source of its value, the value, and what is allowed."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    key = ".".join(path)
    info = next(info for info in describe_settings() if f"{key}.".startswith(f"{info.key}."))
    if first["type"] == "extra_forbidden" and info.table:
        known = [".".join([*path[:-1], name]) for name in info.table.model_fields]
        return f"unknown setting '{key}' in {origins[info.key]}{nearest(key, known)}"
    given = "***" if info.secret else repr(first["input"])[:200]
    key, says = key if info.table else info.key, first["msg"].removeprefix("Value error, ")
    if info.table and first["type"] in ("dict_type", "model_type"):
        each, one = f"write a table for each, like [{key}.NAME]", f"write it as a table: a line [{key}], and below it "
        says = each if key == info.key else f"{one}lines like threshold = 0.9"
    return f"setting '{key}' (from {origins[info.key]}) is {given}: {says}"


def _in_a_table(model: type[NamedTable], number: int, path: Sequence[int | str], first: Any, origin: str) -> str:
    """An error at a path in one of the tables of a list."""
    place, key = f"table {number} of [[{model.kind}]] in {origin}", str(path[-1]) if path else ""
    if first["type"] == "extra_forbidden":
        return f"unknown key '{key}' in {place}{nearest(key, model.model_fields)}"
    if first["type"] == "missing":
        return f'{place} has no {key}; add a line like {key} = "..."'
    name = f"'{path[0]}' of " if path else ""
    says = _MENDS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return f"{name}{place} is {first['input']!r:.200}: {says}"
