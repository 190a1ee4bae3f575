"""Merging texts: nothing distinct is lost, nothing is said twice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation.merging import find_unmerged, merge_contents, tells_several
from memory_pipeline.models import conflicts
from memory_pipeline.models.relations import Relation
from memory_pipeline.text.entries import Entry, entry_text, find_loss, is_entry, read_entry, unite_entries
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.whole import keeps
from memory_pipeline_tests.build import memory

_WORDS = st.sampled_from(
    "gateway restart key rotate cache deploy not never 5 15 minutes Dana 2026-03-01 `make build` order before after "
    "must port 5432 failed passed all some webshop staging".split(" ")
)
# No word twice: of `gateway gateway gateway` and the same with a fourth, neither holds more than the other.
_SENTENCE = st.lists(_WORDS, min_size=3, max_size=9, unique=True).map(lambda words: " ".join(words).capitalize() + ".")
_CONTENT = st.lists(_SENTENCE, min_size=1, max_size=3).map(" ".join)


@given(st.lists(_CONTENT, min_size=2, max_size=4))
@settings(deadline=None)
def test_every_statement_and_every_fact_is_held_by_the_merged_text(contents: list[str]) -> None:
    merged = merge_contents(contents)
    assert find_unmerged(contents, merged) == []
    assert all(keeps(merged, fact) for content in contents for fact in find_facts(content))


@given(st.lists(_CONTENT, min_size=1, max_size=3))
@settings(deadline=None)
def test_merging_again_changes_nothing(contents: list[str]) -> None:
    merged = merge_contents(contents)
    assert merge_contents([merged]) == merged and find_unmerged([merged], merged) == []


def test_what_is_merged_begins_without_a_lead_in() -> None:
    fuller = "Reminder: Long jobs get preempted on the cluster. Resuming needs the optimizer state."
    merged = merge_contents([fuller, "Once more: Long jobs get preempted on the cluster."])
    assert merged == fuller.removeprefix("Reminder: ")


def test_what_a_fuller_statement_took_in_stays_when_a_still_fuller_one_replaces_it() -> None:
    contents = ["Gateway gateway gateway.", "Gateway gateway gateway order.", "Gateway gateway order port 5432."]
    for order in (contents, contents[::-1]):
        assert find_unmerged(contents, merge_contents(order)) == []


def test_the_fuller_wording_stays_to_the_letter() -> None:
    fuller = "- Restart the **gateway** after rotating keys.\n- It takes 15 minutes."
    assert merge_contents(["Restart the gateway after rotating keys.", fuller]) == fuller


def test_what_a_later_statement_leaves_out_may_no_longer_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "relation_of", lambda *_: Relation(contradicts=0.2, same=0.0, compatible=0.8))
    fuller, plain = "Backups run nightly on the NAS in Leipzig.", "Backups run nightly on the NAS."
    assert merge_contents([plain, fuller]) == fuller
    assert merge_contents([fuller, plain]) == f"{fuller} {plain}"


def test_statements_that_contradict_each_other_both_stay() -> None:
    merged = merge_contents(["Billing depends on catalogue.", "Catalogue depends on billing."])
    assert merged == "Billing depends on catalogue. Catalogue depends on billing."


def test_texts_that_tell_of_two_things_or_two_times_are_no_near_copies() -> None:
    assert tells_several(["High band: 86% accurate", "Very-high band: 87% accurate"])
    assert tells_several(
        ["Queue: 0 pending. Session saved and closed.", "Queue: 24 pending. Session saved and closed."]
    )
    assert tells_several(["WEAKEST: code quality. The session is saved.", "WEAKEST: relevance. The session is saved."])
    assert not tells_several(
        ["Note 4: the disk fails when it is full.", "Note 4: **the disk** fails, when it is full!"]
    )
    assert not tells_several(["Restart the gateway.", "Restart the gateway. It takes 15 minutes."])


def test_an_entry_is_read_from_its_lines() -> None:
    text = (
        "**Title:** Rotate keys\nRecommendation: Restart it.\n- Then wait.\nExamples:\n- S-1: orders lost\n- seen twice"
    )
    entry = read_entry(memory("k", text, tags=("t",)))
    assert is_entry(text) and not is_entry("Title: no advice")
    assert entry.title == "Rotate keys" and entry.recommendations == ("Restart it.", "Then wait.")
    assert entry.examples == (("S-1", "orders lost"), ("2026-03-01", "seen twice"))


def test_a_plain_text_becomes_an_entry_too() -> None:
    entry = read_entry(memory("k", "Lesson: Always restart the gateway. It kept the old key for 15 minutes."))
    assert entry.recommendations == ("Always restart the gateway.",)
    assert entry.examples == (("2026-03-01", "It kept the old key for 15 minutes."),)


def test_a_loss_is_named() -> None:
    members = [("a", Entry("T", ("Do this.",), (("S-1", "x"),), ("t",))), ("b", Entry("T", ("Do that.",)))]
    united = unite_entries(members)
    assert find_loss(members, entry_text(united), united.tags) == []
    broken = entry_text(united).replace("Do that.", "Do it.").replace("S-1: x", "S-1: y")
    lost = find_loss(members, broken, ())
    assert [text.partition(":")[0] for text in lost] == ["'a'", "'a'", "'b'"]
    assert find_loss(members[:1], entry_text(united), united.tags) == [
        "merged_from does not name the 1 members of the cluster"
    ]


_LINE = (
    st.text("abc DE-.:12'", min_size=1, max_size=20).map(str.strip).filter(lambda text: any(c.isalpha() for c in text))
)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(_LINE, min_size=1, max_size=3), st.lists(st.tuples(_LINE, _LINE), max_size=3)),
        min_size=2,
        max_size=4,
    )
)
def test_a_canonical_entry_is_verified_or_refused_but_never_quietly_wrong(
    given: list[tuple[list[str], list[tuple[str, str]]]],
) -> None:
    """Reading a canonical entry back finds everything of its members, unless a text breaks the form."""
    members = []
    for number, (advice, examples) in enumerate(given):
        lines = [
            "Title: t",
            *(f"Recommendation: {a}" for a in advice),
            "Examples:",
            *(f"- {s}: {c}" for s, c in examples),
        ]
        members.append((f"m{number}", read_entry(memory(f"m{number}", "\n".join(lines)))))
    united = unite_entries(members)
    text = entry_text(united)
    if find_loss(members, text, united.tags) == []:
        again = read_entry(memory("c", text))
        assert {a for _, e in members for a in e.recommendations} >= set(again.recommendations)


def test_recommendations_are_united_if_they_are_equal_and_never_because_they_are_alike() -> None:
    one = Entry("Retry", ("Send the error to a handler that reaches a handler.", "Ask for a receipt."))
    two = Entry("Retry", ("Send the error to a handler that reaches any handler.", "**ask  for a receipt**"))
    members = [("m-1", one), ("m-2", two)]
    united = unite_entries(members)
    assert sorted(united.recommendations) == sorted((*one.recommendations, two.recommendations[0]))
    assert find_loss(members, entry_text(united), united.tags) == []
    lacking = entry_text(united).replace("- Send the error to a handler that reaches any handler.\n", "")
    assert [text.partition(":")[0] for text in find_loss(members, lacking, united.tags)] == ["'m-2'"]


def test_the_time_of_one_of_several_is_not_said_of_all() -> None:
    later = "2026-02-20 03:02 UTC - Heartbeat: spawning and hooks working, benchmark 9/9"
    merged = merge_contents(["2026-02-20 02:31 UTC - Heartbeat: spawning working, benchmark 9/9", later])
    assert merged == later
    fuller = "2026-02-20 02:31 UTC - Heartbeat: spawning and hooks working, benchmark 9/9 on the small host"
    assert (
        merge_contents([fuller, later])
        == "2026-02-20: Heartbeat: spawning and hooks working, benchmark 9/9 on the small host"
    )
    assert find_unmerged([later], merged) == [] and merge_contents([later, merged]) == merged
    assert merge_contents([later, later]) == later
    next_day = later.replace("02-20 03:02", "02-21 03:02")
    assert merge_contents([later, next_day]) == "Heartbeat: spawning and hooks working, benchmark 9/9"
