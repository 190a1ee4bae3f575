"""The guard before Dagster's web server: what a page of another site sends is refused, over real HTTP."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from memory_pipeline.orchestration.guard import Guard, Receive, Scope, Send


async def open_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Lets everything in."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})
    elif scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"launched"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(Guard(open_app, ["ui.example.org"]), log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield int(listening.getsockname()[1])
        server.should_exit = True
        thread.join(5)


def status(port: int, method: str = "POST", path: str = "/graphql", **headers: str) -> int:
    """The answer to a request with these headers; `host` is by default that of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"host": f"127.0.0.1:{port}", **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec_websocket_version": "13",
}


def test_the_uis_own_pages_and_programs_are_let_in(port: int) -> None:
    assert status(port) == 200  # a program names no origin
    assert status(port, origin=f"http://127.0.0.1:{port}", sec_fetch_site="same-origin") == 200
    assert status(port, host=f"localhost:{port}", origin=f"http://localhost:{port}") == 200
    assert status(port, host=f"[::1]:{port}", origin=f"http://[::1]:{port}") == 200
    assert status(port, "GET", "/overview", sec_fetch_site="none", sec_fetch_mode="navigate") == 200
    assert status(port, "GET", **UPGRADE, origin=f"http://127.0.0.1:{port}") == 101


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://127.0.0.1:9", "http://localhost", "null", "http://127.0.0.1.evil.example"],
)
def test_another_origin_is_refused(port: int, origin: str) -> None:
    assert status(port, origin=origin) == 403
    assert status(port, "GET", "/overview", origin=origin) == 403
    assert status(port, "GET", **UPGRADE, origin=origin) == 403


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::1"])
def test_a_name_that_someone_else_may_make_stand_for_this_machine_is_refused(port: int, host: str) -> None:
    assert status(port, host=host) == 403
    assert status(port, host=host, origin=f"http://{host}") == 403
    assert status(port, "GET", "/", host=host) == 403


def test_a_page_cannot_make_a_browser_send_a_query_with_a_get(port: int) -> None:
    assert status(port, "GET", "/graphql?query=mutation", sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403
    assert status(port, "GET", "/graphql?query=mutation", accept="image/*,*/*") == 403
    assert status(port, "GET", "/graphql", accept="text/html,*/*") == 200  # the page in which a person types queries


def test_a_link_of_another_site_opens_a_page_and_nothing_else_does(port: int) -> None:
    assert status(port, "GET", "/runs", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 200
    assert status(port, "GET", "/logs/x", sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403
    assert status(port, "POST", "/runs", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 403


def test_a_named_host_is_let_in(port: int) -> None:
    assert status(port, host="UI.example.org", origin="https://ui.example.org") == 200
    assert status(port, origin="https://ui.example.org") == 200  # a proxy that names the server by its address
    assert status(port, host="ui.example.org", origin="https://evil.example") == 403


def test_no_page_may_frame_the_ui(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", "/overview")
    assert connection.getresponse().headers["x-frame-options"] == "SAMEORIGIN"
    connection.close()
