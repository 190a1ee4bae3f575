"""`[[sources]]` and `[[exports]]`: what nights read first, and what their last step writes for agents and people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from memory_pipeline.config.section import Section

#: Files of a workspace that hold no memories, as patterns of a `.gitignore`: generated indexes, what sub-agents and
#: tools handed in, dumps of code, backups. A pattern of one's own that begins with `!` takes a file back.
NO_MEMORIES = (
    "[Ii]ndex.md", "INDEX.md", "_index.md", "TOC.md", "*.index.md", "indexes/", ".index/",
    "subagents/", "sub-agents/", "subagent-*/", "*subagent*.md", "*sub-agent*.md", "tool-results/", "agent-results/",
    "task-results/",
    "code/", "code-dumps/", "dumps/", "snippets/", "node_modules/", "vendor/", "*.code.md", "*.dump.md",
    "backup/", "backups/", "*.tmp.md",
)  # fmt: skip
#: Copies that editors, file managers and programs leave beside a file; not those that OpenClaw makes of its sessions.
COPIES = (
    "*.bak.md", "*.md.bak*", "*.json.bak*", "*.orig", "*.orig.*", "*.old.md", "*.md.old", "*~", "*~.*", "*.sw[op]",
    "* copy.*", "* copy [0-9]*.*", "* - Copy.*", "* - Copy (*).*", "* (copy*).*",
    "*conflicted copy*", "*.sync-conflict-*",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class NamedTable(Section):
    """The fields of every table of the two lists."""

    #: The list, and what such a table does with its path.
    kind: ClassVar[str]
    verb: ClassVar[str]

    name: str = Field(description="Its name: letters, digits, `-` and `_`.")
    format: str
    path: str = Field(min_length=1)
    project: str = ""
    enabled: bool = True
    store: str = ""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("use letters, digits, hyphens and underscores, at most 64")
        return name

    @property
    def key(self) -> str:
        """Its name in the asset graph, where hyphens are not allowed; different for every table of a list."""
        return key_of(self.name)

    @property
    def place(self) -> tuple[str, ...]:
        """The place that no other table of the list may be about."""
        return (self.path,)


class SourceTable(NamedTable):
    """One `[[sources]]` table."""

    kind, verb = "sources", "read"

    format: str = Field("openclaw", description="The import format.")
    path: str = Field(min_length=1, description="The workspace directory, or the file.")
    project: str = Field(
        "",
        description="Project of memories that name none; by default that of the memories that it has brought, "
        "at first the directory's name.",
    )
    enabled: bool = Field(True, description="Whether nights read it.")
    store: str = Field("", description="The store that it feeds, if that is not `store.path`.")
    timezone: str = Field("", description="Time zone of times that name none; by default `import.timezone`.")
    include: tuple[str, ...] = Field(
        (), description="Patterns as in `.gitignore`: only these files of the directory are read."
    )
    exclude: tuple[str, ...] = Field(
        (), description="Patterns of files that are not read, besides those that hold no memories; `!` takes one back."
    )

    @field_validator("timezone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        return check_zone(name) if name else name

    @property
    def place(self) -> tuple[str, ...]:
        """A path may be read into several projects and stores."""
        return (self.path, self.project, self.store)


def key_of(name: str) -> str:
    """A name as names of sources and of exports are compared."""
    return name.lower().replace("-", "_")


def check_zone(name: str) -> str:
    """The name of a time zone. Raises ValueError for an unknown one."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"no time zone is called {name!r}; use a name like Europe/Lisbon") from error
    return name


def check_tables(tables: Sequence[NamedTable]) -> Sequence[NamedTable]:
    """The tables of a list. Raises ValueError for two with one path, or one name, whatever its case, `-` and `_`."""
    places, names = dict[tuple[str, ...], NamedTable](), dict[str, NamedTable]()
    for table in tables:
        if table.enabled and (other := places.setdefault(table.place, table)) is not table:
            raise ValueError(f"'{other.name}' and '{table.name}' {table.verb} the same path; remove one, or disable it")
        if (other := names.setdefault(table.key, table)) is not table:
            raise ValueError(f"'{other.name}' and '{table.name}' are one name; rename one of the two {table.kind}")
    return tables


#: Tokens of the block in each of a workspace's `MEMORY.md`, `USER.md`, `RELATIONAL.md` and `SOUL.md` at most: what
#: matters most and is newest stands there, and the store has the rest. An export may have a budget of its own.
BUDGET_TOKENS = 4_000
#: The formats that are one file of rows.
EXPORT_FORMATS = ("jsonl", "parquet")
#: What can go into a workspace, by name.
MEMORY, PROMOTIONS, PLAYBOOK, SERIES, USER, RELATIONAL, SOUL, LOGS, SUMMARIES, ROLLUPS = CONTENTS = (
    "memory", "promotions", "playbook", "series", "user", "relational", "soul", "logs", "summaries", "rollups",
)  # fmt: skip
#: What goes there unless it is chosen.
DEFAULT_CONTENTS = (MEMORY, PLAYBOOK, SERIES)


def check_contents(contents: Sequence[str]) -> tuple[str, ...]:
    """The contents, in their order. Raises ValueError for an unknown one."""
    unknown = [name for name in contents if name not in CONTENTS]
    if unknown:
        raise ValueError(f"'{unknown[0]}' is no content of a workspace; name some of {', '.join(CONTENTS)}")
    return tuple(name for name in CONTENTS if name in contents)


class ExportTable(NamedTable):
    """One `[[exports]]` table."""

    kind, verb = "exports", "write"

    format: str = Field(min_length=1, description="`openclaw`, `claude-code`, `obsidian`, `jsonl` or `parquet`.")
    path: str = Field(min_length=1, description="The directory, or the file.")
    project: str = Field("", description="The project; needed where the store has several.")
    enabled: bool = Field(True, description="Whether it is written, by nights and by whatever changes its contents.")
    store: str = Field("", description="The store that it is made of, if that is not `store.path`.")
    budget: int = Field(0, ge=0, le=100_000, description="`openclaw`: maximum tokens of `MEMORY.md`; 0: 4,000.")
    contents: tuple[str, ...] = Field(
        (),
        description="`openclaw`: what it writes: "
        + ", ".join(f"`{name}`" for name in CONTENTS)
        + f"; if empty, {', '.join(f'`{name}`' for name in DEFAULT_CONTENTS)}.",
    )

    _are_contents = field_validator("contents")(check_contents)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The contents that it writes."""
        return self.contents or DEFAULT_CONTENTS


@dataclass(frozen=True, slots=True)
class BrokenSource:
    """A table that cannot be used: it costs itself, not the commands and nights beside it.

    `number`: its place in the list, from 1; 0 if there is no list, -1 if it is not known. `name`: what it is called, or
    `table-NUMBER` if it has no name of its own. `problem`: what is wrong with what it was `given`. `kind`: the list.
    """

    number: int
    name: str
    problem: str
    given: Mapping[str, object]
    kind: str = "sources"

    @property
    def key(self) -> str:
        """Its name as names of sources are compared."""
        return key_of(self.name)

    @property
    def told(self) -> str:
        """The problem with what it costs and the mend."""
        return (
            f"{self.problem}. This {self.kind[:-1]} is left out until the settings are mended, or 'memory-pipeline "
            f"{self.kind} remove {self.name}' takes it out"
        )
