"""The parts of a line: label-value pairs, each with the places of its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_figures import number_of
from memory_pipeline.wording.series_line import capitalised, marked_headline, places_in, without_marks

#: What divides the pairs of a line; an opening bracket does if there are several in it.
_SEPARATOR = re.compile(r"(, |; |\. | \((?=[^()]*, ))")
_DIGIT = re.compile(r"\d")
_MEASURED = re.compile(r"[\w.-]+ (\d[\d,]*(?:\.\d+)?) ([^\W\d]+)\)?")
#: So many pairs of one unit in a row are a list, of which the largest are said.
_LEAST_LISTED = 5
#: A name with one word as its value, as in `trend: increasing`.
_SAID_WORD = re.compile(r"[^\W\d][\w ]{0,30}: [^\W\d]\w*(?=$|: )")


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

    @property
    def says_word(self) -> bool:
        """Whether it names something of which the value is a word."""
        return _SAID_WORD.fullmatch(self.text) is not None


def pieces_of(series: Series) -> list[Piece]:
    """The parts of the line with its newest values, in their order; of a list of pairs in one unit, the usually
    largest come first."""
    parts = [""]
    for part in _SEPARATOR.split(marked_headline(series)):
        word = _SAID_WORD.match(part) if len(parts) > 1 else None
        parts += [part[: word.end()], ": ", part[word.end() + 2 :]] if word and word.end() < len(part) else [part]
    pieces = [
        Piece(separator, without_marks(part), tuple(places_in(part)))
        for separator, part in zip(parts[::2], parts[1::2], strict=True)
    ]
    return _largest_first(series, pieces)


def joined(pieces: Sequence[Piece]) -> str:
    """The pieces as one text."""
    text = pieces[0].text
    for piece in pieces[1:]:
        words = capitalised(piece.text) if piece.separator == ". " else piece.text
        text = f"{text.rstrip(' .,;:')}{piece.separator}{words}"
    text = text.rstrip(" .,;:")
    missing = text.count("(") - text.count(")")
    return capitalised(text + ")" * missing if missing >= 0 else text[:missing].rstrip(" ,;"))


def _largest_first(series: Series, pieces: list[Piece]) -> list[Piece]:
    medians = {figure.place: number_of(figure.median) for figure in series.told}
    measured = [_MEASURED.fullmatch(piece.text) for piece in pieces]
    units = [match.group(2) if match else "" for match in measured]
    numbers = [medians.get(piece.places[0], 0.0) if piece.places else 0.0 for piece in pieces]
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
