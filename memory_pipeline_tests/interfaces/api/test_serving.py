"""Where the server listens, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.api import app as serving
from memory_pipeline.interfaces.api.access import Tokens
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for
from memory_pipeline_tests.interfaces.api.running import new_token, running
from memory_pipeline_tests.interfaces.in_process import SETTINGS
from memory_pipeline_tests.interfaces.test_streams import PROGRAM


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_nothing_listens_for_other_machines_without_a_token(store: Store, host: str) -> None:
    tokens = Tokens(store.path)
    with pytest.raises(InputError, match="there is no token yet; make one with 'memory-pipeline token create'"):
        serving.listen(host, 0, tokens)
    tokens.create("agent", ["read"], None, datetime.now(UTC))
    serving.listen("0.0.0.0", 0, tokens).close()


def test_a_port_that_is_taken_is_named(store: Store) -> None:
    tokens = Tokens(store.path)
    with (
        serving.listen("127.0.0.1", 0, tokens) as taken,
        pytest.raises(InputError, match=r"nothing can listen at 127\.0\.0\.1:"),
    ):
        serving.listen("127.0.0.1", taken.getsockname()[1], tokens)


def test_a_request_under_way_is_answered_before_the_server_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [candidate("The gateway restarts at night.")])
    begun, go_on = threading.Event(), threading.Event()
    playbook = ProjectMemory.playbook

    def slowly(self: ProjectMemory) -> object:
        begun.set()
        assert go_on.wait(20)
        return playbook(self)

    monkeypatch.setattr(ProjectMemory, "playbook", slowly)
    answers: list[requests.Response] = []
    with running(settings_for(store), store) as client:
        asking = threading.Thread(target=lambda: answers.append(client.get("/api/v1/playbook")))
        asking.start()
        assert begun.wait(20)
        threading.Timer(0.2, go_on.set).start()  # by then the server has been told to end
    asking.join()
    assert answers[0].status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_the_program_answers_and_ends_well_when_it_is_told_to(tmp_path: Path, end: signal.Signals) -> None:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [candidate("The gateway restarts at night.", native_id="m")])
    token = new_token(store, "read")
    environment = {**os.environ, **SETTINGS, "PYTHONUNBUFFERED": "1"}
    command = [*PROGRAM, "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--store", str(store.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        asked = {"query": "when does the gateway restart"}
        headers = {"Authorization": f"Bearer {token}"}
        search = f"{url}/api/v1/consolidated-memories/search"
        assert requests.post(search, json=asked, headers=headers, timeout=60).json()["results"][0]["id"] == "m"
        process.send_signal(end)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")
    with store.reading() as tx:
        assert tx.memories.read(["m"])["m"].reuse_count == 1
