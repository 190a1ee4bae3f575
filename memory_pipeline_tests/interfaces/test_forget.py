"""The command asks a person, and forgets exactly what it has shown; agents have no way to it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from memory_pipeline.interfaces.api.app import described
from memory_pipeline.interfaces.mcp import tools
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline_tests.forgetting.searching import files_with
from memory_pipeline_tests.interfaces.in_process import Done, bytes_of, command

pytestmark = pytest.mark.usefixtures("in_home")
_WORDS = "staging database 5433"


def _forget(data: Path, *arguments: str, **environment: str) -> Done:
    return command("forget", *arguments, "--store", data / "store.duckdb", **environment)


def test_without_yes_it_shows_what_would_go_and_changes_nothing(data: Path) -> None:
    before = bytes_of(data)
    shown = _forget(data, "--search", _WORDS)
    assert shown.code == 0 and "port-5433" in shown.out and "--yes --code" in shown.out
    assert "This cannot be undone" in shown.out
    assert bytes_of(data) == before


@pytest.mark.slow
def test_yes_is_taken_where_a_person_allows_it_and_the_history_says_what_was_forgotten(data: Path) -> None:
    refused = _forget(data, "port-5433", "--yes")
    assert refused.code != 0 and "MEMORY_PIPELINE_FORGET=allow" in refused.err
    done = _forget(data, "port-5433", "--yes", "--json", MEMORY_PIPELINE_FORGET="allow")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert len(told["memories"]) == 1 and told["left"] == []
    assert files_with(data, "port-5433", "port 5433") == []
    store = ("--store", data / "store.duckdb")
    assert command("check", "--deep", *store).out.startswith("SOUND")
    assert "forgot its words" in command("history", "port-5433", *store).out
    assert "was forgotten on" in command("lineage", "port-5433", *store).err
    assert "was forgotten on" in _forget(data, "port-5433").err


@pytest.mark.slow
def test_what_was_found_needs_the_code_of_the_preview(data: Path) -> None:
    code = json.loads(_forget(data, "--search", _WORDS, "--json").out)["code"]
    for wrong in ((), ("--code", "00000000")):
        refused = _forget(data, "--search", _WORDS, "--yes", *wrong, MEMORY_PIPELINE_FORGET="allow")
        assert refused.code != 0 and "Traceback" not in refused.err
    assert _forget(data, "--search", _WORDS, "--yes", "--code", code, MEMORY_PIPELINE_FORGET="allow").code == 0


def test_mistakes_are_named(data: Path) -> None:
    for arguments, said in (
        ((), "exactly one of"),
        (("nobody",), "there is no memory 'nobody'"),
        (("--search", "quokkaville"), "nothing in the store matches"),
        (("--search", _WORDS, "--only", "9"), "--only 9 is not in the list"),
        (("--source", "test.jsonl", "--conversation", "x"), "exactly one of"),
    ):
        refused = _forget(data, *arguments)
        assert refused.code != 0 and said in refused.err and "Traceback" not in refused.err


def test_agents_have_no_way_to_it() -> None:
    assert not [path for path in described()["paths"] if "forget" in path]
    assert "forget" not in inspect.getsource(tools)
    assert not [name for name in dir(ProjectMemory) if "forget" in name]
