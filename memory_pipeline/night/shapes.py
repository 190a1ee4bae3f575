"""The shapes of lines (wording/templates.py): found once for each raw memory, and kept."""

from __future__ import annotations

from memory_pipeline.night.context import Night
from memory_pipeline.wording.normalise import line_shape

_LINES_AT_ONCE = 2000


def note_shapes(night: Night) -> None:
    """Find and keep the shape of every raw memory that has none yet."""
    while True:
        with night.store.reading() as tx:
            page = tx.series.without_shape(_LINES_AT_ONCE)
        if not page:
            return
        shapes = {memory_id: line_shape(content) for memory_id, content in page}
        night.hold_lease()
        with night.writing() as tx:
            tx.series.keep_shapes(shapes)
