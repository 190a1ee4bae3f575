"""Turns an accepted candidate into a memory with its own id, a new version of one, or a row for quarantine."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from memory_pipeline.ingest.candidates import Candidate, Rejected, RowError
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.ingest.gate import mask_rejected
from memory_pipeline.ingest.importer import row_id
from memory_pipeline.ingest.memories import Admitted, as_memory
from memory_pipeline.models.embedders import Embedder, check_vectors
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.records.identifiers import MAX_ID
from memory_pipeline.text.hidden import is_blank
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.normalise import clean_text, content_hash
from memory_pipeline.text.subject import words_alone

_EXCERPT = 160


class Occurrences:
    """Counts on disk how often each key occurred: a file may have more rows than fit in memory."""

    def __init__(self) -> None:
        self._table = sqlite3.connect("")  # SQLite's own temporary file, removed with the connection
        self._table.execute("create table seen (key blob primary key, times integer) without rowid")

    def count(self, key: str) -> int:
        """Count the key and return how often it has occurred so far."""
        digest = hashlib.sha256(key.encode()).digest()
        (times,) = self._table.execute(
            "insert into seen values (?, 1) on conflict do update set times = times + 1 returning times", [digest]
        ).fetchone()
        return int(times)


def storable(rejected: Rejected, mask: bool) -> Rejected:
    """A rejected row in the form that is stored and shown."""
    if mask:
        rejected = mask_rejected(rejected)
    reason, excerpt = clean_text(rejected.reason), clean_text(rejected.excerpt)[:_EXCERPT]
    return Rejected(clean_text(rejected.file), min(max(rejected.line, 0), 2**31 - 1), reason, excerpt)


def admit(candidate: Candidate, occurrences: Occurrences, project: str, embedder: Embedder, now: datetime) -> Admitted:
    """The memory of a candidate, with its links and its vector. Raises RowError for empty content or a bad vector."""
    content = clean_text(candidate.content).strip("\n")
    if is_blank(content):
        raise RowError("content is empty")
    project_id = candidate.project_id or project
    created = candidate.created_at or now
    memory_id = candidate.native_id or _derived(candidate, project_id, content, occurrences)
    _check_vector(candidate, memory_id, embedder)
    if candidate.typed_under is not None:  # after the id, which depends on what the row says
        candidate = replace(candidate, memory_type=kind_of(content, candidate.typed_under))
    tokens = candidate.token_count or embedder.count_tokens(content)
    memory = as_memory(candidate, memory_id, project_id, content, created, tokens)
    links = tuple(LineageLink(memory_id, source, relation, score) for source, relation, score in candidate.source_links)
    return Admitted(memory, links, candidate.embedding, candidate.embedding_model)


def _derived(candidate: Candidate, project: str, content: str, occurrences: Occurrences) -> str:
    """An id derived from what was read: an entry always gets the same id, wherever it is in its file."""
    importer = IMPORTERS.get(candidate.source.connector)
    stem = importer.id_stem(project, content, candidate) if importer else row_id(project, content, candidate)
    times = occurrences.count(stem)
    return _short(stem if times == 1 else f"{stem}~{times}")


def _check_vector(candidate: Candidate, memory_id: str, embedder: Embedder) -> None:
    if candidate.embedding is None:
        return
    if candidate.embedding_model is None:
        raise RowError("embedding comes without embedding_model; name the model, or leave the vector out")
    same = candidate.embedding_model == embedder.name
    vector: Vectors = np.array([candidate.embedding], dtype=np.float32)
    dimension = embedder.dimension if same else vector.shape[1]
    check_vectors(vector, [memory_id], dimension, candidate.embedding_model)


@dataclass
class Found:
    """The new memories of a batch, and the outcome of the others."""

    fresh: list[Admitted]
    wrong: list[Rejected] = field(default_factory=list)
    unchanged: int = 0
    new_versions: int = 0


def only_new(admitted: list[Admitted], known: dict[str, tuple[str, str]]) -> Found:
    """The memories that are not in the store yet. Changed content under a known id becomes a new version."""
    fresh: dict[str, Admitted] = {}
    found = Found([])
    for entry in admitted:
        memory = entry.memory
        before = known.get(memory.id)
        if before is None and memory.id in fresh:
            before = (fresh[memory.id].memory.project_id, fresh[memory.id].memory.content_hash)
        version = version_id(memory)
        if before is None:
            fresh[memory.id] = entry
        elif before[0] != memory.project_id:
            reason = f"id '{memory.id}' belongs to project '{before[0]}'; import it there, or give it another id"
            found.wrong.append(reject_memory(memory, reason))
        elif says_same(memory, before[1]) or version in known or version in fresh:
            found.unchanged += 1
        else:
            found.new_versions += 1
            fresh[version] = replace(entry, memory=replace(memory, id=version))
    found.fresh = list(fresh.values())
    return found


def says_same(memory: Memory, digest: str) -> bool:
    """Whether words with this hash are those of a memory, with or without its lead-in: it may stand beside them."""
    if digest == memory.content_hash:
        return True
    alone = words_alone(memory.lead_in, memory.content)
    return alone != memory.content and digest == content_hash(alone)


def version_id(memory: Memory) -> str:
    """The id of changed content whose own id already has different content."""
    return version_of(memory.id, memory.content_hash)


def version_of(memory_id: str, digest: str) -> str:
    """The id of content with this hash if `memory_id` already has different content."""
    return _short(f"{memory_id}@{digest[:12]}")


def _short(memory_id: str) -> str:
    """The id, or a hash-based replacement if it is longer than an import allows."""
    if len(memory_id) <= MAX_ID:
        return memory_id
    return f"{memory_id[: MAX_ID - 33]}~{hashlib.sha256(memory_id.encode()).hexdigest()[:32]}"


def reject_candidate(candidate: Candidate, reason: str) -> Rejected:
    """The row of a candidate for quarantine."""
    return Rejected.of(candidate.source.file or "-", candidate.source.line or 0, reason, candidate.content)


def reject_memory(memory: Memory, reason: str) -> Rejected:
    """The row of a memory for quarantine."""
    return Rejected.of(memory.source.file or "-", memory.source.line or 0, reason, memory.content)
