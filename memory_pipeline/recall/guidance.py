"""The playbook and the atoms of a project with their vectors, read again only when the store has changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_pipeline.distillers import attempt_in, guiding_entries
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Atom, PlaybookEntry
from memory_pipeline.store import Generation, Store


@dataclass(frozen=True, slots=True)
class Guidance:
    """`entry_vectors` and `atom_vectors`: float32 (n, dimension), unit length."""

    entries: Sequence[PlaybookEntry]
    entry_vectors: Vectors
    atoms: Sequence[Atom]
    atom_vectors: Vectors


class GuidanceIndex:
    """The guidance of one project, as of the newest state that was asked for."""

    def __init__(self, store: Store, project: str, embedder: Embedder) -> None:
        self._store, self._project, self._embedder = store, project, embedder
        self._lock = threading.Lock()
        self._known: tuple[Generation, Guidance] | None = None

    def at(self, generation: Generation) -> Guidance:
        """The guidance; read again if it is of an earlier generation."""
        with self._lock:
            if self._known is None or self._known[0] != generation:
                self._known = generation, self._read()
            return self._known[1]

    def _read(self) -> Guidance:
        model, dimension = self._embedder.name, self._embedder.dimension
        with self._store.reading() as tx:
            entries = guiding_entries(tx.playbook.read(self._project))
            atoms = [atom for atom in tx.atoms.read(self._project) if attempt_in(in_words(atom)) is None]
            known = {("entry", i): vector for i, vector in tx.playbook.vectors(model, dimension).items()}
        texts = {("entry", entry.id): entry.content for entry in entries}
        texts |= {("atom", atom.id): in_words(atom) for atom in atoms}
        missing = [key for key in texts if key not in known]
        if missing:
            made = self._embedder.embed([texts[key] for key in missing])
            known |= dict(zip(missing, made, strict=True))
        return Guidance(
            entries,
            _stacked([known["entry", entry.id] for entry in entries], dimension),
            atoms,
            _stacked([known["atom", atom.id] for atom in atoms], dimension),
        )


def in_words(atom: Atom) -> str:
    """Cause and effect in one line."""
    causal = atom.causal
    further = f"; {causal.consequences}" if causal.consequences else ""
    return f"{causal.subject}: {causal.action} → {causal.outcome}{further}"


def _stacked(vectors: Sequence[Vectors], dimension: int) -> Vectors:
    return np.stack(vectors) if vectors else np.empty((0, dimension), dtype=np.float32)
