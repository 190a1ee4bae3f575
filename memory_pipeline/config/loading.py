"""Where settings come from: the run's overrides, the environment, `memory_pipeline.toml`, the defaults."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import SettingError
from memory_pipeline.files import cause_and_mend

CONFIG_FILE = "memory_pipeline.toml"
_LARGEST_FILE = 1_000_000
_GUARDED_PREFIXES = ("MEMORY_PIPELINE_", "COMPRESSION_", "CONSOLIDATION_")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What there is to say about one setting."""

    key: str
    field: str
    default: object
    meaning: str
    env: tuple[str, ...]
    secret: bool
    limits: str


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, and for each dotted key where its value came from."""

    values: Settings
    origins: Mapping[str, str]

    def rows(self) -> list[dict[str, object]]:
        """One row a setting for `config show`: key, value (secrets masked), origin, meaning."""
        rows: list[dict[str, object]] = []
        for info in describe_settings():
            value = getattr(self.values, info.field)
            shown = ("***" if value else "") if info.secret else value
            rows.append({"key": info.key, "value": shown, "from": self.origins[info.key], "meaning": info.meaning})
        return rows


def describe_settings() -> list[SettingInfo]:
    """Every setting with its default, environment names and limits, in the order of the file."""
    infos = []
    for name, model_field in Settings.model_fields.items():
        extra = model_field.json_schema_extra
        assert isinstance(extra, dict)
        limits = ", ".join(str(limit) for limit in model_field.metadata)
        env = extra["env"]
        assert isinstance(env, list)
        infos.append(
            SettingInfo(
                key=str(extra["key"]),
                field=name,
                default=model_field.default,
                meaning=model_field.description or "",
                env=tuple(str(variable) for variable in env),
                secret=bool(extra["secret"]),
                limits=re.sub(r"(Ge|Le|Gt|Lt)\((ge|le|gt|lt)=([^)]*)\)", r"\2 \3", limits),
            )
        )
    return infos


def load_settings(
    overrides: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> LoadedSettings:
    """Read the settings from the run's overrides, the environment, the file and the defaults.

    `config_file` defaults to `MEMORY_PIPELINE_CONFIG`, else `memory_pipeline.toml` in the working
    directory; a missing default file is no error, a missing named one is.
    Raises SettingError for an unknown key, a value of the wrong type, or one outside its range.
    """
    environment = os.environ if environment is None else environment
    infos = {info.key: info for info in describe_settings()}
    raw: dict[str, object] = {}
    origins = dict.fromkeys(infos, "default")

    for key, value, origin in (
        *_from_file(config_file, environment),
        *_from_environment(infos, environment),
        *((key, value, "run config") for key, value in (overrides or {}).items()),
    ):
        if key not in infos:
            raise SettingError(f"unknown setting '{key}' in {origin}{_nearest(key, infos)}")
        raw[infos[key].field] = value
        origins[key] = origin
    try:
        return LoadedSettings(Settings.model_validate(raw), origins)
    except ValidationError as error:
        fields = {info.field: info for info in infos.values()}
        first = error.errors()[0]
        info = fields[str(first["loc"][0])]
        given = "***" if info.secret else repr(first["input"])[:200]
        raise SettingError(
            f"setting '{info.key}' (from {origins[info.key]}) is {given}: {first['msg'].removeprefix('Value error, ')}"
        ) from error


def _from_file(named: Path | None, environment: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    given = named or (
        Path(environment["MEMORY_PIPELINE_CONFIG"]) if environment.get("MEMORY_PIPELINE_CONFIG") else None
    )
    path = given or Path(CONFIG_FILE)
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise SettingError(f"the configuration file '{path}' is larger than 1 MB; name another one")
        tree = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        if given:
            raise SettingError(f"the configuration file '{path}' does not exist; create it or unset its name") from None
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingError(f"the configuration file '{path}' is not valid TOML: {_first_line(error)}") from error
    except (OSError, ValueError) as error:
        words = cause_and_mend(error) if isinstance(error, OSError) else str(error)
        raise SettingError(f"the configuration file '{path}' cannot be read: {words}") from error
    yield from ((key, value, str(path)) for key, value in _flatten(tree))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _flatten(tree: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _from_environment(
    infos: Mapping[str, SettingInfo], environment: Mapping[str, str]
) -> Iterator[tuple[str, object, str]]:
    by_name = {name: info for info in infos.values() for name in info.env}
    # Our own names come last in `env`'s order of precedence list, so the first name of a setting wins.
    for info in infos.values():
        for name in reversed(info.env):
            if environment.get(name, "") != "":
                yield info.key, _parse(info, environment[name]), f"environment {name}"
    for name in environment:
        if name in by_name or name in NOT_SETTINGS or not name.startswith(_GUARDED_PREFIXES):
            continue
        close = [f"MEMORY_PIPELINE_{name}"] if f"MEMORY_PIPELINE_{name}" in by_name else []
        close = close or difflib.get_close_matches(name, by_name, n=1, cutoff=0.85)
        hint = f"did you mean {close[0]}?" if close else "unset it; 'memory-pipeline config show' lists all settings"
        raise SettingError(f"unknown environment variable {name}; {hint}")


#: Variables with our prefix that are no settings: where the file is, and what the tests use.
NOT_SETTINGS = ("MEMORY_PIPELINE_CONFIG", "MEMORY_PIPELINE_SHARED_DATA", "MEMORY_PIPELINE_HOME")


def _parse(info: SettingInfo, text: str) -> object:
    if isinstance(info.default, tuple):
        if text.lstrip().startswith("["):
            try:
                return json.loads(text)
            except ValueError as error:
                raise SettingError(f"setting '{info.key}' is no JSON list: {error}") from error
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _nearest(key: str, infos: Mapping[str, SettingInfo]) -> str:
    close = difflib.get_close_matches(key, infos, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else "; 'memory-pipeline config show' lists all"
