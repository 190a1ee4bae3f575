"""The audit of a memory: it is read into a temporary store, which a night as the next one and then one over all of it
work on, and nothing is written anywhere else."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import Field

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.contradictions import looks_for_contradictions
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.documents import Document
from memory_pipeline.errors import EmbeddingError, InputError
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import importer_of, read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.choose import DEFAULT_CLAUDE
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.models.limits import PRICES
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.reading.classifier import routine_among
from memory_pipeline.recall.lineage import source_of
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.steering import attempt_in

#: With more entries, near copies are found by their words, in a tenth of the time.
_MOST_EMBEDDED = 3_000
#: Entries that the classifier judges: the share of routine is right to three points in a hundred, 19 times of 20.
_SAMPLE = 1_000
_EXAMPLES = 3
#: Begins what stands in the place of a secret, as `redact` writes it.
_MASKED = "[REDACTED:"


class Disagreement(Document):
    """Two entries that cannot both be true."""

    detail: str = Field(description="The words that differ.")
    one: str = Field(description="One entry.")
    other: str = Field(description="The other entry.")
    one_day: date | None = Field(description="The day of one entry; null if nobody knows it.")
    other_day: date | None = Field(description="The day of the other entry; null if nobody knows it.")


class Audit(Document):
    """The contents of a memory, and the changes that nights without a model would make."""

    format: str = Field(description="The format that was read.")
    entries: int = Field(description="Entries.")
    tokens: int = Field(description="Their tokens: what an agent pays that is given all of them.")
    cost_usd: float = Field(description="The price of giving all of them to the default model once, in US dollars.")
    undated: int = Field(description="Entries of which only the time of their file, or of this audit, is known.")
    unreadable: int = Field(description="Rows that cannot be read.")
    left_out: dict[str, int] = Field(description="What is no memory, by what it is: managed blocks, index lines, ...")
    masked: dict[str, int] = Field(description="Secrets and personal data, by kind.")
    masked_at: tuple[str, ...] = Field(description="Where they stand: file and line, or the entry's id.")
    steering: int = Field(description="Entries that try to steer whoever reads them.")
    steering_at: tuple[str, ...] = Field(description="Where they stand.")
    copies: int = Field(description="Entries that say word for word what another one says.")
    near_copies: int = Field(description="Entries that say nearly the same as another one, and merge with it.")
    readings: int = Field(description="Lines of a series that differ only in their values.")
    series: int = Field(description="Such series.")
    routine: float | None = Field(
        description="The share of entries that are routine, as the classifier judges it; null without its model."
    )
    sampled: int = Field(description="How many entries the classifier judged.")
    contradictions: int | None = Field(
        description="Entries that cannot all be true, pairs that share one counted once, as the next night finds them; "
        "null if they are not looked for: there are too many entries, or the embedding model is not installed."
    )
    contradictions_later: int = Field(
        description="Further ones that it does not look at yet: of the last day, or with too few others."
    )
    examples: tuple[Disagreement, ...] = Field(description="The clearest pairs of some of them.")
    tokens_after: int = Field(description="Tokens after nights without a model.")
    archived: int = Field(description="Entries that nights would put away; none is deleted.")
    by_words: bool = Field(description="Whether near copies were found by their words, because there are many entries.")
    seconds: float = Field(description="How long the audit took.")


def audit(name: str, path: Path, tz: str | None, progress: Callable[[str, int, int], None]) -> Audit:
    """Audit a file or directory. `name`: its format; `tz`: the zone of times that name none.

    Raises InputError for a path in which no entry can be read.
    """
    began, skipped = datetime.now(UTC), Skipped()
    with tempfile.TemporaryDirectory(prefix="memory_pipeline-") as directory:
        place = Path(directory) / "store.duckdb"
        settings = _settings(place, "")
        rows = list(read_format(name, path, zone(tz or settings.import_.timezone), began, settings, skipped))
        many = len(rows) > _MOST_EMBEDDED
        if many:
            settings = _settings(place, "lexical")
        # What nights leave alone for now is looked at once the next one has done what it does.
        of_all = settings.with_values({"compression.min_active_memories": 0, "compression.freshness_hours": 0})
        store = Store(place)
        with store.kept_open():
            brought = import_memories(
                store,
                iter(rows),
                project=importer_of(name).default_project(path),
                embedder=choose_embedder(settings),
                now=began,
                progress=progress,
            )
            brought.note_skipped(skipped)
            if not brought.imported:
                reason = f": {brought.rejected[0].reason}" if brought.rejected else ""
                raise InputError(f"'{path}' has no entry that can be read as {name}{reason}")
            with store.reading() as tx:
                memories = tx.memories.all(include_archived=False)
            routine, sampled = _routine(memories)
            reports = []
            for day, how in ((latest_complete_day(began), settings), (began.date(), of_all)):
                night = Night(store, how, NightOptions(day, f"audit {day}"), progress=progress)
                night.snapshot = "none"  # of a store that is gone in a moment
                reports.append(run_night(night))
            next_night, report = reports
            is_looked_for = looks_for_contradictions(night)
            with store.reading() as tx:
                left = {memory.id for memory in tx.memories.all(include_archived=False)}
    tokens = sum(memory.token_count for memory in memories)
    days = {memory.id: memory.day for memory in memories if not memory.undated}
    steering = [memory for memory in memories if attempt_in(memory.content) is not None]
    return Audit(
        format=name,
        entries=len(memories),
        tokens=tokens,
        cost_usd=round(PRICES[DEFAULT_CLAUDE].cost(tokens, 0), 4),
        undated=sum(memory.undated for memory in memories),
        unreadable=brought.quarantined,
        left_out=dict(brought.skipped),
        masked=dict(brought.masked),
        masked_at=_places(memory for memory in memories if brought.masked and _MASKED in memory.content),
        steering=len(steering),
        steering_at=_places(steering),
        copies=sum(each.duplicates_archived for each in reports),
        near_copies=sum(policy.memories_archived for each in reports for policy in each.policies),
        readings=sum(each.readings_archived for each in reports),
        series=sum(each.series_created for each in reports),
        routine=routine,
        sampled=sampled,
        contradictions=next_night.conflicts_known if is_looked_for else None,
        contradictions_later=max(report.conflicts_known - next_night.conflicts_known, 0),
        examples=tuple(
            Disagreement(
                detail=conflict.detail,
                one=conflict.a_says,
                other=conflict.b_says,
                one_day=days.get(conflict.a),
                other_day=days.get(conflict.b),
            )
            for conflict in report.conflicts[:_EXAMPLES]
        ),
        tokens_after=report.tokens_after,
        archived=sum(memory.id not in left for memory in memories),
        by_words=many,
        seconds=round((datetime.now(UTC) - began).total_seconds(), 1),
    )


def _settings(store: Path, embedder: str) -> Settings:
    """Nobody's settings but these: no source, no export and no model."""
    values = {"store.path": str(store)}
    return load_settings(values | ({"embedding.model": embedder} if embedder else {}), environment={}).values


def _places(memories: Iterable[Memory]) -> tuple[str, ...]:
    memories = sorted(memories, key=lambda memory: (memory.source.file or "", memory.source.line or 0, memory.id))
    return tuple(memory.id if memory.source.file is None else source_of(memory) for memory in memories)


def _routine(memories: list[Memory]) -> tuple[float | None, int]:
    """The share of entries that are routine, and how many were judged; None without the model of the classifier."""
    try:
        embedder = MiniLM()
    except EmbeddingError:
        return None, 0
    sample = random.Random(0).sample(memories, min(_SAMPLE, len(memories)))
    vectors = embedder.embed([embedding_text(memory.content) for memory in sample])
    routine = routine_among(sample, dict(zip((memory.id for memory in sample), vectors, strict=True)))
    return round(len(routine) / len(sample), 3), len(sample)
