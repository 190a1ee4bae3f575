"""One JSON request over HTTP, within a time and a size, with errors that name the address and the mend."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from memory_pipeline.models.provider import CallError
from memory_pipeline.text.hidden import visible

#: A status that says: the same request may succeed later.
_PASSING = frozenset((408, 409, 425, 429))
#: Statuses with which no other request would succeed either, and what to do.
_MENDS = {
    401: "check model.api_key",
    402: "add credit, or choose another model",
    403: "use another key or model",
    404: "check model.base_url and model.name",
}
_LONGEST_REASON = 300


def is_on_this_machine(url: str) -> bool:
    """True if an address is one of loopback: nothing leaves the machine, and nothing is billed."""
    host = (urlsplit(url).hostname or "").lower()
    return host in ("localhost", "::1") or host.startswith("127.")


@cache
def certificates(*, trust_env: bool = True) -> ssl.SSLContext:
    """The authorities that servers are believed by, read once: that takes longer than asking a server nearby."""
    return httpx.create_ssl_context(trust_env=trust_env)


def send_json(
    method: str,
    url: str,
    *,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float,
    most_bytes: int,
) -> dict[str, Any]:
    """Send one request and return the JSON object that answers it.

    `most_bytes`: a longer answer is not read to its end. Raises CallError.
    """
    deadline, trust_env = time.monotonic() + timeout_s, not is_on_this_machine(url)
    verify = certificates(trust_env=trust_env)
    try:
        with (
            httpx.Client(timeout=timeout_s, trust_env=trust_env, verify=verify, follow_redirects=False) as client,
            client.stream(method, url, json=body, headers=dict(headers or {})) as response,
        ):
            content = _read(response, deadline, most_bytes, timeout_s)
            if response.is_error or response.is_redirect:
                raise _refusal(url, response, content)
    except httpx.TimeoutException as error:
        never = isinstance(error, httpx.ConnectTimeout)
        raise CallError(
            f"{url} did not answer within {timeout_s:g} s; raise model.timeout_s or try again later",
            outcome="failed" if never else "unknown",
            retry_after_s=0.0,
        ) from error
    except httpx.ConnectError as error:
        raise CallError(
            f"{url} cannot be reached ({one_line(str(error))}); check model.base_url and that the server runs",
            retry_after_s=0.0,
        ) from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise CallError(f"'{url}' is no address ({one_line(str(error))}); check model.base_url", fatal=True) from error
    except httpx.HTTPError as error:  # a broken connection may have been charged
        raise CallError(
            f"{url} broke off: {one_line(str(error) or type(error).__name__)}", outcome="unknown", retry_after_s=0.0
        ) from error
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CallError(f"{url} sent no JSON; check model.base_url", outcome="unknown") from error
    if not isinstance(answer, dict):
        raise CallError(f"{url} sent no JSON object; check model.base_url", outcome="unknown")
    return answer


def _read(response: httpx.Response, deadline: float, most_bytes: int, timeout_s: float) -> bytes:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > most_bytes:
            raise CallError(f"the answer has more than {most_bytes:,} bytes", outcome="unknown")
        if time.monotonic() > deadline:
            raise CallError(f"the answer took longer than {timeout_s:g} s", outcome="unknown", retry_after_s=0.0)
    return bytes(content)


def _refusal(url: str, response: httpx.Response, content: bytes) -> CallError:
    """The error of a status, with what the server says about it."""
    status = response.status_code
    message = f"{url} answered {status} ({_reason(content)})"
    if response.is_redirect:
        return CallError(f"{url} leads elsewhere; set model.base_url to where it leads", fatal=True, status=status)
    if status in _MENDS:
        return CallError(f"{message}; {_MENDS[status]}", fatal=True, status=status)
    is_passing = status in _PASSING or (status >= 500 and status != 501)
    return CallError(message, retry_after_s=asked_wait(response.headers) if is_passing else None, status=status)


def _reason(content: bytes) -> str:
    """The message of a server about an error, in the forms that servers use."""
    text = content.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return one_line(text)
    for key in ("error", "message", "detail"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return one_line(value if isinstance(value, str) else json.dumps(value))


def asked_wait(headers: Mapping[str, str]) -> float:
    """Seconds that a busy server asks to wait (`retry-after`), or 0."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers.get(name, "")) / unit)
        except ValueError:
            continue
    return 0.0


def one_line(text: str) -> str:
    """A server's words on one line, without what would control a terminal."""
    return " ".join(visible(text).split())[:_LONGEST_REASON] or "no reason given"
