"""`[[exports]]`: what the night's last step writes for agents and people."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, field_validator

from memory_pipeline.config.memory_sources import check_name, key_of
from memory_pipeline.config.section import Section

#: The formats that are one file of rows.
EXPORT_FORMATS = ("jsonl", "parquet")
#: What can go into a workspace, by name.
MEMORY, PROMOTIONS, PLAYBOOK, SERIES, USER, RELATIONAL, SOUL, LOGS, SUMMARIES, ROLLUPS = CONTENTS = (
    "memory", "promotions", "playbook", "series", "user", "relational", "soul", "logs", "summaries", "rollups",
)  # fmt: skip
#: What goes there unless it is chosen.
DEFAULT_CONTENTS = (MEMORY, PLAYBOOK, SERIES)


class ExportTable(Section):
    """One `[[exports]]` table."""

    name: str = Field(description="Its name: letters, digits, `-` and `_`.")
    format: str = Field(min_length=1, description="`openclaw`, `claude-code`, `obsidian`, `jsonl` or `parquet`.")
    path: str = Field(min_length=1, description="The directory, or the file.")
    project: str = Field("", description="The project; needed where the store has several.")
    budget: int = Field(
        0,
        ge=0,
        le=100_000,
        description="`openclaw`: maximum tokens of `MEMORY.md`; 0: as `export.budget_tokens` says.",
    )
    contents: tuple[str, ...] = Field(
        (),
        description="`openclaw`: what it writes: "
        + ", ".join(f"`{name}`" for name in CONTENTS)
        + f"; if empty, {', '.join(f'`{name}`' for name in DEFAULT_CONTENTS)}.",
    )
    enabled: bool = Field(True, description="Whether it is written, by nights and by whatever changes its contents.")
    store: str = Field("", description="The store that it is made of, if that is not `store.path`.")

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        return check_name(name)

    @field_validator("contents")
    @classmethod
    def _are_contents(cls, contents: tuple[str, ...]) -> tuple[str, ...]:
        return check_contents(contents)

    @property
    def chosen(self) -> tuple[str, ...]:
        """What it writes."""
        return self.contents or DEFAULT_CONTENTS

    @property
    def key(self) -> str:
        """Its name as names of exports are compared."""
        return key_of(self.name)


def check_contents(contents: Sequence[str]) -> tuple[str, ...]:
    """The contents, in their order. Raises ValueError for an unknown one."""
    unknown = [name for name in contents if name not in CONTENTS]
    if unknown:
        raise ValueError(f"'{unknown[0]}' is no content of a workspace; name some of {', '.join(CONTENTS)}")
    return tuple(name for name in CONTENTS if name in contents)


def check_exports(exports: Sequence[ExportTable]) -> None:
    """Raises ValueError if two exports have the same name (case, `-` and `_` make no difference), or write one path."""
    known: dict[str, str] = {}
    places: dict[str, str] = {}
    for export in exports:
        if export.enabled and export.path in places:
            raise ValueError(f"'{places[export.path]}' and '{export.name}' write the same path; remove one of them")
        if export.enabled:
            places[export.path] = export.name
        if export.key in known:
            raise ValueError(f"'{known[export.key]}' and '{export.name}' are one name; rename one of the two exports")
        known[export.key] = export.name
