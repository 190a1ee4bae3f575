"""Standard streams as shells leave them: closed, full, read by nobody, in another encoding; and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill

PROGRAM = [sys.executable, "-c", "from memory_pipeline.interfaces.cli import main; main()"]
CONTENT = "Zoë wrote ☃ \U0001f600 on the gateway's page."


def started(
    home: Path, *arguments: str, prepare: Callable[[], object] | None = None, **environment: str
) -> subprocess.Popen[bytes]:
    """The real program, with its streams as `prepare` leaves them."""
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home, preexec_fn=prepare,
        env={**os.environ, "MEMORY_PIPELINE_HOME": str(home), "PYTHONUNBUFFERED": "", **environment},
    )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(Store(tmp_path / "data" / "store.duckdb"), [candidate(CONTENT, native_id=f"m{n}") for n in range(3)])
    return tmp_path


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    process = started(home, "as-of", "now")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(60) == 0 and process.stderr.read() == b""


@pytest.mark.slow
def test_a_full_disk_behind_standard_output_is_told(home: Path) -> None:
    def full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    _, errors = (process := started(home, "as-of", "now", prepare=full)).communicate(timeout=60)
    assert process.returncode == 1 and errors.decode().startswith("Error: the result could not be printed")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("closed", [*(pytest.param((n,), marks=pytest.mark.slow) for n in range(3)), (0, 1, 2)])
def test_streams_that_are_closed_leave_the_store_alone(home: Path, closed: tuple[int, ...]) -> None:
    def close() -> None:
        for number in closed:
            os.close(number)

    store = home / "data" / "store.duckdb"
    before = store.read_bytes()
    out, errors = (process := started(home, "check", prepare=close)).communicate(timeout=60)
    assert process.returncode == 0 and b"Traceback" not in errors
    assert out.startswith(b"SOUND") == (1 not in closed)
    assert store.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_signs_that_the_encoding_lacks_are_escaped_and_json_stays_json(home: Path, encoding: str) -> None:
    out, errors = started(home, "as-of", "now", PYTHONIOENCODING=encoding, PYTHONUTF8="0").communicate(timeout=60)
    assert not errors and "wrote" in out.decode(encoding)
    out, _ = started(home, "as-of", "now", "--json", PYTHONIOENCODING=encoding, PYTHONUTF8="0").communicate(timeout=60)
    assert {row["content"] for row in json.loads(out.decode(encoding))["memories"]} == {CONTENT}


@pytest.mark.slow
def test_ctrl_c_ends_a_night_with_one_line_and_a_sound_store(home: Path) -> None:
    process = started(home, "night", "2026-03-03", MEMORY_PIPELINE_COMPRESSION_MIN_ACTIVE_MEMORIES="0")
    while not (home / "data" / "store.snapshots").exists() and process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    if process.returncode == 130:
        assert out.decode().splitlines()[-1].startswith("COMPRESSION BLOCKED: stopped by Ctrl-C")
    assert process.returncode in (0, 1, 130) and b"Traceback" not in errors
    checked, _ = started(home, "check", "--deep").communicate(timeout=60)
    assert checked.startswith(b"SOUND")
