"""MCP over streamable HTTP, on a real server, with the tokens of the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from memory_pipeline_tests.interfaces.api.running import Client


def over_mcp(client: Client, use: Callable[[McpClient], Awaitable[Any]], mode: str = "auto") -> Any:
    """Use an MCP client with the token of a client of the API."""

    async def connected() -> Any:
        headers = {"Authorization": f"Bearer {client.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{client.url}/mcp", http_client=http)
            async with McpClient(transport, mode=mode) as session:
                return await use(session)

    return anyio.run(connected)


def call(client: Client, tool: str, mode: str = "auto", **arguments: Any) -> Any:
    """The result of a tool."""
    return over_mcp(client, lambda session: session.call_tool(tool, arguments), mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_is_remembered_over_mcp_is_found_over_http(client: Client, mode: str) -> None:
    bound = client.as_("read", "write", projects=("home",))
    told = call(bound, "remember", mode, content=f"The {mode} kettle whistles at noon.").structured_content
    asked = {"query": f"when does the {mode} kettle whistle", "project_id": "home"}
    found = client.post("/api/v1/consolidated-memories/search", asked).json()["results"]
    assert found[0]["id"] == told["id"]
    with client.store.reading() as tx:
        (event, *_) = tx.history.of(told["id"])
    assert event.actor.startswith("token:")


def test_a_token_allows_over_mcp_what_it_allows_over_http(client: Client) -> None:
    reader, of_home = client.as_("read"), client.as_("read", "write", projects=("home",))
    refused = (
        (call(reader, "remember", content="The kettle is new.", project_id="home"), "scope 'write'"),
        (call(of_home, "search", query="payment gateway", project_id="p"), "not good for the project 'p'"),
        (call(reader, "search", query="payment gateway"), "name a project: home, p"),
    )
    for result, words in refused:
        assert result.is_error and words in result.content[0].text
    assert call(of_home, "search", query="piano practice").structured_content["results"][0]["id"] == "piano"


@pytest.mark.parametrize("token", ["", "wrong"])
def test_without_a_good_token_nothing_is_answered(client: Client, token: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = Client(client.url, client.store, token).post("/mcp", asked)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_other_origins_are_refused(client: Client) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert client.post("/mcp", asked, headers={"Origin": "https://evil.example"}).status_code == 403
