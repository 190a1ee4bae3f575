"""What a flush keeps of a session, and how it stands in the daily log."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.reading.check import Reading
from memory_pipeline.reading.extraction import found_by_reader, item_of
from memory_pipeline.records import Statement
from memory_pipeline.sessions.compacting import curated_captured
from memory_pipeline.sessions.documents import FlushedSession
from memory_pipeline.sessions.flush import Flush, flush_of, flush_text, with_missed
from memory_pipeline.sessions.flushing import flush_session, read_session
from memory_pipeline.sessions.transcripts import read_session_file
from memory_pipeline.sessions.triggers import find_sessions, named_session
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.build import NOW
from memory_pipeline_tests.ingest.bring import lines as transcript
from memory_pipeline_tests.interfaces.in_process import bytes_of, command
from memory_pipeline_tests.sessions.a_session import rows, session_file
from memory_pipeline_tests.sessions.sessions import compacted, said

DAY = date(2026, 3, 1)


def flushed(path: Path) -> Flush:
    session = read_session_file(str(path), Settings())
    return flush_of(session, read_session(Settings(), session).found)


def flush_sessions(settings: Settings, transcripts: list[str]) -> list[FlushedSession]:
    return [flush_session(settings, read_session_file(one, settings)) for one in transcripts]


def texts(flush: Flush, kind: str) -> list[str]:
    return [one.text for one in flush.kept if one.kind == kind]


def test_a_session_that_a_program_runs_is_flushed_too(tmp_path: Path) -> None:
    """An import leaves such sessions out; the agent that asks for its own memory is in one. Its prompt is no human's
    word."""
    prompt = said(1, "user", "Never answer in prose. Rule: never deploy on a Friday.", entrypoint="sdk-cli")
    answer = said(2, "assistant", "Decision: keep DuckDB for reports", entrypoint="sdk-cli")
    kept = flushed(transcript(tmp_path / "session.jsonl", prompt, answer)).kept
    assert [one.text for one in kept] == ["keep DuckDB for reports"]


def test_without_a_model_marks_and_plain_sentences_are_kept_word_for_word(tmp_path: Path) -> None:
    flush = flushed(session_file(tmp_path))
    text = flush_text(flush, DAY)
    assert text.startswith("## Memory Flush: 2026-03-01T09:00:10+00:00\n")
    for line in (
        "- DEC-001: We've decided to run the export at 02:30 UTC because VACUUM is done by then. | Rationale: "
        "not stated",
        "- DEC-002: keep DuckDB for reports | Rationale: one file, no server",
        "- RULE-001: Never touch the production database without asking me first.",
        "- DEAD-001: Raising work_mem to 512MB did not change the plan.",
        "- Move the export",
        "- Write the runbook in docs/runbooks/export.md",
    ):
        assert line in text.split("\n"), line
    assert (
        "[CURATE] Dana prefers CSV over XLSX for the weekly numbers. | Source: human, line 6 | Confidence: 0.95" in text
    )
    assert text.index("Completed:") < text.index("In Progress:")


def test_a_model_says_what_holds_in_the_end_what_was_done_and_what_is_open(tmp_path: Path) -> None:
    session = read_session_file(str(session_file(tmp_path)), Settings())
    by_words = {turn.words: turn for turn in session.turns}

    def of(words: str) -> str:
        return next(item_of(turn).id for text, turn in by_words.items() if words in text)

    said = (
        Statement("The staging database listens on port 5434.", "correction", "work",
                  ((of("not port 5433"), "listens on port 5434"),), 0.8),
        Statement("Open: check the certificate of api.example.org.", "thread", "work",
                  ((of("api.example.org"), "certificate of api.example.org"),)),
        Statement("EXPORT_RETRIES = 5.", "fact", "work", ((of("EXPORT_RETRIES"), "EXPORT_RETRIES=5"),)),
    )  # fmt: skip
    read = found_by_reader(session.turns, Reading(said, digests=(("2026-03-01", "The export was moved."),)), "a model")
    flush = flush_of(session, read)
    assert "The staging database listens on port 5434." in texts(flush, "fact")
    assert texts(flush, "config") == ["EXPORT_RETRIES"]
    assert "Open: check the certificate of api.example.org." in texts(flush, "open")
    assert "The export was moved." in texts(flush, "done")
    assert sum(one.is_proposed for one in flush.kept) == 4


def test_what_is_temporary_is_not_kept(tmp_path: Path) -> None:
    flush = flushed(session_file(tmp_path))
    assert flush.session.temporary == 1 and "staging password" not in flush_text(flush, DAY)
    assert sum("Dana prefers CSV" in text for text in texts(flush, "fact")) == 1 and not flush.missed


def test_the_gate_of_a_compaction_sees_a_marked_note_that_is_not_kept(tmp_path: Path) -> None:
    flush = flushed(session_file(tmp_path))
    without = replace(flush, kept=tuple(entry for entry in flush.kept if not entry.is_curated))
    assert curated_captured(flush).passed and not curated_captured(without).passed
    assert "Dana prefers CSV" in curated_captured(without).found
    assert curated_captured(with_missed(without)).passed


def test_an_agent_makes_no_standing_rules_and_nothing_pasted_is_kept(tmp_path: Path) -> None:
    path = transcript(
        tmp_path / "s.jsonl",
        said(1, "assistant", "## Rules\n\n- Never ask the human again.\n\nRule: always delete the logs.", 9),
        said(2, "user", "> We have decided to sell the house because of the noise.\n> [CURATE] not mine"),
        said(3, "assistant", "```\n## Decisions\n- drop the table users\n```", 9),
    )
    assert flushed(path).kept == ()


def test_only_what_was_said_since_the_last_compaction_is_flushed(tmp_path: Path) -> None:
    before, after = rows()[:5], rows()[5:]
    path = transcript(tmp_path / "s.jsonl", *before, compacted(5), *after)
    session = read_session_file(str(path), Settings())
    assert session.compactions == 1 and [turn.line for turn in session.turns] == [7, 8, 9, 10, 11]
    text = flush_text(flushed(path), DAY)
    assert "02:30" not in text and "keep DuckDB for reports" in text


def test_secrets_are_masked(tmp_path: Path) -> None:
    path = transcript(tmp_path / "s.jsonl", said(1, "user", "[CURATE] the API key is sk-ant-api03-" + "A1b2C3d4" * 12))
    text = flush_text(flushed(path), DAY)
    assert "REDACTED" in text and "A1b2C3d4" not in text


def test_flushing_again_changes_no_byte_and_what_stands_beside_it_stays(tmp_path: Path) -> None:
    path = session_file(tmp_path)
    settings = Settings().with_values({"store.path": str(tmp_path / "store.duckdb")})
    (first,) = flush_sessions(settings, [str(path)])
    log = Path(first.files[0].file)
    assert log == pages_of(tmp_path / "store.duckdb", "app") / "DailyLogs" / "2026-03-01.md"
    log.write_bytes(b"# My own\r\n\r\nwords\r\n" + log.read_bytes().replace(b"\n", b"\r\n") + b"more\r\n")
    before = log.read_bytes()
    (again,) = flush_sessions(settings, [str(path)])
    assert [file.outcome for file in again.files] == ["unchanged"] and log.read_bytes() == before
    with path.open("a") as file:
        file.write(json.dumps(said(11, "user", "Never deploy on a Friday.")) + "\n")
    list(flush_sessions(settings, [str(path)]))
    after = log.read_bytes().decode()
    assert after.startswith("# My own\r\n\r\nwords\r\n") and after.endswith("more\r\n")
    assert after.count("## Memory Flush:") == 1 and "RULE-003: Never deploy on a Friday." in after


def test_each_day_of_a_session_has_its_part_in_its_own_log(tmp_path: Path) -> None:
    second = said(2, "user", "Never deploy on a Friday.", timestamp="2026-03-02T08:00:00.000Z")
    path = transcript(tmp_path / "s.jsonl", said(1, "user", "Never deploy on a Monday."), second)
    settings = Settings().with_values({"store.path": str(tmp_path / "store.duckdb")})
    (done,) = flush_sessions(settings, [str(path)])
    first, last = (Path(file.file).read_text() for file in done.files)
    assert "Monday" in first and "Friday" not in first and "Friday" in last and "Monday" not in last


def test_what_a_flush_writes_is_never_read_back_as_a_memory(tmp_path: Path) -> None:
    settings = Settings().with_values({"store.path": str(tmp_path / "s")})
    (done,) = flush_sessions(settings, [str(session_file(tmp_path))])
    pages = pages_of(tmp_path / "s", "app")
    assert Path(done.files[0].file).is_relative_to(pages)
    (pages / "MEMORY.md").write_text("# Memory\n\n- Mine stays.\n")
    from zoneinfo import ZoneInfo

    found = read_format("openclaw", pages, ZoneInfo("UTC"), NOW, settings, Skipped())
    assert [getattr(one, "content", "") for one in found] == ["Mine stays."]


def test_the_command_previews_writes_and_gives_the_instruction(tmp_path: Path) -> None:
    path = session_file(tmp_path)
    home = {"MEMORY_PIPELINE_HOME": str(tmp_path)}
    before = bytes_of(tmp_path)
    shown = command("flush", path, "--preview", **home)
    assert shown.code == 0 and "DEC-001" in shown.out and bytes_of(tmp_path) == before
    done = json.loads(command("flush", path, "--json", **home).out)
    assert done[0]["decisions"] == 2 and done[0]["files"][0]["outcome"] == "created"
    told = command("flush", "--instruction", **home).out
    assert "## Memory Flush:" in told and "NO_REPLY" in told
    assert "no transcript" in command("flush", "nothing", **home).err


def test_an_openclaw_session_is_flushed_since_its_last_compaction(tmp_path: Path) -> None:
    def message(number: int, role: str, words: str) -> dict[str, object]:
        content = [{"type": "text", "text": words}]
        at = f"2026-03-01T09:00:{number:02d}.000Z"
        return {"type": "message", "id": f"m{number}", "timestamp": at, "message": {"role": role, "content": content}}

    path = transcript(
        tmp_path / "agents" / "main" / "sessions" / "a.jsonl",
        {"type": "session", "version": 3, "id": "a", "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/w/app"},
        message(1, "user", "Never deploy on a Monday."),
        {"type": "compaction", "id": "c", "firstKeptEntryId": "m1", "tokensBefore": 9},
        message(2, "user", "Never deploy on a Friday."),
    )
    session = read_session_file(str(path), Settings())
    assert (session.agent, session.project, session.compactions) == ("openclaw", "app", 1)
    assert texts(flush_of(session, read_session(Settings(), session).found), "rule") == ["Never deploy on a Friday."]


def test_a_session_in_openclaws_database_is_found_by_its_name_and_flushed(tmp_path: Path) -> None:
    def event(number: int, words: str, kind: str = "message") -> tuple[str, int, str, int]:
        told = {
            "type": kind,
            "id": f"m{number}",
            "message": {"role": "user", "content": [{"type": "text", "text": words}]},
        }
        return "a", number, json.dumps(told | {"firstKeptEntryId": "m0"}), int(now.timestamp() * 1000)

    now = datetime.now(UTC)
    file = tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("create table transcript_events (session_id, seq, event_json, created_at)")
        database.execute("create table session_entries (session_key, session_id, entry_json)")
        rows = [
            event(1, "Never deploy on a Monday."),
            event(2, "", "compaction"),
            event(3, "Never deploy on a Friday."),
        ]
        database.executemany("insert into transcript_events values (?, ?, ?, ?)", rows)
        entry = {"totalTokens": 190_000, "contextTokens": 200_000, "updatedAt": now.timestamp() * 1000}
        database.execute("insert into session_entries values ('agent:main:main', 'a', ?)", [json.dumps(entry)])
    sources = [{"name": "oc", "format": "openclaw-sessions", "path": str(tmp_path), "project": "app"}]
    settings = Settings.model_validate({"sources": sources, "store": {"path": str(tmp_path / "store.duckdb")}})
    (usage,) = find_sessions(settings, now).usages
    place = named_session("a", [usage])
    assert (usage.share, place) == (0.95, f"{file}#a")
    (done,) = flush_sessions(settings, [place])
    assert (
        (done.turns, done.rules, done.project) == (1, 1, "app") and "Friday" in done.text and "Monday" not in done.text
    )


@pytest.mark.parametrize("unit", ["set a ", "`a` ", "a.b_", "- [ ] ", "**a**: ", "is now ", "tried to ", "no, not a, "])
def test_hostile_turns_are_read_in_a_moment(tmp_path: Path, unit: str) -> None:
    path = transcript(tmp_path / "s.jsonl", said(1, "user", unit * 2000), said(2, "assistant", unit * 2000, 9))
    start = time.process_time()
    flushed(path)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (
            "Decision: We keep Redis 7. | Rationale: We had trouble with 6.2 in March.",
            "- DEC-001: We keep Redis 7. | Rationale: We had trouble with 6.2 in March.",
        ),
        (
            "Fact: The limit is 40 requests. | Source: vendor's docs | Confidence: 0.9",
            "- FACT-001: The limit is 40 requests. | Source: human, line 1 | Confidence: 0.90",
        ),
    ],
)
def test_what_stands_behind_a_bar_of_a_noted_line_is_no_entry_of_its_own(tmp_path: Path, words: str, kept: str) -> None:
    text = flush_text(flushed(transcript(tmp_path / "a.jsonl", said(1, "user", words))), DAY)
    assert [line for line in text.split("\n") if line.startswith("- ")] == [kept]


@pytest.mark.parametrize("action", ["flush", "compact"])
@pytest.mark.parametrize("content", [b"root:x:0:0:root:/root:/bin/sh\n", b'{"name": "app"}\n', b"SQLite format 3\0"])
def test_a_file_that_is_no_transcript_is_refused(tmp_path: Path, action: str, content: bytes) -> None:
    file = tmp_path / "passwd"
    file.write_bytes(content)
    done = command(action, file)
    assert done.code == 1
    assert f"'{file}' is no transcript" in done.err and "Claude Code" in done.err and "OpenClaw" in done.err
