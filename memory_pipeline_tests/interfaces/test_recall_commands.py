"""The commands with which people and agents use a memory: search, context, remember, feedback, lineage, metrics."""

from __future__ import annotations

import io
import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.interfaces.mcp.tools import as_hit
from memory_pipeline.interfaces.operations import lineage_lines, search_lines
from memory_pipeline.recall.documents import SearchResults
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Conflict
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.in_process import command

pytestmark = pytest.mark.usefixtures("in_home")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "data" / "store.duckdb")
    fill(
        store,
        [
            candidate("The gateway drops requests when the certificate expires.", native_id="gateway"),
            candidate("Piano practice is on Tuesday evenings.", native_id="piano", project_id="home"),
        ],
        project="shop",
    )
    return store


@pytest.mark.usefixtures("store")
def test_a_search_prints_score_day_level_type_id_and_words() -> None:
    done = command("search", "certificate of the gateway", "--project", "shop")
    words = done.out.splitlines()[0].split("  ")
    assert words[1:4] == ["2026-03-01", "raw/other", "gateway"]
    assert words[4] == "The gateway drops requests when the certificate expires."


def test_a_search_says_what_is_undated_and_what_was_lifted(store: Store) -> None:
    words = "The price of celadon glaze is {} EUR."
    fill(
        store,
        [
            candidate(words.format(11), FIRST + timedelta(days=90), native_id="file", created_at_quality="mtime"),
            candidate(f"{words.format(16)} It was told to all.", FIRST, native_id="log"),
        ],
        project="shop",
    )
    asked = ("search", "price of celadon glaze", "--project", "shop")
    lines = [line.split("  ") for line in command(*asked).out.splitlines()]
    assert (lines[0][1:4], lines[1][1].strip()) == (["2026-03-01", "raw/other/newer", "log"], "undated")
    assert lines[0][0] < lines[1][0], "its score is the lower one"
    results = json.loads(command(*asked, "--json").out)["results"]
    assert [(one["id"], one["newer"], one["undated"]) for one in results[:2]] == [
        ("log", True, False),
        ("file", False, True),
    ]


def test_what_contradicts_a_long_memory_is_said_however_little_of_it_is_shown(store: Store) -> None:
    told = {"old": "The shed has no electricity. " + "It rained on the shed. " * 40, "new": "Elektrik is in the shed."}
    fill(store, [candidate(words, FIRST + timedelta(n), native_id=i) for n, (i, words) in enumerate(told.items())])
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", "new", "old", "contradiction", "in other words", 0.6)], FIRST)
    found = ProjectMemory(store, settings_for(store), "p", actor="test").search("the shed").results
    (old,) = (memory for memory in found if memory.id == "old")
    results = SearchResults(results=(old,), total_found=1, search_time_ms=0)
    for width in (80, None):
        assert "(a later note of 2026-03-02 says otherwise: new)" in search_lines(results, width)[-1]
    hit = as_hit(old)
    assert hit["text"].endswith("(a later note of 2026-03-02 says otherwise: new)") and len(hit["text"]) < 700
    assert (hit["contradicted_by"], hit["contradicted_on"]) == ("new", "2026-03-02")


@pytest.mark.usefixtures("store")
def test_a_search_is_narrowed_to_a_type_of_pattern() -> None:
    asked = ("search", "certificate of the gateway", "--project", "shop", "--json", "--pattern")
    assert json.loads(command(*asked, "failure", "--pattern", "gotcha").out)["results"] == []
    assert "there is no pattern type 'gossip'; use success, failure" in command(*asked, "gossip").err


@pytest.mark.usefixtures("store")
def test_a_project_must_be_named_only_where_there_are_several() -> None:
    done = command("context", "gateway")
    assert (done.code, done.err) == (
        1,
        "Error: the store has several projects; name one with --project: home, shop\n",
    )
    assert command("search", "gateway", "--project", "hone").told == (
        "Error: there is no project 'hone'; name one with --project: home, shop"
    )


@pytest.mark.usefixtures("store")
def test_a_search_without_a_project_looks_in_all_of_them() -> None:
    command("remember", "The gateway of the garden gate is green.", "--project", "home")
    found = json.loads(command("search", "gateway", "--json").out)
    scores = [one["relevance_score"] for one in found["results"]]
    assert {one["project_id"] for one in found["results"]} == {"home", "shop"} and scores == sorted(
        scores, reverse=True
    )
    lines = command("search", "gateway", "--limit", "2").out.splitlines()
    assert len(lines) == 2 and {line.split("  ")[2].split("/")[0] for line in lines} == {"home", "shop"}


def test_in_all_projects_the_later_value_stands_first_too(store: Store) -> None:
    notes = ("The monthly budget for books is 40 euros.", "We raised the budget for books to 55 euros for the summer.")
    others = [candidate(f"Note {n} on ships.", FIRST) for n in range(5)]
    told = [candidate(text, FIRST + timedelta(hours=2 * n)) for n, text in enumerate(notes)]
    fill(store, [*told, *others], project="books")
    asked = ("search", "What is the monthly budget for books?", "--json")
    alone, in_all = (json.loads(command(*asked, *more).out)["results"] for more in (("--project", "books"), ()))
    assert [one["content"] for one in alone[:2]] == [*notes[::-1]]
    assert alone[0]["relevance_score"] < alone[1]["relevance_score"]
    assert [one["id"] for one in in_all if one["project_id"] == "books"] == [one["id"] for one in alone]


@pytest.mark.usefixtures("store")
def test_what_is_remembered_is_found_by_the_next_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("The relay restarts at noon.\n"))
    told = json.loads(command("remember", "-", "--project", "home", "--type", "fact", "--json").out)
    assert told["memory"]["content"] == "The relay restarts at noon."
    found = json.loads(command("search", "when does the relay restart", "--project", "home", "--json").out)
    assert (found["results"][0]["id"], found["results"][0]["memory_type"]) == (told["id"], "fact")


def test_what_is_told_now_is_later_than_what_was_noted() -> None:
    before = ("remember", "The staging port is 5432.", "--project", "ports", "--create", "--at", "2026-02-20T10:00Z")
    assert (
        command(*before).code == 0
        and command("remember", "The staging port is 5433 now.", "--project", "ports").code == 0
    )
    found = json.loads(command("search", "staging port", "--project", "ports", "--json").out)
    assert "5433" in found["results"][0]["content"]
    assert "Undated" not in command("context", "staging port", "--project", "ports").out


def test_a_mistyped_project_is_not_begun(store: Store) -> None:
    assert command("remember", "The relay restarts at noon.", "--project", "shob").code == 1
    assert command("remember", "The relay restarts at noon.", "--project", "garden", "--create").code == 0
    with store.reading() as tx:
        assert tx.memories.projects() == ["garden", "home", "shop"]


def test_a_memory_can_be_the_first_of_its_store() -> None:
    assert command("remember", "The relay restarts at noon.", "--project", "home", "--create").code == 0
    assert "relay" in command("search", "when does the relay restart").out


@pytest.mark.usefixtures("store")
def test_secrets_are_masked_and_the_command_says_so() -> None:
    told = command("remember", "The staging login is password=hunter2secret for all.", "--project", "shop").out
    assert "Masked: 1" in told
    assert "hunter2secret" not in told


@pytest.mark.usefixtures("store")
def test_feedback_and_uses_are_counted() -> None:
    command("search", "certificate of the gateway", "--project", "shop")
    said = command("feedback", "gateway", "--project", "shop")
    assert said.out == "gateway: called useful 1 time, recalled 1 time.\n"


@pytest.mark.usefixtures("store")
def test_commands_take_the_handle_of_a_context_for_an_id() -> None:
    of_shop = ("--project", "shop")
    text = command("context", "the certificate of the gateway", *of_shop).out
    assert text.startswith("# Memory\n\n1 Mar 2026\n- The gateway drops requests when the certificate expires. ^")
    handle = text.split()[-1]
    assert command("feedback", handle, *of_shop).out.startswith("gateway: called useful 1 time")
    assert "gateway  The gateway drops" in command("lineage", handle.removeprefix("^"), *of_shop).out
    assert command("history", handle).out == command("history", "gateway").out != ""
    assert "(test.jsonl:1) ^" in command("context", "the certificate of the gateway", "--sources", *of_shop).out


@pytest.mark.usefixtures("store")
def test_metrics_and_context_speak_of_one_project() -> None:
    figures = command("metrics", "--project", "shop").out
    assert "Memories        1 active, 0 archived" in figures
    assert "Last night      none" in figures
    assert "Piano" not in command("context", "practice on the gateway", "--project", "shop").out


@pytest.mark.slow
def test_metrics_tell_the_day_of_the_last_night_which_may_have_been_backfilled(tmp_path: Path) -> None:
    store = Store(tmp_path / "nights.duckdb")
    fill(store, lesson(5))
    for day in (4, 3):
        run(store, date(2026, 3, day), settings_for(store))
    told = command("metrics", "--store", str(store.path)).out
    assert "Last night      that of 2026-03-03, run " in told and " UTC, " in told


def test_lines_fit_the_terminal(tmp_path: Path) -> None:
    store = Store(tmp_path / "wide.duckdb")
    fill(store, lesson(5))
    settings = settings_for(store, consolidation__confidence__min=0.5)
    run(store, date(2026, 3, 3), settings)
    memory = ProjectMemory(store, settings, "p", actor="a")
    found = memory.search("payment gateway", include_sources=True)
    (pattern, *_) = [one for one in found.results if one.abstraction_level]
    told = [*search_lines(found, 60), *lineage_lines(memory.lineage(pattern.id), 60)]
    assert all(len(line) <= 60 or pattern.id in line or "gateway-" in line for line in told)
    tree = lineage_lines(memory.lineage(pattern.id), None)
    assert len(tree) == 6
    assert all("archived" in line for line in tree[1:])
    replaced = lineage_lines(memory.lineage("gateway-0"), None)
    assert replaced[1] == "Replaced by:"
    assert pattern.id in replaced[2]
