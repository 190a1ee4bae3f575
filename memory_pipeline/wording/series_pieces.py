"""A line of a series in fewer words: whole label-value pairs of it, and how many more there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_line import capitalised, marked_headline, places_in, without_marks

#: What divides the pairs of a line; an opening bracket does if there are several in it.
_SEPARATOR = re.compile(r"(, |; |\. | \((?=[^()]*, ))")
_DIGIT = re.compile(r"\d")
_MEASURED = re.compile(r"[\w.-]+ (\d[\d,]*(?:\.\d+)?) ([^\W\d]+)\)?")
#: So many pairs of one unit in a row are a list, of which the largest are said.
_LEAST_LISTED = 5
#: Words in brackets between a name and its value.
_ASIDE = re.compile(r" \([^\W\d][^()\d]{0,30}\)(?= \d)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: what divides it from the one before, its words, and the places of its figures."""

    separator: str
    text: str
    places: tuple[int, ...]

    @property
    def has_value(self) -> bool:
        """Whether it says a number."""
        return _DIGIT.search(self.text) is not None


def pieces_of(series: Series) -> list[Piece]:
    """The parts of the line with its newest values, in their order; of a list of pairs in one unit, the largest come
    first."""
    parts = ["", *_SEPARATOR.split(marked_headline(series))]
    pieces = [
        Piece(separator, without_marks(part), tuple(places_in(part)))
        for separator, part in zip(parts[::2], parts[1::2], strict=True)
    ]
    return _largest_first(pieces)


def with_places(pieces: Sequence[Piece], places: Collection[int]) -> list[Piece]:
    """How the line begins, and its parts with the figures in these places."""
    return [piece for n, piece in enumerate(pieces) if not n or not set(places).isdisjoint(piece.places)]


def beginning(pieces: Sequence[Piece], most: int, number: int) -> tuple[str, frozenset[int]]:
    """The pieces up to pair number `most`, with how many more of `number` pairs there are; and the places of their
    figures."""
    kept: list[Piece] = []
    said = 0
    for piece in pieces:
        if said == most:
            break
        kept.append(piece if not kept else replace(piece, text=_ASIDE.sub("", piece.text)))
        said += piece.has_value
    return _joined(kept, number - said), frozenset(place for piece in kept for place in piece.places)


def _joined(pieces: Sequence[Piece], more: int) -> str:
    text = "".join(f"{piece.separator if n else ''}{piece.text}" for n, piece in enumerate(pieces))
    text = text.rstrip(" .,;:")
    missing = text.count("(") - text.count(")")
    text += (f" and {more} more" if more else "") + ")" * missing
    return capitalised(text if missing >= 0 else text[:missing].rstrip(" ,;"))


def _largest_first(pieces: list[Piece]) -> list[Piece]:
    measured = [_MEASURED.fullmatch(piece.text) for piece in pieces]
    units = [match.group(2) if match else "" for match in measured]
    numbers = [float(match.group(1).replace(",", "")) if match else 0.0 for match in measured]
    ordered: list[Piece] = []
    start = 0
    while start < len(pieces):
        end = start + 1
        while units[start] and end < len(pieces) and units[end] == units[start]:
            end += 1
        if end - start >= _LEAST_LISTED:
            ordered += _sorted(pieces[start:end], numbers[start:end])
        else:
            ordered += pieces[start:end]
        start = end
    return ordered


def _sorted(pieces: Sequence[Piece], numbers: Sequence[float]) -> list[Piece]:
    """Pairs with the largest first; separators, and a bracket that closes after the last one, stay where they are."""
    order = sorted(range(len(pieces)), key=lambda n: -numbers[n])
    closing = ")" if pieces[-1].text.endswith(")") else ""
    texts = [pieces[n].text.rstrip(")") for n in order]
    texts[-1] += closing
    return [Piece(place.separator, text, pieces[n].places) for place, text, n in zip(pieces, texts, order, strict=True)]
