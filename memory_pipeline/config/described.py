"""Descriptions of each setting, from its single definition."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memory_pipeline.config.section import IsSafe, Range, Section
from memory_pipeline.config.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """The description of one setting.

    `key`: its dotted key; `env`: its environment variables, in order of precedence; `aliases`: other dotted keys of
    the same value, with their ranges; `safe` and `address`: as in `setting`; `table`: for tables with user-defined
    names, the keys in each; `tables`: for a list of tables, likewise.
    """

    key: str
    default: object
    meaning: str
    env: tuple[str, ...]
    secret: bool
    limits: str
    aliases: Mapping[str, Range]
    safe: IsSafe | None
    address: str
    path: tuple[str, ...]
    table: type[BaseModel] | None
    tables: type[BaseModel] | None = None

    @property
    def another_name(self) -> str:
        """The meaning of its aliases."""
        return f"Another name of `{self.key}`."

    def value_in(self, settings: Settings) -> Any:
        return attrgetter(".".join(self.path))(settings)


@functools.cache
def describe_settings() -> tuple[SettingInfo, ...]:
    """Every setting with its default, environment names and limits, in the order of the file."""
    return tuple(_walk_settings(Settings, (), ()))


def own_variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return "MEMORY_PIPELINE_" + key.upper().replace(".", "_")


def _walk_settings(model: type[BaseModel], path: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[SettingInfo]:
    for name, field in model.model_fields.items():
        place, key = (*path, name), (*keys, field.alias or name)
        if isinstance(field.default, Section):
            yield from _walk_settings(type(field.default), place, key)
        else:
            yield _describe_setting(field, place, ".".join(key))


def _describe_setting(field: FieldInfo, path: tuple[str, ...], key: str) -> SettingInfo:
    given: dict[str, Any] = dict(field.json_schema_extra or {})  # type: ignore[arg-type]  # what `setting` was given
    items = get_args(field.annotation)
    limits = (f"{name} {bound}" for limit in field.metadata for name, bound in asdict(limit).items())
    return SettingInfo(
        key=key,
        default=field.default,
        meaning=field.description or "",
        limits=", ".join(limits),
        path=path,
        table=items[1] if isinstance(field.default, dict) else None,
        tables=items[0] if isinstance(field.default, tuple) and items[0] is not str else None,
        **{**given, "env": (own_variable(key), *given["env"])},
    )
