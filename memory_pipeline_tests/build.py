"""Small readable builders: memories, stores and nights for tests."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pytest

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation import principles
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.judge import Draft, Task
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.ingest.candidates import Candidate, ImportSummary
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models import Declined, Session
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.records import LEAST_PATTERNS, Causal, Memory, Source
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store, Transaction, engine
from memory_pipeline.text.normalise import content_hash, shape_hash

FIRST = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def settings_for(store: Store | Path, **changes: object) -> Settings:
    """Default settings for a store in a test, with the model-free embedder; `changes` by key, with `__` for dots."""
    path = store.path if isinstance(store, Store) else store
    loaded = load_settings({"store.path": str(path), "embedding.model": "lexical"}, environment={})
    changes = {"compression__min_active_memories": 0, **changes}
    return loaded.values.with_values({name.replace("__", "."): value for name, value in changes.items()})


def candidate(content: str, at: datetime = FIRST, **fields: Any) -> Candidate:
    """A memory as a source would hand it in."""
    return Candidate(content=content, source=Source("jsonl", "test.jsonl", 1), created_at=at, **fields)


def fill(
    store: Store, candidates: Sequence[Candidate], project: str = "p", embedder: Embedder | None = None
) -> ImportSummary:
    """Import candidates into a store. Into a new one the same ones are imported twice, and copied from then on."""

    def into(target: Store) -> ImportSummary:
        with target.kept_open():
            return import_memories(target, iter(candidates), project=project, embedder=embedder or Lexical(), now=NOW)

    return into(store) if embedder else made_before(store, f"{project} {list(candidates)}", into)


#: Where stores are kept that were made before; none in processes that tests start.
templates: Path | None = None
_seen: set[str] = set()
_made: dict[str, tuple[Path, object]] = {}
_Result = TypeVar("_Result")


def made_before(store: Store, how: str, make: Callable[[Store], _Result]) -> _Result:
    """Make a store, by copying it where others were made in the same way (`how`) before; what making it gave.

    One that is there already, be it in part, is given to `make` as it is.
    """
    if templates is None or store.path.is_symlink() or any(store.path.parent.glob(f"{store.path.name}*")):
        return make(store)
    if how not in _seen:  # as are most of those that hypothesis draws
        _seen.add(how)
        return make(store)
    if how not in _made:
        template = Store(templates / f"{len(_made)}-{os.urandom(4).hex()}" / "store.duckdb")
        _made[how] = template.path, make(template)
        engine._written.discard(template.path)
    path, result = _made[how]
    store.path.parent.mkdir(parents=True, exist_ok=True)
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copyfile(file, store.path.with_name(store.path.name + file.name.removeprefix(path.name)))
    engine._written.add(store.path)
    store._migrated = True
    return cast(_Result, deepcopy(result))


def night_of(store: Store, day: date, settings: Settings | None = None, **options: Any) -> Night:
    """A night that has not run yet, and whose snapshot is taken for granted unless `snapshot` is given as True."""
    run_id, snapshot = options.pop("run_id", f"run-{day}"), options.pop("snapshot", False)
    night = Night(store, settings or settings_for(store), NightOptions(day, run_id, **options))
    night.snapshot = None if snapshot else "taken"
    return night


def run(store: Store, day: date, settings: Settings | None = None, **options: Any) -> Report:
    """Run a night and return its report."""
    return run_night(night_of(store, day, settings, **options))


def slowly(*rows: Any) -> list[Any]:
    """Parameters that only the slow run tries: more of what the default run tries with others."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.slow) for row in rows]


def sql_rows(tx: Transaction, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """What a statement gives: for what tests look at or break behind the back of the repositories."""
    return tx._sql(*parameters).rows(statement)


_LESSONS = {
    "gateway": "Restart the payment gateway on every node after rotating its API key in the vault, "
    "otherwise the gateway "
    "keeps using the old key and orders that customers placed in the meantime are rejected by the bank",
    "printer": "Feed labels into the tray with their shiny side up and close both flaps slowly, because the warehouse "
    "printer jams whenever paper curls near its heater and somebody has to take the whole roller apart",
    "scanner": "Wipe dust from both lenses each morning before the first pallet arrives, since every "
    "scanner at dock two "
    "misreads faded barcodes under neon light and half of all inbound goods end up in quarantine",
}


def lesson(number: int = 4, at: datetime = FIRST, topic: str = "gateway") -> list[Candidate]:
    """Near-copies of one lesson, each with a detail of its own, an hour apart."""
    details = (
        "The old key stays cached for 15 minutes.",
        "Dana lost two test orders to this.",
        "The health page shows green meanwhile.",
        "A reload signal is not enough.",
        "It happened on version 2.4.1 too.",
    )
    return [
        candidate(
            f"{_LESSONS[topic]}. {details[n % len(details)]}",
            at + timedelta(hours=n),
            native_id=f"{topic}-{n}",
            memory_type="lesson",
        )
        for n in range(number)
    ]


def memory(memory_id: str, content: str, at: datetime = FIRST, **fields: Any) -> Memory:
    """A memory record, without a store."""
    defaults: dict[str, Any] = {"project_id": "p", "memory_type": "other", "token_count": max(1, len(content) // 4)}
    return Memory(
        id=memory_id,
        content=content,
        created_at=at,
        effective_date=fields.pop("effective_date", at),
        content_hash=content_hash(content),
        shape_hash=shape_hash(content),
        **{**defaults, **fields},
    )


class PlantedEmbedder:
    """An embedder whose vectors a test decides: texts that share a first word lie close together."""

    name = "planted"
    dimension = 16

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = []
        for text in texts:
            key = text.split()[0] if text.split() else ""
            centre = np.random.default_rng(abs(hash_of(key))).standard_normal(self.dimension)
            own = np.random.default_rng(abs(hash_of(text))).standard_normal(self.dimension)
            rows.append(centre / np.linalg.norm(centre) + 0.12 * own / np.linalg.norm(own))
        stacked = np.array(rows).reshape(len(texts), self.dimension)
        return (stacked / np.linalg.norm(stacked, axis=1, keepdims=True)).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        return max(1, len(text.split()))


class BrokenEmbedder(Lexical):
    """An embedder that counts but never answers."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbeddingError("the model is not there")


def hash_of(text: str) -> int:
    """A hash that is the same in every process."""
    return int(content_hash(text)[:12], 16)


_COLD_CACHE = "because the build cache was cold"


def draft_with_cause(self: Extractive, task: Task) -> Draft | Declined:
    """What the extractive distiller makes, with the cause that a model would name of notes about the cold cache: for
    `monkeypatch.setattr(Extractive, "draft", draft_with_cause)`."""
    draft = _draft(self, task)
    told = next((m.memory.content for m in task.members if _COLD_CACHE in m.memory.content), None)
    if told is None or isinstance(draft, Declined):
        return draft
    return replace(draft, causal=Causal("build cache", "was cold", told.partition(f" {_COLD_CACHE}")[0]))


_draft = Extractive.draft


class SharedRules:
    """A model that finds a rule behind the first patterns of a project that share more than six words: these words, in
    the order of the first. It stands in the place of `ModelClient`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def ask(self, questions: Mapping[str, Any], session: Session, what: str) -> Iterator[tuple[str, Any]]:
        """One answer to each question, checked as every answer is."""
        for name, question in questions.items():
            lines = question.request.user.partition("Items:")[2].splitlines()
            told = {one["n"]: one["text"] for one in map(json.loads, filter(None, lines)) if "n" in one}
            shared, behind = _shared(told)
            sources = [{"item": n, "quote": " ".join(told[n].split()[-4:])} for n in behind]
            rule = {
                "limits": "",
                "text": shared,
                "kind": "rule",
                "about": "work",
                "sources": sources,
                "asked": "",
                "until": "",
            }
            statements = [{**rule, "replaces": [], "significance": 0.5}] if len(behind) >= LEAST_PATTERNS else []
            empty: dict[str, Any] = {name: [] for name in ("repeats", "routine", "digests", "ended", "steering")}
            yield name, question.check(ReadingAnswer.model_validate({"statements": statements, **empty}))


def _shared(told: Mapping[int, str]) -> tuple[str, list[int]]:
    """The words that most patterns share with the first of them, and their numbers."""
    found: tuple[str, list[int]] = ("", [])
    for first in told:
        words, behind = told[first].split(), [first]
        for number in (number for number in told if number > first):
            both = [word for word in words if word in told[number].split()]
            if len(both) > 6:
                words, behind = both, [*behind, number]
        found = max(found, (" ".join(words), behind), key=lambda one: len(one[1]))
    return found


@contextmanager
def rules_are_found() -> Iterator[None]:
    """Principles are those of `SharedRules`; no other step has a model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(principles, "ModelClient", SharedRules)
        patch.setattr(principles, "model_reads", lambda settings: True)
        yield
