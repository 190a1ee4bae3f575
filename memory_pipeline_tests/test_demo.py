"""The demo: generated the same every time, shipped as generated, and its promises kept."""

from __future__ import annotations

import filecmp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo import scoring
from memory_pipeline.demo.generate import FIRST_DAY, LAST_DAY, make_demo, write_demo
from memory_pipeline.demo.texts import PARAPHRASES
from memory_pipeline.demo.workspace import import_demo, load_truth
from memory_pipeline.errors import InputError
from memory_pipeline.models.conflicts import find_conflict
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill

SHIPPED = Path(__file__).parents[1] / "data" / "demo_workspace"


def test_the_shipped_workspace_is_what_the_script_makes(tmp_path: Path) -> None:
    write_demo(tmp_path / "demo")

    def same(one: filecmp.dircmp[str]) -> bool:
        return not (one.left_only or one.right_only or one.diff_files) and all(map(same, one.subdirs.values()))

    assert same(filecmp.dircmp(SHIPPED, tmp_path / "demo"))


def test_the_demo_holds_what_it_promises() -> None:
    demo = make_demo()
    truth = demo.truth
    assert len(demo.notes) == 860 and (LAST_DAY - FIRST_DAY).days == 44
    sizes = {"exact_duplicates": 60, "normalised_duplicates": 60, "paraphrases": 45, "clusters": 28}
    sizes |= {"contradictions": 10, "causal": 6, "critical": 14, "curate": 12, "temporary": 12, "fresh": 20, "chain": 4}
    sizes |= {"series": 15, "knowledge": 9, "rules": 3}
    assert {kind: len(truth[kind]) for kind in sizes} == sizes
    assert all(4 <= len(cluster["members"]) <= 9 for cluster in truth["clusters"])  # type: ignore[index, call-overload]
    assert all(question["evidence"] for question in truth["questions"])  # type: ignore[index, call-overload]
    texts = {note.id: note.text for note in demo.notes}
    assert all(find_conflict(texts[a], texts[b]) for a, b in truth["contradictions"])  # type: ignore[misc]
    readings = sum(len(one["members"]) + len(one["breaks"]) for one in truth["series"])  # type: ignore[index, call-overload]
    assert 0.3 < readings / len(demo.notes) < 0.36


def test_each_planted_truth_is_about_notes_of_the_demo_and_no_note_has_two() -> None:
    demo = make_demo()
    truth: dict[str, Any] = dict(demo.truth)
    written = {note.id for note in demo.notes}
    groups = [*truth["paraphrases"], *truth["contradictions"], truth["chain"], truth["fresh"], truth["curate"]]
    groups += [group["members"] for kind in ("clusters", "causal", "series", "knowledge") for group in truth[kind]]
    groups += [group["breaks"] for group in truth["series"]]
    planted = [one for group in groups for one in group]
    assert set(planted) <= written and len(planted) == len(set(planted))
    lessons = [group["members"] for group in truth["clusters"]]
    assert all(members in lessons for rule in truth["rules"] for members in rule["lessons"])


@pytest.mark.slow
def test_paraphrases_are_as_far_apart_as_those_that_people_write() -> None:
    embedder = choose_embedder(Settings())
    pairs = [pair for mine in PARAPHRASES.values() for pair in mine]
    ones, others = embedder.embed([one for one, _ in pairs]), embedder.embed([other for _, other in pairs])
    assert 0.75 <= float(np.median((ones * others).sum(axis=1))) <= 0.9
    shared = [len(_words(one) & _words(other)) / len(_words(one) | _words(other)) for one, other in pairs]
    assert float(np.median(shared)) < 0.5


def _words(text: str) -> set[str]:
    return set(text.lower().rstrip(".").replace(",", "").split())


@pytest.mark.slow
def test_the_import_gives_every_note_the_id_that_the_truth_names(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path), "embedding.model": "lexical"})
    import_demo(store, settings)
    with store.reading() as tx:
        ids = {memory.id for memory in tx.memories.all()}
    assert {note.id for note in make_demo().notes} <= ids
    truth = load_truth(SHIPPED)
    with store.reading() as tx:
        assert not any(secret in memory.content for memory in tx.memories.all() for secret in truth["secrets"])


def test_a_store_that_is_no_demo_is_never_overwritten(store: Store) -> None:
    fill(store, [candidate("my only copy")])
    with pytest.raises(InputError, match="is there already and was not made by the demo"):
        import_demo(store, Settings().with_values({"store.path": str(store.path)}))
    with store.reading() as tx:
        assert [memory.content for memory in tx.memories.all()] == ["my only copy"]


def test_the_demo_takes_away_nothing_but_a_demo(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path)})
    snapshots = store.path.with_name("store.snapshots")
    snapshots.mkdir()
    (snapshots / "20260314T073000000000Z-night.duckdb").write_bytes(b"the last copy of a store that was lost")
    with pytest.raises(InputError, match="is there already and was not made by the demo"):
        import_demo(store, settings)
    assert list(snapshots.iterdir())
    store.path.with_suffix(".demo").write_text("This store holds the demo")
    fill(store, [candidate("my own, imported into the demo's store")], project="my-own")
    with pytest.raises(InputError, match=r"holds memories of your own \(my-own\)"):
        import_demo(store, settings)
    assert store.exists() and list(snapshots.iterdir())


@pytest.mark.slow
def test_the_score_card_keeps_what_is_safe(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path)})
    import_demo(store, settings)
    before = scoring.measure(store, settings)
    card = scoring.score_without_model(store, settings, before)
    assert not card.missed, card
    assert card.value("Lessons distilled") >= 11, card
    assert card.value("Paraphrases found") >= 3 and card.value("Knowledge-base entries united") >= 1
    assert card.value("Questions answered at 50 tokens") >= 20, card
    text = scoring.as_text(scoring.DemoResult(without_model=card, with_model=None, report=""))
    assert "With no model: 16 of 16 promises kept." in text and "a recorded model" not in text
    assert [example.kind for example in card.examples] == ["A lesson", scoring.SERIES] and not card.principles
    for example in card.examples:
        assert len(example.sources) >= 4 and example.memory not in example.sources
    with store.reading() as tx:
        assert all(memory.archived_at is None for memory in tx.memories.all())


@pytest.mark.slow
def test_a_card_names_every_promise_that_is_not_kept(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path), "embedding.model": "lexical"})
    import_demo(store, settings)
    read = scoring.score(store, settings.with_values({"model.provider": "recorded"}), scoring.measure(store, settings))
    by_model = ("Paraphrases found", "Lessons distilled", "Causal patterns distilled")
    missed = (
        "Exact duplicates found",
        "Normalised duplicates found",
        *by_model,
        "Readings in their series",
        "Readings that break a series named",
        "Active tokens",
    )
    assert read.missed == missed and not read.examples
    plain = scoring.make_card(read.lines, with_model=False)
    assert plain.missed == tuple(name for name in missed if name not in by_model)
    text = scoring.as_text(scoring.DemoResult(without_model=plain, with_model=read, report=""))
    assert "MISSED: Readings that break a series named: 0 of 6, promised: at least 6" in text
    assert "With a recorded model: 11 of 19 promises kept." in text
