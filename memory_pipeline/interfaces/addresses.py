"""Addresses that servers listen at."""

from __future__ import annotations

import socket

from memory_pipeline.errors import InputError

Address = tuple[int, int, int, str, tuple[object, ...]]


def resolve_address(host: str, port: int) -> Address:
    """Family, kind, protocol, name and address to bind for a host and a port. Raises InputError for a text that is no
    name of a host, and OSError for one that is unknown."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except ValueError:  # the text cannot be written as a name
        raise InputError(f"--host is {host!r}, which is no name of a host; use one like 127.0.0.1") from None
