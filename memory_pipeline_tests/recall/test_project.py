"""The memory of one project as agents use it."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError, NotFoundError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.documents import NewMemory
from memory_pipeline.recall.lineage import recalled
from memory_pipeline.recall.project import ProjectMemory, Uses
from memory_pipeline.recall.search import Match
from memory_pipeline.store import Store
from memory_pipeline.text.superseding import newer_of
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, memory, run, settings_for
from memory_pipeline_tests.interfaces.in_process import command


@pytest.fixture
def shop(tmp_path: Path) -> ProjectMemory:
    store = Store(tmp_path / "store.duckdb")
    fill(
        store,
        [
            candidate("The gateway drops requests when the certificate expires.", native_id="gateway"),
            candidate("Piano practice is on Tuesday evenings.", native_id="piano", project_id="home"),
            candidate("Invoices are sent on the first of a month.", native_id="invoices", categories=("billing",)),
        ],
        project="shop",
    )
    return ProjectMemory(store, settings_for(store), "shop", actor="agent")


@pytest.mark.slow
def test_a_program_opens_a_store_by_its_file(shop: ProjectMemory, tmp_path: Path) -> None:
    """In a process of its own: what it imports must not depend on what others have imported."""
    lines = f"import memory_pipeline; print(memory_pipeline.open({str(tmp_path / 'store.duckdb')!r}, 'shop').metrics())"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert "total_memories=2" in done.stdout


def test_a_search_finds_what_was_told_and_names_its_source(shop: ProjectMemory) -> None:
    (first, *_) = shop.search("certificate of the gateway").results
    assert (first.id, first.source, first.archived) == ("gateway", "test.jsonl:1", False)


def test_nothing_of_another_project_is_found_read_or_changed(shop: ProjectMemory) -> None:
    assert all(one.project_id == "shop" for one in shop.search("piano practice on Tuesday").results)
    for forbidden in (shop.get, shop.lineage, lambda i: shop.feedback(i, True)):
        with pytest.raises(InputError, match="project 'shop' has no memory 'piano'"):
            forbidden("piano")


def test_a_new_memory_is_found_at_once_and_has_its_secrets_masked(shop: ProjectMemory) -> None:
    words = "The staging password is password=hunter2secret and it rotates weekly."
    told = shop.remember(words)
    assert told.status == "created"
    assert "hunter2secret" not in told.memory.content
    assert shop.search("staging rotates weekly").results[0].id == told.id
    assert shop.remember(words).status == "unchanged"


def test_other_words_under_a_known_id_become_a_memory_of_their_own(shop: ProjectMemory) -> None:
    told = shop.remember(NewMemory(content="Invoices are sent on the second.", id="invoices"))
    assert told.status == "new_version"
    assert told.id != "invoices"
    assert shop.get("invoices").content == "Invoices are sent on the first of a month."


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"importance": 3.0}, "importance"),
        ({"memory_type": "gossip"}, "there is no memory type 'gossip'"),
        ({"created_at": "2999-01-01T00:00:00Z"}, "in the future"),
        ({"id": " a"}, "white space"),
    ],
)
def test_what_cannot_be_remembered_is_refused_by_name(
    shop: ProjectMemory, fields: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        shop.remember("The gateway restarts at night.", **fields)


def test_use_and_feedback_are_counted_and_importance_stays(shop: ProjectMemory) -> None:
    with shop:
        shop.search("certificate of the gateway")
        shop.feedback("gateway", was_useful=True)
        said = shop.feedback("gateway", was_useful=False)
    assert said.useful_count == 1
    frame = shop.memories()
    assert (frame.loc["gateway", "reuse_count"], frame.loc["gateway", "importance"]) == (1, 1.0)


def test_threads_that_write_at_once_take_turns(shop: ProjectMemory) -> None:
    said = "The lamp on floor {} flickers."
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(lambda n: shop.remember(said.format(n % 4)), range(8)))
        list(threads.map(lambda _: shop.feedback("gateway", was_useful=True), range(16)))
    assert sorted(one.status for one in told) == ["created"] * 4 + ["unchanged"] * 4
    frame = shop.memories()
    assert frame.loc["gateway", "useful_count"] == 16
    assert sum(frame["content"].str.contains("flickers")) == 4


def test_what_recall_answers_becomes_a_data_frame(shop: ProjectMemory) -> None:
    found = shop.search("certificate of the gateway")
    frame = found.to_frame()
    assert list(frame.index) == [one.id for one in found.results] and frame.index.name == "id"
    assert frame.loc["gateway", "content"] == found.results[0].content and frame["relevance_score"].dtype == float
    empty = shop.search("certificate of the gateway", levels=[3]).to_frame()
    assert len(empty) == 0 and list(empty.columns) == list(frame.columns)
    listings = shop.context("renew the certificate"), shop.lineage("gateway"), shop.playbook(), shop.atoms()
    assert [len(one.to_frame()) for one in listings] == [len(getattr(one, one.listed)) for one in listings]


def test_a_relevance_is_never_more_than_1(shop: ProjectMemory) -> None:
    boosted = memory("m", "The gateway drops requests.", FIRST)
    assert recalled(Match(boosted, 1.0925), scored=True).relevance_score == 1.0
    assert shop.search("certificate of the gateway").results[0].relevance_score == 1.0


def test_filters_narrow_a_search(shop: ProjectMemory) -> None:
    assert [one.id for one in shop.search("requests and invoices", categories=["billing"]).results] == ["invoices"]
    assert shop.search("gateway certificate", since="2026-03-02").results == ()
    with pytest.raises(InputError, match="there is no level '7'"):
        shop.search("gateway", levels=[7])


@pytest.mark.parametrize(
    ("query", "limit", "said"), [("ab", 5, "too short"), ("abc", 0, "1 to 100"), ("a" * 9000, 5, "at most")]
)
def test_a_query_out_of_range_is_refused(shop: ProjectMemory, query: str, limit: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        shop.search(query, limit)


def test_metrics_count_the_project_alone(shop: ProjectMemory) -> None:
    metrics = shop.metrics()
    assert (metrics.total_memories, metrics.raw_memories, metrics.reduction_percentage) == (2, 2, 0.0)
    assert metrics.next_run_at is not None


def test_an_id_of_another_project_tells_nothing_of_it(shop: ProjectMemory) -> None:
    told = shop.remember("The scales need new batteries.", id="piano")
    assert (told.status, told.id != "piano") == ("created", True)
    assert shop.remember("The scales need new batteries.", id="piano").status == "unchanged"


def test_what_is_best_among_the_irrelevant_has_no_high_score(shop: ProjectMemory) -> None:
    best = shop.search("the certificate expires").results[0].relevance_score
    worst = shop.search("the lasagne and the oven").results
    assert best is not None and best > 0.9
    assert all(one.relevance_score is not None and one.relevance_score < 0.5 for one in worst)


def test_a_search_gives_few_right_hits_and_a_filtered_one_all_of_them(store: Store) -> None:
    """Notes that share a small word with a question answer it far worse than one that says it."""
    rows = [candidate("The gateway drops requests when its certificate expires.", native_id="answer")]
    for sent in ("invoice", "photo", "ticket", "menu", "letter", "parcel"):
        rows += [candidate(f"Dana sends the {sent} by mail before a holiday.", native_id=sent)]
    fill(store, rows, project="shop")
    shop = ProjectMemory(store, settings_for(store), "shop", actor="agent")
    question = "Are requests dropped by mail when the certificate expires?"
    found = shop.search(question)
    assert [one.id for one in found.results] == ["answer"] and found.total_found == 1
    assert shop.search(question, since="2000-01-01").total_found == len(rows)
    assert [one.id for one in shop.search(question, as_of="now").results] == ["answer"]


def test_who_asks_for_a_day_gets_what_there_is(shop: ProjectMemory) -> None:
    assert shop.search("zzz qqq").results == ()
    assert {one.id for one in shop.search("zzz qqq", until="2026-03-01").results} == {"gateway", "invoices"}


def _recall_often(path: Path) -> None:
    Uses(Store(path), "agent").add(["gateway"] * 2000)


def test_counts_of_use_under_way_are_written_before_a_process_ends(shop: ProjectMemory, tmp_path: Path) -> None:
    assert processes.run(_recall_often, tmp_path / "store.duckdb").returncode == 0
    with Store(tmp_path / "store.duckdb").reading() as tx:
        assert tx.memories.read(["gateway"])["gateway"].reuse_count == 2000


def test_counts_of_use_wait_when_they_cannot_be_written(shop: ProjectMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.search("certificate of the gateway")
    with monkeypatch.context() as broken:
        broken.setattr(Store, "writing", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
        with pytest.raises(OSError, match="no space"):
            shop.close()
    shop.close()
    assert shop.memories().loc["gateway", "reuse_count"] == 1


def test_feedback_on_a_memory_that_is_out_of_use_says_so(store: Store) -> None:
    fill(store, [*lesson(), candidate("The gateway keeps its old key for 15 minutes.", native_id="gateway")])
    run(store, FIRST.date() + timedelta(days=3))
    with store.reading() as tx:
        archived = next(one for one in tx.memories.all() if one.archived_at is not None)
    shop = ProjectMemory(store, settings_for(store), "p", actor="agent")
    note = shop.feedback(archived.id, was_useful=True).note
    assert note is not None and note.startswith(f"it was archived into '{archived.consolidated_into_id}' on ")
    assert shop.feedback("gateway", was_useful=True).note is None


def test_words_of_headings_and_lead_ins_are_found_also_when_they_came_later(store: Store) -> None:
    note = candidate("Average: 45 euros.", native_id="gino", lead_in="Lunch at the harbour:")
    fill(store, [note, *(candidate(f"Note {n} on ships.", native_id=f"n{n}") for n in range(5))])
    memory = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    (found,) = memory.search("harbour", mode="bm25").results
    assert (found.id, found.subject, found.words_in_place) == (
        "gino", "Lunch at the harbour:", "Lunch at the harbour: Average: 45 euros.",
    )  # fmt: skip
    fill(store, [replace(note, lead_in="Lunch at the quay:", headings=("Da Gino",))])
    assert memory.search("harbour", mode="bm25").results == ()
    assert memory.search("Gino", mode="bm25").results[0].subject == "Da Gino › Lunch at the quay:"


@pytest.mark.parametrize(("quality", "first"), [("exact", "later"), ("mtime", "dated"), ("import", "dated")])
def test_what_nobody_knows_the_day_of_is_not_the_newest(store: Store, quality: str, first: str) -> None:
    """A file without dates that was saved today says nothing of when its lines were true."""
    later = FIRST + timedelta(days=30)
    notes = [
        candidate("The default branch of the shop is main since the release.", FIRST, native_id="dated"),
        candidate("The default branch of the shop is trunk.", later, native_id="later", created_at_quality=quality),
    ]
    fill(store, notes, project="shop")
    shop = ProjectMemory(store, settings_for(store), "shop", actor="agent")
    found = shop.search("default branch of the shop").results
    assert found[0].id == first


def test_a_later_value_in_other_words_stands_before_the_one_that_answers_better(store: Store) -> None:
    notes = [
        candidate("The monthly budget for books is 40 euros.", FIRST, native_id="old"),
        candidate(
            "We raised the budget for books to 55 euros for the summer.", FIRST + timedelta(hours=2), native_id="new"
        ),
        *(candidate(f"Note {n} on ships.", FIRST, native_id=f"n{n}") for n in range(5)),
    ]
    fill(store, notes, project="shop")
    shop = ProjectMemory(store, settings_for(store), "shop", actor="agent")
    first, second = shop.search("What is the monthly budget for books?", explain=True).results[:2]
    assert (first.id, second.id) == ("new", "old")
    assert first.explanation is not None and first.explanation.lifted


@pytest.mark.parametrize(("quality", "newer"), [("exact", "b"), ("mtime", None)])
def test_what_nobody_knows_the_day_of_supersedes_nothing(quality: str, newer: str | None) -> None:
    older = memory("a", "The billing service uses PostgreSQL 15.")
    later = memory(
        "b", "The billing service uses PostgreSQL 16.", FIRST + timedelta(days=6), created_at_quality=quality
    )
    found = newer_of(older, later)
    assert (found and found.id) == newer


def test_the_beginning_of_an_id_does_for_it(store: Store) -> None:
    ids = [f"b1c6faf{n}-0000-4000-8000-00000000000{n}" for n in range(2)]
    fill(store, [candidate(f"Note {n} on the harbour.", native_id=one) for n, one in enumerate(ids)])
    shop = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    assert shop.get(ids[1][:8]).id == shop.lineage(ids[1][:8]).id == ids[1]
    with pytest.raises(InputError, match="begins the ids of several"):
        shop.get("b1c6fa")
    for unknown in ("b1c6fb", "b1c"):
        with pytest.raises(NotFoundError):
            shop.get(unknown)
    assert command("show", ids[1][:8], "--store", store.path).out.startswith("Note 1")
    refused = command("show", "b1c6fa", "--store", store.path)
    assert refused.code == 1 and "write more of one" in refused.err


def test_a_history_counts_uses_that_follow_each_other_in_one_line(store: Store) -> None:
    fill(store, [candidate("The staging database listens on port 5433.", native_id="db")])
    with ProjectMemory(store, settings_for(store), "p", actor="agent", embedder=Lexical()) as shop:
        for _ in range(3):
            shop.feedback("db", was_useful=True)
    told = command("show", "db", "--store", store.path).out
    assert ": 3 times recalled or called useful" in told and "useful_count" not in told
    assert len(json.loads(command("show", "db", "--json", "--store", store.path).out)["history"]) == 4


def test_what_nobody_knows_the_day_of_stands_under_no_day(store: Store) -> None:
    notes = [
        candidate("The courier comes at 15:45.", FIRST, native_id="dated"),
        candidate("The courier rings twice.", FIRST + timedelta(days=60), native_id="file", created_at_quality="mtime"),
    ]
    fill(store, notes)
    with ProjectMemory(store, settings_for(store), "p", actor="agent") as shop:
        found = shop.context("when does the courier come")
    assert {one.id: one.undated for one in found.items} == {"dated": False, "file": True}
    assert "\nUndated\n- The courier rings twice." in found.text and "Apr" not in found.text


def test_a_memory_says_when_its_last_copy_was_told(store: Store) -> None:
    line = "The backup of the practice ran at 02:00 and is complete."
    fill(store, [candidate(line, FIRST + timedelta(days=3 * n), native_id=f"b{n}") for n in range(3)])
    run(store, (FIRST + timedelta(days=9)).date())
    with ProjectMemory(store, settings_for(store), "p", actor="agent") as shop:
        (found,) = shop.search("backup of the practice").results
        (piece,) = shop.context("backup of the practice").items
    last = (FIRST + timedelta(days=6)).date()
    assert (found.id, found.told_again, piece.day) == ("b0", last, last)
    assert found.words_in_place == f"{line} (told again {last})"


def test_of_three_values_the_last_comes_first(store: Store) -> None:
    teas = ("favourite tea is Assam.", "favourite tea is Darjeeling now.", "favourite tea is Sencha these days.")
    notes = [candidate(f"Dana's {tea}", FIRST + timedelta(days=4 * n), native_id=f"t{n}") for n, tea in enumerate(teas)]
    fill(store, [*notes, *(candidate(f"Note {n} on the harbour.", FIRST) for n in range(5))])
    with ProjectMemory(store, settings_for(store), "p", actor="agent") as shop:
        found = [one.id for one in shop.search("what is Dana's favourite tea").results]
    assert found[:3] == ["t2", "t1", "t0"]


def test_what_names_its_last_day_is_in_no_context_when_that_is_past(store: Store) -> None:
    """Whoever gave it the tag, with a model or without."""
    last = {"over": "2026-03-04", "lasts": "2999-01-01", "odd": "spring"}
    notes = [candidate(f"Berta has key {n}.", native_id=n, tags=(f"until:{day}",)) for n, day in last.items()]
    fill(store, notes)
    with ProjectMemory(store, settings_for(store), "p", actor="agent") as shop:
        found = {one.id: one.words_in_place for one in shop.search("which key has Berta").results}
        assert {one.id for one in shop.context("which key has Berta").items} == {"lasts", "odd"}
        past = shop.search("which key has Berta", as_of="2026-03-20").results
        told = shop.remember("Berta is away.", tags=("until:2026-03-09",))
    assert found["over"] == "Berta has key over. (until 2026-03-04)" and found["odd"] == "Berta has key odd."
    assert {one.id: one.until for one in past}["over"] == date(2026, 3, 4) and told.memory.until == date(2026, 3, 9)
