"""Shapes that are one but for a word: `task=success` and `task=failed` are readings of one series.

Whether a place may hold a word needs strict evidence, because "The port of A is 5432" and "The port of B is 5433" are
two facts: the rest of the line is equal, each line returns on several days, the words are at most eight, and they say
how something ended, or stand where programs write a value (after an equals sign, in square brackets, or in capitals in
round ones). What a line begins with is the name of what it tells about (`[agent-a] ok 3`, `host=alpha load 0.4`): the
lines of two names are two series, because their figures are on levels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_pipeline.store import Shape
from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.normalise import one_line
from memory_pipeline.wording.templates import Line, Place, read_line, words_in

#: What may stand before the first thing that a line says: a bracket, or the key of a value.
_BEGINS = re.compile(r"\W{0,4}(?:[\w.-]{1,40}=)?\W{0,2}")
#: A place with more different words names things.
MOST_WORDS = 8


def join_shapes(shapes: Sequence[Shape]) -> list[tuple[Shape, ...]]:
    """Groups of shapes of one project that differ in words of the same places; most groups have one shape. The result
    does not depend on the order of the shapes."""
    ordered = sorted(shapes, key=lambda shape: (shape.project_id, shape.shape))
    holders: dict[tuple[str, str], dict[str, list[int]]] = {}
    for number, shape in enumerate(ordered):
        for key, word in _masked(read_line(one_line(shape.example))):
            holders.setdefault((shape.project_id, key), {}).setdefault(word, []).append(number)
    parent = list(range(len(ordered)))
    for words in holders.values():
        if 2 <= len(words) <= MOST_WORDS:
            first, *others = sorted(number for numbers in words.values() for number in numbers)
            for other in others:
                parent[_root(parent, other)] = _root(parent, first)
    groups: dict[int, list[Shape]] = {}
    for number, shape in enumerate(ordered):
        groups.setdefault(_root(parent, number), []).append(shape)
    return [tuple(group) for group in groups.values()]


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = number = parent[parent[number]]
    return number


def _masked(line: Line) -> Iterator[tuple[str, str]]:
    """For each word that may be a value: the shape of the line with a place for it, and the word."""
    for word in words_in(line):
        said = line.value(word)
        if len(said) <= 24 and (said.casefold() in OUTCOMES or _is_written_as_value(line.text, word)):
            places = tuple(sorted((*line.places, word), key=lambda place: place.start))
            yield Line(line.text, places).shape.casefold(), said.casefold()


def _is_written_as_value(text: str, word: Place) -> bool:
    if _BEGINS.fullmatch(text, 0, word.start):
        return False
    around = text[max(0, word.start - 1) : word.start] + text[word.end : word.end + 1]
    if around == "[]" or (around == "()" and text[word.start : word.end].isupper()):
        return True
    return text[: word.start].rstrip(" '\"").endswith("=")
