"""A format that is added is one class: the command line, the ids and the reference follow from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected
from memory_pipeline.ingest.formats import IMPORTERS, importer_of, recognise, the_format_of
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, Importer, OneFile
from memory_pipeline.interfaces.cli.setup import import_into, nothing_was_read
from memory_pipeline.records import Source
from memory_pipeline.store import Store
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.ingest.bring import read
from memory_pipeline_tests.test_docs import written_reference


class Diary(Importer):
    """A directory with a text file a day."""

    name = "diary"
    about = "A diary: a text file a day."
    takes = "a directory of days"
    takes_directory = True

    def read(self, place: OneFile, choice: FileChoice = ALL_FILES) -> Reading:
        for file in sorted(place.path.glob("*.day")):
            text = file.read_text()
            yield (
                Candidate(content=text, source=Source(self.name, file.name))
                if text
                else Rejected(file.name, 1, "an empty day")
            )

    def evidence(self, path: Path) -> str | None:
        return "days" if any(path.glob("*.day")) else None

    def default_project(self, path: Path) -> str:
        return f"diary-{path.name}"

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        return f"diary:{candidate.source.file}"


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A diary of two days, in a program that knows the format."""
    monkeypatch.setitem(IMPORTERS, Diary.name, Diary())  # type: ignore[arg-type]
    directory = tmp_path / "mine"
    directory.mkdir()
    for day in ("monday", "tuesday"):
        (directory / f"{day}.day").write_text(f"On {day} the gateway was restarted twice.")
    return directory


def test_it_is_imported_with_its_own_ids_and_project(store: Store, days: Path) -> None:
    summary = import_into(settings_for(store), store, "diary", days, None, None, lambda *_: None)
    with store.reading() as tx:
        memories = tx.memories.all()
    assert (summary.imported, sorted(memory.id for memory in memories)) == (
        2,
        ["diary:monday.day", "diary:tuesday.day"],
    )
    assert {memory.project_id for memory in memories} == {"diary-mine"}
    assert the_format_of(days).importer.name == "diary"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openclaw", r"has no MEMORY\.md"),
        ("codex", "give ~/.codex/memories"),
        ("chatgpt", r"no conversations\.json"),
        ("claude-code", "give ~/.claude/projects"),
        ("openclaw-sessions", "give ~/.openclaw/agents"),
        ("mem0", "has no JSON file of mem0"),
        ("basic-memory", "has no Markdown notes"),
    ],
)
def test_a_directory_with_nothing_of_a_format_is_refused_in_its_words(tmp_path: Path, name: str, words: str) -> None:
    assert importer_of(name).evidence(tmp_path) is None
    with pytest.raises(InputError, match=words):
        read(tmp_path, name)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_refused_and_never_waited_for(
    store: Store, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(pipe := tmp_path / "history.db")
    assert not recognise(pipe)
    with pytest.raises(InputError, match="neither a file nor a directory"):
        the_format_of(pipe)
    for name in ("jsonl", "mem0", "chatgpt", "langgraph", "claude-code"):
        with pytest.raises(InputError, match="neither a file nor a directory"):
            import_into(settings_for(store), store, name, pipe, None, None, lambda *_: None)
    for name in ("a.md", "s.jsonl", "MEMORY.md", "conversations.json", "more.db"):
        make(tmp_path / name)
    (tmp_path / "t.jsonl").write_text('{"type": "user", "sessionId": "t", "message": {"role": "user"}}')
    (tmp_path / "memories.json").write_text("[]")
    assert [one.importer.name for one in recognise(tmp_path)] == ["claude-code"]
    assert importer_of("claude-code").default_project(tmp_path)


def test_errors_and_reference_name_it(store: Store, days: Path) -> None:
    assert "| `diary` | a directory of days | A diary: a text file a day. |" in written_reference()
    settings = settings_for(store)
    with pytest.raises(InputError, match=f"one of {', '.join(IMPORTERS)}"):
        import_into(settings, store, "nonsense", days, None, None, lambda *_: None)
    with pytest.raises(InputError, match=r"is a file; format diary takes a directory of days"):
        import_into(settings, store, "diary", days / "monday.day", None, None, lambda *_: None)
    for day in days.iterdir():
        day.write_text("")
    nothing = import_into(settings, store, "diary", days, None, None, lambda *_: None)
    assert (nothing_was_read(nothing, "diary", days) or "").endswith("the reasons are above")
