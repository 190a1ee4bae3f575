"""Files beside the store: whole or not at all, and never over what somebody else made."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.writing import (
    append_line,
    begins_with,
    check_output,
    directories,
    nobody,
    real_path,
    write_text,
    writing_whole,
)
from memory_pipeline.store import Store
from memory_pipeline_tests.build import sql_rows
from memory_pipeline_tests.interfaces.in_process import no_room

OURS = begins_with("made by us")


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_new_file_an_empty_one_and_one_of_ours_are_written(tmp_path: Path) -> None:
    target = tmp_path / "x"
    for text in ("made by us: 1", "made by us: 2"):
        write_text(target, text, OURS)
        assert target.read_text() == text
    target.write_text("")
    write_text(target, "made by us: 3", OURS)
    assert target.read_text() == "made by us: 3" and names_in(tmp_path) == ["x"]


def test_somebody_elses_file_is_written_over_only_when_told_to(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("a letter")
    with pytest.raises(OutputError, match="was not written by this command; name another file, or add --force"):
        write_text(target, "made by us", OURS, force=False)
    assert target.read_text() == "a letter" and names_in(tmp_path) == ["x"]
    write_text(target, "made by us", OURS, force=True)
    assert target.read_text() == "made by us"


def test_a_database_is_never_written_over(tmp_path: Path) -> None:
    target = tmp_path / "whatever.jsonl"
    duckdb.connect(str(target)).close()
    with pytest.raises(OutputError, match="is a DuckDB database"):
        write_text(target, "x", OURS, force=True)


def test_force_is_spoken_of_only_where_the_command_has_it(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("a letter")
    with pytest.raises(
        OutputError, match="was not written by this program; move it away, or choose another"
    ) as refused:
        write_text(target, "made by us", OURS)
    assert "--force" not in str(refused.value) and target.read_text() == "a letter"


@pytest.mark.parametrize("companion", ["other.duckdb.wal", "other.duckdb.lock"])
def test_the_log_and_the_lock_of_any_store_are_never_written_over(tmp_path: Path, companion: str) -> None:
    with Store(tmp_path / "other.duckdb").writing("test") as tx:
        sql_rows(tx, "insert into quarantine values ('f', 1, 'a reason', 'x', now()::timestamp)")
    target = tmp_path / companion
    before = target.read_bytes()
    with pytest.raises(OutputError, match=r"of a DuckDB database|of a store"):
        write_text(target, "x", OURS, force=True)
    assert target.read_bytes() == before


def test_the_file_behind_a_link_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a letter")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OutputError, match="was not written by this program"):
        write_text(tmp_path / "link", "x", OURS)
    write_text(tmp_path / "link", "made by us", OURS, force=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "made by us"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("directory", "it is a directory"),
        ("file/x", "a part of its path is a file"),
        ("missing/x", "name a file in a directory that exists"),
        ("circle", "links lead in a circle"),
        ("circle/x", "links lead in a circle"),
        ("a" * 300, "its name is too long"),
        ("pipe", "is not an ordinary file"),
        ("/dev/full", "is not an ordinary file"),
    ],
)
def test_what_cannot_be_a_file_is_refused_before_anything_is_done(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match=words):
        check_output(tmp_path / name, OURS, force=True)


@given(st.text("ab~/.\0 \udcff", max_size=40))
def test_any_text_is_a_path_or_a_sentence(text: str) -> None:
    try:
        assert real_path(text).is_absolute()
    except InputError as error:
        assert text == "" or "\0" in text, error


def test_an_error_while_writing_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write_text(target, "made by us", OURS)
    with pytest.raises(ZeroDivisionError), writing_whole(target, OURS) as file:
        file.write(b"half")
        _ = 1 / 0
    assert target.read_text() == "made by us" and names_in(tmp_path) == ["x"]


def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write_text(target, "made by us", OURS)
    with no_room(), pytest.raises(OutputError, match="the disk is full; free some space and run again"):
        write_text(target, "made by us, and more", OURS)
    assert target.read_text() == "made by us" and names_in(tmp_path) == ["x"]


def test_a_file_that_came_while_ours_was_written_is_not_written_over(tmp_path: Path) -> None:
    target = tmp_path / "x"
    with pytest.raises(OutputError, match="was not written by this program"), writing_whole(target, OURS) as file:
        file.write(b"made by us")
        target.write_text("a letter")
    assert target.read_text() == "a letter" and names_in(tmp_path) == ["x"]


def test_a_link_planted_under_the_other_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("a letter")
    (tmp_path / ".x.partial").symlink_to("precious")
    write_text(tmp_path / "x", "made by us", OURS)
    assert (tmp_path / "precious").read_text() == "a letter"


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write_text(target, "made by us", OURS)
    target.chmod(0o600)
    write_text(target, "made by us again", OURS)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_a_killed_process_left_goes_after_an_hour_and_nothing_like_it(tmp_path: Path) -> None:
    names = (".0123456789abcdef.partial", ".fedcba9876543210.partial", ".mine.partial")
    for name in names:
        (tmp_path / name).write_text("half")
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    write_text(tmp_path / "x", "made by us", nobody)
    assert names_in(tmp_path) == sorted([names[1], names[2], "x"])


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "lines"
    append_line(target, "one")
    with no_room(), pytest.raises(OutputError, match="the disk is full"):
        append_line(target, "two")
    append_line(target, "three")
    assert target.read_text() == "one\nthree\n"


def test_lines_are_added_to_no_database(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "store.duckdb")).close()
    (tmp_path / "lines").symlink_to("store.duckdb")
    with pytest.raises(OutputError, match="is a DuckDB database"):
        append_line(tmp_path / "lines", "one")


def test_directories_that_were_made_for_nothing_go_again(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with pytest.raises(ZeroDivisionError), directories(tmp_path / "kept" / "a" / "b", tmp_path / "c"):
        _ = 1 / 0
    assert names_in(tmp_path) == ["kept"] and not names_in(tmp_path / "kept")
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="a part of its path is a file"), directories(tmp_path / "file" / "a"):
        pass
