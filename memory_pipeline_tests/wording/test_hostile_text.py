"""Reading a text takes time in proportion to its length, whatever the text is."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.compaction.answered import answered_in
from memory_pipeline.compaction.choices import (
    chosen_in,
    is_choice,
    is_for_once,
    is_limit,
    is_to_be_done,
    new_values_in,
    says_value,
    without_old_values,
)
from memory_pipeline.compaction.left_over import left_over_in
from memory_pipeline.compaction.noted import noted_in
from memory_pipeline.compaction.rejected import reason_against
from memory_pipeline.compaction.reports import (
    figures_of,
    identifiers_of,
    is_failed_try,
    is_report,
    is_specific,
    lacks,
    tells_work,
)
from memory_pipeline.compaction.tasks import is_agents_next, is_order_for_later, takes_act_on
from memory_pipeline.compaction.told import (
    configs_in,
    is_dead_end,
    is_done,
    is_finding,
    is_open,
    is_placement,
    is_role,
    is_rule,
    is_statement,
    takes_on,
    value_in,
)
from memory_pipeline.conversations.about_human import emotion_in, fact_in, preference_in
from memory_pipeline.conversations.between import boundary_in, dynamic_in, trust_in
from memory_pipeline.conversations.changes import clauses_told, is_change, liked_in, told_in
from memory_pipeline.conversations.choices import choice_in
from memory_pipeline.conversations.claims import begins_with_speaker, is_gate, subject_of, with_its_noun
from memory_pipeline.conversations.corrections import correction_in, own_correction_in, takes_back
from memory_pipeline.conversations.denied import taken_back_in
from memory_pipeline.conversations.extraction import extraction_of
from memory_pipeline.conversations.forms import is_plain, is_question
from memory_pipeline.conversations.manners import manner_in, names_what_is_wanted
from memory_pipeline.conversations.of_self import told_of_self
from memory_pipeline.conversations.offers import is_plan, offer_in
from memory_pipeline.conversations.orders import asking_in, leans_on_name, prohibition_in, standing_order_in
from memory_pipeline.conversations.own_clause import is_own_statement
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.questions import TurnsAnswer, questions_about
from memory_pipeline.conversations.replies import reply_in, says_instead, what_is_so
from memory_pipeline.conversations.reversals import ends_permission, reversals_in
from memory_pipeline.conversations.significance import significance_of
from memory_pipeline.conversations.surroundings import announces_cause, cause_in, surroundings_in
from memory_pipeline.conversations.topics import topics_in
from memory_pipeline.conversations.work import (
    decision_in,
    finding_in,
    is_context,
    learned_by_agent_in,
    learned_by_human_in,
    marker_in,
    rationale_of,
)
from memory_pipeline.ingest.agents.chatgpt_tree import without_citations
from memory_pipeline.ingest.agents.claude_transcripts import humans_own
from memory_pipeline.ingest.agents.openclaw_events import without_what_was_brought
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.foreign_marks import blank_wrappers, why_no_memory, without_scores
from memory_pipeline.ingest.front_matter import split_front_matter
from memory_pipeline.ingest.markdown import parse_note
from memory_pipeline.ingest.openclaw_files import is_written_by_program
from memory_pipeline.ingest.stores.basic_memory import is_relation, observation_in
from memory_pipeline.ingest.stores.brain_marks import archived_here
from memory_pipeline.ingest.stores.letta import without_reminders
from memory_pipeline.ingest.turns import without_put_in
from memory_pipeline.knowledge.entries import claim_of
from memory_pipeline.knowledge.threads import find_threads, opens
from memory_pipeline.markers import (
    block_in,
    export_of,
    is_as_written,
    parted,
    seal_in,
    seal_of_block,
    without_block,
    without_blocks,
)
from memory_pipeline.records import Chunk
from memory_pipeline.rollups.copies import without_copies
from memory_pipeline.rollups.entries import Entry
from memory_pipeline.shared_blocks import lines_put_in
from memory_pipeline.wording.agreement import says_the_same, status_of
from memory_pipeline.wording.conflicts import find_conflict
from memory_pipeline.wording.days import with_days
from memory_pipeline.wording.facts import content_words, find_facts
from memory_pipeline.wording.kinds import kind_of
from memory_pipeline.wording.lasting import is_passing
from memory_pipeline.wording.lead_in import NO_LEAD_IN, lead_in_from
from memory_pipeline.wording.leaning import leaning_of
from memory_pipeline.wording.normalise import (
    embedding_text,
    line_shape,
    plain_text,
    shape_hash,
    strip_leading,
)
from memory_pipeline.wording.reading_places import holds_readings
from memory_pipeline.wording.readings import read_memory, series_of
from memory_pipeline.wording.retelling import is_without_fillers, joins_clauses_of
from memory_pipeline.wording.scaffolding import unwrapped
from memory_pipeline.wording.sentences import split_statements, strip_lead_in
from memory_pipeline.wording.series_words import describe_series, is_true, line_in
from memory_pipeline.wording.subject import heading_words, with_subject
from memory_pipeline.wording.values import values_in
from memory_pipeline.wording.whole import is_cut_off, whole_part
from memory_pipeline.workspace.directory import stem_of
from memory_pipeline.workspace.quoted import link_text, quoted, yaml_text
from memory_pipeline_tests.build import NOW, memory, settings_for
from memory_pipeline_tests.conversations.model_answers import proposal
from memory_pipeline_tests.conversations.saying import turn

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
#: Seconds of CPU that 12,000 characters may take. It is some tenths of one; what this test is for took minutes.
_LIMIT_S = 4.0


def told_as_series(text: str) -> None:
    """A text as the line of a series."""
    series = series_of(read_memory(one, NOW, text) for one in "ab")
    assert holds_readings(series) and is_true(series, describe_series(series, len, 500))


@pytest.mark.parametrize("piece", _HOSTILE)
def test_no_repeated_piece_makes_reading_slow(piece: str) -> None:
    text = (piece * 12_000)[:12_000]
    began = time.process_time()
    for read in (
        shape_hash,
        line_shape,
        embedding_text,
        strip_leading,
        line_in,
        find_facts,
        content_words,
        leaning_of,
        told_as_series,
        split_statements,
        claim_of,
        is_written_by_program,
        is_relation,
        observation_in,
        lambda told: observation_in(f"[a] {told}"),
        lambda told: is_relation(f"[[a]] {told}x"),
        archived_here,
        without_reminders,
        export_of,
        is_as_written,
        lambda told: block_in(told, "memory"),
        lambda told: seal_in(told, "memory"),
        seal_of_block,
        lambda told: lines_put_in(told.split("\n"), "0"),
        lambda told: without_block(told, "memory"),
        without_blocks,
        quoted,
        yaml_text,
        link_text,
        lambda told: stem_of(told, "1", 80),
        lambda told: is_without_fillers(told[:-1], told),
        lambda told: joins_clauses_of(told[:1_000], [told, told[:1_000], told[:990], told[10:]]),
        unwrapped,
        split_front_matter,
        without_citations,
        lambda told: split_front_matter(f"---\n{told}\n---\n"),
        lambda told: without_put_in(told, Skipped()),
        lambda told: humans_own(told, Skipped()),
        lambda told: without_what_was_brought(told, Skipped()),
        is_cut_off,
        is_passing,
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
        values_in,
        strip_lead_in,
        status_of,
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
    says_the_same(text, text[::-1])
    assert time.process_time() - began < _LIMIT_S


@pytest.mark.parametrize(
    "piece",
    [*_HOSTILE, "i ", "i like ", "my ", "you ", "never ", "so ", "and ", "really ", "because ", "the ", "please ",
     "no, ", "i meant ", "decided ", "is important ", "Hi Ann,\n", "he said: ", "Regards\n", "'a ", '"a', "x is my ",
     "set a ", "a.b=", "- [x] ", "[CURATE] ", "a is now ", "tried to ",
     "forget a, ", "from now on ", "1 of 2 ", "a() b.py ", "ask A before ", "a is out for ", "put a in ",
     "we are keeping a ", "a b it is ", "only use a ", "if a, ", "before you a, ", "our a is ", "The a was b ",
     "from may on ", "no emails in a ", "when a b ", "A is our a ", "you can a ", "a is yours ", "i work a ",
     "my wife A a ", "not A, it ",
     "Thing that is ", "revert that, ", "leave a ", "Up to 1 ", "whatever you a ", "as of a ",
     "**a**: ", "Decision: a | Rationale: ", "scrap the ", "you may no longer ", "we are not ", "a is out, ",
     "the a isn't b, ", "i've stopped a ", "A B ", "on second thought, a ", "i prefer a over ", "now 1 ", "9:15.a ",
     "the a is fine to ",
     "keep a lines under ", "tag a b only ", "from today, a notes in ", "the a will be sold ", "use as, not ",
     "we moved to A ", "no, not a ", "so the a ", "as for the a, ",
     "i'd a then ", "after a i'll ", "that isn't a ", "hold on wait oh ",
     "found it, ", "you do the a, ", "my guess is a ", "option a: ",
     "a is out, ", "so no. ", "it still does ", "good. "],
)  # fmt: skip
def test_no_repeated_piece_makes_a_turn_slow(piece: str) -> None:
    text = (piece * 12_000)[:12_000]
    began = time.process_time()
    own_sentences(text)
    own_sentences(text[:2_900])
    sentence = Said(text[:500], 0, text[:500])
    for read in (
        fact_in, preference_in, emotion_in, trust_in, boundary_in, dynamic_in, decision_in, rationale_of, marker_in,
        learned_by_agent_in, learned_by_human_in, finding_in, is_context, correction_in, own_correction_in, is_question,
        ends_permission, lambda said: list(reversals_in(said)), lambda said: told_in(said.quote),
        lambda said: is_change(said.quote), lambda said: liked_in(f"{said.quote} now"),
        lambda said: subject_of(said.quote), lambda said: with_its_noun(said.quote), lambda said: is_gate(said.quote),
        lambda said: begins_with_speaker(said.quote), lambda said: clauses_told(said.quote),
        configs_in, is_dead_end, is_done, is_open, is_rule, is_finding, is_placement, is_role, takes_on, value_in,
        reason_against, leans_on_name, choice_in, surroundings_in, cause_in, prohibition_in, asking_in,
        standing_order_in, manner_in, lambda said: names_what_is_wanted(said.quote), lambda said: is_plain(said.quote),
        is_statement, announces_cause, offer_in, is_plan, is_order_for_later, takes_act_on,
        lambda said: is_agents_next(said, is_last=False), lambda said: what_is_so(said.quote),
        told_of_self,
        lambda said: says_instead(said.quote), is_choice, is_limit, says_value, lambda said: is_for_once(said.quote),
        lambda said: is_to_be_done(said.quote), is_report, lacks, is_failed_try, tells_work,
        lambda said: figures_of(said.quote), lambda said: identifiers_of(said.quote),
        lambda said: is_specific(said.quote),
    ):  # fmt: skip
        read(sentence)
    for speaker in ("human", "agent"):
        list(noted_in(turn(text, speaker)))  # type: ignore[arg-type]
    takes_back(text)
    reply_in(text)
    talk = [turn(text[:2_900], "agent", 1), turn(text[:2_900], line=2)]
    answered_in(talk)
    list(chosen_in(talk, ()))
    list(left_over_in(talk, (), ()))
    list(without_old_values((), new_values_in(talk)))
    taken_back_in(talk, [extraction_of(talk[0], Said("x", 0, "x"), "context")])
    for beginning, kind in (("I ", "fact"), ("My ", "trust"), ("", "boundary"), ("Tell ", "preference")):
        is_own_statement(f"{beginning}{text[:500]}", kind, "human")  # type: ignore[arg-type]
    topics_in(text[:500])
    significance_of("fact", text[:500])
    quoted_all = proposal(1, text[:500], "context", text=text[:499], rationale=text[:4_000])
    for one, _ in [questions_about([Chunk((turn(text[:2_900]),))], settings_for(Path("none")), lambda told: False)]:
        for asked in one:
            asked.question.check(TurnsAnswer.model_validate({"extractions": [quoted_all], "suspicious": []}))
    assert time.process_time() - began < _LIMIT_S


@pytest.mark.parametrize("piece", ["pass ", "not ", "Foo 17 ", "a b ", "one two three ", "The port is 5432. "])
def test_no_long_pair_makes_the_guard_slow(piece: str) -> None:
    text = (piece * 12_000)[:12_000]
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
