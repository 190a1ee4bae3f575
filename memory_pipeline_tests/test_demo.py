"""The demo: generated the same every time, shipped as generated, and its promises kept."""

from __future__ import annotations

import filecmp
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.demo import scorecard
from memory_pipeline.demo.generate import FIRST_DAY, LAST_DAY, make_demo, write_demo
from memory_pipeline.demo.workspace import LAST_NIGHTS, import_demo, load_truth
from memory_pipeline.errors import InputError
from memory_pipeline.store import Store
from memory_pipeline.wording.conflicts import find_conflict
from memory_pipeline_tests.build import candidate, fill, run

SHIPPED = Path(__file__).parents[1] / "data" / "demo_workspace"


def test_the_shipped_workspace_is_what_the_script_makes(tmp_path: Path) -> None:
    write_demo(tmp_path / "demo")

    def same(one: filecmp.dircmp[str]) -> bool:
        return not (one.left_only or one.right_only or one.diff_files) and all(map(same, one.subdirs.values()))

    assert same(filecmp.dircmp(SHIPPED, tmp_path / "demo"))


def test_the_demo_holds_what_it_promises() -> None:
    demo = make_demo()
    truth = demo.truth
    assert len(demo.notes) == 820 and (LAST_DAY - FIRST_DAY).days == 44
    sizes = {"exact_duplicates": 60, "normalised_duplicates": 60, "paraphrases": 45, "clusters": 28}
    sizes |= {"contradictions": 10, "causal": 6, "critical": 14, "curate": 12, "temporary": 12, "fresh": 20, "chain": 4}
    assert {kind: len(truth[kind]) for kind in sizes} == sizes
    assert all(4 <= len(cluster["members"]) <= 9 for cluster in truth["clusters"])  # type: ignore[index, call-overload]
    texts = {note.id: note.text for note in demo.notes}
    assert all(find_conflict(texts[a], texts[b]) for a, b in truth["contradictions"])  # type: ignore[misc]
    assert not any(find_conflict(texts[a], texts[b]) for a, b in truth["paraphrases"])  # type: ignore[misc]


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
def test_the_score_card_keeps_what_is_safe_and_names_what_is_missed(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path)})
    import_demo(store, settings)
    before = scorecard.measure(store, settings)
    for day in LAST_NIGHTS:
        run(store, day, settings)
    card = scorecard.score(store, settings, before)
    hard = {"Lessons distilled", "Causal patterns distilled", "Questions answered at 50 tokens"}
    assert set(card.missed) <= hard, card
    assert all(one.after >= one.before - 1 for one in card.answered), card.answered
    assert card.reached == (not card.missed)
    assert card.lessons_distilled >= 9 and card.causal_patterns_distilled >= 2
    text = scorecard.as_text(card)
    assert f"{len(card.missed)} of 16 promises missed: " in text and "MISSED, promised: at least 24" in text
    for example in card.examples:
        assert len(example.sources) >= 4 and example.memory not in example.sources


@pytest.mark.slow
def test_a_card_names_every_promise_that_is_not_kept(store: Store) -> None:
    settings = Settings().with_values({"store.path": str(store.path), "embedding.model": "lexical"})
    import_demo(store, settings)
    untouched = scorecard.score(store, settings, scorecard.measure(store, settings))
    assert untouched.missed == (
        "Exact duplicates found",
        "Normalised duplicates found",
        "Paraphrases found",
        "Lessons distilled",
        "Causal patterns distilled",
        "Active tokens",
    )
    assert not untouched.examples and not untouched.reached
    with store.reading() as tx:
        critical = [memory.id for memory in tx.memories.all() if memory.importance >= 2.5]
    spoilt = untouched.model_copy(update={"critical_touched": len(critical), "secrets_left": 3, "problems": 1})
    text = scorecard.as_text(spoilt)
    assert "14 of 14  MISSED, promised: 0" in text and "3  MISSED, promised: 0" in text
