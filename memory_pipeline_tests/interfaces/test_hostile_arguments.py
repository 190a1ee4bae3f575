"""Arguments that are no good to anybody: each is one sentence, at once, and nothing is written."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import duckdb
import pytest

from memory_pipeline_tests.interfaces.in_process import bytes_of, command


@pytest.fixture
def here(data: Path, in_home: None) -> Path:
    """A home with a store, and things in it that are no files."""
    home = data.parent
    os.mkfifo(home / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "socket"))
    (home / "circle").symlink_to("circle")
    notes = home / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("---\ntitle: A\ntype: note\npermalink: a\n---\n# A\n- [fact] The port is 5432 #net\n")
    (notes / "x.md").symlink_to("y.md")
    (notes / "y.md").symlink_to("x.md")
    (notes / "again").symlink_to(notes)
    with duckdb.connect(str(home / "other.duckdb")) as other:
        other.execute("create table t as select 1 a")
    sqlite3.connect(home / "other.db").execute("create table t (a)").connection.close()
    return home


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("check", "--store", "/"), "--store is '/', which is a directory"),
        (("search", "gateway", "--store", "."), "is a directory"),
        (("serve", "--host", "\udc80"), "which is no name of a host"),
        (("serve", "--host", "a" * 300), "which is no name of a host"),
        (("ui", "--host", "\udc80"), "which is no name of a host"),
        (("sync", "brain", "fifo"), "is neither a file nor a directory"),
        (("sync", "brain", "/dev/zero"), "is neither a file nor a directory"),
        (("sync", "brain", "socket"), "is neither a file nor a directory"),
        (("import", "brain", "fifo"), "is neither a file nor a directory"),
        (("import", "jsonl", "fifo"), "is neither a file nor a directory"),
        (("import", "auto", "socket"), "is neither a file nor a directory"),
        (("config", "trust", "fifo"), "is neither a file nor a directory"),
        (("check", "--store", "fifo"), "fifo"),
        (("recover", "--store", "other.duckdb"), "is a DuckDB database of another program"),
        (("recover", "--store", "other.duckdb", "--dry-run"), "is a DuckDB database of another program"),
        (("recover", "--store", "other.db"), "is a SQLite database"),
        (("rollups", "show", "9999"), "is not a period"),
        (("rollups", "show", "0001-W01"), "is not a period"),
    ],
)
def test_what_is_no_use_is_refused_in_a_sentence(here: Path, words: tuple[str, ...], told: str) -> None:
    before = bytes_of(here / "other.duckdb", here / "data" / "store.duckdb")
    done = command(*words)
    assert done.code == 1 and told in done.told and "Traceback" not in done.err, done.err
    assert bytes_of(here / "other.duckdb", here / "data" / "store.duckdb") == before


@pytest.mark.parametrize("words", [("import", "basic-memory"), ("import", "auto"), ("sources", "add")])
def test_links_that_lead_in_a_circle_cost_only_themselves(here: Path, words: tuple[str, ...]) -> None:
    done = command(*words, "notes")
    assert done.code == 0 and "Traceback" not in done.err, done.err


def test_a_settings_file_that_is_a_pipe_is_refused_at_once(here: Path) -> None:
    done = command("config", "show", MEMORY_PIPELINE_CONFIG=str(here / "fifo"))
    assert done.code == 1 and "is neither a file nor a directory" in done.told


def test_hooks_and_servers_are_put_into_a_home_when_asked_to_write(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here / "user"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    for host in ("claude-code", "openclaw"):
        done = command("hooks", "install", host)
        assert done.code == 0 and done.told == "Nothing was written; run this command again with --write."
        assert command("mcp", "install", host).code == 0
        assert host == "openclaw" or not (here / "user").exists()
        assert not (here / "user" / ".openclaw").exists()
        assert command("hooks", "install", host, "--write").code == 0
    assert (here / "user" / ".claude" / "settings.json").exists() and (here / "user" / ".openclaw").exists()
