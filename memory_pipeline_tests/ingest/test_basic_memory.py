"""Notes of basic-memory, in the forms that its documentation of 0.20 to 0.24 gives."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.ingest.bring import bring_twice, write

NOTE = """---
title: Payment gateway
type: note
permalink: webshop/payment-gateway
tags: [ops, "#payments"]
created: 2026-03-01 09:30
---

# Payment gateway

It takes the orders of the shop and passes them to the bank.

## Observations
- [decision] Keep the old key for 15 minutes #keys (after the outage)
- [Tech Debt] It cannot reload its key
- Restart it on every node #runbook
- [ ] Write the runbook
- [x] Tell Dana

## Relations
- depends_on [[Vault]]
- [[Orders]] (loosely)
- See [the page](https://example.org/a) for details
- [link](https://example.org/b) to the vendor

```python
x = "[decision] no words"
```
"""


def note(path: Path, text: str = NOTE) -> Path:
    write(path.parent, path.name, text)
    return path


def test_observations_prose_and_todos_are_memories_with_their_note(store: Store, tmp_path: Path) -> None:
    note(tmp_path / "webshop" / "gateway.md")
    brought = bring_twice(store, tmp_path / "webshop", "basic-memory")
    assert importer_of("basic-memory").evidence(tmp_path / "webshop") == "a note with the permalink of basic-memory"
    assert brought.words == [
        "It cannot reload its key",
        "It takes the orders of the shop and passes them to the bank.",
        "Keep the old key for 15 minutes #keys (after the outage)",
        "Restart it on every node #runbook",
        "See [the page](https://example.org/a) for details",
        "Tell Dana",
        "Write the runbook",
        "[link](https://example.org/b) to the vendor",
    ]
    assert brought.skipped == {"relations to other notes": 2, "blocks of code": 1}
    (kept,) = [m for m in brought.memories.values() if m.content.startswith("Keep")]
    assert (kept.memory_type, kept.categories) == ("decision", ("decision", "payment-gateway"))
    assert (kept.tags, kept.project_id) == (("ops", "payments", "keys"), "webshop")
    assert kept.created_at == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    assert kept.id.startswith("basic-memory:webshop/payment-gateway#")
    assert (kept.source.file, kept.source.line) == ("gateway.md", 14)


def test_links_read_as_the_names_they_show(store: Store, tmp_path: Path) -> None:
    path = note(tmp_path / "a.md", "---\npermalink: a\n---\n- [fact] Ask [[Dana Miller|Dana]] about [[Vault]]\n")
    assert bring_twice(store, path, "basic-memory").words == ["Ask Dana about Vault"]


def test_signs_of_tasks_and_clock_times_are_no_categories(store: Store, tmp_path: Path) -> None:
    text = (
        "---\npermalink: a\ncreated: 2026-03-01\n---\n- [/] Half done\n- [00:01:02] Spoken words #talk\n"
        "- [fact] @effective[2026-02-01,2026-07-27) The cache uses Redis\n- [rule] Stay calm #bm:links_to\n"
        "## Observations\n- [plan] Use new pots (@effective:2026-02-03)\n"
        "- [plan] Tell a@effective:2026-02-03 @due:2026-02-04\n"
    )
    brought = bring_twice(store, note(tmp_path / "a.md", text), "basic-memory")
    told = {m.content: (m.categories, m.tags, m.effective_date.date()) for m in brought.memories.values()}
    day = date(2026, 3, 1)
    assert told == {
        "Half done": ((), (), day),
        "[00:01:02] Spoken words #talk": ((), ("talk",), day),
        "@effective[2026-02-01,2026-07-27) The cache uses Redis": (("fact",), (), date(2026, 2, 1)),
        "Stay calm": (("rule",), (), day),
        "Use new pots (@effective:2026-02-03)": (("plan",), (), date(2026, 2, 3)),
        "Tell a@effective:2026-02-03 @due:2026-02-04": (("plan",), (), day),
    }
    assert {memory.memory_type for memory in brought.memories.values()} <= {"fact", "lesson", "other"}


def test_a_note_without_dates_is_as_old_as_its_file_and_a_day_is_a_day(store: Store, tmp_path: Path) -> None:
    old = note(tmp_path / "n" / "old.md", "---\npermalink: old\n---\n- [fact] Old words\n")
    note(tmp_path / "n" / "day.md", "---\npermalink: day\ndate: 2026-03-04\n---\n- [fact] Words of a day\n")
    then = datetime(2026, 2, 1, tzinfo=UTC)
    os.utime(old, (then.timestamp(), then.timestamp()))
    brought = bring_twice(store, tmp_path / "n", "basic-memory")
    told = {m.content: (m.created_at, m.created_at_quality) for m in brought.memories.values()}
    assert told == {
        "Old words": (then, "mtime"),
        "Words of a day": (datetime(2026, 3, 4, tzinfo=UTC), "date"),
    }


def test_a_moved_note_and_a_grown_one_keep_their_ids(store: Store, tmp_path: Path) -> None:
    path = note(tmp_path / "webshop" / "gateway.md")
    before = bring_twice(store, path.parent, "basic-memory").memories.keys()
    note(path, NOTE.replace("## Observations\n", "## Observations\n- [new] One more\n"))
    path.rename(path.with_name("renamed.md"))
    after = bring_twice(store, path.parent, "basic-memory").memories.keys()
    assert before < after and len(after) == len(before) + 1


def test_a_bad_note_costs_itself_alone(store: Store, tmp_path: Path) -> None:
    note(tmp_path / "n" / "bad.md", "---\npermalink: x\ncreated: someday\n---\n- [fact] Lost\n")
    note(tmp_path / "n" / "odd.md", "---\npermalink: [1\ntags: {a: 1\n---\n- [fact] Still read\n")
    (tmp_path / "n" / "bytes.md").write_bytes(b"\xff\xfe\x00- \xd8\x00 text")
    note(tmp_path / "n" / ".obsidian" / "hidden.md", "- [fact] Hidden\n")
    brought = bring_twice(store, tmp_path / "n", "basic-memory")
    assert "Still read" in brought.words and not {"Lost", "Hidden"} & set(brought.words)
    assert "created is 'someday', which is not a time; use ISO 8601 or an epoch" in brought.reasons


def test_a_source_follows_its_notes(store: Store, tmp_path: Path) -> None:
    path = note(tmp_path / "webshop" / "gateway.md")
    source = SourceTable(name="notes", format="basic-memory", path=str(path.parent), exclude=("drafts/",))
    note(path.parent / "drafts" / "d.md", "- [fact] A draft\n")
    report = run(store, date(2026, 3, 2), settings_for(store, sources=(source,)))
    assert (report.sources[0].new, report.sources[0].files) == (8, 1)


def test_a_page_of_another_program_is_none_of_basic_memory(tmp_path: Path) -> None:
    note(tmp_path / "plain.md", "# Just a page\n")
    assert importer_of("basic-memory").evidence(tmp_path) is None
