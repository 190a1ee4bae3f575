"""A changed model: vectors of two models are never mixed, and `embed` brings a store over to the new one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

from memory_pipeline.errors import EmbeddingError, OtherModelError
from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders import missing as embedding_module
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.missing import embed_missing, embed_store
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for

DAY = date(2026, 3, 3)
QUERY = "restart the payment gateway"


class Newer(Lexical):
    """Another model, that counts what it embeds, and can break."""

    name = "newer"

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []
        self.breaks_after: int | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.breaks_after is not None and len(self.embedded) >= self.breaks_after:
            raise EmbeddingError("the model is gone")
        self.embedded += texts
        return np.ascontiguousarray(super().embed(texts)[:, ::-1])


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Newer:
    """The model that the settings name now."""
    model = Newer()
    monkeypatch.setattr(embedding_module, "choose_embedder", lambda _: model)
    monkeypatch.setattr("memory_pipeline.consolidation.context.choose_embedder", lambda _: model)
    return model


def filled(store: Store) -> Store:
    fill(store, [*lesson(9), *lesson(9, topic="printer"), candidate("Dana prefers CSV.", native_id="other")])
    return store


def memory_of(store: Store, embedder: Lexical) -> ProjectMemory:
    return ProjectMemory(store, settings_for(store), "p", actor="test", embedder=embedder)


def test_a_search_with_another_model_is_refused_with_the_mend_until_the_store_is_embedded(
    store: Store, newer: Newer
) -> None:
    filled(store)
    with pytest.raises(OtherModelError, match=r"19 of 19 memories .*'lexical.*'newer'.*memory-pipeline embed") as told:
        memory_of(store, newer).search(QUERY)
    assert "embedding.model" in str(told.value)
    assert memory_of(store, newer).search(QUERY, mode="bm25").results
    embed_store(store, settings_for(store), lambda *_: None, "test")
    assert memory_of(store, newer).search(QUERY).results
    assert memory_of(store, Lexical()).search(QUERY).results


@pytest.mark.slow
def test_a_night_with_another_model_leaves_what_is_alike_alone_and_says_what_to_do(store: Store, newer: Newer) -> None:
    filled(store)
    report = run(store, DAY)
    assert report.abstractions_created == 0 and newer.embedded == []
    assert any("memory-pipeline embed" in error.error for error in report.errors)
    embed_store(store, settings_for(store), lambda *_: None, "test")
    assert run(store, DAY + timedelta(days=1)).errors == ()


def test_an_import_with_another_model_embeds_nothing_and_says_so(store: Store, newer: Newer) -> None:
    filled(store)
    summary = fill(store, [candidate("The printer needs labels of 62 mm.", native_id="new")], embedder=newer)
    assert newer.embedded == [] and "memory-pipeline embed" in str(summary.embedding_error)


def test_a_few_that_were_written_meanwhile_are_no_obstacle(store: Store, newer: Newer) -> None:
    filled(store)
    embed_store(store, settings_for(store), lambda *_: None, "test")
    fill(store, [candidate("The printer needs labels of 62 mm.", native_id="new")])
    assert memory_of(store, newer).search(QUERY).results
    newer.embedded.clear()
    run(store, DAY)
    assert newer.embedded.count("The printer needs labels of 62 mm.") == 1


def test_what_is_interrupted_goes_on_where_it_was(store: Store, newer: Newer, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store)
    monkeypatch.setattr(embedding_module, "_MOST", 2)
    monkeypatch.setattr(embedding_module, "_MOST", 2)
    newer.breaks_after = 6
    seen: list[tuple[int, int]] = []
    with pytest.raises(EmbeddingError, match="gone"):
        embed_store(store, settings_for(store), lambda _, done, total: seen.append((done, total)), "test")
    assert seen == [(2, 19), (4, 19), (6, 19)]
    newer.breaks_after = None
    done = embed_store(store, settings_for(store), lambda *_: None, "test")
    assert (done.embedded, done.memories, done.others) == (13, 19, {Lexical.name: 19})
    assert len(newer.embedded) == 19


def test_the_default_model_has_no_stand_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EmbeddingError, match="memory-pipeline model install"):
        embed_store(store, settings_for(store, embedding__model="minilm"), lambda *_: None, "test")


def test_the_command_embeds_with_the_named_model_and_says_how_to_use_it(store: Store) -> None:
    filled(store)
    told = CliRunner().invoke(app, ["embed", "--model", "lexical", "--store", str(store.path)])
    assert told.exit_code == 0, told.output
    shown = " ".join(told.output.split())
    assert "0 memories embedded with" in shown and "when embedding.model is 'lexical'" in shown
    refused = CliRunner().invoke(app, ["embed", "--model", "nonsense", "--store", str(store.path)])
    assert refused.exit_code and isinstance(refused.exception, EmbeddingError)


def test_nothing_is_embedded_twice(store: Store) -> None:
    filled(store)
    assert embed_missing(store, choose_embedder(settings_for(store)), lambda: store.writing("t"), lambda *_: None) == 0
