"""Settles which words of a row with an id of its own hold, when an import brings others than the store has.

The last words that an import gives are those of today: earlier ones are archived into them, unless they are critical or
pinned, and words that come back are active again. A source's words are settled by its nights instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_pipeline.ingest.admission import Found, version_id
from memory_pipeline.ingest.admitted import Admitted
from memory_pipeline.records import LineageLink, derived_id
from memory_pipeline.store import Store, Transaction

_PAGE = 500


@dataclass
class Versions:
    """What an import has seen of rows whose words changed: by id, the memory that has the words of today."""

    _todays: dict[str, str] = field(default_factory=dict)

    def note(
        self, tx: Transaction, admitted: Sequence[Admitted], known: Mapping[str, tuple[str, str]], found: Found
    ) -> None:
        """Take note of the rows of a batch. `known`: by id, project and words of what was in the store before."""
        fresh = {entry.memory.id for entry in found.fresh}
        told: list[tuple[str, str]] = []
        for entry in admitted:
            if known.get(entry.memory.id, (entry.memory.project_id,))[0] != entry.memory.project_id:
                continue
            own, version = entry.memory.id, version_id(entry.memory)
            told.append((own, version if version in fresh or version in known else own))
        replaced = tx.lineage.replaced_by_words({memory_id for _, memory_id in told if memory_id in known})
        for own, memory_id in told:
            by = replaced.get(memory_id)
            is_back = by is not None and (by == own or by.startswith(f"{own}@"))
            if is_back or own in self._todays or (memory_id != own and memory_id in fresh):
                self._todays[own] = memory_id

    def settle(self, store: Store, at: datetime, critical_floor: float, actor: str) -> int:
        """Write what was noted; returns how many memories were replaced."""
        replaced = 0
        ids = list(self._todays)
        for start in range(0, len(ids), _PAGE):
            page = {own: self._todays[own] for own in ids[start : start + _PAGE]}
            with store.writing(actor) as tx:
                tx.memories.take_back(list(page.values()), at=at)
                versions = tx.lineage.active_versions(list(page))
                for own, memory_id in versions:
                    if memory_id != page[own] and tx.memories.supersede(
                        memory_id,
                        winner=page[own],
                        archived_by=derived_id("edit", memory_id, page[own]),
                        at=at,
                        critical_floor=critical_floor,
                    ):
                        tx.lineage.add([LineageLink(page[own], memory_id, "superseded", 1.0)])
                        replaced += 1
        return replaced
