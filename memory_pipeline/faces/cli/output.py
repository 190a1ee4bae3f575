"""What the command line prints: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from memory_pipeline.wording.hidden import UNSEEN, visible


def emit(value: object, *, as_json: bool, text: str) -> None:
    """One JSON document, or the text for a person. No memory can steer a terminal: what cannot be seen is written
    as an escape in JSON, and left out of text."""
    print(UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, default=str)) if as_json else visible(text))


def _escape(unseen: re.Match[str]) -> str:
    return json.dumps(unseen.group())[1:-1]


def say(text: str) -> None:
    """Something on the way, for a person."""
    print(text, file=sys.stderr, flush=True)


def progress_printer() -> Callable[[str, int, int], None]:
    """Progress on one line that is rewritten on a terminal, and now and then a line of its own elsewhere."""
    live = sys.stderr.isatty()
    state: dict[str, Any] = {"told": 0.0, "step": ""}

    def tell(step: str, done: int, total: int) -> None:
        now = time.monotonic()
        last = done == total
        if step == state["step"] and not last and now - state["told"] < (0.2 if live else 5.0):
            return
        if not live and not last and step == state["step"] and now - state["told"] < 5.0:
            return
        state.update(told=now, step=step)
        count = f"{done} of {total}" if total else str(done)
        if live:
            end = "\n" if last else ""
            print(f"\r  {step}: {count}\x1b[K", end=end, file=sys.stderr, flush=True)
        elif last and now - state.get("began", now) >= 0:
            print(f"  {step}: {count}", file=sys.stderr, flush=True)

    return tell


def table(rows: list[dict[str, object]], columns: list[str]) -> str:
    """Rows as aligned plain text."""
    if not rows:
        return "(none)"
    texts = [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[n]) for line in texts)) for n, column in enumerate(columns)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(columns, widths, strict=True)).rstrip()]
    lines += ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in texts]
    return "\n".join(lines)
