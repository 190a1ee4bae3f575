"""What the shell completes, asked for as the shell asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_pipeline_tests.processes import program

PROGRAM = [sys.executable, "-c", "from memory_pipeline.interfaces.cli import main; main()"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.slow
def test_the_script_for_a_shell_asks_this_program(shell: str) -> None:
    told = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # not the shell that runs the tests
    done = subprocess.run([*PROGRAM, "--show-completion", shell], capture_output=True, text=True, check=True, env=told)
    assert "memory-pipeline" in done.stdout and f"_MEMORY_PIPELINE_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("memory-pipeline back", "backfill"),
        ("memory-pipeline snapshot re", "restore"),
        ("memory-pipeline model ", "install"),
        ("memory-pipeline night --dry", "--dry-run"),
    ],
)
def test_commands_and_options_are_completed(monkeypatch: pytest.MonkeyPatch, line: str, completed: str) -> None:
    monkeypatch.setenv("_MEMORY_PIPELINE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    done = program(environment=os.environ, cwd=Path.cwd())
    assert done.returncode == 0 and completed in done.stdout.split()
