"""Policies: how a night forms clusters from one set of similarity edges, and how users define them.

`merge` makes one memory of near-copies, `canonical` one entry of knowledge-base entries, `distill` one pattern of
memories on one subject. A table in the settings can change each of them, add more, and give a project its own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

from pydantic import Field, field_validator, model_validator

from memory_pipeline.config.section import Section
from memory_pipeline.records import LEVEL_MERGED, LEVEL_PATTERN, MEMORY_TYPES

Method = Literal["merge", "canonical", "distill"]
GroupBy = Literal["project", "memory_type"]
Linkage = Literal["complete", "average", "single"]

#: The name of the weekly step that makes principles of patterns, in clusters and log rows.
PRINCIPLE: Final = "principle"
#: The order of methods in a night; within one, added policies come before the built-in one.
METHODS: tuple[Method, ...] = get_args(Method)


class PolicyTable(Section):
    """`[compression.policies.NAME]`: changes to a built-in policy, or an added policy."""

    method: Method | None = None
    threshold: float | None = Field(None, ge=0.5, le=1.0)
    min_size: int | None = Field(None, ge=2)
    group_by: GroupBy | None = None
    linkage: Linkage | None = None
    memory_types: tuple[str, ...] | None = None
    projects: tuple[str, ...] | None = None
    enabled: bool | None = None

    @field_validator("memory_types")
    @classmethod
    def _are_memory_types(cls, values: tuple[str, ...] | None) -> tuple[str, ...] | None:
        wrong = [value for value in values or () if value not in MEMORY_TYPES]
        if wrong:
            raise ValueError(f"there is no memory type {wrong[0]!r}; use {', '.join(MEMORY_TYPES)}")
        return values


class ProfileTable(Section):
    """`[compression.profiles.PROJECT]`: how `distill` differs in a project."""

    threshold: float | None = Field(None, ge=0.75, le=0.95)
    min_size: int | None = Field(None, ge=2)
    group_by: GroupBy | None = None
    linkage: Linkage | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> ProfileTable:
        if not given(self):
            raise ValueError("it changes nothing; write a threshold, min_size, group_by or linkage")
        return self


def given(table: PolicyTable | ProfileTable) -> dict[str, Any]:
    """The values that a table sets, by field."""
    return table.model_dump(exclude_none=True)


def check_policies(tables: dict[str, PolicyTable]) -> dict[str, PolicyTable]:
    """The tables. Raises ValueError for a new policy with missing keys, or a built-in one whose method changes."""
    for name, table in tables.items():
        if name in METHODS:
            if table.method not in (None, name):
                raise ValueError(f"the method of '{name}' cannot change; add a policy of another name")
            continue
        for key, example in (("method", '"distill"'), ("threshold", "0.88")):
            if getattr(table, key) is None:
                raise ValueError(f"'{name}' is a new policy without {key}; add a line like {key} = {example}")
    return tables


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules by which clusters are formed from the stored edges, and what becomes of each.

    `threshold`: the minimum cosine of any pair; `min_size`: the minimum number of memories that a cluster represents,
    at least two; `group_by`: within a project only, or also within a memory type. `memory_types` and `projects` limit
    the policy (empty: all). `own`: changes for single projects.
    """

    name: str
    method: Method
    threshold: float
    min_size: int
    group_by: GroupBy = "project"
    linkage: Linkage = "complete"
    memory_types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    enabled: bool = True
    own: Mapping[str, ProfileTable] = field(default_factory=dict, compare=False)

    @property
    def level(self) -> int:
        """The abstraction level of the memories it makes."""
        return LEVEL_PATTERN if self.method == "distill" else LEVEL_MERGED

    def of_project(self, project_id: str) -> Policy | None:
        """The policy as it applies to a project, or None if it does not apply."""
        if not self.enabled or (self.projects and project_id not in self.projects):
            return None
        return replace(self, **given(self.own[project_id])) if project_id in self.own else self


def changed_policies(built_in: Iterable[Policy], tables: Mapping[str, PolicyTable]) -> tuple[Policy, ...]:
    """The policies of a night in order: by method, and within a method as written, the built-in policy last."""
    known = {policy.name: policy for policy in built_in}
    for name, table in tables.items():
        values = given(table)
        least = 3 if table.method == "distill" else 2
        known[name] = replace(known[name], **values) if name in known else Policy(name, **{"min_size": least, **values})
    return tuple(sorted(known.values(), key=lambda policy: (METHODS.index(policy.method), policy.name in METHODS)))
