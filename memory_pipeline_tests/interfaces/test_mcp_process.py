"""The MCP server as a process of its own: parallel calls, a clean standard output, and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill
from memory_pipeline_tests.interfaces.in_process import SETTINGS

#: One more than the threads that answer at a time.
MANY = 64
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "data" / "store.duckdb")
    gateway = "The gateway drops requests when the certificate of node {} expires."
    fill(store, [candidate(gateway.format(n), native_id=f"gateway-{n}") for n in range(20)], project="shop")
    return store


def environment(store: Store) -> dict[str, str]:
    return SETTINGS | {"MEMORY_PIPELINE_HOME": str(store.path.parents[1]), "PYTHONPATH": str(ROOT)}


def use_of(number: int) -> tuple[str, dict[str, Any]]:
    """The tool and arguments of one of many calls: half of them write."""
    return (
        ("remember", {"content": f"Lamp {number} of the greenhouse was replaced by colleague {number * 3}."}),
        ("feedback", {"id": "gateway-1", "was_useful": True}),
        ("search", {"query": f"certificate of node {number}"}),
        ("context", {"task": f"renew the certificate of node {number}"}),
    )[number % 4]


@pytest.mark.slow
def test_many_calls_at_once_all_answer_and_nothing_is_lost(store: Store) -> None:
    program = Path(sys.executable).with_name("memory-pipeline")
    started = StdioServerParameters(command=str(program), args=["mcp"], env=environment(store))
    told: list[str] = []

    async def use(client: Client, number: int) -> None:
        tool, arguments = use_of(number)
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        if tool == "remember":
            told.append(result.structured_content["id"])  # type: ignore[index]

    async def all_at_once() -> None:
        async with Client(stdio_client(started)) as client, anyio.create_task_group() as group:
            for number in range(MANY):
                group.start_soon(use, client, number)

    anyio.run(all_at_once)
    assert len(set(told)) == MANY // 4
    with store.reading() as tx:
        kept = tx.memories.read([*told, "gateway-1"])
        assert tx.integrity.check(deep=True, facts=False) == []
    assert set(kept) == {*told, "gateway-1"}
    assert kept["gateway-1"].useful_count == MANY // 4
    assert kept["gateway-1"].reuse_count > 0


@pytest.fixture
def process(store: Store) -> Iterator[subprocess.Popen[str]]:
    """A server that has answered the handshake of an older client."""
    with subprocess.Popen(
        [str(Path(sys.executable).with_name("memory-pipeline")), "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | environment(store),
    ) as started:  # fmt: skip
        try:
            client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            assert ask(started, 1, "initialize", client)["protocolVersion"] == "2025-06-18"
            write(started, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield started
        finally:
            started.kill()


def write(process: subprocess.Popen[str], message: Any) -> None:
    assert process.stdin is not None
    process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdout is not None
    write(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    answer = json.loads(process.stdout.readline())
    assert answer["id"] == number
    return dict(answer["result"])


@pytest.mark.slow
def test_standard_output_holds_the_protocol_alone_whatever_is_sent(process: subprocess.Popen[str]) -> None:
    write(process, "this is no JSON")
    call = {"name": "search", "arguments": {"query": "certificate of node 3"}}
    assert not ask(process, 2, "tools/call", call)["isError"]
    assert ask(process, 3, "tools/call", {"name": "fetch", "arguments": {"id": "nobody"}})["isError"]
    assert process.stdin and process.stdout and process.stderr
    process.stdin.close()
    assert process.wait(20) == 0
    assert process.stdout.read() == ""
    assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_and_uses_are_kept(process: subprocess.Popen[str], store: Store, how: int) -> None:
    ask(process, 2, "tools/call", {"name": "search", "arguments": {"query": "certificate of node 3"}})
    process.send_signal(how)
    assert process.wait(10) == 0
    with store.reading() as tx:
        assert sum(memory.reuse_count for memory in tx.memories.all()) > 0
