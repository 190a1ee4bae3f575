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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_pipeline.moments import latest_complete_day

_REPOSITORIES = "{ repositoriesOrError { ... on RepositoryConnection { nodes { jobs { name } } } } }"


_FIRST_DAY = """{ assetNodeOrError(assetKey: {path: ["reports"]}) {
    ... on AssetNode { partitionKeysByDimension { partitionKeys } } } }"""
_PROGRAM = Path(sys.executable).with_name("memory-pipeline")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(port: int, query: str, **headers: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": query}).encode(),
        {"content-type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return dict(json.loads(response.read()))


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_the_ui_of_a_background_job_shows_the_jobs_and_ends_on_sigterm(tmp_path: Path) -> None:
    """In a script's background job SIGINT is ignored; Dagster alone would then ignore SIGTERM as well. Pages of other
    sites reach nothing, and the partitions follow an import."""
    port = free_port()
    command = f"trap '' INT; exec {_PROGRAM} ui --port {port}"
    with (tmp_path / "ui.log").open("wb") as log:
        process = subprocess.Popen(["sh", "-c", command], stdout=log, stderr=log, cwd=tmp_path, start_new_session=True)
    try:
        deadline = time.monotonic() + 200
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
        for headers in ({"origin": "https://evil.example"}, {"host": f"evil.example:{port}"}):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                ask(port, "{ version }", **headers)
        first = ask(port, _FIRST_DAY)["data"]["assetNodeOrError"]["partitionKeysByDimension"][0]["partitionKeys"][0]
        assert first == str(latest_complete_day(datetime.now(UTC)))  # there is no store yet
        rows = [{"content": f"Note {day}", "created_at": f"2026-03-0{day}T09:00:00Z"} for day in (1, 2)]
        (tmp_path / "notes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        subprocess.run([_PROGRAM, "import", "jsonl", "notes.jsonl", "--project", "p"], cwd=tmp_path, check=True)
        while first != "2026-03-01":
            assert time.monotonic() < deadline, first
            time.sleep(1)
            node = ask(port, _FIRST_DAY)["data"]["assetNodeOrError"]
            first = (
                node["partitionKeysByDimension"][0]["partitionKeys"][0] if "partitionKeysByDimension" in node else ""
            )
        log_text = (tmp_path / "ui.log").read_text()
        assert "WARNING" not in log_text and "There is no store at" in log_text, log_text
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert not is_listening(port)
    finally:
        with suppress(ProcessLookupError):  # nothing of it is left, as it should be
            os.killpg(process.pid, signal.SIGKILL)
