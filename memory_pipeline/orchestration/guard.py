"""Lets only the UI's own pages and local programs use Dagster's web server, which has no login.

A page of another site that is open in the same browser could otherwise start jobs: by a request to this address, by a
web socket, or under a name of its own that it makes to stand for this machine.
"""

from collections.abc import Collection, Iterable
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Close code of a web socket that a rule of the server refuses.
_POLICY_VIOLATION = 1008
_FOREIGN = ("cross-site", "same-site")


class Guard:
    """ASGI middleware that answers requests of other origins and hosts with 403, and lets no page frame the UI.

    `hosts`: the names under which the server may be addressed, besides `localhost` and addresses in numbers.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._app, self._hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        why = why_refused(scope, self._hosts)
        if why is None:
            await self._app(scope, receive, _unframed(send) if scope["type"] == "http" else send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": why})
        else:
            await PlainTextResponse(f"Refused: {why}.\n", 403)(scope, receive, send)


def why_refused(scope: Scope, hosts: Collection[str]) -> str | None:
    """The reason why a request is none of the server's own; None if it may pass.

    A request without an origin comes from a program, or is a page that a person opens.
    """
    headers = Headers(scope=scope)
    named = headers.getlist("host")
    if len(named) != 1 or not _is_known(_parse_host(f"//{named[0]}"), hosts):
        return (
            f"the host is {' and '.join(map(repr, named)) or 'not named'}; use localhost or an address in numbers, or "
            "add the name to the setting 'server.allowed_hosts'"
        )
    for origin in headers.getlist("origin"):
        if not _is_same(origin, named[0]) and _parse_host(origin) not in hosts:
            return f"the request comes from a page of {origin!r}, another origin"
    is_query = scope["path"].rstrip("/").endswith("/graphql")
    if scope["type"] == "http" and scope["method"] == "GET" and is_query:
        if not any("text/html" in accepted for accepted in headers.getlist("accept")):
            return "GraphQL is answered to POST alone, because any page can make a browser send a GET"
    elif any(site in _FOREIGN for site in headers.getlist("sec-fetch-site")):
        opened = "navigate" in headers.getlist("sec-fetch-mode") and scope.get("method") == "GET"
        return None if opened else "the request comes from a page of another site"
    return None


def guard_webserver(hosts: Iterable[str]) -> None:
    """Put the guard before everything else in the web server that this process is about to start."""
    from dagster_webserver.webserver import DagsterWebserver
    from starlette.middleware import Middleware

    built = DagsterWebserver.build_middleware
    known = tuple(hosts)

    def build_middleware(self: Any) -> list[Middleware]:
        return [Middleware(Guard, hosts=known), *built(self)]

    DagsterWebserver.build_middleware = build_middleware  # type: ignore[method-assign]


def _is_same(origin: str, host: str) -> bool:
    """True if an origin is the host that is addressed, with its port; the scheme may be that of a proxy before it."""
    scheme, _, place = origin.partition("://")
    default = {"http": ":80", "https": ":443"}.get(scheme)
    return default is not None and place.lower().removesuffix(default) == host.lower().removesuffix(default)


def _parse_host(address: str) -> str:
    """The host of an address without its port; empty if there is none."""
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_known(host: str, hosts: Collection[str]) -> bool:
    """True if no one else can make the name stand for this machine."""
    if host == "localhost" or host.endswith(".localhost") or host in hosts:
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _unframed(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"x-frame-options", b"SAMEORIGIN")]
        await send(message)

    return sending
