"""ChatGPT's data export, built as its exports of 2026 are: a list of conversations, each a tree of messages."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.bring import bring, memories_of, read, written

FORMAT = "chatgpt"
AT = 1772355600.25  # 2026-03-01 09:00 UTC


def message(name: str, role: str, *parts: Any, at: Any = AT, **fields: Any) -> dict[str, Any]:
    """A message of somebody."""
    content = fields.pop("content", {"content_type": "text", "parts": list(parts)})
    return {"id": name, "author": {"role": role}, "create_time": at, "content": content, "weight": 1.0, **fields}


def conversation(*messages: dict[str, Any] | None, name: str = "c1", **fields: Any) -> dict[str, Any]:
    """A conversation whose messages follow each other, below a root without one."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, one in enumerate(messages):
        node = one["id"] if one else f"empty-{number}"
        mapping[node] = {"id": node, "message": one, "parent": parent, "children": []}
        parent = node
    told = {"title": "An export", "create_time": AT, "update_time": AT, "mapping": mapping, "current_node": parent}
    return {**told, "conversation_id": name, "id": name, **fields}


TALK = (message("m1", "user", "Move the export to 02:30."), message("m2", "assistant", "Moved it.", at=AT + 5))


def test_what_was_said_on_the_branch_that_was_shown_is_read_in_its_order(tmp_path: Path) -> None:
    told = conversation(*TALK)
    told["mapping"]["draft"] = {"id": "draft", "parent": "m1", "message": message("draft", "assistant", "A draft.")}
    found = read(written(tmp_path / "conversations.json", [told]), FORMAT)
    assert found.said == [("human", "Move the export to 02:30."), ("agent", "Moved it.")]
    first = found.candidates[0]
    assert (first.native_id, first.source.file, first.source.line) == ("chatgpt:m1", "conversations.json#c1", 1)
    assert first.created_at == datetime(2026, 3, 1, 9, 0, 0, 250000, UTC) and first.created_at_quality == "exact"
    assert first.memory_type == "conversation" and first.project_id is None
    assert found.skipped.counts == {"messages of branches that were given up": 1}


def test_what_nobody_said_is_left_out_and_counted(tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    spoken = {"content_type": "audio_transcription", "text": "Which port is it?", "direction": "in"}
    hidden = {"is_visually_hidden_from_conversation": True}
    told = conversation(
        message("a", "system", ""),
        message("b", "user", content={"content_type": "user_editable_context", "user_profile": "Dana"}),
        message("c", "user", "Hidden.", metadata=hidden),
        message("d", "assistant", "Weightless.", weight=0.0),
        None,
        message("e", "user", image, "What is this?", spoken),
        message("f", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        message("g", "assistant", content={"content_type": "code", "text": "print(1)"}, recipient="python"),
        message("h", "tool", content={"content_type": "execution_output", "text": "1"}),
        message("i", "assistant", "It is 8086 \ue200cite\ue202turn0search0\ue201here【4†source】."),
        message("j", "assistant", ""),
    )
    found = read(written(tmp_path / "conversations.json", [told]), FORMAT)
    assert found.said == [("human", "What is this?\nWhich port is it?"), ("agent", "It is 8086 here.")]
    assert found.skipped.counts == {
        "texts of the system": 4,
        "images and other files": 1,
        "thoughts of the agent": 1,
        "calls of tools": 1,
        "results of tools": 1,
    } and not found.rejected  # fmt: skip


def test_messages_without_a_time_have_the_day_of_their_conversation_and_bad_ones_cost_themselves(
    tmp_path: Path,
) -> None:
    broken = (
        message("m1", "user", "No time.", at=None),
        message("m2", "user", "Ancient.", at=12),
        message("m3", "user", "Endless.", at=1e300),
        message("m4", "user", content=7),
        message("m5", "poet", "Who?"),
        message("m6", "user", content={"content_type": "text", "parts": "x"}),
        message("m7", "assistant", "Good."),
    )
    forgotten = conversation(message("f", "user", "Forget this."), name="c3", is_do_not_remember=True)
    rows = [conversation(*broken), 7, {"id": "c2", "title": "x"}, None, forgotten]
    found = read(written(tmp_path / "conversations.json", rows), FORMAT)
    assert [(c.content, c.created_at_quality) for c in found.candidates] == [("No time.", "date"), ("Good.", "exact")]
    assert [(row.file[-3:], row.line) for row in found.rejected] == [
        ("#c1", 2), ("#c1", 3), ("#c1", 4), ("#c1", 5), ("#c1", 6), ("son", 2), ("son", 3), ("son", 4),
    ]  # fmt: skip
    assert found.skipped.counts == {"conversations that are not to be remembered": 1}


def test_a_broken_tree_is_read_as_far_as_it_leads_and_a_circle_is_quarantined(tmp_path: Path) -> None:
    circle = conversation(*TALK, current_node="m2")
    circle["mapping"]["m1"]["parent"] = "m2"
    lost = conversation(message("n1", "user", "Without an end."), name="c2", current_node="nowhere")
    torn = conversation(message("o1", "user", "Torn off."), message("o2", "user", "The rest."), name="c3")
    torn["mapping"]["o2"]["parent"] = "gone"
    found = read(written(tmp_path / "conversations.json", [circle, lost, torn]), FORMAT)
    assert found.words == ["Without an end.", "The rest."]
    (rejected,) = found.rejected
    assert rejected.file == "conversations.json#c1" and "lead in a circle" in rejected.reason


@pytest.mark.parametrize("end", ["", ',{"id": "c2", "mapping": {"x"', ", ]", '{"a": ' + "9" * 5000])
def test_what_stands_before_a_break_is_read(tmp_path: Path, end: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_text("[" + json.dumps(conversation(*TALK)) + end)
    found = read(path, FORMAT)
    assert len(found.words) == 2 and "the rest is not read" in found.rejected[0].reason


def test_bytes_that_are_no_text_cost_no_more_than_themselves(tmp_path: Path) -> None:
    text = json.dumps([conversation(message("m1", "user", "A caf@ and a cut \ud83d emoji.")), conversation(*TALK)])
    path = tmp_path / "conversations.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode().replace(b"@", b"\xe9"))
    assert read(path, FORMAT).words == ["A caf\ufffd and a cut \ufffd emoji.", "Move the export to 02:30.", "Moved it."]


def test_the_archive_as_it_comes_its_directory_and_its_parts_give_the_same(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    written(folder / "conversations-000.json", [conversation(*TALK)])
    written(folder / "conversations-001.json", [conversation(message("m3", "user", "Thanks."), name="c2")])
    (folder / "message_feedback.json").write_text("[]")
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in folder.iterdir():
            packed.write(file, file.name)
    first = bring(store, archive, FORMAT)
    assert (first.imported, first.quarantined) == (3, 0)
    assert {memory.source.file for memory in memories_of(store)} == {"export.zip#c1", "export.zip#c2"}
    again = bring(store, folder, FORMAT)
    assert (again.imported, again.unchanged) == (0, 3)
    for path in (archive, folder, folder / "conversations-000.json"):
        assert "as trees of messages" in (importer_of(FORMAT).evidence(path) or "")
    assert importer_of(FORMAT).file_of("export.zip#c1") == "export.zip"


def test_an_archive_that_is_damaged_or_holds_no_export_is_told(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr("conversations.json", json.dumps([conversation(*TALK)]))
    data = bytearray(archive.read_bytes())
    data[200:210] = b"x" * 10
    archive.write_bytes(data)
    assert "cannot be read" in read(archive, FORMAT).rejected[0].reason
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("chat.html", "x")
    assert "no conversations.json" in read(archive, FORMAT).rejected[0].reason
    assert importer_of(FORMAT).evidence(archive) is None


_MEASURED = r"""
import re, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline_tests.build import settings_for
reading = read_format("chatgpt", Path(sys.argv[1]), UTC, datetime.now(UTC), settings_for(Path("x")), Skipped())
print(sum(1 for _ in reading), int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.slow
def test_150_mb_in_one_line_are_read_in_less_than_500_mb_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    words = "The export runs at night and its log holds whole outputs, which nobody has read so far. " * 10
    count = 0
    with path.open("w") as file:
        file.write("[")
        while file.tell() < 120_000_000:
            told = [message(f"m{count}-{n}", "user", f"{words} {n}") for n in range(200)]
            file.write(("," if count else "") + json.dumps(conversation(*told, name=f"c{count}")))
            count += 1
        endless = (message(f"e-{n}", "assistant", f"{words} {n}") for n in range(30_000))
        nodes = (f'"e-{n}": ' + json.dumps({"parent": f"e-{n - 1}", "message": one}) for n, one in enumerate(endless))
        file.write(', {"id": "endless", "mapping": {')
        file.writelines(("," if n else "") + node for n, node in enumerate(nodes))
        file.write('}, "current_node": "e-29999"}]')
    assert path.stat().st_size > 150_000_000
    told = subprocess.run([sys.executable, "-c", _MEASURED, str(path)], capture_output=True, text=True, check=True)
    turns, megabytes = map(int, told.stdout.split())
    assert turns == count * 200 + 30_000 and megabytes < 500
