"""A line of a series in fewer words: whole label-value pairs of it, and how many more there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_figures import Figure
from memory_pipeline.wording.series_line import capitalised, marked_headline, places_in, without_marks
from memory_pipeline.wording.series_ranges import is_dull, range_in_brackets
from memory_pipeline.wording.series_unusual import Named, named_values, others_unusual

#: What divides the pairs of a line; an opening bracket does if there are several in it.
_SEPARATOR = re.compile(r"(, |; |\. | \((?=[^()]*, ))")
_DIGIT = re.compile(r"\d")
_MEASURED = re.compile(r"[\w.-]+ (\d[\d,]*(?:\.\d+)?) ([^\W\d]+)\)?")
#: So many pairs of one unit in a row are a list, of which the largest are said.
_LEAST_LISTED = 5
#: Of a shortened line at most so many pairs are tried, and so many ranges.
_MOST_PAIRS, _MOST_ASIDES = 12, 6
#: A figure swings widely if its values differ by more than this share of the largest.
_WIDE = 0.5
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


def shortened(series: Series, pieces: Sequence[Piece], after: str) -> Iterator[str]:
    """The line with fewer of its pairs: those that changed most, with their ranges behind them, and what is unusual in
    the others. `after`: the sentence about how many readings there are."""
    named = named_values(series)
    ranked = _by_weight(series, pieces, named)[:_MOST_PAIRS]
    number = sum(piece.has_value for piece in pieces[1:])
    asides = {n: aside for n in ranked if (aside := _aside(series, pieces, n, named))}
    choices = [
        (4 * with_range + most + bool(days) + days, days, with_range, most)
        for days in range(min(2, len(named.days)), -1, -1)
        for most in range(len(ranked), 0, -1)
        for with_range in range(min(most, len(asides), _MOST_ASIDES), -1, -1)
        if with_range or not asides or most == 1
    ]
    for _, days, with_range, most in sorted(choices, reverse=True):
        chosen, ranged = sorted(ranked[:most]), [n for n in ranked[:most] if n in asides][:with_range]
        told = [
            Piece(
                _strongest(pieces[before + 1 : n + 1]),
                _with_aside(_ASIDE.sub("", pieces[n].text), asides[n] if n in ranged else ""),
                pieces[n].places,
            )
            for before, n in pairwise([0, *(n for n in chosen if n)])
        ]
        start = replace(pieces[0], text=_with_aside(pieces[0].text, asides[0] if 0 in ranged else ""))
        said = {place for n in ranged for place in pieces[n].places}
        yield joined([start, *told], number - len(told)) + after + others_unusual(series, named, days, said)


def _by_weight(series: Series, pieces: Sequence[Piece], named: Named) -> list[int]:
    """The numbers of the pieces with figures: those that are unusual on the newest day, then the first one, those that
    ever were unusual, those that vary (what swings widely before the others), those that hardly vary or count on, and
    what never varies."""
    figures = {figure.place: figure for figure in series.told}
    first = next((n for n, piece in enumerate(pieces) if any(_varies(figures, place) for place in piece.places)), -1)
    day = series.newest.at.date()

    def weight(n: int) -> int:
        mine = [figures[place] for place in pieces[n].places if place in figures]
        if any(figure.values[m].at.date() == day for figure in mine for m in named.of(figure)):
            return 0
        varying = [figure for figure in mine if figure.varies]
        tells = not all(is_dull(figure) or (figure.is_whole and figure.has_course) for figure in varying)
        checks = (n == first, any(map(named.of, mine)), tells, bool(varying))
        return next((place for place, holds in enumerate(checks, start=1) if holds), len(checks) + 1)

    def is_steady(n: int) -> bool:
        moving = (figures[place].movement for place in pieces[n].places if place in figures)
        return _in_brackets(pieces, n) or max(moving, default=0.0) <= _WIDE

    return sorted((n for n, piece in enumerate(pieces) if piece.places), key=lambda n: (weight(n), is_steady(n), n))


def _varies(figures: Mapping[int, Figure], place: int) -> bool:
    return place in figures and figures[place].varies


def _aside(series: Series, pieces: Sequence[Piece], number: int, named: Named) -> str:
    """The range of the one figure of a piece that varies, unless it stands in brackets."""
    if _in_brackets(pieces, number) or pieces[number].text.endswith(")"):
        return ""
    varying = [figure for figure in series.told if figure.varies and figure.place in pieces[number].places]
    return range_in_brackets(series, varying[0], named) if len(varying) == 1 else ""


def _strongest(pieces: Sequence[Piece]) -> str:
    """What divides the last of these pieces from the one before the first."""
    separators = [piece.separator for piece in pieces]
    return next((mark for mark in (". ", "; ") if mark in separators), separators[-1])


def _in_brackets(pieces: Sequence[Piece], number: int) -> bool:
    before = "".join(f"{piece.separator}{piece.text}" for piece in pieces[: number + 1])
    return before.count("(") != before.count(")")


def _with_aside(text: str, aside: str) -> str:
    return f"{text.rstrip(' .,;:')} ({aside})" if aside else text


def joined(pieces: Sequence[Piece], more: int = 0) -> str:
    """The pieces as one text, and how many more figures there are."""
    text = pieces[0].text
    for piece in pieces[1:]:
        text = f"{text.rstrip(' .,;:')}{piece.separator}{piece.text}"
    text = text.rstrip(" .,;:")
    missing = text.count("(") - text.count(")")
    text += (f" and {more} more figures" if more > 1 else " and 1 more figure" if more else "") + ")" * missing
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
