"""Policies: the cuts that a night makes through one set of similarity edges, and how a user writes one.

`merge` makes one memory of near-copies, `canonical` one entry of knowledge-base entries, `distill` one
pattern of memories on one subject. A setting can change each, add more, and give a project its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from memory_pipeline.records import LEVEL_MERGED, LEVEL_PATTERN, MEMORY_TYPES

Method = Literal["merge", "canonical", "distill"]
GroupBy = Literal["project", "memory_type"]
Linkage = Literal["complete", "average", "single"]

#: By this name the weekly step that makes principles of patterns stands in clusters and log rows.
PRINCIPLE = "principle"
#: In this order a night goes through the methods; within one, added policies come before the built-in one.
METHODS: tuple[Method, ...] = get_args(Method)
#: A project's own threshold for `distill` (requirement 4.5) and for any other policy lies in here.
PROFILE_RANGE = (0.75, 0.95)
POLICY_RANGE = (0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Policy:
    """A cut of the stored edges, and what becomes of each cluster.

    `threshold`: the least cosine of any pair; `min_size`: the least number of memories that a cluster stands
    for, at least two; `group_by`: within a project alone, or within a memory type of it too.
    `memory_types` and `projects` limit it (empty: all). `own`: thresholds and the rest by project.
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
    own: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)

    @property
    def level(self) -> int:
        """The abstraction level of what it makes."""
        return LEVEL_PATTERN if self.method == "distill" else LEVEL_MERGED

    def of_project(self, project_id: str) -> Policy | None:
        """The policy as it holds for a project, or None where it does not."""
        if not self.enabled or (self.projects and project_id not in self.projects):
            return None
        return replace(self, **self.own[project_id]) if project_id in self.own else self


def in_order(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Policies in the order of a night: by method, and within one as they were written, the built-in last."""
    return tuple(sorted(policies, key=lambda policy: (METHODS.index(policy.method), policy.name in METHODS)))


def read_policy(text: str, known: dict[str, Policy]) -> Policy:
    """A policy from `NAME key=value ...`: a change of a known one, or a new one with a method and a threshold.

    Raises ValueError, in words for the user.
    """
    name, values = read_line(text, (f.name for f in fields(Policy) if f.name not in ("name", "own")))
    if "threshold" in values and not POLICY_RANGE[0] <= values["threshold"] <= POLICY_RANGE[1]:
        raise ValueError(f"{text!r}: threshold is {values['threshold']}; use {POLICY_RANGE[0]} to {POLICY_RANGE[1]}")
    if name in known:
        if "method" in values and name in METHODS and values["method"] != name:
            raise ValueError(f"{text!r}: the method of '{name}' cannot change; add a policy of another name")
        return replace(known[name], **values)
    missing = [key for key in ("method", "threshold") if key not in values]
    if missing:
        raise ValueError(f"{text!r} is a new policy without {missing[0]}; write {missing[0]}=...")
    return Policy(**{"name": name, "min_size": 3 if values["method"] == "distill" else 2, **values})


def read_profile(text: str) -> tuple[str, dict[str, Any]]:
    """A project and how `distill` differs there, from `PROJECT key=value ...`. Raises ValueError."""
    project, values = read_line(text, ("threshold", "min_size", "group_by", "linkage"))
    low, high = PROFILE_RANGE
    if "threshold" in values and not low <= values["threshold"] <= high:
        raise ValueError(f"{text!r}: threshold is {values['threshold']}; a project's own lies in {low} to {high}")
    if not values:
        raise ValueError(f"{text!r} changes nothing; write it as 'PROJECT threshold=0.85 group_by=memory_type'")
    return project, values


def read_line(text: str, allowed: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """The name and the values of one line. Raises ValueError for what is not allowed or of the wrong kind."""
    if not text.split():
        raise ValueError("an empty line is neither a policy nor a profile; write it as 'NAME key=value ...'")
    name, *parts = text.split()
    hints, keys, values = get_type_hints(Policy), list(allowed), {}
    for part in parts:
        key, sign, value = part.partition("=")
        if not sign or key not in keys:
            raise ValueError(f"{text!r}: '{part}' is not understood; write key=value with a key of {', '.join(keys)}")
        values[key] = _as(hints[key], value, text, key)
    return name, values


def _as(hint: Any, value: str, text: str, key: str) -> Any:
    choices = get_args(hint)
    if hint is bool:
        choices = ("true", "false")
    try:
        if hint is float:
            return float(value)
        if hint is int and int(value) >= 2:
            return int(value)
    except ValueError:
        pass
    if hint in (int, float):
        raise ValueError(f"{text!r}: {key} is {value!r}; write a number{' from 2' if hint is int else ''}")
    if hint == tuple[str, ...]:
        chosen = tuple(value.split("+"))
        wrong = [one for one in chosen if key == "memory_types" and one not in MEMORY_TYPES]
        if wrong:
            raise ValueError(f"{text!r}: there is no memory type {wrong[0]!r}; use {', '.join(MEMORY_TYPES)}")
        return chosen
    if value not in choices:
        raise ValueError(f"{text!r}: {key} is {value!r}; use {', '.join(choices)}")
    return value == "true" if hint is bool else value
