"""Agent files in the forms of those in letta-ai/agent-file (2025 and 2026), the first version, and passages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.bring import bring_twice, written

HUMAN = {"id": "block-0", "label": "human", "value": "# Dana\n- Prefers CSV\n- Works in Lisbon", "description": "d"}
PERSONA = {"id": "block-1", "label": "memory_persona", "value": "I tend memories.", "description": None}


def agent(*messages: object, **more: object) -> dict[str, object]:
    return {"id": "agent-0", "name": "a", "agent_type": "letta_v1_agent", "memory_blocks": [], "block_ids": ["block-0"],
            "messages": list(messages), "tool_ids": [], **more}  # fmt: skip


def document(*agents: object, **more: object) -> dict[str, object]:
    return {"agents": list(agents), "blocks": [HUMAN], "tools": [], "created_at": "2026-02-12T19:12:25.808800+00:00",
            **more}  # fmt: skip


def said(role: str, text: object, **more: object) -> dict[str, object]:
    return {"type": "message", "id": "message-1", "role": role, "content": [{"type": "text", "text": text}],
            "created_at": "2026-02-12T18:31:50.753723+00:00", **more}  # fmt: skip


def test_each_entry_of_a_block_is_a_memory_as_old_as_the_export(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "evie.af", document(agent()))
    brought = bring_twice(store, path, "letta")
    assert importer_of("letta").evidence(path) == "agents with memory blocks of Letta"
    assert brought.words == ["Prefers CSV", "Works in Lisbon"]
    found = next(iter(brought.memories.values()))
    assert (found.project_id, found.categories, found.created_at_quality) == ("evie", ("human",), "mtime")
    assert found.created_at == datetime(2026, 2, 12, 19, 12, 25, 808800, tzinfo=UTC)
    assert found.id.startswith("letta:evie:human#")


def test_words_in_another_place_of_a_block_are_known(store: Store, tmp_path: Path) -> None:
    before = bring_twice(store, written(tmp_path / "a.af", document(agent())), "letta").memories.keys()
    longer = {**HUMAN, "value": "# Dana\n- Drinks tea\n- Prefers CSV\n- Works in Lisbon"}
    after = bring_twice(store, written(tmp_path / "a.af", document(agent(), blocks=[longer])), "letta").memories.keys()
    assert before < after and len(after) == 3


def test_only_what_a_human_or_the_agent_said_is_a_turn(store: Store, tmp_path: Path) -> None:
    reminder = "<system-reminder>\nYou run on macOS.\n</system-reminder>"
    call = {"function": {"name": "memory_insert", "arguments": "{}"}}
    thought = {"type": "reasoning", "reasoning": "Hm."}
    path = written(
        tmp_path / "a.af",
        document(
            agent(
                said("system", "You are helpful."),
                said("user", f"{reminder}Move the export to 02:30."),
                said("user", reminder),
                said("user", json.dumps({"type": "heartbeat", "reason": "tick"})),
                said("user", json.dumps({"type": "user_message", "message": "And tell Dana.", "time": "x"})),
                {
                    **said("assistant", ""),
                    "content": [thought, {"type": "text", "text": "Moved."}],
                    "tool_calls": [call],
                },
                said("tool", '{"status": "OK"}'),
            ),
            agent(said("user", "Review this."), id="agent-1", agent_type="sleeptime_agent", block_ids=["block-1"]),
            blocks=[PERSONA],
        ),
    )
    brought = bring_twice(store, path, "letta")
    turns = {(m.tags, m.content) for m in brought.memories.values() if m.memory_type == "conversation"}
    assert turns == {
        (("human",), "Move the export to 02:30."),
        (("human",), "And tell Dana."),
        (("agent",), "Moved."),
    }
    assert len(brought.memories) == 3
    assert brought.skipped == {
        "texts of the system": 2, "calls of tools": 1, "results of tools": 1, "thoughts of the agent": 1,
        "blocks of background agents": 1, "messages of background agents": 1,
    }  # fmt: skip


def test_the_first_agents_spoke_through_a_tool_and_thought_beside_it(store: Store, tmp_path: Path) -> None:
    told = said("assistant", "The user greets me.")
    told["tool_calls"] = [{"function": {"name": "send_message", "arguments": json.dumps({"message": "Hello Dana!"})}}]
    first = {
        "name": "old", "agent_type": "memgpt_agent", "core_memory": [{"label": "human", "value": "Dana likes tea."}],
        "messages": [told], "tools": [{"name": "send_message"}], "created_at": "2025-04-01T10:00:00Z",
    }  # fmt: skip
    path = written(tmp_path / "old.af", first)
    assert importer_of("letta").evidence(path) == "an agent with core memory of Letta"
    brought = bring_twice(store, path, "letta")
    assert brought.words == ["Dana likes tea.", "Hello Dana!"]
    assert brought.skipped == {"thoughts of the agent": 1}


def test_blocks_of_the_first_version_have_times_of_their_own(store: Store, tmp_path: Path) -> None:
    persona = {"label": "persona", "value": "I am calm.", "created_at": "2025-03-31T09:00:00Z", "updated_at": None}
    human = {"label": "human", "value": "Dana likes tea.", "created_at": "2025-03-30T09:00:00", "updated_at": "x"}
    edited = {**human, "value": "Dana likes cake.", "updated_at": "2025-04-01T08:00:00"}
    first = {"name": "old", "agent_type": "memgpt_agent", "core_memory": [persona, human, edited], "messages": [],
             "created_at": "2025-03-30T09:00:00Z", "updated_at": "2025-04-01T10:00:00Z"}  # fmt: skip
    brought = bring_twice(store, written(tmp_path / "old.af", first), "letta")
    assert {m.content: (m.created_at.isoformat()[:10], m.day.isoformat()) for m in brought.memories.values()} == {
        "I am calm.": ("2025-03-31", "2025-03-31"),
        "Dana likes tea.": ("2025-03-30", "2025-03-30"),
        "Dana likes cake.": ("2025-03-30", "2025-04-01"),
    }


def test_a_file_that_is_json_within_json_is_read(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "twice.af", json.dumps(document(agent())))
    assert importer_of("letta").evidence(path) is not None
    assert len(bring_twice(store, path, "letta").memories) == 2


def test_passages_keep_their_ids_times_and_tags(store: Store, tmp_path: Path) -> None:
    passages = [
        {"id": "passage-1", "text": "Dana moved the export.", "created_at": "2026-03-01T09:00:00Z", "tags": ["ops"]},
        {"id": "passage-2", "text": None},
        {"id": "passage-3", "text": "No date."},
    ]
    brought = bring_twice(store, written(tmp_path / "p.json", passages), "letta")
    found = brought.memories["letta:passage-1"]
    assert (found.tags, found.created_at) == (("ops",), datetime(2026, 3, 1, 9, tzinfo=UTC))
    assert brought.memories["letta:passage-3"].created_at_quality == "import"
    assert brought.reasons == ["the passage is no object with a text"]


def test_bad_blocks_and_messages_cost_themselves(store: Store, tmp_path: Path) -> None:
    blocks = [HUMAN, 7, {"label": "x", "value": 3}, {"label": "y", "value": "nul \x00"}, {"label": "z", "value": " "}]
    path = written(tmp_path / "a.af", document(agent("no message", said("user", "Fine.")), "no agent", blocks=blocks))
    brought = bring_twice(store, path, "letta")
    assert brought.words == ["Fine.", "Prefers CSV", "Works in Lisbon"]
    assert (brought.summary.quarantined, brought.skipped) == (4, {"blocks without words": 1})


@pytest.mark.parametrize("text", ["", "{", "[1, 2", '"text"', "{}", '{"agents": 3}', "[" * 100_000])
def test_what_is_no_agent_file_is_refused(store: Store, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.af").write_text(text)
    with pytest.raises(InputError):
        bring_twice(store, tmp_path / "a.af", "letta")


def test_secrets_in_a_block_are_masked_before_it_is_split(store: Store, tmp_path: Path) -> None:
    block = {**HUMAN, "value": "- Write to dana.miller@example.org\n- Works in Lisbon"}
    brought = bring_twice(store, written(tmp_path / "a.af", document(agent(), blocks=[block])), "letta")
    assert "Write to [REDACTED:email]" in brought.words and brought.summary.masked["email"] == 1
