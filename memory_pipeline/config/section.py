"""The definition of a setting: once, as a field of the section that its key begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from memory_pipeline.files.writing import resolve_links

#: An alias's own range, or None if the range of the setting applies.
Range = tuple[float, float] | None
#: Decides of a value, and of the directory of its file, whether it is obeyed although the user does not trust the file.
IsSafe = Callable[[object, Path], bool]


def any_value(value: object, directory: Path) -> bool:
    """For settings of which no value reaches beyond the store."""
    return True


def builtin_model(value: object, directory: Path) -> bool:
    """For models: those that are part of the program."""
    return value in ("minilm", "lexical")


def store_file(value: object, directory: Path) -> bool:
    """For stores: one in the directory of the settings file, or one that exists; nothing new is written elsewhere."""
    try:
        place = resolve_links(directory / Path(str(value)).expanduser())
        return place.is_relative_to(resolve_links(directory)) or place.is_file()
    except (OSError, ValueError, RuntimeError):
        return False


class Section(
    BaseModel, frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, protected_namespaces=()
):
    """A table of `memory_pipeline.toml`: the settings of one subject, validated and immutable."""


def setting(
    default: Any,
    meaning: str,
    *env: str,
    secret: bool = False,
    safe: IsSafe | None = None,
    address: str = "",
    aliases: Mapping[str, Range] | None = None,
    **limits: Any,
) -> Any:
    """A field of a section that is a setting.

    Its dotted key is its position in the sections; `own_variable` has its environment variable. `env`: further
    established variable names; `aliases`: other dotted keys of the same value, each with its range if that is narrower;
    `secret`: never shown; `safe`: values that are obeyed in a file that nobody has trusted, by default none; `address`:
    of a key, the dotted key of the address that it is sent to, whose default is the provider's own.
    """
    given: Any = {"env": list(env), "secret": secret, "safe": safe, "address": address, "aliases": dict(aliases or {})}
    return Field(default, description=meaning, json_schema_extra=given, **limits)
