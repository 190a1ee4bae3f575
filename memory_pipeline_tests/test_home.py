"""Where a command finds its project: named, around the working directory, beside the package, the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import memory_pipeline
from memory_pipeline.orchestration.home import load_project_settings, project_home
from memory_pipeline_tests.interfaces.in_process import command

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def a_user_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMORY_PIPELINE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user" / "share"))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As from a wheel: the package lies where there is no project."""
    monkeypatch.setattr(memory_pipeline, "__file__", str(tmp_path / "site-packages" / "memory_pipeline" / "x.py"))


def make(place: Path, *names: str) -> Path:
    """A directory with these files; a name that ends in a slash is a directory."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name.endswith("/"):
            (place / name).mkdir()
        else:
            (place / name).write_text("")
    return place


@pytest.mark.parametrize(
    ("there", "is_project"),
    [
        (("memory_pipeline.toml",), True),
        (("dagster.yaml", "data/"), True),
        (("dagster.yaml",), False),
        (("data/",), False),
        ((), False),
    ],
)
@pytest.mark.parametrize("below", [".", "notes/march"])
def test_a_project_around_the_working_directory_is_the_home(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    installed: None,
    there: tuple[str, ...],
    is_project: bool,
    below: str,
) -> None:
    place = make(tmp_path / "work", *there)
    monkeypatch.chdir(make(place / below))
    assert project_home() == (place if is_project else tmp_path / "user" / "share" / "memory-pipeline")


def test_a_home_that_is_named_comes_before_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: None
) -> None:
    monkeypatch.chdir(make(tmp_path / "work", "memory_pipeline.toml"))
    monkeypatch.setenv("MEMORY_PIPELINE_HOME", str(make(tmp_path / "named")))
    assert project_home() == tmp_path / "named"


def test_the_checkout_is_the_home_where_there_is_no_other_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project_home() == CHECKOUT


def test_a_working_directory_that_is_gone_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: None
) -> None:
    gone = make(tmp_path / "gone", "memory_pipeline.toml")
    monkeypatch.chdir(gone)
    (gone / "memory_pipeline.toml").unlink()
    gone.rmdir()
    assert project_home() == tmp_path / "user" / "share" / "memory-pipeline"


def test_the_store_and_its_reports_lie_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: None
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "user" / "share" / "memory-pipeline"
    assert load_project_settings().values.store.path == str(home / "data" / "store.duckdb")


def test_what_is_imported_anywhere_lies_in_the_users_directory_and_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.jsonl").write_text('{"content": "The gateway listens on port 5432."}\n')
    assert command("import", "jsonl", "notes.jsonl").code == 0
    assert (tmp_path / "user" / "share" / "memory-pipeline" / "data" / "store.duckdb").exists()
    monkeypatch.chdir(make(tmp_path / "elsewhere"))
    assert "1 active" in command("check").out
