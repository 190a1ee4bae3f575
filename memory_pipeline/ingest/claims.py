"""Rows that refer to other memories: their sources, or their replacements.

Such a row may come before or after the rows it refers to, so these rows wait on disk until the file is read. Then
they are admitted, each connected group in one transaction. A source that does not exist is omitted; a row without
any remaining source was not made by a night. A row that was archived into a memory that does not confirm this is
refused, because it would otherwise become active again. Rows that are already in the store are never changed and get
no new links.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from sys import intern  # one object for equal ids, of which there are many

from memory_pipeline.ingest.gate import Admitted
from memory_pipeline.records import BESIDE, MADE, connected_groups

#: Longest chain of replacements that a file may contain; `check` follows 100.
MAX_CHAIN = 90
#: Connector of a memory that a night made elsewhere and whose sources were not imported.
ORPHAN = "import"


@dataclass(frozen=True, slots=True)
class _Claim:
    project_id: str
    into: str | None
    sources: tuple[str, ...]
    beside: frozenset[str]
    place: int


#: Looks up which of these ids the store has, with their projects and hashes.
LookUp = Callable[[Iterable[str]], Mapping[str, tuple[str, str]]]


class Claims:
    """The waiting rows. Their content is in a temporary file; only ids are in memory."""

    def __init__(self) -> None:
        # One file for the duration of the import; it is removed with this object.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._claims: dict[str, _Claim] = {}
        #: Ids of rows with missing sources.
        self.loosened: set[str] = set()

    def add(self, entry: Admitted) -> bool:
        """Keep a row until the file is read. Returns False if a row with the same id is already waiting."""
        memory = entry.memory
        if memory.id in self._claims:
            return False
        into, project = memory.consolidated_into_id, intern(memory.project_id)
        sources = tuple(intern(link.source_id) for link in entry.links)
        beside = frozenset(link.source_id for link in entry.links if link.relation in BESIDE)
        claim = _Claim(project, into and intern(into), sources, beside, self._file.seek(0, 2))
        self._claims[intern(memory.id)] = claim
        pickle.dump(entry, self._file, pickle.HIGHEST_PROTOCOL)
        return True

    def waiting(self, memory_id: str) -> Admitted:
        """The waiting row with an id, with the sources that were found."""
        claim = self._claims[memory_id]
        self._file.seek(claim.place)
        entry: Admitted = pickle.load(self._file)
        if memory_id not in self.loosened:
            return entry
        links = tuple(link for link in entry.links if link.source_id in claim.sources)
        source = entry.memory.source
        if source.connector == MADE and not links:
            source = replace(source, connector=ORPHAN)
        return replace(entry, links=links, memory=replace(entry.memory, source=source, compressed_from=None))

    def ids(self) -> list[str]:
        """The ids of the waiting rows."""
        return list(self._claims)

    def drop(self, memory_ids: Iterable[str]) -> None:
        for memory_id in memory_ids:
            del self._claims[memory_id]

    def refuse(self, look_up: LookUp) -> Iterator[tuple[Admitted, str]]:
        """Omit missing sources; drop, with the reason, rows that their replacement denies, and what depends on them."""
        while True:
            self._leave_out_sources(look_up)
            wrong = {
                memory_id: f"the row is archived into '{claim.into}', which does not name it as a source"
                for memory_id, claim in self._claims.items()
                if claim.into and not (claim.into in self._claims and memory_id in self._claims[claim.into].sources)
            }
            wrong = wrong or self._circles()
            if not wrong:
                return
            for memory_id, why in wrong.items():
                yield self.waiting(memory_id), why
            self.drop(wrong)

    def _leave_out_sources(self, look_up: LookUp) -> None:
        named = {source for claim in self._claims.values() for source in claim.sources}
        known = {memory_id: project for memory_id, (project, _) in look_up(named - self._claims.keys()).items()}
        known |= {memory_id: claim.project_id for memory_id, claim in self._claims.items()}
        for memory_id, claim in self._claims.items():
            sources = tuple(source for source in claim.sources if known.get(source) == claim.project_id)
            if sources != claim.sources:
                self._claims[memory_id] = replace(claim, sources=sources)
                self.loosened.add(memory_id)

    def groups(self) -> Iterator[list[str]]:
        """The ids of the waiting rows, one list per connected group."""
        named = ((i, other) for i, claim in self._claims.items() for other in (*claim.sources, claim.into) if other)
        yield from connected_groups(self._claims, named)

    def _circles(self) -> dict[str, str]:
        """Rows whose replacements or sources form a circle or a chain that is too long."""
        replaced = {i: (claim.into,) for i, claim in self._claims.items() if claim.into}
        reasons = dict.fromkeys(_endless(replaced, MAX_CHAIN), "its chain of replacements is a circle, or too long")
        made = {i: tuple(s for s in claim.sources if s not in claim.beside) for i, claim in self._claims.items()}
        return reasons or dict.fromkeys(_endless(made), "it was made from itself, by a circle of sources")


def _endless(leads_to: Mapping[str, tuple[str, ...]], most: int | None = None) -> list[str]:
    """The nodes from which no end is reached within `most` steps, found by removing ends repeatedly."""
    sorter = TopologicalSorter({node: leads_to.keys() & targets for node, targets in leads_to.items()})
    with suppress(CycleError):  # what leads to no circle can be sorted still
        sorter.prepare()
    left = dict.fromkeys(leads_to)
    steps = 0
    while (most is None or steps < most) and (ends := sorter.get_ready()):
        steps += 1
        sorter.done(*ends)
        for end in ends:
            del left[end]
    return list(left)
