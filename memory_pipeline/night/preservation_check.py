"""Was anything lost? Compares abstractions with their sources in the store, with a reader that neither wrote nor
judged them.

The sources come from the lineage and the content from the rows, not from the night's own records of what it did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_pipeline.records import Archive, Memory
from memory_pipeline.store import Store
from memory_pipeline.wording.witness import Kept, what_is_kept

#: Links to memories that an abstraction says again in other words; the others are copies, or stay active.
_SAID_AGAIN = frozenset(("distilled", "merged", "canonical"))


@dataclass(frozen=True, slots=True)
class Preservation:
    """How many facts of the sources the abstractions keep, attach and have lost, with each loss in words."""

    found: int
    kept: int
    attached: int
    lost: tuple[str, ...]

    @property
    def rate(self) -> float | None:
        """(Kept + attached) / found; None if nothing was found."""
        return round((self.kept + self.attached) / self.found, 4) if self.found else None


def measure_preservation(store: Store, archives: Sequence[Archive]) -> Preservation:
    """What the abstractions of these archives keep of their sources."""
    made = sorted({archive.abstraction_id for archive in archives if archive.abstraction_id})
    with store.reading() as tx:
        sources: dict[str, list[str]] = {memory_id: [] for memory_id in made}
        again = {link.memory_id for link in tx.lineage.of(made) if link.relation in _SAID_AGAIN}
        sources.update(tx.lineage.told_by(again))
        memories = tx.memories.read({*made, *(i for ids in sources.values() for i in ids)})
    return _summed((i, _contents(memories, sources[i]), memories[i].content) for i in made if i in memories)


def losses_of(sources: Sequence[str], content: str) -> list[str]:
    """The facts of the sources that a content lacks, in words."""
    return [f"the {said.kind} '{said.words}'" for said in what_is_kept(sources, content).lost]


def _contents(memories: dict[str, Memory], ids: Iterable[str]) -> list[str]:
    return [memories[i].content for i in sorted(ids) if i in memories]


def _summed(read: Iterable[tuple[str, list[str], str]]) -> Preservation:
    found = kept = attached = 0
    lost: list[str] = []
    for name, sources, content in read:
        one: Kept = what_is_kept(sources, content)
        found, kept, attached = found + one.found, kept + one.kept, attached + one.attached
        lost += [f"'{name}' lacks the {said.kind} '{said.words}'" for said in one.lost]
    return Preservation(found, kept, attached, tuple(lost))
