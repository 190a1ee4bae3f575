"""How the server reads HTTP: the head of a request (its line and headers) has bounds of size and time, which hold
before anything of it is looked at, a token included."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Bytes of a head; what arrives beyond them is refused with 400, and the connection closed.
MOST_HEAD_BYTES = 65_536
#: Seconds in which a head must be there, from the connection or the answer before it on.
HEAD_S = 20.0


class BoundedProtocol(H11Protocol):
    """uvicorn's own protocol, which gives up on a head that does not come. uvicorn's other one bounds no head."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        super().connection_made(cast(Any, transport))
        self._wait()

    def handle_events(self) -> None:
        """Read what has arrived."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head, which may be there already."""
        self._wait()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(HEAD_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
