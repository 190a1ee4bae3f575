"""The real UI: it comes up on the store's own instance, and goes when it is told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

_REPOSITORIES = "{ repositoriesOrError { ... on RepositoryConnection { nodes { jobs { name } } } } }"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(port: int, query: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": query}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return dict(json.loads(response.read()))


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_the_ui_of_a_background_job_shows_the_jobs_and_ends_on_sigterm(tmp_path: Path) -> None:
    """In a script's background job SIGINT is ignored; Dagster alone would then ignore SIGTERM as well."""
    port = free_port()
    command = f"trap '' INT; exec {Path(sys.executable).with_name('memory-pipeline')} ui --port {port}"
    with (tmp_path / "ui.log").open("wb") as log:
        process = subprocess.Popen(["sh", "-c", command], stdout=log, stderr=log, cwd=tmp_path, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        jobs: set[str] = set()
        while "night" not in jobs:
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "ui.log").read_text()[-3000:]
            time.sleep(0.5)
            try:
                nodes = ask(port, _REPOSITORIES)["data"]["repositoriesOrError"]["nodes"]
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                continue
            jobs = {job["name"] for node in nodes for job in node["jobs"]}
        assert {"consolidation", "weekly_principles", "monthly_knowledge_base", "kb_compress"} <= jobs
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert not is_listening(port)
    finally:
        with suppress(ProcessLookupError):  # nothing of it is left, as it should be
            os.killpg(process.pid, signal.SIGKILL)
