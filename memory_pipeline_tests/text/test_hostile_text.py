"""Reading a text takes time in proportion to its length, whatever the text is."""

from __future__ import annotations

import time
from datetime import date

import pytest

from memory_pipeline.files.markers import (
    block_in,
    export_of,
    is_as_written,
    parted,
    seal_in,
    seal_of_block,
    without_block,
    without_blocks,
)
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.foreign import blank_wrappers, why_no_memory, without_scores
from memory_pipeline.ingest.formats.basic_memory import is_relation, split_observation
from memory_pipeline.ingest.formats.brain import archived_here
from memory_pipeline.ingest.formats.chatgpt import without_citations
from memory_pipeline.ingest.formats.claude_transcripts import humans_own
from memory_pipeline.ingest.formats.letta import without_reminders
from memory_pipeline.ingest.formats.openclaw_events import without_what_was_brought
from memory_pipeline.ingest.markdown import parse_note, split_front_matter
from memory_pipeline.ingest.openclaw_files import is_written_by_program
from memory_pipeline.ingest.turns import without_put_in
from memory_pipeline.models.conflicts import find_conflict, says
from memory_pipeline.periods.days import Entry
from memory_pipeline.periods.making import without_copies
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import check_answer
from memory_pipeline.reading.extraction import found_by_classifier, locate
from memory_pipeline.reading.items import Item, Standing
from memory_pipeline.reading.marks import noted_in, own_sentences
from memory_pipeline.text.days import with_days
from memory_pipeline.text.entries import claim_of
from memory_pipeline.text.facts import content_words, find_facts
from memory_pipeline.text.hidden import unwrapped
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.normalise import (
    embedding_text,
    line_shape,
    plain_text,
    shape_hash,
    strip_leading,
)
from memory_pipeline.text.place_names import holds_readings
from memory_pipeline.text.quoting import link_text, quoted, yaml_text
from memory_pipeline.text.readings import read_memory, series_of
from memory_pipeline.text.sentences import split_statements, strip_lead_in
from memory_pipeline.text.series_words import describe_series, is_true, line_in
from memory_pipeline.text.subject import NO_LEAD_IN, heading_words, lead_in_from, with_subject
from memory_pipeline.text.threads import find_threads, opens
from memory_pipeline.text.whole import is_cut_off, whole_part
from memory_pipeline.workspace.directory import stem_of
from memory_pipeline_tests.build import NOW, memory
from memory_pipeline_tests.reading.answering import answer as kept
from memory_pipeline_tests.reading.answering import statement
from memory_pipeline_tests.reading.saying import turn

#: Each of these, written again and again, once took time with the square or the cube of its length.
_HOSTILE = [
    " ", "\t", "\n", "-", "_", ".", "[", "](", "[a](", "a-", "A-", "A1-", "a.", "a_", "a/", "- ", "> ", "1. ", "`a",
    "SECURITY NOTICE: The following content is from an EXTERNAL", "<<<EXTERNAL_UNTRUSTED_CONTENT",
    "\n<system-reminder>", "x</system-reminder>\n",
    "( a. ", "e.g. ", "Aa ", "Note: ", "Title: x\n", "title:\n", "not ", "should a ", "Jan ", "1-", "1,111,", "a@a.",
    "passed ", "GPT4 ", "*", "Sender (untrusted metadata):\n{", "<system-reminder>", "a@b:~$ x\n", "[Telegram x id:1",
    "[message_id: ", "today ", "next Friday ", "5 Jan, ", "2026-01-05 ", "{'a. A ", "['a ", "{'", "{'a'. ",
    '{"series": [', '{"a": ', "<!doctype html>", "---\n", "---\nseal: ",
    "<!-- memory-pipeline:a:start -->", "<command-args>", "【a†", "\ue200a", "[2026-01-01 ", "a: &a [*a]\n",
    "a;", "so ", "```\n", "~~~~\n", "|a", "| a |\n",
    "[[a", "[[a|", " #a",
    "<!-- memory-pipeline:x:start -->\n",
]  # fmt: skip
#: Characters that are read, and the seconds of CPU that they may take. It is a twentieth of one; what this test is for
#: takes four.
_LENGTH, _LIMIT_S = 3_000, 3.0


def told_as_series(text: str) -> None:
    """A text as the line of a series."""
    series = series_of(read_memory(one, NOW, text) for one in "ab")
    assert holds_readings(series) and is_true(series, describe_series(series, len, 500))


@pytest.mark.parametrize("piece", _HOSTILE)
def test_no_repeated_piece_makes_reading_slow(piece: str) -> None:
    text = (piece * _LENGTH)[:_LENGTH]
    began = time.process_time()
    for read in (
        shape_hash,
        line_shape,
        embedding_text,
        strip_leading,
        line_in,
        find_facts,
        content_words,
        told_as_series,
        split_statements,
        claim_of,
        is_written_by_program,
        is_relation,
        split_observation,
        lambda told: split_observation(f"[a] {told}"),
        lambda told: is_relation(f"[[a]] {told}x"),
        archived_here,
        without_reminders,
        export_of,
        is_as_written,
        lambda told: block_in(told, "memory"),
        lambda told: seal_in(told, "memory"),
        seal_of_block,
        lambda told: without_block(told, "memory"),
        without_blocks,
        quoted,
        yaml_text,
        link_text,
        lambda told: stem_of(told, "1", 80),
        unwrapped,
        split_front_matter,
        without_citations,
        lambda told: split_front_matter(f"---\n{told}\n---\n"),
        lambda told: without_put_in(told, Skipped()),
        lambda told: humans_own(told, Skipped()),
        lambda told: without_what_was_brought(told, Skipped()),
        is_cut_off,
        whole_part,
        lambda told: parted(f"<!-- memory-pipeline:y:start -->\n{told}\n<!-- memory-pipeline:y:end -->", "y", bool),
        lambda told: opens(memory("m", told)),
        lambda told: find_threads([memory("m", f"TODO: {told}"), memory("n", f"Done: {told}", NOW)], {}),
        lambda told: without_copies(
            [Entry("fact", told, NOW.date(), "m", 1.0), Entry("fact", f"{told} x", NOW.date(), "n", 1.0)]
        ),
    ):
        read(text)
    for tell in (
        strip_lead_in,
        lambda told: with_days(told, date(2026, 3, 30)),
        kind_of,
        lambda told: with_subject(memory("m", told, headings=(told,), lead_in=told)),
        heading_words,
        lambda told: lead_in_from(told, NO_LEAD_IN),
        lambda told: blank_wrappers(told, Skipped()),
        why_no_memory,
        without_scores,
        parse_note,
    ):
        tell(text)
    kind_of("A short entry.", [text])
    says(text, text[::-1])
    assert time.process_time() - began < _LIMIT_S


@pytest.mark.parametrize(
    "piece",
    [*_HOSTILE, "set a ", "a.b=", "- [x] ", "[CURATE] ", "**a**: ", "Decision: a | Rationale: ", "'a ", '"a'],
)  # fmt: skip
def test_no_repeated_piece_makes_a_turn_slow(piece: str) -> None:
    text = (piece * _LENGTH)[:_LENGTH]
    began = time.process_time()
    own_sentences(text)
    for speaker in ("human", "agent"):
        spoken = turn(text, speaker)  # type: ignore[arg-type]
        list(noted_in(spoken))
        found_by_classifier([spoken], None)
    locate(text[:2_000], text)
    item = Item("m", text, NOW.date(), 3_000, speaker="human")
    answer = ReadingAnswer.model_validate(kept(statement(text[:280], {1: text[:500]}, "fact"), routine=[1]))
    check_answer(answer, [item], [Standing("s", text[:280], NOW.date())], lambda one, other: 0.0, spoken=True)
    assert time.process_time() - began < _LIMIT_S


@pytest.mark.parametrize("piece", ["pass ", "not ", "Foo 17 ", "a b ", "one two three ", "The port is 5432. "])
def test_no_long_pair_makes_the_guard_slow(piece: str) -> None:
    text = (piece * _LENGTH)[:_LENGTH]
    began = time.process_time()
    find_conflict(f"{text} Monday 9", f"Tuesday 7 {text[:-20]} failed")
    find_conflict(text, text[::-1])
    assert time.process_time() - began < _LIMIT_S


def test_long_texts_that_differ_in_a_word_are_still_compared() -> None:
    text = " ".join(f"step {n} of the plan checks room {n} and writes what it found" for n in range(120))
    assert find_conflict(text, text.replace("room 17 ", "room 71 ")) is not None
    assert find_conflict(f"{text} and it passed", f"{text} and it failed") is not None
    assert find_conflict(text, f"{text} and") is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see [the page](https://x.y/z) now", "see the page now"),
        ("![picture](a.png) of [it](b)", "picture of it"),
        ("[a](b](c) d", "a d"),
        ("[[a](b)", "[a"),
        ("a](b) [c](d)", "a](b) c"),
        ("[a](b c) [d](e)", "[a](b c) d"),
        ("[a\nb](c)", "[a\nb](c)"),
        ("[a](b", "[a](b"),
        ("[![x](y)](z)", "![x](z)"),
    ],
)
def test_links_become_their_words(text: str, plain: str) -> None:
    assert plain_text(text) == plain


def test_what_an_entry_tells_below_its_recommendation_is_not_embedded() -> None:
    entry = "Title: Restart\nRecommendation: Restart it\n\n***\nExamples:\n- A: b"
    assert embedding_text(entry) == "Title: Restart Recommendation: Restart it"
