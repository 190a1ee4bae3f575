"""Blocks between markers and sealed pages: what is outside is never touched, and what is ours is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import (
    HEAD,
    block_in,
    end_marker,
    export_of,
    is_as_written,
    is_sealed_page,
    marks,
    outside,
    sealed,
    start_marker,
    with_block,
    without_block,
    without_blocks,
)
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.openclaw_files import blank_managed, is_written_by_program
from memory_pipeline.ingest.turns import OUR_OWN, without_put_in

TEXTS = st.lists(st.sampled_from([*"ab#-<!> \n", "\r\n", "\ufeff", "é", "\udc80"]), max_size=40).map("".join)


@given(TEXTS, st.text("xy\n", max_size=20), st.text("xy\n", max_size=20))
def test_every_byte_outside_of_a_block_is_kept(text: str, one: str, two: str) -> None:
    first = with_block(text, "memory", f"head\n{one}")
    assert first.startswith(text) and block_in(first, "memory") == f"head\n{one}".strip("\n")
    person = f"{first}more by hand"
    second = with_block(person, "memory", two)
    assert outside(second, "memory") == outside(person, "memory") and second.startswith(text)
    assert with_block(second, "memory", two) == second
    assert block_in(second, "memory") == two.strip("\n")


@given(TEXTS, st.text("xy\n", max_size=20))
def test_a_block_that_is_taken_out_leaves_the_text(text: str, body: str) -> None:
    left = without_block(with_block(text, "memory", f"head\n{body}"), "memory")
    assert left in (text, f"{text}\n", f"{text}\r\n")
    assert left == text or not text.endswith(("\n", "\r"))
    assert without_block(text, "memory") == text


def test_a_block_between_words_is_taken_out_alone() -> None:
    block = f"{start_marker('memory')}\nx\n{end_marker('memory')}\n"
    assert without_block(f"one\n\n{block}two\n", "memory") == "one\n\ntwo\n"
    assert without_block(f"one\n\n{block}\ntwo\n", "memory") == "one\n\ntwo\n"


def test_an_empty_body_adds_nothing_and_empties_a_block() -> None:
    assert with_block("text", "memory", "\n") == "text"
    emptied = with_block(with_block("text", "memory", "x"), "memory", "")
    assert emptied == f"text\n\n{start_marker('memory')}\n{end_marker('memory')}\n"
    assert with_block(emptied, "memory", "") == emptied


def test_line_ends_and_the_byte_order_mark_stay() -> None:
    text = "\ufeff# Notes\r\n- one\r\n"
    made = with_block(text, "memory", "a\nb")
    assert made == f"{text}\r\n{start_marker('memory')}\r\na\r\nb\r\n{end_marker('memory')}\r\n"
    assert block_in(made, "memory") == "a\nb"
    assert with_block("\ufeff", "memory", "a") == f"\ufeff{start_marker('memory')}\na\n{end_marker('memory')}\n"


@pytest.mark.parametrize(
    "text",
    [
        start_marker("memory"),
        end_marker("memory"),
        f"{end_marker('memory')}\n{start_marker('memory')}",
        f"{start_marker('memory')}\nx\n{end_marker('memory')}\n" * 2,
        f"{start_marker('memory')}\n{start_marker('memory')}\n{end_marker('memory')}",
    ],
)
def test_markers_that_do_not_pair_are_never_guessed(text: str) -> None:
    with pytest.raises(OutputError, match="do not stand there once each"):
        with_block(text, "memory", "x")


def test_a_marker_inside_of_a_line_is_a_person_telling_of_it() -> None:
    text = f"The block begins with `{start_marker('memory')}`.\n"
    assert with_block(text, "memory", "x").startswith(text)


def test_no_reader_takes_a_block_or_a_page_for_memories() -> None:
    text = with_block("# Mine\n- the port is 5432\n", "memory", "## Facts\n- something exported")
    assert not is_written_by_program(text)
    assert "something exported" not in blank_managed(text, Skipped())
    page = sealed("\n".join(["---", "name: x", *marks('obsidian "p"'), "---", "", "words"]))
    assert is_sealed_page(page) and is_written_by_program(page) and is_sealed_page(page.replace("\n", "\r\n"))
    assert not is_sealed_page("---\nname: x\n---\nwritten_by: memory-pipeline\n")


def test_blocks_are_empty_for_every_reader() -> None:
    text = with_block(with_block("---\na: b\n---\n- mine\n", "memory", "- x\n- y"), "playbook", "- z")
    plain = without_blocks(f"{text}- mine too\n")
    assert [line for line in plain.split("\n") if line] == ["---", "a: b", "---", "- mine", "- mine too"]
    assert plain.count("\n") == text.count("\n") + 1
    lonely = f"- a\n{start_marker('memory')}\n- b\n"
    assert without_blocks(lonely) == "- a\n\n- b\n"


def test_a_seal_tells_whether_a_page_was_changed() -> None:
    page = sealed("\n".join(["---", "metadata:", *marks('claude-code "a: b"', "  "), "---", "", "words", ""]))
    assert is_as_written(page) and is_as_written(page.replace("\n", "\r\n"))
    assert export_of(page) == export_of(page.replace("\n", "\r\n")) == 'claude-code "a: b"'
    assert not is_as_written(page.replace("words", "other words")) and not is_as_written("words")
    assert export_of("---\nexport: obsidian\n---\n") is None


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```markdown"])
def test_an_example_in_a_block_of_code_is_a_person_s(fence: str) -> None:
    example = (
        f"{fence}\n{start_marker('memory')}\nmy own words\n{end_marker('memory')}\n{fence.removesuffix('markdown')}\n"
    )
    with pytest.raises(OutputError, match="stands there only inside of a block of code"):
        with_block(example, "memory", "x")
    both = f"{example}{start_marker('memory')}\nold\n{end_marker('memory')}\n"
    for text in (both, both.replace("\n", "\r\n"), f"{both}```\nnever closed\n"):
        made = with_block(text, "memory", "new")
        assert "my own words" in made and block_in(made, "memory") == "new" and made.count("old") == 0
    alone = f"{fence}\n{start_marker('memory')}\n{fence.removesuffix('markdown')}\n"
    assert with_block(alone, "memory", "x").startswith(alone)


def test_a_block_after_code_that_nothing_closes_is_still_ours() -> None:
    text = f"```\nmine\n\n{start_marker('memory')}\nold\n{end_marker('memory')}\n"
    assert block_in(with_block(text, "memory", "new"), "memory") == "new"


def test_of_a_copy_that_was_cut_off_nothing_of_ours_is_read() -> None:
    body = f"{HEAD}p: to weigh.\n\n## Lessons\n\n- one\n- two\n\n## Facts\n\n- three\n\nMore of it: memory/series.md."
    whole = with_block("- mine\n", "memory", body)
    for length in range(whole.index(HEAD) + len(HEAD), whole.index(end_marker("memory"))):
        assert without_blocks(whole[:length]).strip() == "- mine", whole[:length]
    unmarked = whole.replace(end_marker("memory"), "") + "Words of a person.\n\n- and more\n"
    assert without_blocks(unmarked).split() == "- mine Words of a person. - and more".split()
    assert without_blocks(f"{start_marker('memory')}\n- of a person\n") == "\n- of a person\n"


def test_what_stands_between_a_lonely_start_and_a_block_is_read() -> None:
    text = f"{start_marker('memory')}\n- mine\n{start_marker('memory')}\n- ours\n{end_marker('memory')}\n- mine too\n"
    assert without_blocks(text).split("\n") == ["", "- mine", "", "", "", "- mine too", ""]
    told = f"- The block begins with `{start_marker('memory')}`.\n- mine\n{end_marker('memory')}\n"
    assert "- mine" in without_blocks(told)


def test_a_block_that_a_person_pasted_in_part_is_nobody_s_words() -> None:
    whole = with_block("Look at this:\n", "memory", f"{HEAD}p: to weigh.\n\n## Facts\n\n- the port is 5432")
    skipped = Skipped()
    for pasted in (whole, whole[: whole.index(end_marker("memory"))], whole[: whole.index("5432")]):
        assert without_put_in(pasted, skipped).strip() == "Look at this:"
    assert skipped.counts == {OUR_OWN: 3}
