"""The head of a request, as a raw socket sends it: too large or too slow, before any token is asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from memory_pipeline.interfaces.api import protocol
from memory_pipeline_tests.interfaces.api.running import Client

_CHUNK = b"X-Much: " + b"a" * 8000 + b"\r\n"


@contextmanager
def connected(client: Client) -> Iterator[socket.socket]:
    parts = urlsplit(client.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as line:
        yield line


def send_until_closed(line: socket.socket, chunk: bytes, most: int) -> int:
    """The bytes that the server took."""
    sent = 0
    try:
        while sent < most:
            line.sendall(chunk)
            sent += len(chunk)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize("chunk", [_CHUNK, b"A: b\r\n" * 2000, b"a" * 9000], ids=["long", "many", "endless"])
def test_a_head_of_any_size_is_read_to_its_bound(client: Client, chunk: bytes) -> None:
    with connected(client) as line:
        line.sendall(b"GET /api/v1/playbook HTTP/1.1\r\nHost: localhost\r\n")
        assert send_until_closed(line, chunk, 50_000_000) < 20_000_000
    assert client.get("/health").status_code == 200


def test_a_head_that_does_not_come_is_given_up(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.1)
    for beginning in (b"", b"GET /health HTTP/1.1\r\nHost: localh", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with connected(client) as line:
            line.sendall(beginning)
            answer = b""
            while piece := line.recv(65_536):  # ends when the server closes the connection
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200") or not answer


def test_a_connection_serves_one_request_after_another(client: Client) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(client) as line:
        line.sendall(request * 3)
        answer = b""
        while answer.count(b"HTTP/1.1 200") < 3:
            answer += line.recv(65_536)
