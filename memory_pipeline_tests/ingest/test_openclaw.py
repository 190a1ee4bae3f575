"""Reading an OpenClaw workspace: every line accounted for, times in any zone, managed blocks left out."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import ImportSummary, Skipped, in_numbers
from memory_pipeline.ingest.formats import the_format_of
from memory_pipeline.ingest.importer import ALL_FILES
from memory_pipeline.ingest.markdown import parse_note
from memory_pipeline.ingest.openclaw_files import workspace_files
from memory_pipeline_tests.ingest.bring import read, write

FORMAT = "openclaw"


def test_bullets_and_paragraphs_become_entries_with_their_heading_path(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-02-08.md", "# 2026-02-08\n## Decisions\n- keep DuckDB\n  - one file\n\nPlain words.\n")
    first, second = read(tmp_path, FORMAT).candidates
    assert (first.content, first.memory_type, first.categories) == (
        "keep DuckDB\n- one file",
        "decision",
        ("decisions",),
    )
    assert (second.content, second.source.line) == ("Plain words.", 6)


def test_who_is_called_agent_has_turns_where_the_human_has_some(tmp_path: Path) -> None:
    talk = "- Human: Which port?\n- **Agent:** 5433, since March.\n- Agent health was fine\n"
    write(tmp_path, "memory/2026-02-08.md", talk)
    write(tmp_path, "memory/2026-02-09.md", "- Agent: restarted twice\n- Disk: 40% full\n")
    types = {entry.content: entry.memory_type for entry in read(tmp_path, FORMAT).candidates}
    assert [content for content, kind in types.items() if kind == "conversation"] == [
        "Human: Which port?",
        "**Agent:** 5433, since March.",
    ]


@pytest.mark.parametrize(
    ("front_matter", "kinds"),
    [
        ("", ["lesson", "other"]),
        ("---\ntitle: x\ntype: decision\n---\n", ["decision", "decision"]),
        ("---\ntype: Bug\n---\n", ["lesson", "error_fix"]),
    ],
)
def test_the_type_that_a_file_states_stays(tmp_path: Path, front_matter: str, kinds: list[str]) -> None:
    note = "# Lessons\n- Start the pump slowly.\n# Pump\n- Filter of the pump\n"
    write(tmp_path, "memory/2026-02-08.md", front_matter + note)
    assert [entry.memory_type for entry in read(tmp_path, FORMAT).candidates] == kinds


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("### Autonomous - 01:06 UTC", datetime(2026, 2, 8, 1, 6, tzinfo=UTC)),
        ("## Heartbeat 2026-02-09 04:10 UTC", datetime(2026, 2, 9, 4, 10, tzinfo=UTC)),
        ("## Log 14:31 MDT", datetime(2026, 2, 8, 20, 31, tzinfo=UTC)),
        ("## 02:00 Europe/Lisbon", datetime(2026, 2, 8, 2, 0, tzinfo=UTC)),
        ("## 2:05 pm", datetime(2026, 2, 8, 14, 5, tzinfo=UTC)),
        ("## 10:00 +02:00", datetime(2026, 2, 8, 8, 0, tzinfo=UTC)),
    ],
)
def test_times_are_read_in_any_zone(tmp_path: Path, heading: str, expected: datetime) -> None:
    write(tmp_path, "memory/2026-02-08.md", f"{heading}\n- something\n")
    (entry,) = read(tmp_path, FORMAT).candidates
    assert (entry.created_at, entry.created_at_quality) == (expected, "exact")


def test_a_stamp_at_the_start_of_a_line_opens_an_entry_even_when_lines_ran_together(tmp_path: Path) -> None:
    text = (
        "2026-02-20 11:11 UTC - Heartbeat: all good\n2026-02-20 10:38 UTC - Heartbeat: git clean"
        "2026-02-20 08:38 UTC - Heartbeat: quiet hours\n"
    )
    write(tmp_path, "memory/2026-02-20.md", text)
    entries = read(tmp_path, FORMAT).candidates
    assert [e.created_at.hour for e in entries if e.created_at] == [11, 10, 8]
    assert entries[1].content == "2026-02-20 10:38 UTC - Heartbeat: git clean"


def test_a_date_only_in_the_file_name_is_midnight_in_the_zone(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-04-05-0219.md", "- a b c\n")
    write(tmp_path, "memory/2026-05-08-topic-slug.md", "- x y z\n")
    timed, dated = read(tmp_path, FORMAT, ZoneInfo("America/New_York")).candidates
    assert (timed.created_at, timed.created_at_quality) == (datetime(2026, 4, 5, 6, 19, tzinfo=UTC), "exact")
    assert (dated.created_at, dated.created_at_quality) == (datetime(2026, 5, 8, 4, 0, tzinfo=UTC), "date")


def test_managed_blocks_and_session_dumps_are_left_out_and_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        "memory/2026-02-08.md",
        "- kept\n<!-- openclaw:dreaming:light:start -->\n- dreamt\n<!-- openclaw:dreaming:light:end -->\n"
        "## REM Sleep\n- also dreamt\n### deeper\n- too\n## Notes\n- kept too\n",
    )
    write(tmp_path, "memory/2026-02-09.md", "# Session: 2026-02-09 10:12:01 UTC\n- **Session Key**: k\n\nuser: hi\n")
    found = read(tmp_path, FORMAT)
    assert found.words == ["kept", "kept too"]
    assert found.skipped.counts == {"lines of managed blocks": 7, "lines of session dumps": 3}


def test_a_managed_block_that_never_ends_does_not_swallow_the_file(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-02-08.md", "<!-- openclaw:dreaming:light:start -->\n- kept\n")
    assert read(tmp_path, FORMAT).words == ["kept"]


def test_tables_code_and_procedures_stay_whole(tmp_path: Path) -> None:
    text = (
        "**Scores:**\n| Domain | Score |\n|---|---|\n| Memory | 0.90 |\n\n"
        "Model swap documented:\n1. Edit the file\n2. Restart the gateway\n\n"
        "```\nx = 1\n\ny = 2\n```\n"
    )
    write(tmp_path, "memory/2026-02-08.md", text)
    table, steps, code = read(tmp_path, FORMAT).words
    assert table.startswith("**Scores:**") and table.endswith("| Memory | 0.90 |")
    assert steps == "Model swap documented:\n1. Edit the file\n2. Restart the gateway"
    assert code == "```\nx = 1\n\ny = 2\n```"


def test_headings_and_rules_are_no_memories(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-02-08.md", "# Title\n\nText above a rule\n---\n\n## Empty\n")
    assert read(tmp_path, FORMAT).words == ["Text above a rule"]


def test_the_same_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "- one\n")
    (tmp_path / "memory.md").symlink_to(tmp_path / "MEMORY.md")
    assert len(read(tmp_path, FORMAT).words) == 1


def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "secret.md", "- secret\n") / "secret.md"
    workspace = write(tmp_path / "w", "MEMORY.md", "- mine\n")
    (workspace / "memory").mkdir()
    (workspace / "memory" / "2026-02-08.md").symlink_to(outside)
    found = read(workspace, FORMAT)
    assert found.words == ["mine"]
    assert found.skipped.counts == {"links out of the workspace": 1}


def test_gzipped_days_archived_folders_and_broken_bytes_are_read(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-03-01.md.gz", gzip.compress(b"- packed\n"))
    write(tmp_path, "memory/archive/2026-01-30.md", b"\xef\xbb\xbf- old \xff day\r\n- second\r\n")
    assert read(tmp_path, FORMAT).words == ["packed", "old \ufffd day", "second"]


def test_a_damaged_archive_is_quarantined_and_the_rest_imported(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-03-01.md.gz", b"no gzip at all")
    write(tmp_path, "memory/2026-03-02.md", "- fine\n")
    found = read(tmp_path, FORMAT)
    assert found.words == ["fine"] and len(found.rejected) == 1


def test_a_file_from_the_future_is_quarantined(tmp_path: Path) -> None:
    write(tmp_path, "memory/2036-03-01.md", "- not yet\n")
    found = read(tmp_path, FORMAT)
    assert not found.words and "future" in found.rejected[0].reason


def test_a_very_long_entry_is_split_at_sentences(tmp_path: Path) -> None:
    sentences = [f"Sentence number {n} says something of its own." for n in range(300)]
    write(tmp_path, "memory/2026-02-08.md", "- " + " ".join(sentences) + "\n")
    parts = read(tmp_path, FORMAT).words
    assert len(parts) > 2 and max(map(len, parts)) <= 4000
    assert " ".join(" ".join(part.split("\n")) for part in parts) == " ".join(sentences)


def test_recall_counts_are_taken_from_the_agents_own_state(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-02-08.md", "- never recalled\n- often recalled\n")
    state = {"entries": {"k": {"path": "memory/2026-02-08.md", "startLine": 2, "endLine": 2, "recallCount": 5}}}
    write(tmp_path, "memory/.dreams/short-term-recall.json", json.dumps(state))
    assert [entry.reuse_count for entry in read(tmp_path, FORMAT).candidates] == [0, 5]


def test_tags_are_kept_and_identity_files_are_pinned(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-02-08.md", "- [CURATE] prefers CSV #reports\n")
    write(tmp_path, "USER.md", "- likes short answers\n")
    user, note = sorted(read(tmp_path, FORMAT).candidates, key=lambda entry: not entry.pinned)
    assert user.pinned and not note.pinned and note.tags == ("curate", "reports")


@given(
    st.lists(
        st.sampled_from(
            ["", "- bullet", "  - nested", "1. step", "Label:", "plain words", "# Head", "| a | b |", "|---|---|",
             "```", "> quote", "---", "***", "[x]: http://a.b", "<div>", "2026-02-20 11:11 UTC - beat", "\tcode"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_no_line_is_ever_lost(lines: list[str]) -> None:
    """Each line with words is in an entry, or is a heading, a rule, HTML, or a label above a list."""
    note = parse_note("\n".join(lines))
    covered = {n for entry in note.entries for n in range(entry.first_line, entry.last_line + 1)} | set(note.structure)
    assert {n for n, line in enumerate(lines, start=1) if line.strip()} <= covered


def test_a_file_that_is_no_text_is_rejected_and_one_in_another_encoding_is_read(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-05-08.md", "- kept\n")
    write(tmp_path, "memory/2026-05-09.md", bytes(range(128, 256)) * 40)
    write(tmp_path, "memory/2026-05-10.md", "- Der Schl\u00fcssel h\u00e4ngt im Flur\n".encode("latin-1"))
    found = read(tmp_path, FORMAT)
    (rejected,) = found.rejected
    assert "2026-05-09.md" in rejected.file and "no text in UTF-8; convert it" in rejected.reason
    assert len(found.words) == 2


def test_a_file_in_another_encoding_is_read_as_it_was_written_and_noted(tmp_path: Path) -> None:
    words = "- Der Schl\u00fcssel h\u00e4ngt im \u201eFlur\u201c\n"
    write(tmp_path, "memory/2026-03-01.md", words.encode("cp1252"))
    write(tmp_path, "memory/2026-03-02.md", "- Die T\u00fcr ist zu".encode() + b" \xff\n")
    found = read(tmp_path, FORMAT)
    assert found.words == [words[2:-1], "Die T\u00fcr ist zu \ufffd"]
    summary = ImportSummary()
    summary.note_skipped(found.skipped)
    assert summary.notes == ["Note: 1 file that is not in UTF-8 (read as Windows-1252)."] and not summary.skipped


def test_copies_that_were_left_beside_a_file_are_no_memories(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-03-01.md", "- kept\n")
    copies = ("2026-03-01 copy.md", "2026-03-01 copy 2.md", "2026-03-01.md.bak", "2026-03-01.orig.md", "2026-03-01.md~",
              "2026-03-01 - Copy.md", "2026-03-01.sync-conflict-20260302-1.md")  # fmt: skip
    for name in copies:
        (tmp_path / "memory" / name).write_text("- a copy\n")
    (tmp_path / "MEMORY.md.bak").write_text("- a copy\n")
    found = read(tmp_path, FORMAT)
    assert found.words == ["kept"]
    assert found.skipped.counts == {"backup copies": len(copies) + 1}


def test_lines_that_lead_to_files_that_are_read_are_no_memories(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-03-01.md", "- kept\n")
    write(tmp_path, "memory/keys/rotate.md", "- Rotate the key first.\n")
    index = "# Notes\n- [Keys](memory/keys/rotate.md) - how\n- [[2026-03-01]]\n- **[Day](2026-03-01.md)**\n"
    others = "- [Gone](memory/gone.md) - it is not there\n- Deploys: see [the day](memory/2026-03-01.md).\n"
    write(tmp_path, "MEMORY.md", index + others)
    found = read(tmp_path, FORMAT)
    told = [entry.content for entry in found.candidates if entry.source.file == "MEMORY.md"]
    assert told == ["[Gone](memory/gone.md) - it is not there", "Deploys: see [the day](memory/2026-03-01.md)."]
    assert found.skipped.counts == {"lines of an index": 3}


def test_what_was_left_out_is_told_in_words_and_a_split_entry_is_not_left_out(tmp_path: Path) -> None:
    long = " ".join(f"Sentence {n} of a long note tells something." for n in range(120))
    write(tmp_path, "memory/2026-03-02.md", f"- {long}\n")
    write(tmp_path, "memory/index.md", "- x\n")
    found = read(tmp_path, FORMAT)
    assert len(found.words) > 1 and found.skipped.split == 1
    assert in_numbers(found.skipped.counts) == "1 file without memories, or excluded"
    assert in_numbers({"memories that have expired": 1}) == "1 memory that has expired"
    assert in_numbers({"lines of code dumps": 1200}) == "1,200 lines of code dumps"


def test_notes_outside_of_the_known_directories_are_told_of(tmp_path: Path) -> None:
    for name in ("memory/a.md", "notes/ops.md", "plan.md", "AGENTS.md", ".git/x.md"):
        write(tmp_path, name, "- a line\n")
    skipped = Skipped()
    assert [name for name, _ in workspace_files(tmp_path, skipped, ALL_FILES)] == ["memory/a.md"]
    assert skipped.counts == {"files of Markdown outside of memory/, DailyLogs/ and raw/": 2}


def test_a_folder_of_daily_notes_is_a_log_of_days(tmp_path: Path) -> None:
    plain, workspace = tmp_path / "journal", tmp_path / "workspace"
    write(plain, "2026-03-01.md", "- moved the queue\n")
    write(plain, "2026/2026-03-02.md", "- moved it back\n")
    write(plain, "ideas.md", "- a cache\n")
    assert the_format_of(plain).importer.name == "openclaw"
    days = {one.content: f"{one.created_at:%m-%d}" for one in read(plain, FORMAT).candidates if one.created_at}
    assert len(days) == 3 and (days["moved the queue"], days["moved it back"]) == ("03-01", "03-02")
    write(workspace, "MEMORY.md", "- prefers tea\n")
    write(workspace, "2026-03-01.md", "- moved the queue\n")
    write(workspace, "plan.md", "- a plan\n")
    assert read(workspace, FORMAT).words == ["prefers tea", "moved the queue"]
    write(tmp_path / "texts", "chapter.md", "- no day\n")
    with pytest.raises(InputError, match="named by their day"):
        read(tmp_path / "texts", FORMAT)
