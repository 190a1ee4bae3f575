"""What could not be imported is listed."""

from __future__ import annotations

import json
from pathlib import Path

from memory_pipeline_tests.interfaces.in_process import command


def test_rows_that_no_import_took_are_listed_once_with_file_line_and_reason(tmp_path: Path) -> None:
    assert command("import", "jsonl", written(tmp_path, "{broken", '{"content": "fine"}')).code == 0
    assert command("import", "jsonl", written(tmp_path, '{"content": "fine"}', "", "{broken")).code == 0
    told = command("quarantine").out
    assert told.startswith("notes.jsonl:") and told.count("{broken") == 1
    (row,) = json.loads(command("quarantine", "notes", "--json").out)
    assert row["file"] == "notes.jsonl" and "JSON" in row["reason"]
    other = command("quarantine", "other.csv").out
    assert "Nothing is in quarantine of a file with 'other.csv' in its name" in other and "1 row of others" in other
    assert command("quarantine", "list").out == command("quarantine").out


def written(folder: Path, *rows: str) -> Path:
    file = folder / "notes.jsonl"
    file.write_text("\n".join(rows) + "\n")
    return file
