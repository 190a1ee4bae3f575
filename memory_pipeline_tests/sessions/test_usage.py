"""How full a context is said to be, by each kind of file that tells it."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memory_pipeline.config.night import Compaction
from memory_pipeline.errors import InputError
from memory_pipeline.sessions.usage import (
    ContextUsage,
    level_of,
    read_claude,
    read_openclaw,
    read_usage_file,
)
from memory_pipeline_tests.ingest.bring import lines as transcript
from memory_pipeline_tests.sessions.sessions import compacted, said

RULES = Compaction()


def usage_of(path: Path) -> ContextUsage:
    found = read_claude(path, RULES)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tokens", "level"),
    [(159_999, "fine"), (160_000, "warning"), (180_000, "compaction"), (195_000, "emergency"), (250_000, "emergency")],
)
def test_levels_are_shares_of_the_window(tokens: int, level: str) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    usage = ContextUsage(session="s", agent="api", tokens=tokens, window=200_000, at=at)
    assert level_of(usage, RULES) == level
    larger = ContextUsage(session="s", agent="api", tokens=5 * tokens, window=1_000_000, at=at)
    assert level_of(larger, RULES) == level


def test_thresholds_must_rise() -> None:
    with pytest.raises(ValidationError, match="must rise"):
        Compaction(warning=0.95)


def test_a_usage_file_is_an_object_a_list_or_lines(tmp_path: Path) -> None:
    one = {"session": "s1", "tokens": 171_000, "window": 200_000, "at": "2026-03-01T10:00:00Z"}
    newer = one | {"tokens": 12_000, "at": 1_772_362_800_000, "compactions": 1}
    for text in (json.dumps([one, newer]), f"{json.dumps(one)}\n{json.dumps(newer)}\n", json.dumps([newer, one])):
        file = tmp_path / "usage.json"
        file.write_text(text)
        (usage,) = read_usage_file(file, RULES)
        assert (usage.tokens, usage.window, usage.compactions) == (12_000, 200_000, 1)
        assert usage.at == datetime(2026, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "told",
    ["[", "3", "[[[[1]]]]", '{"tokens": 3}', '{"session": "s"}', '{"session": "s", "tokens": -1}',
     '{"session": "s", "tokens": true}', '{"session": "s", "tokens": 3, "window": 0}',
     '{"session": "s", "tokens": 3, "at": "soon"}'],
)  # fmt: skip
def test_what_is_no_usage_file_is_told_in_a_sentence(tmp_path: Path, told: str) -> None:
    file = tmp_path / "usage.json"
    file.write_text(told)
    with pytest.raises(InputError, match="usage file"):
        read_usage_file(file, RULES)


def test_the_last_answer_of_the_main_line_counts_and_its_tail_is_estimated(tmp_path: Path) -> None:
    path = transcript(
        tmp_path / "s.jsonl",
        said(1, "user", "Hello"),
        said(2, "assistant", "One", 100_000),
        said(3, "assistant", "of a subagent", 199_000, isSidechain=True),
        said(4, "assistant", "x" * 400, 150_000),
        said(5, "user", "y" * 4000),
    )
    usage = usage_of(path)
    assert (usage.tokens, usage.estimated) == (150_000 + 1100, 1100)
    assert usage.session == "5f0e8400-e29b-41d4-a716-446655440000"


def test_a_message_of_several_lines_is_counted_once(tmp_path: Path) -> None:
    first = said(2, "assistant", "a" * 40, 50_000)
    call = said(3, "assistant", "", 50_000)
    call["message"]["id"] = "msg_2"
    call["message"]["content"] = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]
    picture = said(4, "user", "")
    picture["message"]["content"] = [{"type": "image", "source": {"data": "A" * 3_000_000}}]
    usage = usage_of(transcript(tmp_path / "s.jsonl", first, call, picture))
    assert 50_000 + 1600 < usage.tokens < 50_000 + 1700


def test_a_count_from_before_a_compaction_is_forgotten(tmp_path: Path) -> None:
    rows: list[Any] = [said(1, "assistant", "full", 190_000), compacted(2)]
    path = transcript(tmp_path / "s.jsonl", *rows, said(3, "user", "z" * 800, isCompactSummary=True))
    usage = usage_of(path)
    assert (usage.tokens, usage.compactions) == (200, 1) and usage.estimated == 200
    told = usage_of(transcript(path, rows[0], compacted(2, after=31_000), said(3, "user", "z", isCompactSummary=True)))
    assert (told.tokens, told.compactions) == (31_000, 1)


def test_lines_that_are_none_and_lines_that_are_too_long_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'\xff\xfe\n{}\nnull\n[1]\n{"type": "user"}\n'
        + json.dumps(said(1, "assistant", "x", 70_000)).encode()
        + b'\n{"type": "user", "x": "'
        + b"A" * 5_000_000
        + b'"}\n{"half'
    )
    usage = usage_of(path)
    assert usage.tokens == 70_000 + 1 + 25_000


def test_a_context_that_holds_more_than_its_window_has_a_larger_one(tmp_path: Path) -> None:
    usage = usage_of(transcript(tmp_path / "s.jsonl", said(1, "assistant", "x", 420_000)))
    assert usage.window == 1_000_000 and level_of(usage, RULES) == "fine"


ENTRY = {"totalTokens": 171_000, "contextTokens": 200_000, "compactionCount": 2, "updatedAt": 1_772_362_800_000}


def test_openclaws_rows_are_read_from_its_file_and_its_database(tmp_path: Path) -> None:
    agent = tmp_path / "agents" / "main"
    sessions = agent / "sessions"
    sessions.mkdir(parents=True)
    entries = {
        "agent:main:main": ENTRY | {"sessionId": "a"},
        "agent:main:cron:nightly": ENTRY | {"sessionId": "b"},
        "agent:main:subagent:1": ENTRY | {"sessionId": "c"},
        "agent:main:old": {"sessionId": "d", "totalTokens": 190_000, "totalTokensFresh": False},
    }
    (sessions / "sessions.json").write_text(json.dumps(entries))
    header = json.dumps({"type": "session", "version": 3, "id": "a"})
    (sessions / "a.jsonl").write_text(f"{header}\n")
    first, stale = read_openclaw(tmp_path, RULES)
    assert (first.session, first.tokens, first.window, first.compactions) == ("a", 171_000, 200_000, 2)
    assert level_of(first, RULES) == "warning"
    assert stale.is_stale and level_of(stale, RULES) == "fine"

    (agent / "agent").mkdir()
    with sqlite3.connect(agent / "agent" / "openclaw-agent.sqlite") as database:
        database.execute("create table session_entries (session_key, session_id, entry_json, updated_at)")
        row = json.dumps(ENTRY | {"totalTokens": 181_000})
        database.execute("insert into session_entries values ('agent:main:main', 'a', ?, 0)", [row])
        database.execute("insert into session_entries values ('agent:main:x', 'e', '{', 0)")
        old = json.dumps(ENTRY | {"totalTokensFresh": False})
        database.execute("insert into session_entries values ('agent:main:y', 'f', ?, 0)", [old])
    database.close()
    newer = read_openclaw(agent, RULES)
    assert [usage.tokens for usage in newer if usage.session == "a"] == [181_000]
    assert [usage.is_stale for usage in newer if usage.session == "f"] == [True]


def test_a_directory_without_sessions_has_none(tmp_path: Path) -> None:
    assert read_openclaw(tmp_path, RULES) == [] and not any(tmp_path.iterdir())
