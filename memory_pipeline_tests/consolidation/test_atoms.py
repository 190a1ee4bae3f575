"""Atoms: created, made surer, skipped and taken back; searched, chained and stated."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memory_pipeline.consolidation import atoms as atoms_step
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.atoms import AtomIndex, causal_chains, search_atoms, state_atom
from memory_pipeline.records import Atom, Causal
from memory_pipeline.store import Store
from memory_pipeline_tests.build import (
    FIRST,
    candidate,
    draft_with_cause,
    fill,
    lesson,
    night_of,
    run,
    settings_for,
    sql_rows,
)

DAY = date(2026, 3, 3)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
_STORY = "The nightly deploy of the webshop stalls in stage two{ending} because the build cache was cold"


@pytest.fixture(autouse=True)
def causes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a model names causes."""
    monkeypatch.setattr(Extractive, "draft", draft_with_cause)


def stories(prefix: str, days: int = 0, ending: str = "") -> list[Any]:
    details = ("Dana noticed first", "the pager stayed silent", "nobody was on call", "the queue was full")
    return [
        candidate(f"{_STORY.format(ending=ending)}. {detail}.", FIRST + timedelta(days=days, hours=n),
                  native_id=f"{prefix}-{n}")
        for n, detail in enumerate(details)
    ]  # fmt: skip


def atoms_of(store: Store, **options: Any) -> list[Atom]:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.atoms.read(**options)


def test_a_causal_cluster_becomes_an_atom_that_rests_on_its_abstraction(store: Store) -> None:
    fill(store, stories("a"))
    report = run(store, DAY)
    (atom,) = atoms_of(store)
    assert (report.atoms_created, report.atoms_enriched, report.atoms_not_causal) == (1, 0, 0)
    assert atom.causal.subject == "build cache" and atom.causal.action == "was cold"
    assert atom.causal.outcome.startswith("The nightly deploy of the webshop stalls")
    assert atom.confidence == 0.7 and len(atom.source_ids) == 1
    assert atom.created_at == datetime(2026, 3, 4, tzinfo=UTC)
    assert report.atoms[0].status == "created"


def test_a_cluster_without_a_cause_is_counted_as_not_causal(store: Store) -> None:
    fill(store, lesson(4, topic="scanner"))
    report = run(store, DAY)
    counted = [getattr(report, f"atoms_{name}") for name in ("created", "enriched", "skipped", "not_causal")]
    assert sum(counted) == report.clusters_compressed == 1


@pytest.mark.slow
def test_saying_it_again_makes_the_atom_surer_and_running_again_does_not(store: Store) -> None:
    fill(store, stories("a"))
    run(store, DAY)
    fill(store, stories("b", days=5, ending=" once more"))
    report = run(store, DAY + timedelta(days=6))
    assert (report.atoms_created, report.atoms_enriched) == (0, 1)
    run(store, DAY + timedelta(days=6), run_id="again")
    (atom,) = atoms_of(store)
    assert atom.confidence == 0.8 and len(atom.source_ids) == 2
    assert atom.strengthened_at == datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.slow
def test_confidence_ends_at_one(store: Store) -> None:
    slips = [("", ""), ("nightly", "nighly"), ("because", "becuase"), ("stalls", "stalsl"), ("webshop", "websop")]
    for number, slip in enumerate(slips):
        notes = stories(f"n{number}", days=5 * number)
        fill(store, [replace(note, content=note.content.replace(*slip)) for note in notes])
        run(store, DAY + timedelta(days=5 * number + 1))
    (atom,) = atoms_of(store)
    assert atom.confidence == 1.0 and len(atom.source_ids) == 5


@pytest.mark.slow
def test_the_opposite_outcome_is_another_atom(store: Store) -> None:
    fill(store, stories("a"))
    run(store, DAY)
    opposite = [
        candidate(note.content.replace("stalls in", "never stalls in"), note.created_at + timedelta(days=5),
                  native_id=f"b-{n}") for n, note in enumerate(stories("b"))
    ]  # fmt: skip
    fill(store, opposite)
    assert run(store, DAY + timedelta(days=6)).atoms_created == 1
    assert len(atoms_of(store)) == 2


@pytest.mark.slow
def test_rolling_back_takes_the_share_of_confidence_back_and_the_atom_with_its_last_memory(store: Store) -> None:
    fill(store, stories("a"))
    run(store, DAY)
    fill(store, stories("b", days=5, ending=" once more"))
    run(store, DAY + timedelta(days=6))
    roll_back(store, settings_for(store), RollbackScope(run_id="run-2026-03-09"), cascade=True)
    (left,) = atoms_of(store)
    assert left.confidence == 0.7 and len(left.source_ids) == 1
    roll_back(store, settings_for(store), RollbackScope(run_id="run-2026-03-03"), cascade=True)
    assert atoms_of(store) == [] and len(atoms_of(store, retracted=True)) == 1
    run(store, DAY, run_id="anew")
    (anew,) = atoms_of(store)
    assert anew.id != "" and anew.confidence == 0.7


@pytest.mark.slow
def test_an_atom_that_fails_stops_nothing_and_is_tried_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, stories("a"))

    def broken(*_: object) -> None:
        raise RuntimeError("the graph is closed")

    monkeypatch.setattr(atoms_step, "find_known_atom", broken)
    report = run(store, DAY)
    assert (report.verdict, report.clusters_compressed, report.atoms_created) == ("PARTIAL", 1, 0)
    assert report.errors[0].stage == "enrich" and "closed" in report.errors[0].error
    monkeypatch.undo()
    assert run(store, DAY + timedelta(days=1)).atoms_created == 1


@pytest.mark.parametrize(
    ("causal", "reason"),
    [
        pytest.param(Causal("build cache", "", "it stalls"), "no action", marks=pytest.mark.slow),
        (Causal("build cache", "was cold", "the bank rejects customers"), "unsupported"),
        pytest.param(Causal("build cache", "was cold", "it stalls " * 60), "a field of", marks=pytest.mark.slow),
    ],
)
def test_what_the_sources_do_not_say_is_skipped(store: Store, causal: Causal, reason: str) -> None:
    fill(store, stories("a"))
    night = night_of(store, DAY)
    run(store, DAY)
    with store.writing("test") as tx:
        ((made,),) = sql_rows(tx, "select memory_id from atom_candidates")
        tx.atoms.note_candidates([(made, "p", causal)], "run-x", night.as_of)
        sql_rows(tx, "update atoms set retracted_at = now()")
    report = run(store, DAY + timedelta(days=1))
    assert report.atoms_skipped == 1 and report.atoms[0].reason.startswith(reason)
    assert atoms_of(store) == []


def test_a_dry_run_shows_the_findings_and_writes_none(store: Store) -> None:
    fill(store, stories("a"))
    before = store.path.read_bytes()
    report = run(store, DAY, dry_run=True)
    assert report.atoms[0].subject == "build cache" and store.path.read_bytes() == before


@pytest.mark.slow
def test_atoms_stay_in_their_project(store: Store) -> None:
    fill(store, stories("a"), "p")
    fill(store, stories("b"), "q")
    assert run(store, DAY).atoms_created == 2
    assert {atom.project_id for atom in atoms_of(store)} == {"p", "q"}
    assert [found.atom.project_id for found in AtomIndex.of(store, Lexical(), "q", "test").nearest(
        "subject", Lexical().embed(["build cache"])[0], 0.5)] == ["q"]  # fmt: skip


def stated(store: Store, subject: str, action: str, outcome: str) -> Atom:
    return state_atom(store, Lexical(), "p", Causal(subject, action, outcome), "dana", NOW)


@pytest.mark.slow
def test_a_stated_atom_is_sure_and_stated_once(store: Store) -> None:
    fill(store, stories("a"))
    atom = stated(store, "build cache", "is cold", "deploys stall")
    assert atom.confidence == 1.0 and stated(store, "build cache", "is cold", "deploys stall") == atom
    assert atoms_of(store) == [atom] and atom.stated_by == "dana"
    run(store, DAY)
    roll_back(store, settings_for(store), RollbackScope(run_id="run-2026-03-03"))
    assert [left.id for left in atoms_of(store)] == [atom.id]


def test_stating_nonsense_is_an_error_with_the_mend(store: Store) -> None:
    fill(store, stories("a"))
    with pytest.raises(InputError, match="needs an outcome"):
        stated(store, "build cache", "is cold", " ")
    with pytest.raises(InputError, match="no memory 'nowhere'"):
        state_atom(store, Lexical(), "p", Causal("a", "b", "c"), "dana", NOW, ["nowhere"])


def test_search_goes_by_field_and_meaning_and_chains_follow_outcomes(store: Store) -> None:
    fill(store, stories("a"))
    cache = stated(store, "build cache", "is cold", "the deploy takes long")
    deploy = stated(store, "the deploy", "takes long", "customers see an old shop")
    shop = stated(store, "customers", "see an old shop", "support gets calls")
    stated(store, "printer", "jams", "labels are late")
    index = AtomIndex.of(store, Lexical(), "p", "test")
    assert [f.atom for f in search_atoms(index, Lexical(), "build cache", "subject", 5, 0.5)] == [cache]
    assert search_atoms(index, Lexical(), "build cache", "outcome", 5, 0.5) == []
    assert len(search_atoms(index, Lexical(), None, None, 3, 0.3)) == 3
    with pytest.raises(InputError, match="use subject, action or outcome"):
        search_atoms(index, Lexical(), "x", "colour", 5, 0.3)
    (chain,) = causal_chains(index, [cache])
    assert [found.atom for found in chain] == [cache, deploy, shop]
