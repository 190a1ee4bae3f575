"""The one door into the store: every candidate is cleaned, masked, given its id, and written in batches.

Importing is idempotent and streams; a bad row goes to quarantine with file, line and reason while the
rest goes on. Each batch is one transaction, so an interruption leaves whole batches and a second run
completes them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import islice

import numpy as np

from memory_pipeline.embedding import Embedder, check_vectors
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.intake.candidates import Candidate, Rejected, RowError
from memory_pipeline.intake.masking import mask_candidate, mask_rejected
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import (
    Store,
    count_missing_vectors,
    existing_ids,
    insert_lineage,
    insert_memories,
    insert_vectors,
    keep_quarantine,
    lineage_of,
    missing_vectors,
)
from memory_pipeline.wording.normalise import clean_text, content_hash, embedding_text, shape_hash

Progress = Callable[[str, int, int], None]
_BATCH = 500
_MEMORY_LIMIT_MB = 192
_EXCERPT = 160
_SHOWN = 100
_COUNTS = ("read", "imported", "unchanged", "new_versions", "embedded", "quarantined")


@dataclass
class ImportSummary:
    """What an import did. `dates` counts where creation times came from; `masked` what was redacted.

    `rejected` shows the first rows of those in quarantine; the store keeps all.
    """

    read: int = 0
    imported: int = 0
    unchanged: int = 0
    new_versions: int = 0
    embedded: int = 0
    quarantined: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, int] = field(default_factory=dict)
    embedding_error: str | None = None

    def as_json(self) -> dict[str, object]:
        """The summary for `--json`."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "rejected": [asdict(rejected) for rejected in self.rejected],
            "masked": dict(self.masked),
            "dates": dict(self.dates),
            "skipped": self.skipped,
            "embedding_error": self.embedding_error,
        }

    def add(self, other: ImportSummary) -> None:
        """Add what another import did."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rejected += other.rejected
        self.masked += other.masked
        self.dates += other.dates
        self.skipped = dict(Counter(self.skipped) + Counter(other.skipped))
        self.embedding_error = self.embedding_error or other.embedding_error

    def reject(self, rejected: list[Rejected]) -> None:
        """Count what went to quarantine and keep the first of it to show."""
        self.quarantined += len(rejected)
        self.rejected += rejected[: max(0, _SHOWN - len(self.rejected))]


class _Occurrences:
    """How often each key came by, on disk: a file may hold more rows than fit in memory."""

    def __init__(self) -> None:
        self._table = sqlite3.connect("")  # SQLite's own temporary file, gone with the connection
        self._table.execute("create table seen (key blob primary key, times integer) without rowid")

    def count(self, key: str) -> int:
        """Note the key and return how often it has come by now."""
        digest = hashlib.sha256(key.encode()).digest()
        (times,) = self._table.execute(
            "insert into seen values (?, 1) on conflict do update set times = times + 1 returning times", [digest]
        ).fetchone()
        return int(times)


@dataclass(frozen=True, slots=True)
class _Admitted:
    memory: Memory
    links: tuple[LineageLink, ...]
    embedding: tuple[float, ...] | None
    embedding_model: str | None


def import_memories(
    store: Store,
    reading: Iterable[Candidate | Rejected],
    *,
    project: str,
    embedder: Embedder,
    now: datetime,
    mask: bool = True,
    progress: Progress = lambda step, done, total: None,
    actor: str = "import",
) -> ImportSummary:
    """Bring everything readable into the store, embed it, and say what happened.

    `project` serves candidates that name none; `now` stands in for a missing date. A failing embedder
    does not fail the import: the next night embeds what is left.
    """
    summary = ImportSummary()
    occurrences = _Occurrences()
    stream = iter(reading)
    with store.writing(actor):
        pass  # an import of nothing still leaves a store that nights can run on
    with store.small_steps(_MEMORY_LIMIT_MB):
        while batch := list(islice(stream, _BATCH)):
            _write_batch(store, batch, summary, occurrences, project, embedder, now, mask, actor)
            progress("import", summary.read, 0)
        _embed_what_is_missing(store, embedder, summary, progress, actor)
    store.settle()
    return summary


def _write_batch(
    store: Store,
    batch: list[Candidate | Rejected],
    summary: ImportSummary,
    occurrences: _Occurrences,
    project: str,
    embedder: Embedder,
    now: datetime,
    mask: bool,
    actor: str,
) -> None:
    summary.read += len(batch)
    rejected = [mask_rejected(item) if mask else item for item in batch if isinstance(item, Rejected)]
    admitted: list[_Admitted] = []
    for item in batch:
        if isinstance(item, Candidate):
            counts = Counter(dict(item.masked))
            if mask:
                item, found = mask_candidate(item)
                counts += found
            try:
                admitted.append(_admit(item, occurrences, project, embedder, now))
                summary.masked += counts
            except (RowError, EmbeddingError) as error:
                rejected.append(_reject(item, str(error)))
    with store.writing(actor) as tx:
        ids = [entry.memory.id for entry in admitted]
        known = existing_ids(tx, [*ids, *(_version_id(entry.memory) for entry in admitted)])
        fresh, wrong = _only_new(admitted, known, summary)
        rejected += wrong
        insert_memories(tx, [entry.memory for entry in fresh])
        links = [link for entry in fresh for link in entry.links]
        present = {(link.memory_id, link.source_id) for link in lineage_of(tx, {link.memory_id for link in links})}
        insert_lineage(tx, [link for link in links if (link.memory_id, link.source_id) not in present])
        for entry in fresh:
            if entry.embedding is not None and entry.embedding_model is not None:
                vector = np.array([entry.embedding], dtype=np.float32)
                insert_vectors(tx, [entry.memory.id], vector, entry.embedding_model)
        rejected = [replace(r, excerpt=clean_text(r.excerpt)[:_EXCERPT], reason=clean_text(r.reason)) for r in rejected]
        keep_quarantine(tx, [(r.file, r.line, r.reason, r.excerpt) for r in rejected], now)
    summary.imported += len(fresh)
    summary.reject(rejected)
    summary.dates.update(entry.memory.created_at_quality for entry in fresh)


def _admit(
    candidate: Candidate, occurrences: _Occurrences, project: str, embedder: Embedder, now: datetime
) -> _Admitted:
    content = clean_text(candidate.content).strip("\n")
    if not content.strip():
        raise RowError("content is empty")
    project_id = candidate.project_id or project
    created = candidate.created_at or now
    memory_id = candidate.native_id or _derived(candidate, project_id, content, occurrences)
    _check_vector(candidate, memory_id, embedder)
    memory = Memory(
        id=memory_id,
        project_id=project_id,
        content=content,
        memory_type=candidate.memory_type,
        created_at=created,
        effective_date=candidate.effective_date or created,
        content_hash=content_hash(content),
        shape_hash=shape_hash(content),
        token_count=embedder.count_tokens(content),
        categories=candidate.categories,
        tags=candidate.tags,
        importance=candidate.importance,
        abstraction_level=candidate.abstraction_level,
        pattern_type=candidate.pattern_type,
        confidence_score=candidate.confidence_score,
        consolidation_method=candidate.consolidation_method,
        created_at_quality=candidate.created_at_quality if candidate.created_at else "import",
        source=candidate.source,
        archived_by=candidate.archived_by,
        archived_at=candidate.archived_at,
        consolidated_into_id=candidate.consolidated_into_id,
        compressed_from=candidate.compressed_from,
        importance_before=candidate.importance_before,
        rolled_back_at=candidate.rolled_back_at,
        is_canonical=candidate.is_canonical,
        pinned=candidate.pinned,
        reuse_count=candidate.reuse_count,
        useful_count=candidate.useful_count,
    )
    links = tuple(LineageLink(memory_id, source, relation, score) for source, relation, score in candidate.source_links)
    return _Admitted(memory, links, candidate.embedding, candidate.embedding_model)


def _derived(candidate: Candidate, project: str, content: str, occurrences: _Occurrences) -> str:
    """An id from what was read: the same entry gets the same id however often, and wherever in its file, it is read."""
    source = candidate.source
    if source.connector == "openclaw":
        stem = entry_id(project, source.file or "", content)
    else:
        told = [project, content, candidate.memory_type, str(candidate.created_at), json.dumps(candidate.tags)]
        stem = f"row:{project}:{hashlib.sha256(chr(31).join(told).encode()).hexdigest()[:20]}"
    times = occurrences.count(stem)
    return stem if times == 1 else f"{stem}~{times}"


def entry_id(project: str, file: str, content: str) -> str:
    """Id of an OpenClaw entry: it follows the words, not the line, so that a file may grow anywhere."""
    return f"openclaw:{project}:{file}#{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def _check_vector(candidate: Candidate, memory_id: str, embedder: Embedder) -> None:
    if candidate.embedding is None:
        return
    if candidate.embedding_model is None:
        raise RowError("embedding comes without embedding_model; name the model, or leave the vector out")
    same = candidate.embedding_model == embedder.name
    vector: Vectors = np.array([candidate.embedding], dtype=np.float32)
    dimension = embedder.dimension if same else vector.shape[1]
    check_vectors(vector, [memory_id], dimension, candidate.embedding_model)


def _only_new(
    admitted: list[_Admitted], known: dict[str, tuple[str, str]], summary: ImportSummary
) -> tuple[list[_Admitted], list[Rejected]]:
    """What is not in the store yet. Edited content under a known id becomes a version of its own."""
    fresh: dict[str, _Admitted] = {}
    wrong: list[Rejected] = []
    for entry in admitted:
        memory = entry.memory
        before = known.get(memory.id)
        if before is None and memory.id in fresh:
            before = (fresh[memory.id].memory.project_id, fresh[memory.id].memory.content_hash)
        if before is None:
            fresh[memory.id] = entry
        elif before[0] != memory.project_id:
            reason = f"id '{memory.id}' belongs to project '{before[0]}'; give it another id"
            wrong.append(_rejected(memory, reason))
        elif before[1] == memory.content_hash:
            summary.unchanged += 1
        else:
            version = _version_id(memory)
            if version in known or version in fresh:
                summary.unchanged += 1
                continue
            summary.new_versions += 1
            fresh[version] = replace(entry, memory=replace(memory, id=version), links=())
    return list(fresh.values()), wrong


def _version_id(memory: Memory) -> str:
    """Id of edited content whose own id holds other words already."""
    return f"{memory.id}@{memory.content_hash[:12]}"


def _reject(candidate: Candidate, reason: str) -> Rejected:
    return Rejected.of(candidate.source.file or "-", candidate.source.line or 0, reason, candidate.content)


def _rejected(memory: Memory, reason: str) -> Rejected:
    return Rejected.of(memory.source.file or "-", memory.source.line or 0, reason, memory.content)


def _embed_what_is_missing(
    store: Store, embedder: Embedder, summary: ImportSummary, progress: Progress, actor: str
) -> None:
    with store.reading() as tx:
        total = count_missing_vectors(tx, embedder.name)
    after = ""
    try:
        while True:
            with store.reading() as tx:
                page = missing_vectors(tx, embedder.name, after, _BATCH)
            if not page:
                return
            ids = [memory_id for memory_id, _ in page]
            vectors = embedder.embed([embedding_text(content) for _, content in page])
            check_vectors(vectors, ids, embedder.dimension, embedder.name)
            with store.writing(actor) as tx:
                insert_vectors(tx, ids, vectors, embedder.name)
            after = ids[-1]
            summary.embedded += len(ids)
            progress("embedding", summary.embedded, total)
    except EmbeddingError as error:
        summary.embedding_error = str(error)
