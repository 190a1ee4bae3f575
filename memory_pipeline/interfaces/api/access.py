"""What a request may do: the scopes and projects of its token."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal, get_args

from memory_pipeline.errors import InputError, MemoryPipelineError, NotFoundError
from memory_pipeline.ingest.candidates import RowError
from memory_pipeline.ingest.values import identifier
from memory_pipeline.store import Store

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
#: The key of an ASGI scope under which an authenticated request carries its `Access`.
ACCESS = "memory_pipeline.access"


class ForbiddenError(MemoryPipelineError):
    """The token of a request does not allow what it asks for."""


class ProjectNeededError(InputError):
    """A request names no project, and there is more than one that it could mean."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and what they may do.

    `actor`: the name for the audit log; `scopes`: none of them implies another; `projects`: None for all projects.
    """

    actor: str
    scopes: frozenset[Scope]
    projects: frozenset[str] | None = None

    def require(self, scope: Scope) -> None:
        """Raises ForbiddenError if the token does not have the scope."""
        if scope not in self.scopes:
            has = " and ".join(one for one in SCOPES if one in self.scopes)
            raise ForbiddenError(f"this needs a token with the scope '{scope}'; yours has {has}")

    def allows(self, project: str) -> bool:
        """Whether the token is good for a project."""
        return self.projects is None or project in self.projects

    def require_project(self, project: str) -> None:
        """Raises ForbiddenError if the token is not good for a project, whether or not that exists."""
        if not self.allows(project):
            raise ForbiddenError(f"your token is not good for the project '{project}'")

    def require_all_projects(self) -> None:
        """Raises ForbiddenError unless the token is good for every project."""
        if self.projects is not None:
            raise ForbiddenError("this needs a token for all projects")

    def choose_project(
        self, store: Store, named: str | None, *, may_be_new: bool = False, known_to_exist: Container[str] = ()
    ) -> str:
        """The project of a request: the named one, else the token's only one, else the store's only one. The store is
        not read for a project that is `known_to_exist`.

        Raises ForbiddenError for a project that the token is not good for, NotFoundError for one that the store does
        not have (unless it `may_be_new`), and ProjectNeededError if none is named and several are possible.
        """
        if named is None and self.projects is not None and len(self.projects) == 1:
            (named,) = self.projects
        if named is not None:
            self.require_project(named)
            if named in known_to_exist:
                return named
            if may_be_new and _can_name_a_project(named):
                return named
        known = self._known_projects(store)
        if named is None:
            if len(known) != 1:
                raise ProjectNeededError(f"name a project: {', '.join(known) or 'the store has none yet'}")
            return known[0]
        if named not in known:
            mend = f"use {', '.join(known)}" if known else "it begins with the first memory that is remembered"
            if not _can_name_a_project(named):
                mend = "its name has control characters, or white space at an end, so that none can begin with it"
            raise NotFoundError(f"there is no project '{named}'; {mend}")
        return named

    def may_begin(self, store: Store) -> bool:
        """Whether a memory for a project that the store does not have may begin it unasked: for a token that is bound
        to projects, and in an empty store. Otherwise a mistyped name would begin one beside the others."""
        return self.projects is not None or not self._known_projects(store)

    def _known_projects(self, store: Store) -> list[str]:
        if not store.exists():
            return []
        with store.reading() as tx:
            return [project for project in tx.memories.projects() if self.allows(project)]


def _can_name_a_project(name: str) -> bool:
    try:
        return identifier(name, "the project") is not None
    except RowError:
        return False
