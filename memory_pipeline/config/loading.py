"""The effective settings, from the run's overrides, the environment, `memory_pipeline.toml` and the defaults, in that
order."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from memory_pipeline.config.api_keys import withhold_keys
from memory_pipeline.config.broken_sources import BrokenSource, sort_out
from memory_pipeline.config.described import SettingInfo, describe_settings
from memory_pipeline.config.exports import ExportTable, SourceTable, check_exports, check_names
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import Given, from_environment, from_file, from_overrides, nearest
from memory_pipeline.documents import Document
from memory_pipeline.errors import SettingError

#: What to write instead of a value of the wrong type, by pydantic's name of the error.
_MENDS = {
    "string_type": "write a text in quotes",
    "tuple_type": 'write a list like ["one", "two"]',
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
}


_Table = TypeVar("_Table", SourceTable, ExportTable)


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
            shown = ("***" if value else "") if info.secret else plain(value) if info.table or info.tables else value
            settings += [
                ShownSetting(key=key, value=shown, from_=self.origins[info.key], meaning=meaning)
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
    cannot be used is left out and kept in `broken_sources` or `broken_exports`: it costs itself alone.
    """
    environment = os.environ if environment is None else environment
    if config_file is None and environment.get("MEMORY_PIPELINE_CONFIG"):
        config_file = Path(environment["MEMORY_PIPELINE_CONFIG"])
    sources = (from_overrides(overrides or {}), from_environment(environment), from_file(config_file))
    withheld = withhold_keys(sources)
    origins = {info.key: "default" for info in describe_settings()}
    for source in reversed(sources):
        origins |= source.origins
    broken = _sorted_out("sources", SourceTable, check_names, sources, origins["sources"])
    broken_exports = _sorted_out("exports", ExportTable, check_exports, sources, origins["exports"])
    try:
        made = Settings(_build_sources=(sources, {}))
    except ValidationError as error:
        raise SettingError(_in_words(error, origins)) from error
    made = made.with_broken_sources(broken).with_broken_exports(broken_exports)
    refused = _words_of_refused(config_file, sources[-1].refused)
    return LoadedSettings(made.with_withheld_keys(withheld), origins, refused)


def _words_of_refused(file: Path | None, keys: Sequence[str]) -> str:
    if not keys:
        return ""
    return (
        f"'{file}' is not trusted, so what it says of {', '.join(keys)} is not obeyed; read it, and if you want all of "
        f"it, run 'memory-pipeline config trust {shlex.quote(str(file))}'"
    )


def _sorted_out(
    key: str, model: type[_Table], check: Callable[[Sequence[_Table]], None], sources: Sequence[Given], origin: str
) -> tuple[BrokenSource, ...]:
    """Leave the tables of a list out that cannot be used, and return them."""
    given = next((source for source in sources if key in source()), None)
    if given is None:
        return ()
    usable, broken = sort_out(key, model, check, given()[key], functools.partial(_of_a_table, key, origin))
    given()[key] = usable
    return broken


def changes_from(base: Settings, settings: Settings) -> dict[str, Any]:
    """The overrides that turn `base` into `settings`, by dotted key, as plain values; secrets are never included."""
    return {
        info.key: plain(info.value_in(settings))
        for info in describe_settings()
        if not info.secret and info.value_in(settings) != info.value_in(base)
    }


def plain(value: object) -> Any:
    """A setting's value in its JSON form."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value


def _in_words(error: ValidationError, origins: Mapping[str, str]) -> str:
    """The first error: the key, the source of its value, the value, and what is allowed."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    key = ".".join(path)
    info = next(info for info in describe_settings() if f"{key}.".startswith(f"{info.key}."))
    if first["type"] == "extra_forbidden" and info.table:
        known = [".".join([*path[:-1], name]) for name in info.table.model_fields]
        return f"unknown setting '{key}' in {origins[info.key]}{nearest(key, known)}"
    if info.tables and len(path) > 1:
        return _in_a_list_of_tables(info, path, first, origins[info.key])
    given = "***" if info.secret else repr(first["input"])[:200]
    key, says = key if info.table else info.key, first["msg"].removeprefix("Value error, ")
    if info.table and first["type"] in ("dict_type", "model_type"):
        name = key if key != info.key else f"{key}.NAME"
        says = f"write it as a table: a line [{name}], and below it lines like threshold = 0.9"
    return f"setting '{key}' (from {origins[info.key]}) is {given}: {says}"


def _of_a_table(key: str, origin: str, index: int, first: Any) -> str:
    """An error of a table of a list, which has this index."""
    info = next(info for info in describe_settings() if info.key == key)
    return _in_a_list_of_tables(info, [key, str(index), *map(str, first["loc"])], first, origin)


def _in_a_list_of_tables(info: SettingInfo, path: list[str], first: Any, origin: str) -> str:
    """An error in one of the tables of a list."""
    place, known = (
        f"table {int(path[1]) + 1} of [[{info.key}]] in {origin}",
        info.tables.model_fields if info.tables else {},
    )
    if first["type"] == "extra_forbidden":
        return f"unknown key '{path[-1]}' in {place}{nearest(path[-1], known)}"
    if first["type"] == "missing":
        return f'{place} has no {path[-1]}; add a line like {path[-1]} = "..."'
    name = f"'{path[2]}' of " if len(path) > 2 else ""
    says = _MENDS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return f"{name}{place} is {first['input']!r:.200}: {says}"
