"""Runs the application: the address, uvicorn, and a stop that lets requests end."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_address

import uvicorn

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend
from memory_pipeline.interfaces.api.access import Tokens
from memory_pipeline.interfaces.api.app import create_app
from memory_pipeline.interfaces.api.gate import REQUEST_TIMEOUT_S
from memory_pipeline.interfaces.api.protocol import MOST_HEAD_BYTES, BoundedProtocol
from memory_pipeline.interfaces.mcp.server import mounted
from memory_pipeline.store import Store

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen(host: str, port: int, tokens: Tokens) -> socket.socket:
    """A socket that takes connections at an address, to be answered once the server runs; port 0 is any free one.

    Raises InputError if nothing can listen there, and for an address that other machines reach while there is no
    token that could be used.
    """
    try:
        bound, address = bind(host, port)
    except OSError as error:
        raise cannot_listen(host, port, error) from error
    if not address.is_loopback and not tokens.any_good(datetime.now(UTC)):
        bound.close()
        raise InputError(
            f"other machines reach {host}, and there is no token yet; make one with 'memory-pipeline token create'"
        )
    bound.listen()
    return bound


def bind(host: str, port: int) -> tuple[socket.socket, IPv4Address | IPv6Address]:
    """A socket at an address, and that address. Raises InputError for a text that is no name of a host, and OSError for
    one that is unknown or where nothing can listen."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except ValueError:  # the text cannot be written as a name
        raise InputError(f"--host is {host!r}, which is no name of a host; use one like 127.0.0.1") from None
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound, ip_address(str(address[0]))


def cannot_listen(host: str, port: int, error: OSError) -> InputError:
    """That nothing can listen at an address, and why."""
    return InputError(f"nothing can listen at {host}:{port}: {cause_and_mend(error)}; use another --host or --port")


def server_of(settings: Settings, store: Store) -> uvicorn.Server:
    """The server of a store's API; `run(sockets=[...])` answers requests until it is told to stop."""
    config = uvicorn.Config(
        create_app(settings, store, mounts=mounted),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        http=BoundedProtocol,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_graceful_shutdown=round(REQUEST_TIMEOUT_S),
    )
    return _Server(config)


def serve(settings: Settings, store: Store, listening: socket.socket, *, verbose: bool = False) -> None:
    """Answer requests until SIGTERM or SIGINT; then those under way end, and what is counted is written.

    `verbose`: one line on standard error for each request.
    """
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("memory_pipeline.interfaces.api").setLevel(logging.INFO if verbose else logging.WARNING)
    server_of(settings, store).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server for which SIGTERM and SIGINT are a good end: uvicorn's own would raise them again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let the two signals stop the server; a second SIGINT stops it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
