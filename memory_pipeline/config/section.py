"""How a setting is defined: once, as a field of the section that its key begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: An alias's own range, or None if the range of the setting applies.
Range = tuple[float, float] | None


class Section(BaseModel):
    """A table of `memory_pipeline.toml`: the settings of one subject, validated and immutable."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, protected_namespaces=()
    )


def setting(
    default: Any,
    meaning: str,
    *env: str,
    secret: bool = False,
    aliases: Mapping[str, Range] | None = None,
    **limits: Any,
) -> Any:
    """A field of a section that is a setting.

    Its dotted key is its position in the sections. It always has the environment variable `MEMORY_PIPELINE_` + that
    key in capitals with `_` for dots. `env`: further established variable names; `aliases`: other dotted keys of the
    same value, each with its range if that is narrower; `secret`: never shown.
    """
    extra: dict[str, Any] = {"env": list(env), "secret": secret, "aliases": dict(aliases or {})}
    return Field(default, description=meaning, json_schema_extra=extra, **limits)
