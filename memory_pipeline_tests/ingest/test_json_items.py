"""Items of JSON documents of any size: whatever one holds, the others come."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_pipeline.ingest.json_items import Broken, json_items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (b"[1, 2]", [1, 2]),
        (b'\xef\xbb\xbf \n{"results": [{"a": [1.5]}], "other": [7]}', [{"a": [1.5]}]),
        (b"[1" + b"0" * 400 + b", 1e400, 2]", [10**400, float("inf"), 2]),
        (b'["a\\udfffb", "\\ud83d", 2]', ["a\udfffb", "\ud83d", 2]),
        (b'["caf\xe9", 2]', ["caf\N{REPLACEMENT CHARACTER}", 2]),
        (b"[" + b"[" * 400 + b"]" * 400 + b", 2]", [json.loads("[" * 400 + "]" * 400), 2]),
        (b"{}", []),
        (b'{"results": {"a": 1}}', []),
    ],
)
def test_each_item_is_read_whatever_it_holds(tmp_path: Path, text: bytes, items: list[object]) -> None:
    (tmp_path / "a.json").write_bytes(text)
    found = list(json_items(tmp_path / "a.json", "", "results"))
    assert [one[1] for one in found if not isinstance(one, Broken)] == items
    assert not [one for one in found if isinstance(one, Broken)]


@pytest.mark.parametrize("text", [b"", b"[1, 2", b"[1, 2, nonsense]", b"[1, 2, NaN]", b"[1, 2]]"])
def test_a_document_that_breaks_off_gives_what_came_before(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.json").write_bytes(text)
    *before, last = json_items(tmp_path / "a.json", "", "results")
    assert isinstance(last, Broken) and "cannot be read after its item" in last.reason
    assert [one[1] for one in before if not isinstance(one, Broken)] == ([1, 2] if text else [])


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
        "import psutil, sys; from pathlib import Path; from memory_pipeline.ingest.json_items import json_items;"
        "size = lambda: psutil.Process().memory_info().rss // 1024;"
        "print(*max((size(), number) for number, _ in json_items(Path(sys.argv[1]), '') if number % 500 == 1))"
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.json")], capture_output=True, check=True)
    kilobytes, _ = map(int, told.stdout.split())
    assert kilobytes < 300_000
