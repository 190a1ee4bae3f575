"""The commands about conversations and patterns, from an import to what went where and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_pipeline.records.identifiers import hash_letters
from memory_pipeline_tests.interfaces.in_process import command

DAY = "2026-03-02"


def imported(folder: Path) -> Path:
    said = [("user", "I live in Lisbon with my wife."), ("assistant", "Good to know."),
            ("user", "Keep your answers short from now on."), ("user", "What do you think?")]  # fmt: skip
    file = folder / "talk.jsonl"
    rows = [
        {"role": role, "content": words, "timestamp": f"{DAY}T09:0{line}:00Z"}
        for line, (role, words) in enumerate(said)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert command("import", "jsonl", file, "--project", "shop").code == 0
    return folder


@pytest.mark.slow
def test_a_day_is_read_shown_and_taken_back(tmp_path: Path) -> None:
    imported(tmp_path)
    assert "open" in command("conversations", "list").out
    done = json.loads(command("conversations", "run", "--all-open", "--json").out)
    (day,) = done["days"]
    assert day["coverage"]["turns"] == {"agent": 1, "human": 3}
    assert sum(day["coverage"]["extracted"].values()) == 2
    assert {one["kind"]: one["destination"] for one in day["extractions"]} == {"fact": "user", "dynamic": "relational"}
    shown = command("conversations", "show", DAY, "--project", "shop").out
    assert "-> user" in shown and "4 turns read (1 by the agent, 3 by the human)" in shown
    assert "No day is open." in command("conversations", "run", "--all-open").out
    assert command("rollback", "--run-id", done["run_id"]).code == 0
    assert json.loads(command("conversations", "list", "--json").out)[0]["state"] == "taken back"


@pytest.mark.slow
def test_a_pattern_is_listed_confirmed_and_rejected(tmp_path: Path) -> None:
    imported(tmp_path)
    assert command("conversations", "run", "--date", DAY).code == 0
    (pattern,) = json.loads(command("patterns", "list", "--json").out)
    assert (pattern["status"], pattern["text"]) == ("fading", "Keep your answers short from now on.")
    assert "confirmed" in command("patterns", "confirm", pattern["id"][:8]).out
    assert pattern["id"][:8] in command("patterns", "confirm", f"^{hash_letters(pattern['id'])[:6]}").out
    assert "No pattern waits" in command("patterns", "list").out
    assert "rejected" in command("patterns", "reject", pattern["id"]).out
    assert "rejected" in command("patterns", "list", "--all").out


def test_feedback_takes_what_was_extracted(tmp_path: Path) -> None:
    imported(tmp_path)
    command("conversations", "run", "--date", DAY)
    (day,) = json.loads(command("conversations", "show", DAY, "--json").out)
    said = json.loads(command("feedback", day["extractions"][0]["id"], "--not-useful", "--json").out)
    assert (said["was_useful"], said["useful_count"]) == (False, 0)


def test_mistakes_say_what_to_do(tmp_path: Path) -> None:
    imported(tmp_path)
    for words, told in (
        (("conversations", "run"), "give --date DAY, or --all-open"),
        (("conversations", "run", "--date", DAY, "--all-open"), "give --date DAY, or --all-open"),
        (("conversations", "run", "--date", "2026-03-09"), "nothing was said on 2026-03-09"),
        (("conversations", "run", "--date", "2999-01-01"), "has not ended"),
        (("conversations", "show", DAY), "no conversation of 2026-03-02 was read"),
        (("conversations", "list", "--project", "other"), "there is no project 'other'"),
        (("patterns", "reject", "zzz"), "no pattern has an id that starts with 'zzz'"),
    ):
        done = command(*words)
        assert done.code != 0, words
        assert told in done.err + done.out, words
