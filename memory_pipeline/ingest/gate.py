"""The gate that every candidate passes, whatever its format: it admits only what the store, a night and an export can
handle, masked, and as a memory with its own id, a new version of one, or a row for quarantine.

Whether or not a reader is strict, the gate checks that every text can be stored, every number is finite, every limit
is kept, and the fields that nights set are consistent. Claims about other memories are checked later (claims.py).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

import numpy as np

from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, Rejected, RowError
from memory_pipeline.ingest.dates import check_moment
from memory_pipeline.ingest.foreign import shortened
from memory_pipeline.ingest.importer import row_id
from memory_pipeline.models.embedders import Embedder, check_vectors
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    BESIDE,
    EXPIRED,
    EXTRACTED,
    MADE,
    MOST_OFFSET,
    RELATIONS,
    REPEATED,
    LineageLink,
    Memory,
    MemoryBase,
    Source,
)
from memory_pipeline.records.columns import columns_of
from memory_pipeline.records.identifiers import MAX_ID
from memory_pipeline.store import FORGOTTEN_ID
from memory_pipeline.text.hidden import is_blank
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.normalise import clean_text, content_hash, hashes_of
from memory_pipeline.text.redaction import redact
from memory_pipeline.text.subject import words_alone

#: The digests at the end of ids that this program generates.
_DIGESTS = re.compile(r"(?:[:#@][0-9a-f]{12,64}|~\d+)+$")
_EXCERPT = 160
_FIELDS = tuple(field.name for field in fields(Candidate) if field.name != "embedding")
_AS_GIVEN = [column.name for column in columns_of(MemoryBase)]
_LIMITS = {
    "content": values.MAX_CONTENT,
    "own_words": values.MAX_CONTENT,
    "native_id": MAX_ID,
    **{column.name: MAX_ID for column in columns_of(Memory) if column.is_id},
    **{column.name: values.MAX_CONTENT for column in columns_of(Memory) if column.is_json},
}


def check_times(candidate: Candidate, now: datetime | None = None) -> None:
    """Raises RowError for a time that no memory can have. With `now`, it is not to come either, which readers check."""
    for name in _FIELDS:
        value = getattr(candidate, name)
        if isinstance(value, datetime):
            check_moment(value, now, name)


def check_candidate(candidate: Candidate) -> None:
    """Raises RowError for a candidate that could not be stored, checked, exported and read again."""
    for name in _FIELDS:
        value = getattr(candidate, name)
        if value is not None and value != () and value is not False:
            _check(value, name)
    for name in ("categories", "tags"):
        if len(getattr(candidate, name)) > values.MAX_LABELS:
            raise RowError(f"{name} has {len(getattr(candidate, name))} entries; the maximum is {values.MAX_LABELS}")
    if not candidate.content.strip():
        raise RowError("content is empty")
    _check_history(candidate)
    _check_sources(candidate)


def _check(value: object, name: str) -> None:
    if isinstance(value, str):
        limit = _LIMITS.get(name, values.MAX_NAME)
        if len(value) > limit:
            raise RowError(f"{name} is {len(value)} characters long; the maximum is {limit}")
        values.check_storable(value, name)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RowError(f"{name} is {value}")
    elif isinstance(value, int) and not (0 <= value < 2**31 or (name == "utc_offset" and abs(value) <= MOST_OFFSET)):
        raise RowError(f"{name} is out of range")
    elif isinstance(value, datetime) and value.tzinfo is None:
        raise RowError(f"{name} has no time zone")
    elif isinstance(value, Source):
        _check(value.connector, "the source's connector")
        _check(value.line, "the source's line")
        if value.file is not None:
            if len(value.file) > values.MAX_PATH:
                raise RowError(f"the source's file name is longer than {values.MAX_PATH} characters")
            values.check_storable(value.file, "the source's file name")
    elif isinstance(value, tuple):
        for item in value:
            _check(item, f"an entry of {name}")


def _check_history(candidate: Candidate) -> None:
    """Archived, rolled back, or neither: the columns for this are all set or all empty."""
    states = {
        name: getattr(candidate, name) is not None for name in ("archived_by", "archived_at", "importance_before")
    }
    into = candidate.consolidated_into_id is not None
    if candidate.rolled_back_at is not None:
        is_tombstone = (candidate.native_id or "").startswith(FORGOTTEN_ID)
        if candidate.source.connector not in (MADE, EXTRACTED) and not is_tombstone:
            raise RowError(
                "rolled_back_at is set, but source_connector is neither 'night' nor 'conversations': only a memory "
                "that a night made can be rolled back; empty rolled_back_at"
            )
        if not all(states.values()) or into or candidate.source_links:
            raise RowError("rolled_back_at is set, but the row is not archived, or still linked to other memories")
    else:
        if candidate.archived_by != EXPIRED:
            states["consolidated_into_id"] = into
        elif into:
            raise RowError("the row says that it has expired, and names what replaced it; empty one of the two")
        if any(states.values()) and not all(states.values()):
            missing = ", ".join(name for name, given in states.items() if not given)
            raise RowError(f"the row says that it is archived, but {missing} is missing")
    if candidate.archived_at is not None and candidate.pinned:
        raise RowError("the row is archived and pinned; a pinned memory is never archived")
    before = candidate.importance_before
    if before is not None and before >= values.NEVER_ARCHIVED:
        raise RowError(f"the row is archived with importance_before {before:g}; a critical memory is never archived")


def _check_sources(candidate: Candidate) -> None:
    links = candidate.source_links
    ids = {source for source, _, _ in links}
    if len(links) > values.MAX_SOURCES or len(ids) < len(links):
        raise RowError(f"sources names a memory twice, or has more than {values.MAX_SOURCES} entries")
    wrong = next((relation for _, relation, _ in links if relation not in RELATIONS), None)
    if wrong is not None:
        raise RowError(f"sources has the relation '{wrong[:40]}'; use one of {', '.join(RELATIONS)}")
    if candidate.native_id in ids:
        raise RowError("the row names itself as its source")
    if candidate.source.connector == MADE and not links and candidate.rolled_back_at is None:
        raise RowError("the row is marked as made by a night, but names no sources")
    if candidate.compressed_from is not None:
        _check_compressed_from(candidate)


def _check_compressed_from(candidate: Candidate) -> None:
    """Its compressed_from must match its sources."""
    mark = values.json_or_none(candidate.compressed_from)
    values.check_json(mark, "compressed_from")
    named = mark.get("source_ids") if isinstance(mark, dict) else None
    if not isinstance(named, list) or not named or not all(isinstance(source_id, str) for source_id in named):
        raise RowError("compressed_from names no source_ids")
    made_from = sorted(source for source, relation, _ in candidate.source_links if relation not in (*BESIDE, REPEATED))
    if candidate.rolled_back_at is None and sorted(named) != made_from:
        raise RowError("compressed_from and sources name different memories")


def mask_candidate(candidate: Candidate) -> tuple[Candidate, Counter[str]]:
    """The candidate with its secrets masked, and their counts by kind."""
    counts: Counter[str] = Counter()
    mask = partial(_mask, counts)
    before = clean_text(candidate.content)
    content = mask(before, redact)
    small, small_before = content.casefold(), before.casefold()
    source, made_from = candidate.source, candidate.compressed_from
    ids = ("native_id", "project_id", "archived_by", "consolidated_into_id")
    texts = ("categories", "headings", "lead_in", "own_words", "created_at_quality", "embedding_model")
    masked = replace(
        candidate,
        content=content,
        source=replace(source, connector=mask(source.connector), file=mask(source.file)),
        # Hashtags are in lower case, in which a token is not always recognised again.
        tags=tuple(
            mask(tag) for tag in candidate.tags if tag.casefold() not in small_before or tag.casefold() in small
        ),
        compressed_from=made_from and json.dumps(mask(json.loads(made_from), _masked_id), sort_keys=True),
        source_links=tuple((mask_id(link), mask(how), score) for link, how, score in candidate.source_links),
        **{name: mask(getattr(candidate, name), _masked_id) for name in ids},
        **{name: mask(getattr(candidate, name)) for name in texts},
    )
    return masked, counts


_masked_text = lru_cache(maxsize=4096)(redact)


def _mask(counts: Counter[str], value: Any, how: Callable[[str], tuple[str, Counter[str]]] = _masked_text) -> Any:
    """A value with masked texts, those in lists and objects too; the secrets in them are added to `counts`, by kind."""
    if isinstance(value, str):
        masked, more = how(value)
        counts.update(more)
        return masked
    if isinstance(value, dict):
        return {_mask(counts, key): _mask(counts, item, how) for key, item in value.items()}
    return type(value)(_mask(counts, item, how) for item in value) if isinstance(value, list | tuple) else value


def mask_id(name: str) -> str:
    """An id with its secrets masked and a digest of the whole id; an id without secrets is unchanged."""
    return _masked_id(name)[0]


@lru_cache(maxsize=4096)
def _masked_id(name: str) -> tuple[str, Counter[str]]:
    digests = _DIGESTS.search(name)
    head = name[: digests.start()] if digests else name
    # `row:token:1a2b...` is named after a project; a name indicates a secret only where the id reads like text.
    masked, counts = redact(head, by_name=" " in head or "=" in head)
    if not counts:
        return name, counts
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{masked[: MAX_ID - 13]}#{digest}", counts


def as_memory(candidate: Candidate) -> Memory:
    """The memory of a candidate that leaves nothing open, with the hashes of its content; RowError if it does."""
    own, project = candidate.native_id, candidate.project_id
    created, tokens = candidate.created_at, candidate.token_count
    if own is None or project is None or created is None or tokens is None:
        raise RowError("the row lacks an id, a project, a time or its token count")
    content_hash, shape_hash = hashes_of(candidate.content)
    return Memory(
        **{name: getattr(candidate, name) for name in _AS_GIVEN},
        id=own,
        project_id=project,
        created_at=created,
        effective_date=candidate.effective_date or created,
        content_hash=content_hash,
        shape_hash=shape_hash,
        token_count=tokens,
    )


@dataclass(frozen=True, slots=True)
class Admitted:
    """The records that an import writes for one row; `masked` counts its secrets by kind."""

    memory: Memory
    links: tuple[LineageLink, ...]
    embedding: tuple[float, ...] | None
    embedding_model: str | None
    masked: Counter[str] = field(default_factory=Counter)


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
    file, reason, excerpt = map(clean_text, (rejected.file, rejected.reason, rejected.excerpt))
    if mask:  # the reason may quote a value
        file, reason, excerpt = (redact(part)[0] for part in (file, reason, excerpt))
    return Rejected(file, min(max(rejected.line, 0), 2**31 - 1), reason, excerpt[:_EXCERPT])


@dataclass
class Gate:
    """The gate of one import. `project`: that of candidates that name none; `now` replaces a missing date."""

    project: str
    embedder: Embedder
    now: datetime
    mask: bool
    occurrences: Occurrences = field(default_factory=Occurrences)

    def admit(self, candidate: Candidate) -> Admitted:
        """The memory of a candidate, with its links and its vector.

        Raises RowError for what cannot be stored, and EmbeddingError for a bad vector.
        """
        check_candidate(candidate)
        check_times(candidate)
        masked: Counter[str] = Counter()
        if self.mask:
            before = candidate.content
            candidate, masked = mask_candidate(candidate)
            if candidate.content != before:  # a vector is one of the words, which are others now
                candidate = replace(candidate, embedding=None, embedding_model=None)
        content = clean_text(candidate.content).strip("\n")
        if is_blank(content):
            raise RowError("content is empty")
        project = candidate.project_id or self.project
        own = candidate.native_id or _derived(candidate, project, content, self.occurrences)
        _check_vector(candidate, own, self.embedder)
        if candidate.typed_under is not None:  # after the id, which depends on what the row says
            candidate = replace(candidate, memory_type=kind_of(content, candidate.typed_under))
        if candidate.created_at is None:
            candidate = replace(candidate, created_at=self.now, created_at_quality="import")
        tokens = candidate.token_count or self.embedder.count_tokens(content)
        candidate = replace(candidate, content=content, native_id=own, project_id=project, token_count=tokens)
        links = tuple(LineageLink(own, source, relation, score) for source, relation, score in candidate.source_links)
        return Admitted(as_memory(candidate), links, candidate.embedding, candidate.embedding_model, masked)


def _derived(candidate: Candidate, project: str, content: str, occurrences: Occurrences) -> str:
    """An id derived from what was read: an entry always gets the same id, wherever it is in its file."""
    from memory_pipeline.ingest.formats import IMPORTERS  # whose candidates come here

    importer = IMPORTERS.get(candidate.source.connector)
    stem = importer.id_stem(project, content, candidate) if importer else row_id(project, content, candidate)
    times = occurrences.count(stem)
    return shortened(stem if times == 1 else f"{stem}~{times}")


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
    result = Found([])
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
            result.wrong.append(reject(memory, reason))
        elif says_same(memory, before[1]) or version in known or version in fresh:
            result.unchanged += 1
        else:
            result.new_versions += 1
            fresh[version] = replace(entry, memory=replace(memory, id=version))
    result.fresh = list(fresh.values())
    return result


def says_same(memory: Memory, digest: str) -> bool:
    """True if words with this hash are those of a memory, with or without its lead-in: it may stand beside them."""
    if digest == memory.content_hash:
        return True
    alone = words_alone(memory.lead_in, memory.content)
    return alone != memory.content and digest == content_hash(alone)


def version_id(memory: Memory) -> str:
    """The id of changed content whose own id already has different content."""
    return derive_version(memory.id, memory.content_hash)


def derive_version(memory_id: str, digest: str) -> str:
    """The id of content with this hash if `memory_id` already has different content."""
    return shortened(f"{memory_id}@{digest[:12]}")


def reject(memory: MemoryBase, reason: str) -> Rejected:
    """The row of a candidate or a memory for quarantine."""
    return Rejected.of(memory.source.file or "-", memory.source.line or 0, reason, memory.content)
