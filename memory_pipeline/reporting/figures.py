"""SVG figures for HTML pages: bars and lines by day, with identical bytes for identical values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

_COLOURS = ("#4a78b5", "#c28a1b", "#4f9d69", "#a65a8c", "#7d7f87", "#b5503c")
#: Labels of the axis, and the most points that are marked on a line.
_LABELS, _DOTS = 8, 60


def bar_figure(name: str, caption: str, labels: Sequence[str], values: Sequence[float]) -> Markup:
    """A bar for each value; otherwise as `line_figure`."""
    return line_figure(name, caption, labels, {caption: values}, "Bar")


def line_figure(
    name: str, caption: str, labels: Sequence[str], lines: Mapping[str, Sequence[float | None]], kind: str = "Line"
) -> Markup:
    """A line for each series of values, by its name in the legend; None leaves a gap. Every value has a tooltip and a
    label for screen readers; `name` distinguishes the figures of a page.

    `labels` and the values of each line go together. The SVG has no script, date or random id.
    """
    import pygal
    from pygal.style import Style

    style = Style(
        background="transparent",
        plot_background="transparent",
        colors=_COLOURS,
        foreground="#5b6577",
        foreground_strong="#5b6577",
        foreground_subtle="#5b6577",
        guide_stroke_color="#dde3ec",
        major_guide_stroke_color="#dde3ec",
        font_family="system-ui, sans-serif",
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=12,
        opacity="1",
    )
    known = [value for values in lines.values() for value in values if value is not None]
    chart = getattr(pygal, kind)(
        style=style,
        js=(),
        width=900,
        height=220,
        margin=5,
        show_legend=len(lines) > 1,
        legend_at_bottom=True,
        legend_at_bottom_columns=2,
        legend_box_size=10,
        show_dots=len(labels) <= _DOTS,
        dots_size=2,
        include_x_axis=True,
        range=(0, max(*known, 1, 1)),
        max_scale=5,
        value_formatter=lambda value: f"{value:,.0f}",
        x_labels_major_count=min(_LABELS, len(labels)),
        show_minor_x_labels=False,
        truncate_label=-1,
        truncate_legend=-1,
        disable_xml_declaration=True,
    )
    chart.uuid = name
    chart.x_labels = list(labels)
    for line, values in lines.items():
        points = [
            None if value is None else {"value": value, "tooltip": f"{label}: {value:,.0f}"}
            for label, value in zip(labels, values, strict=True)
        ]
        chart.add(line, points)
    chart.add_xml_filter(lambda root: _inert(root, caption))
    return Markup(chart.render(is_unicode=True))


def _inert(root: Any, caption: str) -> Any:
    """The drawing without scripts and comments, labelled for screen readers."""
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag == "script" or child.tag == "desc":
                parent.remove(child)
    for title in root.findall("title"):
        title.text = caption
    root.set("role", "img")
    root.set("aria-label", caption)
    return root
