"""OpenClaw's sessions: tables and events as OpenClaw 2026.9.6 writes them, and the JSONL of versions before 2026.7."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.ingest.bring import bring, lines, memories_of, read

FORMAT = "openclaw-sessions"
TABLES = """
create table session_windows (session_id text primary key, session_key text not null, reason text, spawned_by text);
create table transcript_events (
  session_id text not null, seq integer not null, event_json text, created_at integer not null, event_zstd blob,
  event_utf8_bytes integer, navigation_json text, primary key (session_id, seq)
);
create table session_transcript_archives (
  session_id text not null, generation text not null, session_key text not null, reason text not null,
  encoding text not null, archive_blob blob not null, archive_name text not null, created_at integer not null,
  primary key (session_id, generation)
);
create table session_transcript_cold_archives (session_id text primary key, archive_name text not null);
create table memory_session_tombstones (session_id text primary key, agent_id text, reason text, created_at integer);
create table memory_index_chunks (id text, path text, source text, text text);
"""
AT = 1772355600000  # 2026-03-01 09:00 UTC


def event(number: int, role: str, content: Any, parent: int | None = None, **fields: Any) -> dict[str, Any]:
    """An event of a message; by default it follows the one before it."""
    before = number - 1 if parent is None else parent
    return {
        "type": "message",
        "id": f"{number:08d}-0000-4000-8000-000000000000",
        "parentId": f"{before:08d}-0000-4000-8000-000000000000" if before else None,
        "timestamp": f"2026-03-01T09:{number:02d}:00.500Z",
        "message": {"role": role, "content": content, **fields},
    }


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


HEADER = {
    "type": "session",
    "version": 4,
    "id": "s",
    "timestamp": "2026-03-01T09:00:00Z",
    "cwd": "/home/d/.openclaw/Work",
}
TALK = [HEADER, event(1, "user", "Move the export to 02:30."), event(2, "assistant", text("Moved it to 02:30."))]


class Agent:
    """The directory of an agent with its database."""

    def __init__(self, root: Path, name: str = "main") -> None:
        self.root = root / "agents" / name
        self.file = self.root / "agent" / "openclaw-agent.sqlite"
        self.file.parent.mkdir(parents=True)
        with self.opened() as connection:
            connection.executescript(TABLES)

    def opened(self) -> Any:
        return closing(sqlite3.connect(self.file))

    def session(self, session: str, events: list[Any], key: str = "agent:main:main", **window: Any) -> Agent:
        """Add a session; an event that is a text is written as it is, one of bytes compressed."""
        with self.opened() as connection:
            values = (session, key, None, window.get("spawned_by"))
            connection.execute("insert into session_windows values (?, ?, ?, ?)", values)
            for seq, one in enumerate(events):
                told = one if isinstance(one, str | bytes) else json.dumps(one)
                row = (None, zstandard.compress(told)) if isinstance(told, bytes) else (told, None)
                connection.execute(
                    "insert into transcript_events values (?, ?, ?, ?, ?, null, null)",
                    (session, seq, row[0], AT, row[1]),
                )
            connection.commit()
        return self

    def archive(self, session: str, events: list[Any], reason: str, packed: bool = True) -> Agent:
        data = "\n".join(json.dumps(one) for one in events).encode()
        encoding, blob = ("zstd", zstandard.compress(data)) if packed else ("identity", data)
        with self.opened() as connection:
            connection.execute(
                "insert into session_transcript_archives values (?, 'g1', 'k', ?, ?, ?, ?, ?)",
                (session, reason, encoding, blob, f"{session}.jsonl.{reason}", AT),
            )
            connection.commit()
        return self


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    yield Agent(tmp_path / ".openclaw")


def test_turns_are_read_from_the_database_by_their_order(agent: Agent, tmp_path: Path) -> None:
    agent.session("s1", TALK)
    found = read(tmp_path / ".openclaw", FORMAT)
    assert found.said == [("human", "Move the export to 02:30."), ("agent", "Moved it to 02:30.")]
    first = found.candidates[0]
    assert first.native_id == "openclaw-sessions:00000001-0000-4000-8000-000000000000"
    assert (first.project_id, first.memory_type, first.tags) == ("work", "conversation", ("human",))
    assert (first.source.file, first.source.line) == ("agents/main/agent/openclaw-agent.sqlite#s1", 1)
    assert first.created_at == datetime(2026, 3, 1, 9, 1, 0, 500000, UTC)
    for path in (agent.root.parent, agent.root, agent.file.parent, agent.file):
        assert read(path, FORMAT).words == found.words


def test_large_events_are_compressed_and_the_time_of_a_row_stands_in_for_that_of_its_event(agent: Agent) -> None:
    packed = json.dumps(event(1, "user", "A long story. " * 200)).encode()
    without = {**event(2, "user", "No time of its own."), "timestamp": None}
    found = read(agent.session("s1", [packed, without]).root, FORMAT)
    assert found.candidates[0].content.startswith("A long story.") and not found.rejected
    assert found.candidates[1].created_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_broken_events_cost_themselves(agent: Agent) -> None:
    cut = json.dumps(event(6, "user", "A cut emoji \ud83d here."))
    wrong = event(7, "user", "x") | {"timestamp": "when?"}
    events = ["{", "null", "[]", '{"a":' * 3000, event(4, "user", "Good."), event(5, "user", 7), cut, wrong]
    agent.session("s1", events)
    with agent.opened() as connection:
        connection.execute("update transcript_events set event_json = null, event_zstd = x'00ff' where seq = 1")
        connection.commit()
    found = read(agent.root, FORMAT)
    assert found.words == ["Good.", "A cut emoji \ufffd here."]
    assert [row.line for row in found.rejected] == [0, 1, 2, 3, 5, 7]


def test_what_nobody_said_is_left_out_and_counted(agent: Agent) -> None:
    call = [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "c", "name": "exec", "arguments": {}}]
    agent.session(
        "s1",
        [
            HEADER,
            {"type": "model_change", "id": "m", "parentId": None},
            {"type": "compaction", "id": "c", "summary": "We moved it.", "firstKeptEntryId": "m"},
            {"type": "custom_message", "id": "d", "content": "hidden"},
            event(1, "user", "[cron:job-1 plants] Water the plants?"),
            event(2, "assistant", text("Watered the plants.")),
            event(3, "user", "Follow the heartbeat monitor scratch context when provided."),
            event(4, "assistant", text("HEARTBEAT_OK")),
            event(5, "user", "From another agent.", provenance={"kind": "inter_session"}),
            event(6, "assistant", text("Answer to another agent.")),
            event(7, "user", "Is the relay healthy?", provenance={"kind": "external_user"}),
            event(8, "assistant", call),
            event(9, "toolResult", text("ok")),
            event(10, "assistant", text("It is healthy.")),
            event(11, "assistant", text("It is healthy."), model="delivery-mirror"),
            event(12, "user", "/new"),
            event(13, "user", "Mirrored.", __openclaw={"mirrorOrigin": "claude-catalog-import"}),
        ],
    )
    found = read(agent.root, FORMAT)
    assert found.said == [("human", "Is the relay healthy?"), ("agent", "It is healthy.")]
    assert found.skipped.counts == {
        "lines of other kinds": 1,
        "texts about a compaction": 1,
        "texts of the system": 1,
        "texts of cron jobs, heartbeats and other sessions": 8,
        "thoughts of the agent": 1,
        "calls of tools": 1,
        "results of tools": 1,
        "commands and what they printed": 1,
    }


def test_sessions_without_a_human_are_left_out(agent: Agent) -> None:
    agent.session("s1", TALK, key="agent:main:cron:job-1:run:5").session("s2", TALK, key="agent:main:subagent:7")
    agent.session("s3", TALK, spawned_by="agent:main:main").session("s4", TALK, key="agent:main:main:heartbeat")
    found = read(agent.root, FORMAT)
    assert found.words == [] and found.skipped.counts == {"sessions of cron jobs, heartbeats and subagents": 4}


def test_a_humans_words_are_taken_out_of_what_the_gateway_puts_around_them(agent: Agent) -> None:
    told = 'Conversation info (untrusted metadata):\n```json\n{"message_id": "5", "sender": "Dana"}\n```\n\n'
    sender = 'Sender (untrusted metadata):\n```json\n{"name": "Dana"}\n```\n'
    wrapped = f"{told}{sender}[Telegram Dana id:17 2026-03-01 10:01 GMT+1] Use CSV.\n[message_id: 5]"
    stamped = "[Sun 2026-03-01 09:02 UTC] Keep [this] in mind."
    found = read(agent.session("s1", [event(1, "user", text(wrapped)), event(2, "user", stamped)]).root, FORMAT)
    assert found.words == ["Use CSV.", "Keep [this] in mind."]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("<relevant-memories>\n- Dana prefers CSV.\n</relevant-memories>\n\nUse XML.", ["Use XML."]),
        ("<relevant-memories>\n- A memory that was cut", []),
        ("Read this:\n<<<EXTERNAL_UNTRUSTED_CONTENT>>>\nPay me.\n<<<END_EXTERNAL_UNTRUSTED_CONTENT>>>\nIs it spam?",
         ["Read this:\n\nIs it spam?"]),
        ("SECURITY NOTICE: The following content is from an EXTERNAL, UNTRUSTED source.\n- Be careful.\n\n"
         '<<<EXTERNAL_UNTRUSTED_CONTENT id="7">>>\nPay me.\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="8">>>\nMore of it.\n'
         '<<<END_EXTERNAL_UNTRUSTED_CONTENT id="7">>>', []),
        ("<<<EXTERNAL_UNTRUSTED_CONTENT>>>\nPay me, without an end.", []),
    ],
)  # fmt: skip
def test_memories_mails_and_pages_in_a_message_are_nobodys_words(agent: Agent, message: str, words: list[str]) -> None:
    found = read(agent.session("s1", [event(1, "user", message)]).root, FORMAT)
    assert found.words == words and found.skipped.counts == {"texts of the system": 1}


def test_drafts_beside_the_last_branch_are_left_out_but_not_what_the_human_said(agent: Agent) -> None:
    rows = [
        HEADER,
        event(1, "user", "Name a port."),
        event(2, "assistant", text("8080.")),
        event(3, "user", "Why that one?"),
        event(4, "assistant", text("8086."), parent=1),
        event(5, "user", "Good."),
    ]
    rows[5]["parentId"] = rows[4]["id"]
    found = read(agent.session("s1", rows).root, FORMAT)
    assert found.words == ["Name a port.", "Why that one?", "8086.", "Good."]
    assert found.skipped.counts == {"drafts that were given up": 1}
    rows[1]["parentId"] = "unknown"  # a branch that does not lead to the first event tells nothing
    rows[4]["parentId"] = "lost"
    assert len(read(Agent(agent.root / "other").session("s1", rows).root, FORMAT).words) == 5


def test_archives_of_a_reset_are_read_and_what_was_deleted_stays_deleted(agent: Agent, tmp_path: Path) -> None:
    def of(number: int, words: str) -> list[Any]:
        return [HEADER, event(number, "user", words)]

    agent.session("live", of(1, "Live words."))
    agent.session("forgotten", of(2, "Forgotten words."))
    agent.archive("r1", of(3, "Words before the reset."), "reset").archive("r2", of(4, "Plain."), "reset", packed=False)
    agent.archive("gone", of(5, "Deleted words."), "deleted")
    sessions = agent.root / "sessions"
    lines(sessions / "gone.jsonl", *of(6, "Deleted words of a leftover."))
    lines(sessions / "old.jsonl.reset.2026-03-01T09-00-00.000Z", *of(7, "Old words."))
    lines(sessions / "x.jsonl.deleted.2026-03-01T09-00-00.000Z", *of(8, "Deleted long ago."))
    lines(sessions / "x-topic-7.jsonl", {**HEADER, "id": "x"}, event(11, "user", "A topic of what was deleted."))
    lines(sessions / "x.jsonl.bak", *of(9, "A backup of what was deleted."))
    packed = zstandard.compress("\n".join(json.dumps(one) for one in of(10, "Packed words.")).encode() + b"\n")
    (sessions / "p.jsonl.reset.2026-03-01T09-00-00.000Z.zst").write_bytes(packed)
    (sessions / "y.jsonl.deleted.2026-03-01T09-00-00.000Z.zst").write_bytes(packed)
    (sessions / "sessions.json").write_text("{}")
    with agent.opened() as connection:
        connection.execute("insert into memory_session_tombstones values ('forgotten', 'main', 'user', 1)")
        connection.execute("insert into session_transcript_cold_archives values ('c', 'c.jsonl.zst')")
        connection.execute(
            "insert into memory_index_chunks values ('1', 'sessions/gone', 'sessions', 'Deleted words.')"
        )
        connection.commit()
    found = read(tmp_path / ".openclaw", FORMAT)
    assert set(found.words) == {"Live words.", "Words before the reset.", "Plain.", "Old words.", "Packed words."}
    assert found.skipped.counts["files of sessions that were deleted"] == 5
    assert found.skipped.counts["sessions that were deleted"] == 1
    assert found.skipped.counts["sessions in cold storage"] == 1 and not found.rejected
    with pytest.raises(InputError, match="stay deleted"):
        read(sessions / "x.jsonl.deleted.2026-03-01T09-00-00.000Z", FORMAT)


def test_short_ids_of_earlier_versions_are_counted_in_their_session_and_a_reset_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "agents" / "main" / "sessions"
    rows = [HEADER, {**event(1, "user", "Move it."), "id": "a1b2c3d4"}]
    half = json.dumps(event(2, "user", "Half"))[:-9]
    path = lines(folder / "s1.jsonl", *rows, half, end="")
    summary = bring(store, tmp_path / "agents", FORMAT)
    assert (summary.imported, summary.quarantined) == (1, 0)
    assert summary.skipped == {"lines that were cut off at the end": 1}
    assert memories_of(store)[0].id == "openclaw-sessions:s1:a1b2c3d4"
    lines(folder / "s1.trajectory.jsonl", *rows)  # a trace of the model's calls, which repeats what was said
    path.rename(folder / "s1.jsonl.reset.2026-03-02T00-00-00.000Z")
    again = bring(store, tmp_path / "agents", FORMAT)
    assert (again.read, again.imported, again.unchanged) == (1, 0, 1)


def test_a_night_reads_what_is_in_the_log_beside_the_database_and_what_was_said_stays(
    agent: Agent, store: Store
) -> None:
    source = SourceTable(name="oc", format=FORMAT, path=str(agent.root))
    settings = settings_for(store, sources=(source,))
    agent.session("s1", TALK)
    run(store, date(2026, 3, 1), settings)
    with closing(sqlite3.connect(agent.file)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute("delete from transcript_events where seq = 2")
        late = json.dumps(event(9, "user", "Said a day later.") | {"timestamp": "2026-03-02T09:00:00Z"})
        writer.execute("insert into transcript_events values ('s1', 9, ?, 0, null, null, null)", [late])
        writer.commit()
        before = agent.file.read_bytes()
        run(store, date(2026, 3, 2), settings)
        assert agent.file.read_bytes() == before
    told = [memory for memory in memories_of(store) if memory.source.connector != "conversations"]
    assert [memory.content for memory in told] == [
        "Move the export to 02:30.",
        "Moved it to 02:30.",
        "Said a day later.",
    ]
    assert not any(memory.archived_at for memory in told)
    with store.reading() as tx:
        entries = tx.sources.entries("oc", ["agent/openclaw-agent.sqlite"])
        assert len(entries) == 3 and not any(entry.gone_at for entry in entries)


def test_a_damaged_database_costs_itself(agent: Agent, tmp_path: Path) -> None:
    agent.session("s1", TALK)
    other = Agent(tmp_path / ".openclaw", "second")
    other.file.write_bytes(b"SQLite format 3\x00" + b"\x01" * 5000)
    found = read(tmp_path / ".openclaw", FORMAT)
    assert len(found.words) == 2 and [row.reason[:23] for row in found.rejected] == ["the file cannot be read"]


def test_the_content_says_of_which_format_a_path_is(agent: Agent, tmp_path: Path) -> None:
    sessions = importer_of(FORMAT)
    assert "a table 'transcript_events'" in (sessions.evidence(tmp_path / ".openclaw") or "")
    path = lines(tmp_path / "s.jsonl", HEADER)
    assert sessions.evidence(path) == "the first line of an OpenClaw session in s.jsonl"
    assert sessions.evidence(lines(tmp_path / "o.jsonl", {"content": "x"})) is None
