"""The shapes of lines, found once for each raw memory and kept, and which of them are one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from memory_pipeline.consolidation.context import Night
from memory_pipeline.store import Shape
from memory_pipeline.text.normalise import line_shape, one_line
from memory_pipeline.text.place_names import is_closed_set
from memory_pipeline.text.templates import fields_in, line_key, read_line

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


_Group = list[tuple[Shape, tuple[str, ...]]]


def join_shapes(
    shapes: Sequence[Shape], together: Iterable[tuple[str, Collection[str]]] = ()
) -> list[tuple[Shape, ...]]:
    """Groups of shapes of one project that differ in words of the same fields; most groups have one shape. The result
    does not depend on the order of the shapes. `together`: project and shapes that an earlier night has joined."""
    groups: dict[tuple[str, str], _Group] = defaultdict(list)
    for shape in sorted(shapes, key=lambda shape: (shape.project_id, shape.shape)):
        line = read_line(one_line(shape.example))
        words = tuple(line.value(field).casefold() for field in fields_in(line))
        groups[shape.project_id, line_key(line)].append((shape, words))
    joined = [part for group in groups.values() for part in _split_by_names(group)]
    number_of = {(shape.project_id, shape.shape): n for n, group in enumerate(joined) for shape in group}
    for project, known in together:
        numbers = sorted({number_of[project, shape] for shape in known if (project, shape) in number_of})
        for number in numbers[1:]:
            number_of |= {(project, shape.shape): numbers[0] for shape in joined[number]}
            joined[numbers[0]], joined[number] = (*joined[numbers[0]], *joined[number]), ()
    return [group for group in joined if group]


def _split_by_names(group: _Group) -> list[tuple[Shape, ...]]:
    """A group whole, if each of its fields holds a few words that return; otherwise its parts by the words that do
    not."""
    names = [n for n in range(len(group[0][1])) if not is_closed_set(_counts(group, n).values())]
    if len(group) == 1 or not names:
        return [tuple(shape for shape, _ in group)]
    parts: dict[tuple[str, ...], _Group] = defaultdict(list)
    for shape, words in group:
        parts[tuple(words[n] for n in names)].append((shape, words))
    if len(parts) == 1:  # too few lines for one word even
        return [(shape,) for shape, _ in group]
    return [split for part in parts.values() for split in _split_by_names(part)]


def _counts(group: _Group, field: int) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for shape, words in group:
        counts[words[field]] += shape.count
    return counts
