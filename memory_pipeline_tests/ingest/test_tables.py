"""Tables as spreadsheets write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline_tests.ingest.bring import read


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_columns_may_be_separated_as_spreadsheets_write_them(tmp_path: Path, separator: str) -> None:
    table = [
        ["created_at", "content", "tags"],
        ["2026-03-01", '"Salt, then water; wait."', '"a;b"'],
        ["", "x", "", "y"],
    ]
    path = tmp_path / "a.csv"
    path.write_text("\ufeff" + "\r\n".join(map(separator.join, table)) + "\r\n")
    found = read(path, "csv")
    assert [(c.content, c.tags, c.created_at_quality) for c in found.candidates] == [
        ("Salt, then water; wait.", ("a", "b"), "date")
    ]
    assert "4 fields" in found.rejected[0].reason
    assert importer_of("csv").evidence(path) == "a header with the column 'content'"


def test_a_header_may_go_over_two_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"Note; as\nwritten",id,content\nx;y,1,Salt first.\n')
    assert read(tmp_path / "a.csv", "csv").words == ["Salt first."]


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("Date;Note;Tags", r"separated by semicolons; call the column with the words 'content'"),
        ('{"content": "x", "id": 1}', "it holds JSON; 'import auto' tells the format"),
    ],
)
def test_a_header_without_the_words_says_what_it_has_and_what_it_needs(tmp_path: Path, header: str, told: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\n1;2;3\n")
    with pytest.raises(InputError, match=told):
        read(tmp_path / "a.csv", "csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "jsonl",
            '{"content": "Salt first.", "project": "kitchen"}\n{"content": "Then rice.", "project_id": "kitchen"}\n',
        ),
        ("csv", "content,project\nSalt first.,home\nThen rice.,\n"),
    ],
)
def test_a_project_in_a_column_that_is_not_read_is_told(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / f"a.{name}"
    path.write_text(text)
    found = read(path, name)
    assert found.words == ["Salt first.", "Then rice."]
    ((why, number),) = found.skipped.counts.items()
    assert (number, "'project_id'" in why) == (1, True)


def test_a_table_in_the_encoding_of_earlier_windows_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("content;tags\nDer Schl\u00fcssel h\u00e4ngt im Flur;m\u00f6bel\n".encode("cp1252"))
    found = read(path, "csv")
    assert (found.words, found.candidates[0].tags) == (["Der Schl\u00fcssel h\u00e4ngt im Flur"], ("m\u00f6bel",))
    assert found.skipped.noted == {"files that are not in UTF-8 (read as Windows-1252)": 1}
