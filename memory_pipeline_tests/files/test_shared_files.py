"""Files that others write at the same time: nobody's change is lost, and nothing but the block changes."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from memory_pipeline.errors import OutputError
from memory_pipeline.files import shared_files
from memory_pipeline.files.markers import block_in, outside, with_block
from memory_pipeline.files.shared_files import change_text, remove_unless_changed
from memory_pipeline_tests.interfaces.in_process import no_room

pytestmark = pytest.mark.usefixtures("settle_as_in_use")


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_file_is_created_changed_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    assert change_text(file, lambda text: text) == "unchanged" and not file.exists()
    assert change_text(file, lambda text: f"{text}one\n") == "created"
    assert change_text(file, lambda text: f"{text}two\n") == "changed" and file.read_text() == "one\ntwo\n"
    os.utime(file, ns=(1, 1))
    assert change_text(file, lambda text: text) == "unchanged" and file.stat().st_mtime_ns == 1
    assert names_in(tmp_path) == ["x.md"]


def test_permissions_links_and_strange_bytes_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "MEMORY.md"
    real.write_bytes(b"caf\xe9 \x00\r\n")
    real.chmod(0o640)
    link.symlink_to("real.md")
    change_text(link, lambda text: f"{text}more")
    assert link.is_symlink() and real.read_bytes() == b"caf\xe9 \x00\r\nmore"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_file_in_another_encoding_and_a_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "wide.md").write_bytes("x".encode("utf-16"))
    with pytest.raises(OutputError, match="is not UTF-8"):
        change_text(tmp_path / "wide.md", lambda text: "y")
    with pytest.raises(OutputError, match="it is a directory"):
        change_text(tmp_path, lambda text: "y")


def test_a_full_disk_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("mine")
    with no_room(), pytest.raises(OutputError, match="could not be written"):
        change_text(file, lambda text: "z" * 100_000)
    assert file.read_text() == "mine" and names_in(tmp_path) == ["x.md"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_is_written_while_the_change_is_made_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(shared_files, "_renameat2", lambda: None)
    file = tmp_path / "x.md"
    file.write_text("one\n")
    calls = []

    def change(text: str) -> str:
        if not calls:
            file.write_text("one\ntwo by a person\n")
        calls.append(text)
        return with_block(text, "memory", "ours")

    assert change_text(file, change) == "changed"
    assert len(calls) == 2 and file.read_text().startswith("one\ntwo by a person\n")


def test_a_file_that_appears_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "x.md"

    def change(text: str) -> str:
        if not file.exists():
            file.write_text("a person was first\n")
        return f"{text}ours\n"

    change_text(file, change)
    assert file.read_text() == "a person was first\nours\n"


@pytest.mark.parametrize("in_place", [True, False])
def test_an_editor_and_an_export_do_not_lose_each_others_words(tmp_path: Path, in_place: bool) -> None:
    """The editor adds a line to what it reads; the export changes its block. Every line of the editor stays."""
    file = tmp_path / "MEMORY.md"
    file.write_text("# Notes\n")
    written: list[str] = []
    ended = threading.Event()

    def edit() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            line = f"- line {number}\n"
            if in_place:
                with file.open("a") as target:
                    target.write(line)
            else:
                before = file.read_text()
                beside = tmp_path / ".editor"
                beside.write_text(before + line)
                if file.read_text() == before:
                    beside.replace(file)
                else:
                    continue
            written.append(line)
            time.sleep(0.03)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for number in range(12):
            change_text(file, lambda text, number=number: with_block(text, "memory", f"export {number}"))  # type: ignore[misc]
    finally:
        ended.set()
        editor.join()
    text = file.read_text()
    assert written and [line for line in written if line not in text] == []
    change_text(file, lambda text: with_block(text, "memory", "last"))
    assert block_in(file.read_text(), "memory") == "last" and "# Notes\n" in outside(file.read_text(), "memory")


def test_a_file_is_removed_only_as_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("by a person")
    assert not remove_unless_changed(file, b"ours") and file.read_text() == "by a person"
    assert remove_unless_changed(file, b"by a person") and names_in(tmp_path) == []
    assert not remove_unless_changed(file, b"")


def test_a_file_with_two_names_is_not_parted(tmp_path: Path) -> None:
    file, other = tmp_path / "MEMORY.md", tmp_path / "other.md"
    file.write_text("mine\n")
    os.link(file, other)
    with pytest.raises(OutputError, match="has another name"):
        change_text(file, lambda text: f"{text}ours\n")
    assert change_text(file, lambda text: text) == "unchanged" and file.samefile(other)
    assert change_text(file, lambda text: f"{text}ours\n", may_part=True) == "changed"
    assert other.read_text() == "mine\n" and names_in(tmp_path) == ["MEMORY.md", "other.md"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["# Mine\n- tea, no coffee\n", "no line ends", "咖啡\n茶\n"])
def test_wide_signs_without_a_mark_are_not_mixed_with_utf_8(tmp_path: Path, encoding: str, text: str) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_bytes(text.encode(encoding))
    with pytest.raises(OutputError, match="is not UTF-8"):
        change_text(file, lambda text: f"{text}ours\n")
