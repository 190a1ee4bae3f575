"""Tables and plots in the Markdown that Dagster shows in its place: below a length, and with drawings within it."""

from base64 import b64encode
from collections.abc import Sequence

from dagster import MetadataValue

from memory_pipeline.wording.quoting import clipped, plain

Row = dict[str, object]
#: Characters below which Dagster shows Markdown in its place, and of a cell of such a preview.
INLINE, _CELL = 1000, 130
#: A plot in pixels.
_WIDE, _HIGH = 320, 60


def preview(rows: Sequence[Row], empty: str) -> dict[str, MetadataValue]:
    """Rows as a Markdown table `preview`, or a sentence if there are none.

    Dagster shows Markdown in its place only below a length, and otherwise a link: so the first rows, their cells
    clipped, are the preview, and `all_shown` is the whole table if there is more.
    """
    whole = table(rows)
    if len(whole) < INLINE:
        return {"preview": MetadataValue.md(whole or empty)}
    lines = table([{name: clipped(value, _CELL) for name, value in row.items()} for row in rows]).split("\n")
    while len("\n".join(lines)) >= INLINE:
        lines.pop()
    return {"preview": MetadataValue.md("\n".join(lines)), "all_shown": MetadataValue.md(whole)}


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; nothing without rows."""
    if not rows:
        return ""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(row[name], in_table=True) for name in head) + " |" for row in rows]
    return "\n".join(lines)


def plot(values: Sequence[int], caption: str) -> MetadataValue:
    """Values, oldest first, as a line in a drawing that is small enough to be shown in its place."""
    if len(values) < 2:
        told = f"{values[0]:,}; a plot is drawn from the second night on" if values else "no night yet"
        return MetadataValue.md(f"{caption}: {told}.")
    least, greatest = min(values), max(values)
    scale = _HIGH / ((greatest - least) or 1)
    step = _WIDE / (len(values) - 1)
    points = " ".join(f"{n * step:.0f},{_HIGH - (v - least) * scale:.0f}" for n, v in enumerate(values))
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{_HIGH + 4}">'
        f'<polyline points="{points}" fill="none" stroke="#4a78b5" stroke-width="2"/></svg>'
    )
    image = b64encode(drawing.encode()).decode()
    return MetadataValue.md(
        f"![{caption}](data:image/svg+xml;base64,{image})\n\n{caption}: {values[0]:,} to {values[-1]:,}"
    )
