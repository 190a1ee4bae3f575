"""Normal forms, sentences, facts: what counts as the same words, and what must never be lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.text import normalise as normalise_module
from memory_pipeline.text.facts import content_words, fact_keys, find_facts
from memory_pipeline.text.normalise import (
    clean_text,
    content_hash,
    embedding_text,
    normalise,
    shape_hash,
    strip_leading,
    without_time_of,
)
from memory_pipeline.text.sentences import split_statements


@pytest.mark.parametrize(
    "other",
    [
        "deploy took 14 minutes",
        "**Deploy** took  14 minutes.",
        "- [06:00 UTC] Deploy took 14 minutes",
        "2026-02-20 11:11 UTC - Deploy took 14 minutes",
        "14:31 MDT: deploy took 14 minutes",
        "* Deploy took 14\nminutes",
        "DEPLOY TOOK 14 MINUTES",
    ],
)
def test_copies_in_another_dress_hash_alike(other: str) -> None:
    assert content_hash(other) == content_hash("Deploy took 14 minutes")


@pytest.mark.parametrize("other", ["Deploy took 15 minutes", "Deploy took 14 minutes?", "Deploy took 1.4 minutes"])
def test_another_number_or_mark_is_another_content(other: str) -> None:
    assert content_hash(other) != content_hash("Deploy took 14 minutes")


@pytest.mark.parametrize(
    "span",
    [
        "{} - 10:30 Dentist",
        "2026-03-12 {} - 10:30 Dentist",
        "2026-03-12T{} – 2026-03-13T10:30 Dentist",
        "{} UTC - 10:30 UTC Dentist",
        "{} Uhr bis 10:30 Dentist",
        "{}-10:30: Dentist",
        "[{} - 10:30] Dentist",
    ],
)
def test_the_times_of_a_span_are_no_stamp(span: str) -> None:
    assert content_hash(span.format("08:00")) != content_hash(span.format("09:00"))
    assert content_hash("2026-03-12 - 2026-03-14 Trip") != content_hash("2026-03-13 - 2026-03-14 Trip")
    at = datetime(2026, 3, 12, 9, tzinfo=UTC)
    assert without_time_of(span.format("09:00"), at) == span.format("09:00")


@pytest.mark.parametrize("stamp", ["09:00 ", "[09:00 UTC] ", "09:00 UTC ", "09:00 AM ", "**09:00** ", "09:00 - "])
def test_the_time_of_a_line_goes_whole(stamp: str) -> None:
    at = datetime(2026, 3, 12, 9, tzinfo=UTC)
    assert without_time_of(f"{stamp}Moved 10:30 sync", at) == "Moved 10:30 sync"


def test_decomposed_and_composed_letters_hash_alike() -> None:
    assert content_hash("Cafe\u0301 ge\u00f6ffnet") == content_hash("Caf\u00e9 geo\u0308ffnet")


def test_readings_of_one_kind_share_a_shape_and_other_words_do_not() -> None:
    assert shape_hash("p95=293ms at 10:30") == shape_hash("p95=1,269ms at 9:05")
    assert shape_hash("p95=293ms") != shape_hash("p50=293ms or so")


def test_a_lone_surrogate_and_control_characters_are_cleaned() -> None:
    assert clean_text("a\ud83d b\x00\x07\r\nc\ufeff").encode("utf-8")
    assert "\x00" not in clean_text("a\x00b")


@given(st.text(max_size=200))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once or normalise(normalise(once)) == normalise(once)
    assert content_hash(text) == content_hash(clean_text(text))


@given(st.text())
def test_a_line_that_begins_with_a_letter_has_no_mark_or_stamp_to_strip(text: str) -> None:
    line = "".join(text.split("\n"))
    assert not line[:1].isalpha() or strip_leading(line) == line.rstrip()
    assert strip_leading(f"a{line}") == f"a{line}".rstrip()


def test_a_stamp_is_not_embedded_but_numbers_are() -> None:
    assert embedding_text("- [06:00 UTC] backup took 14 min") == "backup took 14 min"


_ODD_TEXTS = st.text(st.sampled_from("ab:Z \n\t\u2028\x85*_`~[](!)>-#1.—"), max_size=40) | st.text(max_size=60)


@given(_ODD_TEXTS)
def test_what_is_embedded_of_a_text_without_marks_is_found_as_that_of_any_other(text: str) -> None:
    """A text of one line without a mark takes a shorter way, with the same result."""
    shorter = embedding_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalise_module, "_MARKED", re.compile(""))
        assert embedding_text(text) == shorter


def test_statements_are_not_cut_inside_code_urls_numbers_or_abbreviations() -> None:
    text = "Use e.g. this one here. See https://a.b/c.d for more of it.\n```\nx. y. z.\n```\n| a | b |\n|---|---|"
    assert split_statements(text) == [
        "Use e.g. this one here.",
        "See https://a.b/c.d for more of it.",
        "```\nx. y. z.\n```",
        "| a | b |\n|---|---|",
    ]


def test_chinese_sentences_are_split_and_compared_by_character() -> None:
    assert (
        len(
            split_statements(
                "\u6bcf\u5929\u665a\u4e0a\u5907\u4efd\u6570\u636e\u5e93\u5230\u8fdc\u7a0b\u3002\u5468\u4e94\u4e0d\u8981\u90e8\u7f72\u65b0\u7248\u672c\u5230\u751f\u4ea7\u3002"
            )
        )
        == 2
    )
    assert content_words("\u5907\u4efd\u6570\u636e")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("waits 5 min", "waits five minutes"),
        ("costs 1,000 USD", "costs $1000"),
        ("at 3:30 pm", "at 15:30"),
        ("at 3 pm", "at 15:00"),
        ("on March 3rd 2026", "on 2026-03-03"),
        ("uses 0.50 cores", "uses 0.5 cores"),
        ("never restart it", "do not restart it"),
    ],
)
def test_the_same_fact_in_other_words_has_the_same_key(one: str, other: str) -> None:
    assert fact_keys(one) & fact_keys(other)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("listens on port 5432", "number", "5432"),
        ("score was 9/10", "number", "9/10"),
        ("score was 9/10\nFebruary's total", "number", "9/10"),
        ("loss at 3e-4", "number", "3e-4"),
        ("run `shopctl cache clear` now", "identifier", "shopctl cache clear"),
        ("see tools/trim_csv.py", "identifier", "tools/trim_csv.py"),
        ("set worker_init_fn", "identifier", "worker_init_fn"),
        ("upgrade to v2.4.1 now", "identifier", "v2.4.1"),
        ("ask Dana first", "name", "dana"),
        ("moved to Friday", "date", "friday"),
        ("you should restart it", "recommendation", "recommendation restart"),
    ],
)
def test_facts_are_found(text: str, kind: str, value: str) -> None:
    assert (kind, value) in fact_keys(text)


def test_a_leading_stamp_is_no_fact() -> None:
    assert not find_facts("[06:00 UTC] all good")


def test_a_word_in_quotation_marks_is_the_word() -> None:
    assert fact_keys("The warehouse said 'no SKU' twice.") == fact_keys("The warehouse said no SKU twice.")
