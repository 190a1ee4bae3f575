"""The best mix of what a project knows for a task, within a token budget, as Markdown.

Pieces are chosen one by one: each time the one that is most relevant and least like those that are chosen (maximal
marginal relevance, Carbonell and Goldstein 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from memory_pipeline.distillers import may_guide
from memory_pipeline.knowledge.threads import find_threads
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.documents import Context, ContextItem, ItemKind
from memory_pipeline.recall.guidance import Guidance, in_words
from memory_pipeline.recall.index import Match
from memory_pipeline.recall.results import source_of, speaker_in
from memory_pipeline.recall.search import part_of
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_PRINCIPLE, Memory
from memory_pipeline.records.series import is_series, only_counts
from memory_pipeline.wording.subject import with_subject

#: The sections in their order: what holds in general first.
_SECTIONS: dict[ItemKind, str] = {
    "principle": "Principles",
    "playbook": "Playbook",
    "pattern": "Patterns",
    "atom": "Causes and effects",
    "series": "Readings",
    "memory": "Notes",
}
#: How much likeness to what is chosen counts against relevance, and from which cosine on a piece says nothing new.
_LIKENESS, _SAME = 0.35, 0.92
#: Series that differ in names and figures alone look the same, and are not: they count as this alike at most.
_LIKE_SERIES = 0.8
#: How much a piece of a kind counts beside others of the same relevance: what holds in general, then what was learned
#: or decided, then what was noted.
_OF_KIND: dict[ItemKind, float] = {"principle": 1.2, "pattern": 1.15, "playbook": 1.1, "atom": 1.0, "series": 1.0}
_LEARNED, _NOTED = 1.1, 0.95
_LEARNED_TYPES = frozenset({"error_fix", "decision", "learning", "warning", "lesson"})
#: What a piece counts at least for its age, and after how many days half of the rest is gone: what is old may be out of
#: date.
_LEAST_FOR_AGE, _HALF_AS_NEW = 0.8, 60.0
#: Less relevant pieces would dilute what is relevant.
_LEAST_RELEVANCE = 0.2
#: Fewer tokens than this are not worth a part of a memory.
_LEAST_PART = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """What may stand in a context. `stands_for`: the memories that say it, so that none of them is given again."""

    kind: ItemKind
    id: str
    content: str
    day: date
    source: str
    confidence: float | None
    relevance: float
    vector: Vectors
    stands_for: tuple[str, ...] = ()
    speaker: str | None = None

    def line(self) -> str:
        """The piece in Markdown, with who said it, its day, source and id; an id that names the file is enough for
        both."""
        file = self.source.rpartition(":")[0]
        told = f"{self.day}" if file and f":{file}#" in self.id else f"{self.day}, {self.source}"
        said = {None: "", "human": "The human said: ", "agent": "The agent said: "}.get(
            self.speaker, f"{self.speaker} said: "
        )
        return f"- {said}{' '.join(self.content.split())} ({told}) [{self.id}]"


def pieces_of(matches: Sequence[Match], vectors: Vectors) -> list[Piece]:
    """What a search found, without tasks that it also says to be done, and without what tries to steer its reader.

    `vectors`: float32 (len(matches), dimension), by match.
    """
    threads = find_threads([match.memory for match in matches], {})
    done = {thread.memory.id for thread in threads if thread.closed_by is not None}
    newest = max((match.memory.day for match in matches), default=date.min)
    return [
        Piece(
            _kind(match.memory),
            match.memory.id,
            _content(match.memory),
            match.memory.day,
            source_of(match.memory),
            match.memory.confidence_score,
            match.score * _worth(match.memory) * _for_age((newest - match.memory.day).days),
            vector,
            speaker=speaker_in(match.memory.memory_type, match.memory.tags),
        )
        for match, vector in zip(matches, vectors, strict=True)
        if match.memory.id not in done and not only_counts(match.memory) and may_guide(match.memory)
    ]


def pieces_of_guidance(guidance: Guidance, asked: Vectors | None, least: float) -> list[Piece]:
    """The playbook entries and atoms whose cosine to the task reaches `least`. `asked`: the task's unit vector."""
    if asked is None:
        return []
    entries = zip(guidance.entries, guidance.entry_vectors, strict=True)
    atoms = zip(guidance.atoms, guidance.atom_vectors, strict=True)
    found = [
        Piece(
            "playbook",
            entry.id,
            entry.content,
            entry.updated_at.date(),
            f"playbook, {entry.category}",
            entry.confidence,
            float(vector @ asked),
            vector,
            entry.source_ids,
        )
        for entry, vector in entries
    ]
    found += [
        Piece(
            "atom",
            atom.id,
            in_words(atom),
            (atom.strengthened_at or atom.created_at).date(),
            f"stated by {atom.stated_by}" if atom.stated_by else f"from {len(atom.source_ids)} memories",
            atom.confidence,
            float(vector @ asked),
            vector,
        )
        for atom, vector in atoms
    ]
    return [piece for piece in found if piece.relevance >= least]


def build_context(
    project: str, task: str, budget: int, pieces: Iterable[Piece], count_tokens: Callable[[str], int]
) -> Context:
    """The context of a task: the chosen pieces as Markdown that takes at most `budget` tokens."""
    relevant = (piece for piece in pieces if piece.relevance >= _LEAST_RELEVANCE)
    waiting = sorted(relevant, key=lambda piece: (-piece.relevance, piece.id))
    chosen: list[Piece] = []
    likeness = np.zeros(len(waiting))
    while waiting:
        scores = np.array([piece.relevance for piece in waiting]) * (1 - _LIKENESS) - _LIKENESS * likeness
        place = int(np.argmax(scores))
        piece, new = waiting.pop(place), likeness[place] < _SAME
        likeness = np.delete(likeness, place)
        if not new or _is_given(piece, chosen):
            continue
        fitting = _fitted(piece, chosen, budget, task, count_tokens)
        if fitting is None:
            continue
        chosen.append(fitting)
        if waiting:
            near = np.stack([other.vector for other in waiting]) @ piece.vector
            of_series = np.array([piece.kind == other.kind == "series" for other in waiting])
            near = np.where(of_series, np.minimum(near, _LIKE_SERIES), near)
            likeness = np.maximum(likeness, near)
    ordered = [piece for kind in _SECTIONS for piece in chosen if piece.kind == kind]
    text = _text(ordered)
    return Context(
        project=project,
        task=task,
        budget=budget,
        tokens=count_tokens(text) if text else 0,
        items=tuple(
            ContextItem(
                kind=piece.kind,
                id=piece.id,
                content=piece.content,
                day=piece.day,
                source=piece.source,
                confidence=piece.confidence,
                relevance_score=round(piece.relevance, 4),
                tokens=count_tokens(piece.line()),
            )
            for piece in ordered
        ),
        text=text,
    )


def _fitted(
    piece: Piece, chosen: Sequence[Piece], budget: int, task: str, count_tokens: Callable[[str], int]
) -> Piece | None:
    """The piece if it fits beside the chosen ones; of a first one that is too long, the statements nearest to the
    task; else None."""
    if count_tokens(_text([*chosen, piece])) <= budget:
        return piece
    if chosen:
        return None
    frame = count_tokens(_text([replace(piece, content="")]))
    part = part_of(piece.content, budget - frame, task, count_tokens) if budget - frame >= _LEAST_PART else ""
    shortened = replace(piece, content=part)
    return shortened if part and count_tokens(_text([shortened])) <= budget else None


def _is_given(piece: Piece, chosen: Sequence[Piece]) -> bool:
    """Whether a chosen piece is the memory that this guidance comes from, or the other way round."""
    return any(other.id in piece.stands_for or piece.id in other.stands_for for other in chosen)


def _text(pieces: Sequence[Piece]) -> str:
    parts = []
    for kind, title in _SECTIONS.items():
        lines = [piece.line() for piece in pieces if piece.kind == kind]
        if lines:
            parts.append("\n".join([f"## {title}", *lines]))
    return "\n\n".join(parts)


def _worth(memory: Memory) -> float:
    """How much a memory counts beside others of the same relevance."""
    kind = _kind(memory)
    return _OF_KIND.get(kind, _LEARNED if memory.memory_type in _LEARNED_TYPES else _NOTED)


def _for_age(days: int) -> float:
    return float(_LEAST_FOR_AGE + (1 - _LEAST_FOR_AGE) * 0.5 ** (days / _HALF_AS_NEW))


def _content(memory: Memory) -> str:
    return with_subject(memory)


def _kind(memory: Memory) -> ItemKind:
    if is_series(memory):
        return "series"
    if memory.abstraction_level == LEVEL_PRINCIPLE:
        return "principle"
    return "pattern" if memory.abstraction_level == LEVEL_PATTERN else "memory"
