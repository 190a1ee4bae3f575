"""The head of a request, as a raw socket sends it: too large, before any token is asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

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
