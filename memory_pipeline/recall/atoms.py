"""Atoms for people and agents: find them by field and meaning, follow causal chains, add one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import numpy as np
from pydantic import Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Atom, Causal, derived_id
from memory_pipeline.store import Store
from memory_pipeline.text.steering import attempt_in

#: The parts of an atom that have a vector; `leads` is subject and action together, which a chain leads to.
FIELDS = ("subject", "action", "outcome", "leads")
_LONGEST_CHAIN = 8
#: Cosine from which the outcome of one atom leads to the subject and action of another.
_LEADS = 0.6


@dataclass(frozen=True, slots=True)
class FoundAtom:
    """An atom and its score: the cosine of the searched field, or 1.0 without a query."""

    atom: Atom
    score: float


class DescribedAtom(Document):
    """An atom for display: cause and effect, confidence, and score for the query."""

    id: str = Field(description="The atom.")
    project_id: str = Field(description="Its project.")
    subject: str = Field(description="What the action is applied to.")
    action: str = Field(description="What is done or happens.")
    outcome: str = Field(description="What results.")
    consequences: str = Field(description="What follows further on.")
    confidence: float = Field(description="0 to 1; 1 if someone stated it.")
    source_ids: tuple[str, ...] = Field(description="The memories that support it.")
    stated_by: str | None = Field(description="The person or agent who stated it, if any.")
    created_at: Moment = Field(description="When it was found or stated.")
    strengthened_at: Moment | None = Field(description="When another memory last raised its confidence.")
    score: float = Field(description="Cosine to the query; 1 without a query.")


def describe_atom(match: FoundAtom) -> DescribedAtom:
    """An atom that was found, for display."""
    atom = match.atom
    return DescribedAtom.of_record(
        atom, **asdict(atom.causal), confidence=round(atom.confidence, 2), score=round(match.score, 3)
    )


class AtomIndex:
    """The atoms of one project with their vectors, in memory."""

    def __init__(self, atoms: Sequence[Atom], vectors: dict[tuple[str, str], Vectors]) -> None:
        self.atoms, self._vectors = list(atoms), vectors

    @classmethod
    def of(cls, store: Store, embedder: Embedder, project_id: str, actor: str, run_id: str | None = None) -> AtomIndex:
        """Read a project's atoms; a field without a vector of this model is embedded, and the vector kept."""
        with store.reading() as tx:
            atoms = tx.atoms.read(project_id)
            vectors = tx.atoms.vectors([atom.id for atom in atoms], FIELDS, embedder.name)
        missing = [(atom, field) for atom in atoms for field in FIELDS if (atom.id, field) not in vectors]
        if missing:
            made = np.asarray(embedder.embed([text_of(atom.causal, field) for atom, field in missing]), np.float32)
            keys = [(atom.id, field) for atom, field in missing]
            with store.writing(actor, run_id) as tx:
                tx.atoms.keep_vectors(keys, made, embedder.name)
            vectors.update(zip(keys, made, strict=True))
        return cls(atoms, vectors)

    def add(self, atom: Atom, vectors: Vectors) -> None:
        """An atom that was just written, with its vectors as returned by `embed_atom`."""
        self.atoms.append(atom)
        self._vectors.update({(atom.id, field): vector for field, vector in zip(FIELDS, vectors, strict=True)})

    def vector(self, atom: Atom, field: str) -> Vectors:
        """The unit vector of one field, float32 (dimension,)."""
        return self._vectors[atom.id, field]

    def nearest(
        self, field: str, vector: Vectors, least: float, among: Sequence[Atom] | None = None
    ) -> list[FoundAtom]:
        """Atoms whose field reaches a cosine to a unit vector, nearest first, then by confidence."""
        atoms = self.atoms if among is None else among
        matches = [FoundAtom(atom, float(self._vectors[atom.id, field] @ vector)) for atom in atoms]
        relevant = [match for match in matches if match.score >= least]
        return sorted(relevant, key=lambda match: (-match.score, -match.atom.confidence, match.atom.id))


def text_of(causal: Causal, field: str) -> str:
    """The text of a field, as it is embedded."""
    return f"{causal.subject} {causal.action}" if field == "leads" else str(getattr(causal, field))


def embed_atom(embedder: Embedder, causal: Causal) -> Vectors:
    """The vectors of all FIELDS, float32 (len(FIELDS), dimension), unit length."""
    return np.asarray(embedder.embed([text_of(causal, field) for field in FIELDS]), dtype=np.float32)


def search_atoms(
    index: AtomIndex, embedder: Embedder, query: str | None, field: str | None, limit: int, least: float
) -> list[FoundAtom]:
    """Atoms by meaning, in one field or in the nearest one; without a query, those with the highest confidence.

    Raises InputError for an unknown field.
    """
    if field is not None and field not in ("subject", "action", "outcome"):
        raise InputError(f"--field is '{field}'; use subject, action or outcome")
    if not query:
        surest = sorted(filter(_may_guide, index.atoms), key=lambda atom: (-atom.confidence, atom.created_at, atom.id))
        return [FoundAtom(atom, 1.0) for atom in surest[:limit]]
    vector = np.asarray(embedder.embed([query]), dtype=np.float32)[0]
    matches = [match for name in ([field] if field else FIELDS) for match in index.nearest(name, vector, least)]
    best = {match.atom.id: match for match in sorted(matches, key=lambda match: match.score) if _may_guide(match.atom)}
    return sorted(best.values(), key=lambda item: (-item.score, -item.atom.confidence, item.atom.id))[:limit]


def _may_guide(atom: Atom) -> bool:
    return attempt_in(in_words(atom)) is None


def causal_chains(index: AtomIndex, start: Sequence[Atom]) -> list[list[FoundAtom]]:
    """Chains from each starting atom: its outcome leads to the atom with the nearest subject and action.

    A chain ends where no further atom reaches the cosine, and never visits an atom twice.
    """
    chains = []
    for first in start:
        chain = [FoundAtom(first, 1.0)]
        while len(chain) < _LONGEST_CHAIN:
            seen = {item.atom.id for item in chain}
            others = [atom for atom in index.atoms if atom.id not in seen and _may_guide(atom)]
            onward = index.nearest("leads", index.vector(chain[-1].atom, "outcome"), _LEADS, others)
            if not onward:
                break
            chain.append(onward[0])
        chains.append(chain)
    return chains


def state_atom(
    store: Store,
    embedder: Embedder,
    project_id: str,
    causal: Causal,
    by: str,
    at: datetime,
    source_ids: Sequence[str] = (),
) -> Atom:
    """Store an atom that a person or an agent states, with confidence 1.0; stating it again changes nothing.

    Raises InputError if subject, action or outcome is empty, or a source is not a memory of the project.
    """
    tidy = Causal(
        *(" ".join(part.split()) for part in (causal.subject, causal.action, causal.outcome, causal.consequences))
    )
    for name in ("subject", "action", "outcome"):
        if not getattr(tidy, name):
            raise InputError(
                f"an atom needs {'a subject' if name == 'subject' else f'an {name}'}; give it with --{name}"
            )
    atom_id = derived_id("stated atom", project_id, tidy.subject, tidy.action, tidy.outcome)
    with store.reading() as tx:
        known = {atom.id: atom for atom in tx.atoms.read(project_id)}
        sources = tx.memories.read(source_ids)
    strange = next((i for i in source_ids if i not in sources or sources[i].project_id != project_id), None)
    if strange:
        raise InputError(f"there is no memory '{strange}' in the project '{project_id}'; omit or correct --source")
    if atom_id in known:
        return known[atom_id]
    atom = Atom(atom_id, project_id, tidy, 1.0, tuple(sorted(source_ids)), at, stated_by=by)
    with store.writing(by) as tx:
        tx.atoms.write(atom, embed_atom(embedder, tidy), FIELDS, embedder.name)
    return atom


def in_words(atom: Atom) -> str:
    """Cause and effect in one line."""
    causal = atom.causal
    further = f"; {causal.consequences}" if causal.consequences else ""
    return f"{causal.subject}: {causal.action} → {causal.outcome}{further}"
