"""Items of JSON documents of any size: whatever one holds, the others come."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_pipeline.ingest import text_files
from memory_pipeline.ingest.text_files import Broken, Unreadable, json_items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (b"[1, 2]", [1, 2]),
        (b'\xef\xbb\xbf \n{"results": [{"a": [1.5]}], "other": [7]}', [{"a": [1.5]}]),
        (b"[1" + b"0" * 400 + b", 1e400, 2]", [10**400, float("inf"), 2]),
        (b'["a\\udfffb", "\\ud83d", 2]', ["a\ufffdb", "\ufffd", 2]),
        (b'["caf\xe9", 2]', ["caf\N{REPLACEMENT CHARACTER}", 2]),
        (b"[" + b"[" * 400 + b"]" * 400 + b", 2]", [json.loads("[" * 400 + "]" * 400), 2]),
        (b'[NaN, -Infinity, {"a": "NaN"}, 2]', [None, None, {"a": "NaN"}, 2]),
        (b'["\\ud83d\\ude00 \\\\ud83d \\\\", 2]', ["\U0001f600 \\ud83d \\", 2]),
        (b"{}", []),
        (b'{"results": {"a": 1}}', []),
    ],
)
def test_each_item_is_read_whatever_it_holds(tmp_path: Path, text: bytes, items: list[object]) -> None:
    (tmp_path / "a.json").write_bytes(text)
    found = list(json_items(tmp_path / "a.json", "", "results"))
    assert [one[1] for one in found if not isinstance(one, Broken)] == items
    assert not [one for one in found if isinstance(one, Broken)]


@pytest.mark.parametrize("text", [b"", b"[1, 2", b"[1, 2, nonsense]", b"[1, 2, NaNa]", b"[1, 2]]"])
def test_a_document_that_breaks_off_gives_what_came_before(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.json").write_bytes(text)
    *before, last = json_items(tmp_path / "a.json", "", "results")
    assert isinstance(last, Broken) and "cannot be read after its item" in last.reason
    assert [one[1] for one in before if not isinstance(one, Broken)] == ([1, 2] if text else [])


def test_whatever_the_pieces_are_in_which_a_document_is_read_the_items_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [
        'a "quoted" \\ \U0001f600 \u00e9',
        None,
        {"x\\": [1, -2.5, {}, []], '"': "]}"},
        [[["[", "{"]]],
        True,
        "\\\\",
    ]
    told = json.dumps(items).replace("null", "NaN").replace("true", "-Infinity") + " "
    (tmp_path / "a.json").write_text(told.replace('"a ', '"\\udfffa '))
    expected = ["\ufffd" + str(items[0]), None, *items[2:4], None, items[5]]
    for size in range(1, 40):
        monkeypatch.setattr(text_files, "_CHUNK", size)
        assert [one[1] for one in json_items(tmp_path / "a.json", "") if not isinstance(one, Broken)] == expected


def test_what_goes_beyond_a_limit_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LARGEST_VALUE", 20_000)
    monkeypatch.setattr(text_files, "_MOST_PARTS", 5_000)
    long, deep = "\\u00e9" * 8000, "[" * 5000 + '"]"' + "]" * 5000
    values = [f'{{"a": "{long}"}}', f'{{"{long}": 1}}', deep, f'{{"a": {deep}, "b": 1}}', json.dumps([1] * 6000)]
    (tmp_path / "a.json").write_text(f"[0, {', 1, '.join(values)}, 2]")
    for size in (1, 7, 64):
        monkeypatch.setattr(text_files, "_CHUNK", size)
        told = [one[1] for one in json_items(tmp_path / "a.json", "") if not isinstance(one, Broken)]
        reasons = [one.reason for one in told if isinstance(one, Unreadable)]
        assert [one for one in told if not isinstance(one, Unreadable)] == [0, 1, 1, 1, 1, 2]
        assert ["deeply" in why or "parts" in why or "longer" in why for why in reasons] == [True] * 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        (b'[{"id": "a", "memory": "', b"words ", b'"}, 2]'),
        (b"[", b"[", b"]"),
        (b'["', b"\\\\", b'", 2]'),
        (b"[{", b'"a": {', b"}"),
        (b"[[", b"[],", b"1], 2]"),
        (b"[", b"1", b", 2]"),
        (b"[1, ", b" ", b", 2]"),
    ],
)
def test_no_document_takes_more_than_its_length(tmp_path: Path, before: bytes, piece: bytes, after: bytes) -> None:
    (tmp_path / "a.json").write_bytes(before + piece * (20_000_000 // len(piece)) + after)
    code = (
        "import psutil, sys, time; from pathlib import Path; from memory_pipeline.ingest.text_files import json_items;"
        "found = list(json_items(Path(sys.argv[1]), ''));"
        "print(psutil.Process().memory_info().rss >> 20, time.process_time())"
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.json")], capture_output=True, check=True)
    megabytes, seconds = map(float, told.stdout.split())
    assert megabytes < 400 and seconds < 120  # a quadratic reader takes hours


@pytest.mark.slow
def test_a_large_document_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    item = json.dumps({"id": "x", "memory": "words " * 400})
    with (tmp_path / "a.json").open("w") as file:
        file.write(f"[{item}")
        for _ in range(80_000):
            file.write(f", {item}")
        file.write("]")
    # The peak that the system counts for a process includes that of the one it was forked from.
    code = (
        "import psutil, sys; from pathlib import Path; from memory_pipeline.ingest.text_files import json_items;"
        "size = lambda: psutil.Process().memory_info().rss // 1024;"
        "print(*max((size(), number) for number, _ in json_items(Path(sys.argv[1]), '') if number % 500 == 1))"
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.json")], capture_output=True, check=True)
    kilobytes, _ = map(int, told.stdout.split())
    assert kilobytes < 300_000
