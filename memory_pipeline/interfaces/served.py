"""The memories that a server answers from: each project's is opened once, and shared by all requests."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

import anyio
import anyio.to_thread

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.api.access import Access, Scope
from memory_pipeline.interfaces.operations import MemoryToWrite
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.recall.documents import Remembered
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

_log = logging.getLogger(__name__)
#: Seconds between two writings of what is counted: a client may end the process at any time.
_WRITE_EVERY_S = 30.0
#: Projects that are kept ready for search at most; the one that was not asked for the longest is opened again later.
_MOST_OPEN = 32


class ServedMemories:
    """The memories of a store's projects, with one model for all. Safe to use from several threads."""

    def __init__(self, store: Store, settings: Settings, *, actor: str = "server") -> None:
        """`actor`: who counts uses, for the audit log."""
        self.store, self.settings, self._actor = store, settings, actor
        self._open: OrderedDict[str, ProjectMemory] = OrderedDict()
        self._embedder: Embedder | None = None
        self._lock = threading.Lock()

    def of(self, project: str, actor: str) -> ProjectMemory:
        """The memory of a project for someone who reads and writes it; the project need not have memories yet.
        Whether `actor` may use it is the caller's concern."""
        with self._lock:
            memory = self._open.get(project)
            if memory is None:
                self._embedder = self._embedder or choose_embedder(self.settings)
                memory = ProjectMemory(self.store, self.settings, project, actor=self._actor, embedder=self._embedder)
                self._open[project] = memory
            self._open.move_to_end(project)
            passed = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - _MOST_OPEN)]
        for evicted in passed:
            evicted.close()
        return memory.acting_as(actor)

    def prepare(self, projects: Collection[str] | None = None) -> None:
        """Make projects (default: all) ready for search, unless they are more than can be kept so, and load a model
        that is on this machine. What fails here fails again in words when it is needed."""
        try:
            if projects is None:
                with self.store.reading() as tx:
                    projects = tx.memories.projects()
            for project in projects if len(projects) <= _MOST_OPEN else ():
                self.of(project, self._actor).prepare()
        except MemoryPipelineError as error:
            _log.warning("the first search of a project will take longer: %s", error)

    def open_projects(self) -> dict[str, ProjectMemory]:
        """The projects that are ready for search."""
        with self._lock:
            return dict(self._open)

    def close(self) -> None:
        """Write the counts of use that wait."""
        for memory in self.open_projects().values():
            memory.close()


async def keep_writing(write: Callable[[], None]) -> None:
    """Write what is counted, again and again."""
    while True:
        await anyio.sleep(_WRITE_EVERY_S)
        await anyio.to_thread.run_sync(write)


@dataclass(frozen=True, slots=True)
class Caller:
    """A client of a server, and the memories that it serves."""

    memories: ServedMemories
    access: Access

    def memory(self, scope: Scope, project: str | None, *, may_be_new: bool = False) -> ProjectMemory:
        """The memory of the project that is meant, for someone who may read, write or administer it.

        Raises ForbiddenError, NotFoundError and ProjectNeededError as `Access.choose_project` does.
        """
        self.access.require(scope)
        served = self.memories
        chosen = self.access.choose_project(
            served.store, project, may_be_new=may_be_new, known_to_exist=served.open_projects()
        )
        return served.of(chosen, self.access.actor)

    def remember(self, asked: MemoryToWrite) -> Remembered:
        """Write a memory. A project that the store does not have begins with it if the request says so, or the access
        allows it. Raises errors as `memory` and `ProjectMemory.remember` do."""
        may_be_new = asked.create_project or self.access.may_begin(self.memories.store)
        return self.memory("write", asked.project_id, may_be_new=may_be_new).remember(asked)
