"""The pieces that may stand in the context of a task, best first: what a search found, and guidance among it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.atoms import in_words
from memory_pipeline.recall.documents import ItemKind, noted_beside
from memory_pipeline.recall.lineage import source_of, speaker_in
from memory_pipeline.recall.ranking import MIN_RELEVANCE
from memory_pipeline.recall.search import Match
from memory_pipeline.records import EXPIRED, LEVEL_PATTERN, LEVEL_PRINCIPLE, Memory, binds, matters_until
from memory_pipeline.records.cluster import is_series, only_counts
from memory_pipeline.store import Store
from memory_pipeline.text.steering import MARK, attempt_in, guiding_entries, may_guide
from memory_pipeline.text.subject import subject_beside, with_subject
from memory_pipeline.text.threads import find_threads

#: By abstraction level, what a memory is that is no series; any other is just a memory.
_KINDS: Mapping[int, ItemKind] = {LEVEL_PATTERN: "pattern", LEVEL_PRINCIPLE: "principle"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A memory or guidance that may stand in a context. `handle`: of a memory alone; `stands_for`: the memories that
    guidance comes from; `doubt`: the day, if that is later, and the handle of the latest memory that contradicts it;
    `later`: the ids of all that do and are of a later day; `found_through`: day and words of the archived memory by
    whose words it was found; `is_part`: whether the content is only some statements of it; `binds`: whether it says
    what the human wants or forbids."""

    kind: ItemKind
    id: str
    content: str
    day: date
    source: str
    confidence: float | None
    relevance: float = 0.0
    handle: str = ""
    stands_for: tuple[str, ...] = ()
    speaker: str | None = None
    doubt: tuple[date | None, str] | None = None
    later: tuple[str, ...] = ()
    found_through: tuple[date | None, str] | None = None
    is_part: bool = False
    binds: bool = False
    undated: bool = False
    subject: str = ""

    @property
    def is_guidance(self) -> bool:
        """True if it is no memory, but guidance that was made of some."""
        return self.kind in ("playbook", "atom")

    @property
    def title(self) -> str:
        """The heading that it stands under in place of a day; empty if under its day."""
        if self.is_guidance:
            return "Guidance"
        return "Rules and preferences" if self.binds else "Undated" if self.undated else ""


def current_matches(
    matches: Sequence[Match], find: Callable[[Sequence[str]], Sequence[Match]], today: date
) -> list[Match]:
    """The matches that may stand in a context, in their order, with the newest memory in the place of each that a newer
    one supersedes, and what says that a task is done in the place of the task; none that is over. `find`: the memories
    with some ids."""
    threads = find_threads([match.memory for match in matches], {})
    done = {thread.memory.id: thread.closed_by.id for thread in threads if thread.closed_by is not None}
    current: dict[str, Match] = {}
    for match in matches:
        now, seen = [match], {match.memory.id}
        while now and (newer := now[0].superseded_by or done.get(now[0].memory.id)) and newer not in seen:
            now = list(find([newer]))
            seen.add(newer)
        for candidate in now:
            current.setdefault(candidate.memory.id, replace(candidate, score=match.score))
    # What tries to steer its reader may not stand there, nor what only says how often something came.
    return [
        match
        for match in current.values()
        if may_guide(match.memory) and not only_counts(match.memory) and not _is_over(match.memory, today)
    ]


def _is_over(memory: Memory, today: date) -> bool:
    """True if the last day that a memory names, or its time in its source, is past."""
    last = matters_until(memory.tags)
    return memory.archived_by == EXPIRED or (last is not None and last < today)


def order_pieces(
    matches: Sequence[Match],
    vectors: Vectors,
    guidance: tuple[Sequence[Piece], Sequence[Vectors]],
    asked: Vectors | None,
    handle_of: Callable[[str], str],
) -> list[Piece]:
    """The memories in the order in which a search ranks them; guidance where its cosine to the task would put it.

    `vectors`: float32 (len(matches), dimension), by match; `guidance`: as of `read_guidance`; `asked`: the unit vector
    of the task, None without one.
    """
    memories = [_memory_piece(match, handle_of) for match in matches]
    if asked is None:
        return memories
    cosines = vectors @ asked
    guides = [replace(piece, relevance=float(vector @ asked)) for piece, vector in zip(*guidance, strict=True)]
    placed = [(float(place), piece) for place, piece in enumerate(memories)]
    near = (piece for piece in guides if piece.relevance >= MIN_RELEVANCE)
    placed += [(float((cosines >= piece.relevance).sum()) - 0.5, piece) for piece in near]
    return [piece for _, piece in sorted(placed, key=lambda pair: (pair[0], -pair[1].relevance, pair[1].id))]


def _memory_piece(match: Match, handle_of: Callable[[str], str]) -> Piece:
    memory, opponents, through = match.memory, match.opponents, match.found_through
    return Piece(
        kind="series" if is_series(memory) else _KINDS.get(memory.abstraction_level, "memory"),
        id=memory.id,
        content=with_subject(memory) + noted_beside(match.scope, is_gone=match.gone),
        day=match.told_again or memory.day,
        source=source_of(memory),
        confidence=memory.confidence_score,
        relevance=match.score,
        handle=handle_of(memory.id),
        speaker=speaker_in(memory.memory_type, memory.tags),
        doubt=(opponents[0].later_on, handle_of(opponents[0].id)) if opponents else None,
        later=tuple(opponent.id for opponent in opponents if opponent.later_on),
        binds=binds(memory.tags),
        undated=memory.undated,
        subject=subject_beside(memory),
        found_through=(None if through.undated else through.day, through.content)
        if through and not through.content.startswith(MARK)
        else None,
    )


def read_guidance(store: Store, project: str, embedder: Embedder) -> tuple[list[Piece], list[Vectors]]:
    """The guidance of one project, without what tries to steer its reader, and the unit vector of each."""
    with store.reading() as tx:
        entries = guiding_entries(tx.playbook.read(project))
        atoms = [atom for atom in tx.atoms.read(project) if attempt_in(in_words(atom)) is None]
        known = tx.playbook.vectors(embedder.name, embedder.dimension)
    pieces = [
        Piece(
            kind="playbook",
            id=entry.id,
            content=entry.content,
            day=entry.updated_at.date(),
            source=f"playbook, {entry.category}",
            confidence=entry.confidence,
            stands_for=entry.source_ids,
        )
        for entry in entries
    ]
    pieces += [
        Piece(
            kind="atom",
            id=atom.id,
            content=in_words(atom),
            day=(atom.strengthened_at or atom.created_at).date(),
            source=f"stated by {atom.stated_by}" if atom.stated_by else f"from {len(atom.source_ids)} memories",
            confidence=atom.confidence,
            stands_for=() if atom.stated_by else atom.source_ids,
        )
        for atom in atoms
    ]
    missing = [piece for piece in pieces if piece.kind == "atom" or piece.id not in known]
    made = embedder.embed([piece.content for piece in missing]) if missing else ()
    of_piece = known | {piece.id: vector for piece, vector in zip(missing, made, strict=True)}
    return pieces, [of_piece[piece.id] for piece in pieces]
