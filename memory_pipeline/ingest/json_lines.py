"""Lines of JSON as another program writes them: each as an object, or with what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

from memory_pipeline.ingest.candidates import Rejected, Skipped
from memory_pipeline.ingest.lines import bounded_lines

#: A line that its program is still writing has no end yet.
UNFINISHED = "lines that were not written to their end"


def json_records(
    file: TextIO, name: str, limit: int, skipped: Skipped, is_left_out: Callable[[str], str | None] = lambda line: None
) -> Iterator[tuple[int, Mapping[str, Any]] | Rejected]:
    """Number and object of every line; a broken line is rejected. A last line without its end is counted and left to
    the next reading.

    `is_left_out` says by the beginning of a line that is too long why it is no memory, if it is none.
    """
    for number, line, too_long in bounded_lines(file, limit):
        if too_long:
            why = is_left_out(line)
            if why:
                skipped.add(why)
            else:
                yield Rejected.of(name, number, f"the line is longer than {limit} bytes", line[:4000])
            continue
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            if line.endswith("\n"):
                reason = f"the line is not a JSON object that can be read ({type(error).__name__})"
                yield Rejected.of(name, number, reason, text)
            else:
                skipped.add(UNFINISHED)
            continue
        if isinstance(record, Mapping) and record:
            yield number, record
        else:
            yield Rejected.of(name, number, "the line is not a JSON object with content", text)
