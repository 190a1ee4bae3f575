"""Short handles: as many letters as tell an id from all others, and taken wherever an id is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError, NotFoundError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records.identifiers import SHORTEST, Handles, hash_letters
from memory_pipeline.store import Store
from memory_pipeline.store.rows import only_one
from memory_pipeline_tests.build import candidate, fill, settings_for

#: Two ids whose hashes begin with the same four letters.
TWINS = ("m-249", "m-741")


@given(st.lists(st.text(min_size=1, max_size=30), unique=True, max_size=40), st.integers(0, 40))
def test_each_handle_stands_for_its_own_id_whenever_the_others_came(ids: list[str], later: int) -> None:
    handles = Handles([*ids[later:], *ids[:later]])
    assert all(handles.whole_id(handles.shorten(one)) == one for one in ids)
    assert all(handles.whole_id(f"^{hash_letters(one)}") == one for one in ids)
    grown = Handles(ids[:later]).with_further(ids[later:])
    assert [grown.shorten(one) for one in ids] == [handles.shorten(one) for one in ids]


def test_a_handle_is_longer_only_where_others_begin_alike() -> None:
    handles = Handles(("m-1", *TWINS))
    assert len(handles.shorten("m-1")) == SHORTEST < len(handles.shorten(TWINS[0]))
    with pytest.raises(InputError, match=r"stands for 2 ids \(.*m-\d+, m-\d+\); give one of these"):
        handles.whole_id(hash_letters(TWINS[0])[:SHORTEST])
    assert handles.whole_id("zzzz") == "zzzz" and handles.whole_id("m-1") == "m-1"


def test_what_takes_the_start_of_an_id_takes_a_handle() -> None:
    handle = Handles(["f3b0"]).shorten("f3b0")
    assert only_one({"f3b0": 1, "f3b1": 2}, f"^{handle}", "pattern", "look") == 1


@pytest.fixture
def mine(store: Store) -> ProjectMemory:
    fill(store, [candidate(f"The gateway has {n} nodes.", native_id=one) for n, one in enumerate((*TWINS, "abcd"))])
    fill(store, [candidate("Piano practice is on Tuesdays.", native_id="piano", project_id="home")])
    return ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())


def test_a_handle_of_a_context_is_taken_by_every_question_about_a_memory(mine: ProjectMemory, store: Store) -> None:
    items = mine.context("how many nodes has the gateway").items
    assert {item.id for item in items} == {*TWINS, "abcd"}
    for item in items:
        assert mine.get(item.handle).id == mine.get(f"^{item.handle}").id == item.id
        assert mine.lineage(item.handle).id == mine.feedback(item.handle, True).memory_id == item.id
        with store.reading() as tx:
            assert tx.history.of(item.handle) == tx.history.of(item.id)


def test_an_id_that_looks_like_a_handle_is_an_id(mine: ProjectMemory) -> None:
    assert mine.get("abcd").id == mine.lineage("abcd").id == "abcd"


def test_handles_that_are_ambiguous_unknown_or_of_another_project_are_refused(mine: ProjectMemory) -> None:
    for ask in (mine.get, mine.lineage, lambda one: mine.feedback(one, True)):
        with pytest.raises(InputError, match="stands for 2 ids"):
            ask(hash_letters(TWINS[0])[:SHORTEST])
        for unknown in ("zzzz", hash_letters("piano")[:SHORTEST]):
            with pytest.raises(NotFoundError, match=f"has no memory '{unknown}'"):
                ask(unknown)
