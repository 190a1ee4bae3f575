"""What the tests of import formats share: reading a path without a store, and importing it into one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.ingest.candidates import Candidate, ImportSummary, Rejected, Skipped
from memory_pipeline.ingest.formats import importer_of, read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW, settings_for


@dataclass
class Found:
    """What a reader found."""

    candidates: list[Candidate]
    rejected: list[Rejected]
    skipped: Skipped

    @property
    def words(self) -> list[str]:
        return [candidate.content for candidate in self.candidates]

    @property
    def said(self) -> list[tuple[str, str]]:
        """Speakers and words."""
        return [(candidate.tags[0], candidate.content) for candidate in self.candidates]


def read(path: Path, name: str, zone: tzinfo = UTC, now: datetime = NOW, **changes: object) -> Found:
    """Everything at a path, without a store; `changes` of the settings."""
    skipped = Skipped()
    settings = settings_for(Path("none.duckdb"), **changes)
    items = list(read_format(name, path, zone, now, settings, skipped))
    candidates = [item for item in items if isinstance(item, Candidate)]
    return Found(candidates, [item for item in items if isinstance(item, Rejected)], skipped)


def bring(
    store: Store,
    path: Path,
    name: str = "jsonl",
    now: datetime = NOW,
    zone: tzinfo = UTC,
    *,
    project: str | None = None,
    embedder: Embedder | None = None,
    **changes: object,
) -> ImportSummary:
    """Import a path; `changes` of the settings."""
    skipped = Skipped()
    settings = settings_for(store, **changes)
    with store.kept_open():
        summary = import_memories(
            store,
            read_format(name, path, zone, now, settings, skipped),
            project=project or importer_of(name).default_project(path),
            embedder=embedder or Lexical(),
            now=now,
            mask=settings.import_.redact,
            critical_floor=settings.compression.critical_floor,
        )
    summary.note_skipped(skipped)
    return summary


@dataclass
class Brought:
    """What an import did, and the memories of the store after it."""

    summary: ImportSummary
    memories: dict[str, Memory]

    @property
    def words(self) -> list[str]:
        """What the memories say, in order."""
        return sorted(memory.content for memory in self.memories.values())

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out."""
        return self.summary.skipped

    @property
    def reasons(self) -> list[str]:
        """Why rows were rejected."""
        return [row.reason for row in self.summary.rejected]


def bring_twice(store: Store, path: Path, name: str, zone: tzinfo = UTC) -> Brought:
    """Import a path, and again: the second time changes nothing, and the store is sound."""
    with store.kept_open():
        summary = bring(store, path, name, zone=zone)
        with store.reading() as tx:
            before = tx.contents.digest()
        assert bring(store, path, name, zone=zone).imported == 0
        with store.reading() as tx:
            assert tx.contents.digest() == before
            assert tx.integrity.check(deep=True) == []
            return Brought(summary, {memory.id: memory for memory in tx.memories.all()})


def memories_of(store: Store) -> list[Memory]:
    """All memories, in the order of their times."""
    with store.reading() as tx:
        return sorted(tx.memories.all(), key=lambda memory: (memory.created_at, memory.id))


def lines(path: Path, *rows: Any, end: str = "\n") -> Path:
    """A file of JSON lines; texts are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + end, encoding="utf-8")
    return path


def write(root: Path, name: str, text: str | bytes) -> Path:
    """The directory, in which a file of this name holds a text."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def written(path: Path, told: Any) -> Path:
    """A file of one JSON document."""
    path.write_text(json.dumps(told), encoding="utf-8")
    return path
