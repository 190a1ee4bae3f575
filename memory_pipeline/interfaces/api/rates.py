"""How many requests each token makes."""

from __future__ import annotations

import threading
from collections import defaultdict, deque

_WINDOW_S = 60.0


class RateLimit:
    """At most so many requests of each client in any minute."""

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def wait_for(self, client: str, now: float) -> float:
        """Count a request at a time (in seconds): 0 if it may be made, otherwise the seconds until the next one may;
        a request that may not be made does not count."""
        with self._lock:
            made = self._made[client]
            while made and now - made[0] >= _WINDOW_S:
                made.popleft()
            if len(made) >= self._most:
                return made[0] + _WINDOW_S - now
            made.append(now)
            return 0.0
