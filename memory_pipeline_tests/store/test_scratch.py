"""Copies of dry runs in the directory for temporary files: killed ones go with the next dry run, living ones stay."""

from __future__ import annotations

import os
import signal
import tempfile
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.store import Store
from memory_pipeline.store.connection import scratch_directory
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import fill, lesson, run

DAY = date(2026, 3, 4)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files, of this process and of those that it starts."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def killed_in_a_dry_run(place: str) -> None:
    tempfile.tempdir = place
    with scratch_directory() as directory:
        (directory / "store.duckdb").write_bytes(b"a copy")
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_the_copy_of_a_killed_dry_run_goes_with_the_next_one(store: Store, temporary: Path) -> None:
    fill(store, lesson(4))
    done = processes.run(killed_in_a_dry_run, str(temporary))
    (left,) = temporary.iterdir()
    assert done.returncode == -signal.SIGKILL and (left / "store.duckdb").exists()
    run(store, DAY, dry_run=True)
    assert list(temporary.iterdir()) == []


def test_the_copy_of_a_living_dry_run_and_the_files_of_others_stay(temporary: Path) -> None:
    others = [temporary / "memory-pipeline-dry-run-notes.txt", temporary / "memory-pipeline-mine" / "store.duckdb"]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(b"of someone else")
    target = temporary / "memory-pipeline-mine"
    (temporary / "memory-pipeline-dry-run-link").symlink_to(target)
    with scratch_directory() as living:
        (living / "store.duckdb").write_bytes(b"a copy")
        with scratch_directory() as second:
            assert second != living and (living / "store.duckdb").read_bytes() == b"a copy"
    assert all(other.exists() for other in others) and not living.exists() and not second.exists()


def test_a_directory_of_another_user_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = temporary / "memory-pipeline-dry-run-theirs"
    theirs.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: theirs.stat().st_uid + 1)
    with scratch_directory():
        assert theirs.exists()
