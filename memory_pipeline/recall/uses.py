"""Counts which memories were recalled, and writes the counts now and then: a search never waits for a write."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable

from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.store import Store

_log = logging.getLogger(__name__)
#: Recalls that wait at most before they are written.
_MOST_WAITING = 2000


class Uses:
    """The recalls of memories that are not written yet. What waits when the process is killed is lost, and nothing
    else."""

    def __init__(self, store: Store, actor: str) -> None:
        self._store, self._actor = Store(store.path, busy_timeout_s=0.2), actor
        self._waiting: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, memory_ids: Iterable[str]) -> None:
        """Count a recall of each of these memories."""
        with self._lock:
            self._waiting.update(memory_ids)
            is_due = self._waiting.total() >= _MOST_WAITING
        if is_due:
            threading.Thread(target=self._write_quietly, name="counts of use", daemon=True).start()

    def _write_quietly(self) -> None:
        try:
            self.write()
        except MemoryPipelineError as error:
            _log.warning("counts of use wait: %s", error)

    def write(self) -> None:
        """Write what waits; a store that others hold gets it the next time. Whatever else fails, nothing that waits is
        dropped."""
        with self._lock:
            counted, self._waiting = self._waiting, Counter()
        if not counted:
            return
        try:
            with self._store.writing(self._actor) as tx:
                tx.memories.count_uses(counted, {})
        except BaseException as error:
            with self._lock:
                self._waiting.update(counted)
            if not isinstance(error, StoreBusyError):
                raise
            _log.debug("the store is held; %d recalls are counted later", counted.total())
