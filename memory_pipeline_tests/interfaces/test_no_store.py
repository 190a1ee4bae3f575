"""A path that is no store, or where there is none: one sentence that says so, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.store import Store, create_snapshot, list_snapshots
from memory_pipeline_tests.build import NOW, candidate, fill
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

pytestmark = pytest.mark.usefixtures("in_home")

COMMANDS = [
    ("check",),
    ("recover",),
    ("recover", "--dry-run"),
    ("rollback", "--since", "2026-03-01"),
    ("snapshot", "list"),
    ("snapshot", "create"),
    ("snapshot", "restore", "x"),
    ("export", "jsonl", "out.jsonl"),
]
IMPORT = ("import", "jsonl", "rows.jsonl")


@pytest.mark.parametrize("arguments", [*COMMANDS, IMPORT], ids=" ".join)
@pytest.mark.parametrize("kind", ["text", "directory"])
def test_what_never_was_a_store_is_named_and_nothing_is_left(
    tmp_path: Path, arguments: tuple[str, ...], kind: str
) -> None:
    named = tmp_path / "notes.csv"
    if kind == "text":
        named.write_text("content\nthe gateway listens on port 5432\n", encoding="utf-8")
    else:
        named.mkdir()
    (tmp_path / "rows.jsonl").write_text('{"content": "the gateway listens"}\n', encoding="utf-8")
    before = bytes_of(tmp_path)
    done = command(*arguments, "--store", named)
    words = "is not a store of this program; name another file with --store"
    assert done.code == 1 and (words if kind == "text" else "is a directory; name a file, such as") in done.err
    assert "damaged" not in done.err and "recover" not in done.err
    assert bytes_of(tmp_path) == before


@pytest.mark.parametrize("arguments", [each for each in COMMANDS if each != ("snapshot", "restore", "x")], ids=" ".join)
def test_where_there_is_no_store_every_command_says_so_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = command(*arguments, "--store", tmp_path / "none.duckdb")
    assert done.code == 1 and "there is no store at" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_list_of_no_snapshots_says_whether_there_is_a_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [candidate("the gateway listens on port 5432")])
    there = command("snapshot", "list", "--store", store.path)
    assert there.code == 0 and there.told == f"No snapshot in '{tmp_path / 'store.snapshots'}'."
    assert command("snapshot", "list", "--store", store.path, "--json").out.strip() == "[]"
    store.path.unlink()
    gone = command("snapshot", "list", "--store", store.path)
    assert gone.code == 1 and f"there is no store at '{store.path}', and no snapshot next to it" in gone.told


@pytest.mark.parametrize("kept", ["lock", "snapshots", "nothing but an empty file"])
def test_what_may_have_been_a_store_leads_to_recover(tmp_path: Path, kept: str) -> None:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [candidate("the gateway listens on port 5432")])
    create_snapshot(store, "manual", NOW, 5)
    if kept != "lock":
        (tmp_path / "store.duckdb.lock").unlink()
    if kept != "snapshots":
        (tmp_path / "store.snapshots").rename(tmp_path / "elsewhere")
    store.path.write_bytes(b"" if kept.startswith("nothing") else b"not what was written here " * 1000)
    done = command("report", "--store", store.path)
    assert done.code == 1 and "'memory-pipeline recover'" in done.err


def test_the_files_that_are_kept_are_named(data: Path) -> None:
    store = data / "store.duckdb"
    (name, *_) = [snapshot.name for snapshot in list_snapshots(Store(store))]
    restored = command("snapshot", "restore", name)
    kept = list(data.glob("store.duckdb.before-restore-*"))
    assert kept and all(file.name in restored.out for file in kept)
    store.write_bytes(b"")
    recovered = command("recover")
    assert recovered.code == 0
    kept = list(data.glob("store.duckdb.damaged-*"))
    assert kept and all(file.name in recovered.out for file in kept) and "..." not in recovered.out


def test_an_import_that_is_refused_makes_no_store(tmp_path: Path) -> None:
    rows = tmp_path / "notes.csv"
    rows.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "has no column 'content'" in command("import", "csv", rows, "--store", tmp_path / "new" / "s.duckdb").err
    assert list(tmp_path.iterdir()) == [rows]


def test_an_export_that_becomes_a_store_leaves_no_other_lock(data: Path, tmp_path: Path) -> None:
    command("export", "jsonl", "all.jsonl", "--all")
    new = tmp_path / "new" / "store.duckdb"
    assert "now equals the exported one" in command("import", "jsonl", "all.jsonl", "--store", new).out
    assert not list(new.parent.glob(".*"))
