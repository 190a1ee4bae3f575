"""The Python interface: open a store and use the memory of one project, or consolidate texts without a store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_pipeline.config.loading import load_settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.interfaces.cli.base import choose_project, current_user, settings_of
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store

if TYPE_CHECKING:
    import pandas as pd


def open_memory(store: str | os.PathLike[str] | None = None, project: str | None = None) -> ProjectMemory:
    """The memory of one project in a store, as the package's `open` says."""
    settings = settings_of(Path(store) if store is not None else None)
    opened = Store.of(settings)
    return ProjectMemory(opened, settings, choose_project(opened, project), actor=current_user())


_PROJECT = "texts"
#: When the first text counts as written; each later one follows a second after the one before it.
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
#: Few texts are worth a night too, and none of them is too fresh for it.
_AT_ONCE = {"compression.min_active_memories": 0, "compression.freshness_hours": 0}


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that say one thing. `text`: what stands for them; `ids`: theirs, at least two, in the order given."""

    text: str
    ids: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two texts that cannot both be true. `kind`: `number`, `negation` and the like; `detail`: words that differ."""

    ids: tuple[Any, Any]
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The outcome for the texts. `stayed`: by id, those that stand for themselves, as they were given."""

    groups: tuple[Group, ...]
    conflicts: tuple[Disagreement, ...]
    stayed: Mapping[Any, str]

    @property
    def texts(self) -> list[str]:
        """All that remains to be read: one text of each group, then those that stayed."""
        return [*(group.text for group in self.groups), *self.stayed.values()]


def consolidate(
    texts: Iterable[str] | Iterable[tuple[Any, str]] | Mapping[Any, str] | pd.DataFrame,
    settings: Mapping[str, Any] | None = None,
) -> Consolidation:
    """Consolidate texts as the package's `consolidate` says; the temporary store is gone afterwards."""
    given = _by_id(texts)
    with tempfile.TemporaryDirectory(prefix="memory_pipeline-") as directory:
        path = Path(directory) / "store.duckdb"
        values = {"store.path": str(path), **_AT_ONCE, **(settings or {})}
        effective = load_settings(values, environment=dict(os.environ) if settings else {}).values
        store = Store(path)
        with store.kept_open():
            candidates = (
                Candidate(
                    content=text,
                    native_id=f"text-{place}",
                    source=Source("python", _PROJECT, place + 1),
                    created_at=_FIRST + timedelta(seconds=place),
                )
                for place, text in enumerate(given.values())
            )
            import_memories(
                store, candidates, project=_PROJECT, embedder=choose_embedder(effective), now=datetime.now(UTC)
            )
            day = (_FIRST + timedelta(seconds=len(given))).date()
            run_night(Night(store, effective, NightOptions(day, "consolidation")))
            return _made(store, list(given), given)


def _by_id(texts: Any) -> dict[Any, str]:
    if isinstance(texts, str):
        raise InputError("texts is one string; give a list of strings")
    if hasattr(texts, "columns"):
        if "text" not in texts.columns:
            raise InputError(f"the data frame has no column 'text'; it has {', '.join(map(str, texts.columns))}")
        texts = texts["text"]
    if hasattr(texts, "items"):
        rows: list[Any] = list(texts.items())
    elif not isinstance(texts, Iterable):
        raise InputError(f"texts is {texts!r:.80}; give a list of strings")
    else:
        rows = [row if isinstance(row, tuple) else (place, row) for place, row in enumerate(texts)]
    by_id: dict[Any, str] = {}
    for place, row in enumerate(rows):
        if len(row) != 2 or not isinstance(row[1], str) or not row[1].strip():
            raise InputError(f"row {place} is no text and no pair of an id and a text: {row!r:.80}")
        if row[0] in by_id:
            raise InputError(f"the id {row[0]!r} comes twice; each text needs one of its own")
        by_id[row[0]] = row[1]
    return by_id


def _made(store: Store, ids: list[Any], given: Mapping[Any, str]) -> Consolidation:
    """The result of the night, in terms of the ids that were given."""
    with store.reading() as tx:
        memories = tx.memories.all(_PROJECT)
        place_of = {m.id: m.source.line - 1 for m in memories if m.source.connector == "python" and m.source.line}
        sources = tx.lineage.raw_sources_of([memory.id for memory in memories])
        conflicts = [case.conflict for case in tx.conflicts.cases(project_id=_PROJECT)]

    def places_of(memory_id: str) -> list[int]:
        """The place of a text, or of those that the night made it of."""
        return sorted({place_of[i] for i in (memory_id, *sources.get(memory_id, ())) if i in place_of})

    groups, grouped = [], set()
    for memory in memories:
        places = places_of(memory.id)
        if memory.archived_at is None and len(places) > 1:
            groups.append((places, Group(memory.content, tuple(ids[place] for place in places))))
            grouped |= set(places)
    pairs = [(sorted(places_of(side)[0] for side in (conflict.a, conflict.b)), conflict) for conflict in conflicts]
    return Consolidation(
        groups=tuple(group for _, group in sorted(groups, key=lambda pair: pair[0])),
        conflicts=tuple(
            Disagreement((ids[places[0]], ids[places[1]]), conflict.kind, conflict.detail) for places, conflict in pairs
        ),
        stayed={key: text for place, (key, text) in enumerate(given.items()) if place not in grouped},
    )
