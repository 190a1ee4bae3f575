"""Codex's memory files, in the forms that Codex 0.169 writes and that its prompts prescribe."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.bring import bring, memories_of, read

FORMAT = "codex"
RAW = """# Raw Memories

Merged stage-1 raw memories (stable ascending thread-id order):

## Thread `019dec8f-555f`
updated_at: 2026-03-03T16:19:21+00:00
cwd: /home/dana/my_app
rollout_path: /home/dana/.codex/sessions/rollout-1.jsonl
rollout_summary_file: 2026-03-03T06-38-29-9qjL-review.md

---
description: Reviewed the export; the tests pass, but its log is not clipped.
task: review the export
task_group: my_app
task_outcome: partial
cwd: /home/dana/my_app
keywords: export, log, clipping
---

### Task 1: Review the export

task: review the export
task_outcome: partial

Preference signals:
- when the user said "review only" -> do not patch findings.

Reusable knowledge:
- `pytest tests/export` runs in 4 seconds.

Failures and how to do differently:
- The log holds whole outputs; clip them before writing.

## Thread `019dec90-0000`
updated_at: not yet
cwd: unknown

### Task 1: Look around
Reusable knowledge:
- The relay listens on port 8086.
"""
HANDBOOK = """# Task Group: my_app / exports
scope: everything about exports
applies_to: cwd=/home/dana/my_app; reuse_rule=safe in this checkout

## Task 1: Review, partial
### rollout_summary_files
- rollout_summaries/a.md (cwd=/home/dana/my_app, rollout_path=/r, updated_at=2026-03-03T16:19:21+00:00, thread_id=1)
- rollout_summaries/b.md (cwd=/home/dana/my_app, rollout_path=/r, updated_at=2026-03-04T10:00:00+00:00, thread_id=2)
### keywords
- export, log

## User preferences
- when reviewing, the user wants findings alone. [Task 1][Task 2]

# Task Group: elsewhere
applies_to: cwd=any checkout; reuse_rule=always

## Reusable knowledge
- Deploys go out on Tuesdays. [Task 1]
"""
SUMMARY = """v1
## User Profile
Dana is a data engineer.

## User preferences
- Answer in short sentences.

## What's in Memory
### my_app
- exports: see MEMORY.md, "Task Group: my_app / exports"
"""
ROLLOUT = """thread_id: 019dec8f-555f
updated_at: 2026-03-03T16:19:21+00:00
rollout_path: /home/dana/.codex/sessions/rollout-1.jsonl
cwd: /home/dana/my_app
git_branch: main

# Review of the export

- Read the export's code and ran its tests.
"""


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    folder = tmp_path / ".codex" / "memories"
    files = {"raw_memories.md": RAW, "MEMORY.md": HANDBOOK, "memory_summary.md": SUMMARY}
    files |= {"rollout_summaries/a.md": ROLLOUT, "skills/x/SKILL.md": "- a skill"}
    files |= {"extensions/ad_hoc/instructions.md": "- how notes are read", "extensions/other/notes/a.md": "- no"}
    files |= {"phase2_workspace_diff.md": "- a diff", ".git/description.md": "- no"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        os.utime(folder / name, (1772701200, 1772701200))
    return folder


def test_entries_have_the_time_and_the_project_of_their_thread(memories: Path) -> None:
    found = read(memories, FORMAT)
    told = {c.content: (c.source.file, c.project_id, c.created_at_quality, c.created_at) for c in found.candidates}
    raw, thread = "raw_memories.md", datetime(2026, 3, 3, 16, 19, 21, tzinfo=UTC)
    file_time = datetime(2026, 3, 5, 9, tzinfo=UTC)
    newest = datetime(2026, 3, 4, 10, tzinfo=UTC)
    assert told == {
        "Reviewed the export; the tests pass, but its log is not clipped.": (raw, "my_app", "exact", thread),
        'when the user said "review only" -> do not patch findings.': (raw, "my_app", "exact", thread),
        "`pytest tests/export` runs in 4 seconds.": (raw, "my_app", "exact", thread),
        "The log holds whole outputs; clip them before writing.": (raw, "my_app", "exact", thread),
        "The relay listens on port 8086.": (raw, None, "mtime", file_time),
        "when reviewing, the user wants findings alone.": ("MEMORY.md", "my_app", "exact", newest),
        "Deploys go out on Tuesdays.": ("MEMORY.md", None, "mtime", file_time),
        "Dana is a data engineer.": ("memory_summary.md", None, "mtime", file_time),
        "Answer in short sentences.": ("memory_summary.md", None, "mtime", file_time),
        "Read the export's code and ran its tests.": ("rollout_summaries/a.md", "my_app", "exact", thread),
    }
    kinds = {c.content[:12]: c.memory_type for c in found.candidates}
    assert kinds["when the use"] == kinds["Answer in sh"] == "feedback" and kinds["The log hold"] == "lesson"
    # A line of the index that ends in a colon leads in to the headings below it.
    assert found.skipped.counts == {"lines of an index": 4, "times that cannot be read": 1} and not found.rejected


def test_what_its_user_told_it_to_remember_is_read_with_the_time_of_its_name(memories: Path) -> None:
    notes = memories / "extensions" / "ad_hoc" / "notes"
    notes.mkdir()
    words = {
        "2026-03-02T10-30-00-csv.md": "# Remember\nDana prefers CSV.",
        "2026-03-02T235000Z-tea.md": "Dana likes tea.",
    }
    for name, text in {**words, "profile.md": "Dana lives in Lisbon."}.items():
        (notes / name).write_text(text)
    found = {c.content: c for c in read(memories, FORMAT).candidates if "ad_hoc" in str(c.source.file)}
    assert {
        words: (one.created_at, one.created_at_quality) for words, one in found.items() if "Lisbon" not in words
    } == {
        "Dana prefers CSV.": (datetime(2026, 3, 2, 10, 30, tzinfo=UTC), "exact"),
        "Dana likes tea.": (datetime(2026, 3, 2, 23, 50, tzinfo=UTC), "exact"),
    }
    assert found["Dana lives in Lisbon."].created_at_quality in ("mtime", "import")


def test_a_bullet_has_the_time_of_its_task(tmp_path: Path) -> None:
    handbook = (
        HANDBOOK.partition("# Task Group: elsewhere")[0]
        .replace(
            "## User preferences",
            "## Task 2: Ship, success\n### rollout_summary_files\n"
            "- rollout_summaries/c.md (cwd=/home/dana/my_app, updated_at=2026-03-05T08:00:00+00:00, thread_id=3)\n"
            "### notes\n- The export ships at eight.\n\n## User preferences\n- One that both show. [Task 1][Task 2]\n"
            "- No task is named here.\n- nothing",
        )
        .replace("findings alone. [Task 1][Task 2]", "findings alone. [Task 1]")
    )
    (tmp_path / "MEMORY.md").write_text(handbook)
    found = read(tmp_path, FORMAT)
    first, second = datetime(2026, 3, 4, 10, tzinfo=UTC), datetime(2026, 3, 5, 8, tzinfo=UTC)
    assert {c.content: c.created_at for c in found.candidates} == {
        "The export ships at eight.": second,
        "One that both show.": second,
        "No task is named here.": second,
        "when reviewing, the user wants findings alone.": first,
    }
    assert found.skipped.counts["entries of a single word"] == 1


def test_a_rewritten_file_brings_only_what_is_new(store: Store, memories: Path) -> None:
    first = bring(store, memories, FORMAT)
    assert (first.imported, first.quarantined) == (10, 0)
    changed = (
        HANDBOOK.replace("# Task Group: my_app", "# Task Group: moved\n\n# Task Group: my_app") + "- One more rule.\n"
    )
    (memories / "MEMORY.md").write_text(changed)
    again = bring(store, memories.parent, FORMAT)
    assert again.imported == 1
    ids = [memory.id for memory in memories_of(store) if memory.content == "Deploys go out on Tuesdays."]
    assert len(ids) == 1 and ids[0].startswith("codex:codex:MEMORY.md#")


def test_the_content_says_of_which_format_a_directory_is(memories: Path) -> None:
    codex = importer_of(FORMAT)
    assert codex.evidence(memories) == "MEMORY.md as Codex writes it"
    for name in ("MEMORY.md", "raw_memories.md", "memory_summary.md"):
        (memories / name).write_text("# Notes\n- of somebody else\n")
    assert codex.evidence(memories) == "rollout_summaries/a.md as Codex writes it"
