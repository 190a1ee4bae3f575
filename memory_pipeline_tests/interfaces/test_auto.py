"""`import auto`, `sources add` and `init` tell the format by the content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.formats import IMPORTERS, find_places, importer_of, recognise, the_format_of
from memory_pipeline.ingest.importer import Importer
from memory_pipeline_tests.interfaces.in_process import command

pytestmark = pytest.mark.usefixtures("in_home")


def note(root: Path, text: str = "- 10:00 the port is 5432\n") -> Path:
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2026-03-02.md").write_text(text)
    return root


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.txt"
    file.write_text('{"content": "the port is 5432"}\n')
    return file


def test_the_content_tells_the_format_whatever_the_name(tmp_path: Path, rows: Path) -> None:
    done = command("import", "auto", rows)
    assert done.code == 0 and "Read 1 entries: 1 imported" in done.out
    assert f"'{rows}' is read as jsonl: it has JSON objects with content, one a line." in done.err
    (tmp_path / "table.dat").write_text("id,content\n1,the disk is full\n")
    assert "is read as csv: it has a header with the column 'content'" in command("import", "auto", "table.dat").err
    assert command("export", "parquet", "out.bin").code == 0
    assert the_format_of(tmp_path / "out.bin").importer.name == "parquet"
    note(tmp_path / "agent")
    assert "'agent' is read as openclaw: it has memory/2026-03-02.md" in command("import", "auto", "agent").err


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
def test_an_export_of_everything_is_recognised(tmp_path: Path, rows: Path, name: str) -> None:
    assert command("import", "auto", rows).code == 0
    assert command("export", name, "all.backup", "--all").code == 0
    done = command("import", "auto", "all.backup", "--store", "other.duckdb")
    assert done.code == 0 and "everything of a store" in done.err and "now equals the exported one" in done.out


@pytest.mark.parametrize(
    "text", ["", "{", "\0\0", "null\n", "[" * 100_000, "content", '"content"\n', "x,y\n1,2\n", '{"type":"entity"}\n']
)
def test_a_file_of_no_format_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "what").write_text(text)
    done = command("import", "auto", "what")
    if "content" in text:
        assert done.code == 0  # the header of a CSV without rows
        return
    assert done.code == 1 and "'what' is a file that no format knows" in done.told
    assert "name it: 'memory-pipeline import FORMAT what', where FORMAT is " in done.told


def test_a_path_that_is_missing_or_empty_is_one_sentence(tmp_path: Path) -> None:
    assert "'nowhere' does not exist; check the path" in command("import", "auto", "nowhere").told
    (tmp_path / "empty").mkdir()
    assert "'empty' is a directory that no format knows" in command("import", "auto", "empty").told


def test_several_answers_are_named_with_the_command_for_each(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Importer):
        name, about = "other", "A test."

        def sign_of(self, path: Path) -> str | None:
            return "a port"

        read = importer_of("jsonl").read

    class Broken(Other):
        name = "broken"

        def sign_of(self, path: Path) -> str | None:
            raise RuntimeError("never expected")

    monkeypatch.setitem(IMPORTERS, "other", Other())  # type: ignore[arg-type]
    monkeypatch.setitem(IMPORTERS, "broken", Broken())  # type: ignore[arg-type]
    with pytest.raises(InputError) as told:
        the_format_of(rows)
    assert "as jsonl (it has JSON objects with content, one a line) and as other (it has a port)" in str(told.value)
    assert f"'memory-pipeline import jsonl {rows}' or 'memory-pipeline import other {rows}'" in str(told.value)
    assert [one.importer.name for one in recognise(rows)] == ["jsonl", "other"]
    assert "sources add --format other" in command("sources", "add", rows).told


def test_a_memory_of_another_agent_is_no_workspace(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    (root / "MEMORY.md").write_text("- [port](port.md): the port\n")
    assert the_format_of(root).importer.name == "openclaw"
    (root / "port.md").write_text("---\nname: port\ndescription: d\nmetadata:\n  type: project\n---\n\nIt is 5432.\n")
    assert the_format_of(root).importer.name == "claude-code"
    (root / "USER.md").write_text("- Dana\n")
    with pytest.raises(InputError, match=r"can be read as openclaw .* and as claude-code"):
        the_format_of(root)


def test_a_source_takes_the_format_of_its_content(tmp_path: Path, rows: Path) -> None:
    (tmp_path / "new.jsonl").write_text("")
    assert command("sources", "add", rows, "--project", "p").code == 0
    assert command("sources", "add", "new.jsonl", "--project", "p").code == 0
    listed = json.loads(command("sources", "list", "--json").out)
    assert [(one["name"], one["format"]) for one in listed] == [("rows", "jsonl"), ("new", "jsonl")]


@pytest.mark.slow
def test_init_takes_the_only_place_and_says_so(tmp_path: Path) -> None:
    home = tmp_path / "user"
    note(home / ".openclaw" / "workspace")
    done = command("init", HOME=str(home))
    assert done.code == 0, done.err
    assert f"Found {home}/.openclaw/workspace (openclaw, 1 file): it has memory/2026-03-02.md." in done.err
    listed = json.loads(command("sources", "list", "--json").out)
    assert [one["path"] for one in listed] == [str(home / ".openclaw" / "workspace")]


def test_of_several_places_a_person_chooses(tmp_path: Path) -> None:
    home = tmp_path / "user"
    note(home / ".openclaw" / "workspace")
    note(tmp_path)
    done = command("init", "--quiet", HOME=str(home))
    assert done.code == 1 and "choose one by its path" in done.told
    assert f"  memory-pipeline init {home}/.openclaw/workspace" in done.err
    assert f"  memory-pipeline init {tmp_path}\n" in done.err
    assert not (tmp_path / "memory_pipeline.toml").exists()


def test_without_any_place_init_names_where_it_looked(tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    done = command("init", HOME=str(tmp_path / "user"))
    assert done.code == 1 and "no memories were found in the usual places (~/.openclaw/workspace" in done.told
    assert "'nowhere' does not exist" in command("init", "nowhere").told
    assert find_places({"HELIOS_DB_PATH": "/nowhere/brain.db"}, tmp_path / "user", tmp_path) == []
