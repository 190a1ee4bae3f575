"""What a person wrote between our markers is never lost, and what this program wrote is never taken for a person's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import block_in, end_marker, outside, parted, seal_of_block, with_block
from memory_pipeline.files.shared_blocks import SharedBlocks
from memory_pipeline.killpoints import reached


@pytest.fixture
def blocks(tmp_path: Path) -> SharedBlocks:
    return SharedBlocks(tmp_path / "store.duckdb")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_line_of_a_person_moves_below_the_block_byte_for_byte(
    tmp_path: Path, blocks: SharedBlocks, ends: str
) -> None:
    file = tmp_path / "USER.md"
    file.write_text(f"# Mine{ends}", newline="")
    blocks.write(file, {"x": "- one\n- two\n- three"})
    text = file.read_bytes().decode()
    file.write_bytes(text.replace("- two", f"- two (fixed by me)  {ends}\t* I play the cello").encode())
    done = blocks.write(file, {"x": "- one\n- two\n- four"})
    assert done.outcome == "changed" and done.moved == ("- two (fixed by me)  ", "\t* I play the cello")
    after = file.read_bytes().decode()
    assert block_in(after, "x") == "- one\n- two\n- four"
    assert after.endswith(f"{end_marker('x')}{ends}- two (fixed by me)  {ends}\t* I play the cello{ends}")
    assert after.startswith(f"# Mine{ends}")
    assert "2 lines that a person wrote stand below our block in" in done.warning(file)
    again = blocks.write(file, {"x": "- one\n- two\n- four"})
    assert again.outcome == "unchanged" and not again.moved and file.read_bytes().decode() == after


@pytest.mark.parametrize(
    "mine",
    [
        "# My heading\n\nparagraph one\n\nparagraph two",
        "- I play the cello.\n\n    a poem\n\n    of mine  ",
        "one\n\n\n\ttwo",
    ],
)
def test_what_a_person_wrote_moves_with_its_blank_lines_byte_for_byte(
    tmp_path: Path, blocks: SharedBlocks, mine: str
) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one\n\n- two\n- three"})
    file.write_text(file.read_text().replace("- two", f"- two\n\n{mine}\n"))
    done = blocks.write(file, {"x": "- one\n\n- two\n- three"})
    assert file.read_text().endswith(f"{end_marker('x')}\n{mine}\n")
    assert block_in(file.read_text(), "x") == "- one\n\n- two\n- three"
    assert "\n".join(done.moved) == "\n".join(line for line in mine.split("\n") if line.strip())


def test_what_stands_alone_leaves_no_empty_file(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "day.md"
    for name in ("x", "y"):
        blocks.write(file, {name: "- one"})
    for name in ("x", "y"):
        blocks.write(file, {name: ""})
    assert not file.exists()


def test_a_line_of_a_person_moves_even_if_the_block_stays_or_goes(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one"})
    file.write_text(file.read_text().replace("- one", "- one\n- mine"))
    assert blocks.write(file, {"x": "- one"}).outcome == "changed"
    file.write_text(file.read_text().replace("- one", "- one\n- mine too"))
    assert blocks.write(file, {"x": ""}).moved == ("- mine too",)
    assert file.read_text() == "- mine too\n\n- mine\n"


def test_lines_that_this_program_ever_wrote_there_are_its_own(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one"})
    earlier = file.read_text()
    blocks.write(file, {"x": "- two"})
    file.write_text(earlier)  # somebody restored the file
    assert SharedBlocks(tmp_path / "store.duckdb").write(file, {"x": "- three"}).moved == ()
    assert outside(file.read_text(), "x").strip() == ""


def test_a_block_of_which_nothing_is_known_is_kept_beside_the_store(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "USER.md"
    file.write_text(with_block("# Mine\n", "x", "- one\n- I play the cello"))
    done = blocks.write(file, {"x": "- two"})
    assert done.copies[0].read_text() == "- one\n- I play the cello"
    assert str(done.copies[0]) in done.warning(file)
    assert file.read_text() == with_block("# Mine\n", "x", "- two", seal_of_block("- two"))


def test_a_killed_write_leaves_no_line_that_seems_a_person_s(
    tmp_path: Path, blocks: SharedBlocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one"})

    def killed(place: str) -> None:
        reached(place)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("memory_pipeline.files.shared_files.sync", killed)  # the file has changed by then
        blocks.write(file, {"x": "- two"})
    record = max((tmp_path / "store.written").iterdir(), key=lambda one: one.stat().st_mtime_ns)
    with record.open("a") as torn:
        torn.write("\nabc")
    assert block_in(file.read_text(), "x") == "- two"
    assert blocks.write(file, {"x": "- three"}).moved == ()


def test_directories_that_were_made_for_a_block_go_with_it(tmp_path: Path, blocks: SharedBlocks) -> None:
    mine = tmp_path / "workspace"
    mine.mkdir()
    file = mine / "daily" / "a" / "b.md"
    blocks.write(file, {"x": "- one"})
    blocks.write(file.with_name("c.md"), {"x": "- one"})
    blocks.write(file, {"x": ""})
    assert [one.name for one in file.parent.iterdir()] == ["c.md"]
    blocks.write(file.with_name("c.md"), {"x": ""})
    assert mine.is_dir() and not any(mine.iterdir())
    (mine / "daily").mkdir()
    blocks.write(mine / "daily" / "d.md", {"x": "- one"})
    assert not blocks.write(mine / "none" / "d.md", {"x": ""}).moved and not (mine / "none").exists()


@given(st.text("ab- \t\r\n<!>", max_size=60), st.lists(st.text("abc- ", max_size=4), max_size=6))
def test_nothing_but_places_of_lines_changes(text: str, inside: list[str]) -> None:
    whole = with_block(text.replace("\r", ""), "x", "\n".join(inside) or "z")
    apart, moved = parted(whole, "x", lambda line: "b" not in line)
    before, after = ([line for line in one.split("\n") if line.strip()] for one in (whole, apart))
    assert set(before) == set(after)
    beside = [line.rstrip() for line in outside(whole, "x").split("\n")]
    if not any("b" in line and line.rstrip() in beside for line in inside):
        assert sorted(before) == sorted(after)
    assert not any("b" in line for line in (block_in(apart, "x") or "").split("\n"))
    assert all(line in apart.split("\n") for line in moved)


def test_two_stores_on_one_file_never_take_each_other_for_a_person(tmp_path: Path) -> None:
    file = tmp_path / "USER.md"
    file.write_text("# Mine\n")
    stores = {name: SharedBlocks(tmp_path / name / "store.duckdb") for name in "ab"}
    for _ in range(3):
        for name, blocks in stores.items():
            done = blocks.write(file, {"x": f"- one of {name}\n- two of {name}"})
            assert not done.moved and not done.copies
    assert outside(file.read_text(), "x") == "# Mine\n\n\n"


def test_a_changed_block_of_another_store_is_kept_beside_the_store(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one"})
    SharedBlocks(tmp_path / "b" / "store.duckdb").write(file, {"x": "- of b\n- two of b"})
    file.write_text(file.read_text().replace("- of b", "- of b, as I say"))
    done = blocks.write(file, {"x": "- one"})
    assert "- of b, as I say" in done.copies[0].read_text() and not done.moved


def test_lines_that_stand_outside_already_are_not_moved_again() -> None:
    whole = with_block("- mine\n  - a\n- other\n", "x", "- one\n- mine\n  - a\n- two\n- other\n- mine")
    text, moved = parted(whole, "x", lambda line: line in ("- one", "- two"))
    assert moved == ("- other", "- mine") and block_in(text, "x") == "- one\n- two"
    assert outside(text, "x").count("  - a") == 1


def test_a_line_that_a_person_puts_back_is_a_person_s(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "USER.md"
    blocks.write(file, {"x": "- one\n- lemons\n- two"})
    blocks.write(file, {"x": "- one\n- two"})
    file.write_text(file.read_text().replace("- one", "- one, I say").replace("- two", "- lemons\n- two  "))
    assert blocks.write(file, {"x": "- one\n- three"}).moved == ("- one, I say", "- lemons")


def test_a_record_that_cannot_be_read_costs_only_itself(tmp_path: Path, blocks: SharedBlocks) -> None:
    file = tmp_path / "a" / "USER.md"
    (tmp_path / "store.written").write_text("somebody's")
    for body in ("- one", "- two"):
        done = blocks.write(file, {"x": body})
        assert block_in(file.read_text(), "x") == body
        assert done.warning(file).startswith("what was written before is not known from")
    file.write_text(file.read_text().replace("- two", "- two, I say"))
    with pytest.raises(OutputError, match="was left as it is"):  # nothing could tell whose it is
        blocks.write(file, {"x": "- three"})
    assert "- two, I say" in file.read_text()
    assert (tmp_path / "store.written").read_text() == "somebody's"
