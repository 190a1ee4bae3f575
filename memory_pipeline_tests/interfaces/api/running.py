"""A real server on loopback, and a client of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import requests

from memory_pipeline.config.settings import Settings
from memory_pipeline.interfaces.api import app as serving
from memory_pipeline.interfaces.api.access import Tokens
from memory_pipeline.store import Store

EVERYTHING = ("read", "write", "admin")


@dataclass(frozen=True)
class Client:
    """Asks a server in the name of a token."""

    url: str
    store: Store
    token: str

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> requests.Response:
        """One request; `body` is sent as JSON."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= options.pop("headers", {})
        given = {"json": body} if body is not None else {}
        return requests.request(method, f"{self.url}{path}", headers=headers, timeout=60, **given, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        """A GET."""
        return self.ask("GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> requests.Response:
        """A POST of JSON."""
        return self.ask("POST", path, body, **options)

    def as_(self, *scopes: str, projects: tuple[str, ...] | None = None) -> Client:
        """The same server for another token, with these scopes and projects."""
        return Client(self.url, self.store, new_token(self.store, *scopes, projects=projects))


def new_token(store: Store, *scopes: str, projects: tuple[str, ...] | None = None) -> str:
    """A token of a name of its own."""
    tokens = Tokens(store.path)
    name = f"t{len(tokens.all())}"
    return tokens.create(name, scopes, projects, datetime.now(UTC)).token


@contextmanager
def running(settings: Settings, store: Store) -> Iterator[Client]:
    """A server on a free port of loopback, and a client that may do everything."""
    token = new_token(store, *EVERYTHING)
    listening = serving.listen("127.0.0.1", 0, Tokens(store.path))
    server = serving.make_server(settings, store)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield Client(f"http://127.0.0.1:{listening.getsockname()[1]}", store, token)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
