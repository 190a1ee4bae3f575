"""What of a turn is its speaker's own words."""

from __future__ import annotations

import pytest

from memory_pipeline.conversations.own_words import own_sentences


def quotes(words: str) -> list[str]:
    return [said.quote for said in own_sentences(words)]


@pytest.mark.parametrize(
    "words",
    [
        "```\nI live in Rome\n```",
        "> I live in Rome",
        "Translate this: I live in Rome.",
        "Here is the mail from Tom:\n\nHi, I live in Rome and I like it.",
        "My boss wrote: I live in Rome",
        "John: I live in Rome\nMary: I live in Bristol",
        "Dear Ms Smith,\nI live in Rome.\nKind regards\nTom",
        "Imagine you are me, I live in Rome.",
        "In my story I live in Rome.",
        "2026-03-04 10:22:01 I live in Rome",
        "tom@box:~$ echo I live in Rome",
        "<system-reminder>I live in Rome.</system-reminder>",
        "This session is being continued from a previous conversation. I live in Rome.",
        "Ich lebe in Rom und habe zwei Kinder.",
        '{"text": "I live in Rome."}',
    ],
)
def test_somebody_elses_words_are_left_out(words: str) -> None:
    assert not any("live in Rome" in quote or "lebe" in quote for quote in quotes(words))


def test_a_quotation_within_a_sentence_is_masked() -> None:
    (said,) = own_sentences('She sang "I live in Rome" all day.')
    assert "live" not in said.read
    assert len(said.read) == len(said.quote)


def test_each_sentence_stands_where_it_says() -> None:
    words = "Hi there! 🎉 I live in Rome 😀 and so on.\n- My cat is old.\n\nok, bye then"
    for said in own_sentences(words):
        assert words[said.start : said.end] == said.quote


def test_own_words_beside_code_are_kept() -> None:
    assert quotes("I always use tabs.\n```\nx = 1\n```\nPlease keep that.") == [
        "I always use tabs.",
        "Please keep that.",
    ]


def test_a_chat_has_sentences_without_marks() -> None:
    assert quotes("really? i live in Rome. thanks a lot 👍 see you soon") == [
        "i live in Rome.",
        "thanks a lot 👍",
        "see you soon",
    ]


def test_of_a_long_turn_only_the_edges_are_somebodys() -> None:
    middle = "The report goes on and on about many things. " * 100
    found = quotes(f"Please read this report.\n{middle}\nI live in Rome.")
    assert "I live in Rome." in found
    assert len(found) < 40
