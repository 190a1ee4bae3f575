"""Who speaks where turns begin with names."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from memory_pipeline.reading.turns import needs_names, speakers_named, turns_of
from memory_pipeline_tests.reading.test_turns import said


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("SOUL.md", "# Who you are\n\nYou are Pip, and you keep the books.\n", "pip"),
        ("SOUL.md", "Your name is Pip.\n", "pip"),
        ("IDENTITY.md", "- **Name:** Pip\n- **Creature:** owl\n", "pip"),
    ],
)
def test_a_workspace_names_its_agent(tmp_path: Path, file: str, text: str, name: str) -> None:
    (tmp_path / file).write_text(text)
    assert speakers_named((), (), tmp_path) == {name: "agent"}


@pytest.mark.parametrize(
    "text",
    [
        "- **Name:** Ines Duarte (she/her)\n",
        "The user is Ines Duarte, from Porto.\n",
        "You are talking to Ines Duarte.\n",
        "name: Ines Duarte\n",
    ],
)
def test_a_workspace_names_its_human_by_the_first_name_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "USER.md").write_text(text)
    assert speakers_named((), (), tmp_path) == {"ines duarte": "human", "ines": "human"}


@pytest.mark.parametrize(
    "text", ["You're not a chatbot.\n", "You are helpful, honest and brief.\n", "- **Name:**\n", "- Name: (none yet)\n"]
)
def test_what_is_no_name_names_nobody(tmp_path: Path, text: str) -> None:
    for file in ("SOUL.md", "USER.md", "IDENTITY.md"):
        (tmp_path / file).write_text(text)
    assert speakers_named((), (), tmp_path) == {}


def test_what_this_program_wrote_there_names_nobody(tmp_path: Path) -> None:
    block = "<!-- memory-pipeline:conversations:start -->\n> From the memory of project p: x\n- Name: Eve\n"
    (tmp_path / "USER.md").write_text(f"{block}<!-- memory-pipeline:conversations:end -->\n")
    assert speakers_named((), (), tmp_path) == {}


def test_the_settings_win_over_the_files_and_a_name_of_both_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("You are Pip.")
    assert speakers_named(["Pip"], ["Owl"], tmp_path) == {"pip": "human", "owl": "agent"}
    assert speakers_named(["Sam"], ["Sam"]) == {}


def test_files_that_cannot_be_read_name_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "SOUL.md")
    (tmp_path / "USER.md").mkdir()
    (tmp_path / "IDENTITY.md").write_bytes(b"\xff\xfe- Name: Pip\n" * 3)
    assert set(speakers_named((), (), tmp_path)) <= {"pip"}


@pytest.mark.parametrize(
    "piece", ["- Name: ", "You are ", "Aa ", "name ", "My name is A ", "*", " ", "<!-- memory-pipeline:"]
)
def test_a_long_file_is_read_quickly(tmp_path: Path, piece: str) -> None:
    for file in ("SOUL.md", "USER.md", "IDENTITY.md"):
        (tmp_path / file).write_text((piece * 40_000)[:200_000])
    began = time.process_time()
    speakers_named((), (), tmp_path)
    assert time.process_time() - began < 1.0


def test_turns_with_known_names_are_read() -> None:
    memories = [
        said(1, "**Ines (09:02):** I moved to Porto last month."),
        said(2, "**Pip (09:03):** Noted.\n**Ines (09:04):** Thanks."),
    ]
    assert needs_names(memories)
    read = turns_of(memories, {"ines": "human", "pip": "agent"})
    assert [(turn.speaker, turn.words.strip()) for turn in read.turns] == [
        ("human", "I moved to Porto last month."),
        ("agent", "Noted."),
        ("human", "Thanks."),
    ]


def test_the_only_other_name_beside_a_named_agent_is_the_humans() -> None:
    memories = [said(line, f"{who}: line {line}") for line, who in enumerate(("Ines", "Pip", "Ines"), start=1)]
    read = turns_of(memories, {"pip": "agent"})
    assert [turn.speaker for turn in read.turns] == ["human", "agent", "human"]


def test_names_that_nobody_knows_are_told() -> None:
    memories = [said(line, f"{who}: line {line}") for line, who in enumerate(("Ines", "Pip") * 2, start=1)]
    assert set(turns_of(memories).unknown) == {"Ines", "Pip"}


def test_a_role_or_a_turn_of_a_known_speaker_is_no_unknown_name() -> None:
    memories = [said(1, "user: hello there", "agent"), said(2, "Ines: hello there", "agent"), said(3, "Ines:", "human")]
    assert turns_of(memories).unknown == ()


def test_a_named_line_in_the_turn_of_a_program_that_tells_roles_is_nobodys() -> None:
    page = said(1, "The page says:\nInes: I live in Lisbon.", "agent")
    read = turns_of([page], {"ines": "human"})
    assert [(turn.speaker, turn.words.strip()) for turn in read.turns] == [("agent", "The page says:")]
