"""A line of a series in fewer words: whole label-value pairs of it, and how many more there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_figures import number_of
from memory_pipeline.wording.series_line import capitalised, marked_headline, places_in, without_marks
from memory_pipeline.wording.series_ranges import is_dull, range_in_brackets
from memory_pipeline.wording.series_unusual import Named, named_values, unusual

#: What divides the pairs of a line; an opening bracket does if there are several in it.
_SEPARATOR = re.compile(r"(, |; |\. | \((?=[^()]*, ))")
_DIGIT = re.compile(r"\d")
_MEASURED = re.compile(r"[\w.-]+ (\d[\d,]*(?:\.\d+)?) ([^\W\d]+)\)?")
#: So many pairs of one unit in a row are a list, of which the largest are said.
_LEAST_LISTED = 5
#: Of a shortened line at most so many pairs are tried, and so many unusual days. What else there is room for is worth
#: so many pairs: a second day, the range of the first pair, that of each other one. A reader misses values first.
_MOST_PAIRS, _MOST_DAYS = 12, 2
_SECOND_DAY, _FIRST_RANGE, _OTHER_RANGE = 0.9, 1.5, 0.4
#: A name with one word as its value, as in `trend: increasing`; so many of them belong to the line.
_SAID_WORD = re.compile(r"[^\W\d][\w ]{0,30}: [^\W\d]\w*(?=$|: )")
_MOST_WORDS = 3
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


def shortened(series: Series, pieces: Sequence[Piece], after: str) -> Iterator[str]:
    """The line with fewer of its pairs, the first of them or each with its range behind it, what is unusual on some
    days, and where there is room how many figures are left out. `after`: the sentence about how many readings there
    are."""
    pieces = _without_brackets(pieces)
    number = sum(piece.has_value for piece in pieces[1:])
    whole, farthest = named_values(series), named_values(series, with_others=False)
    ranked = _by_weight(series, pieces, whole)
    choices = [
        ((days > 0, is_counted, most + _SECOND_DAY * days + _worth(ranges)), most, named, ranges)
        for most in range(1, min(len(ranked), _MOST_PAIRS) + 1)
        for days in range(min(_MOST_DAYS, len(whole.days)) + 1)
        for named in ((whole.first(days), farthest.first(days)) if days == 1 else (whole.first(days),))
        for ranges in {0, 1, most}
        for is_counted in (True, False)
    ]
    for (_, is_counted, _), most, named, ranges in sorted(choices, key=lambda choice: choice[0], reverse=True):
        with_range = ranked[:ranges]
        chosen = [0, *(n for n in sorted(ranked[:most]) if n)]
        separators = ["", *(_strongest(pieces[before + 1 : n + 1]) for before, n in pairwise(chosen))]
        told = [
            replace(pieces[n], separator=mark, text=_said(series, pieces[n], named if n in with_range else None))
            for n, mark in zip(chosen, separators, strict=True)
        ]
        said = {place for piece in told for place in piece.places}
        more = number - sum(piece.has_value for piece in told[1:])
        left_out = f" {more} more figure{'s are' if more > 1 else ' is'} left out." if more and is_counted else ""
        for tail in dict.fromkeys(unusual(series, named, said, brief=brief) for brief in (False, True)):
            yield joined(told) + after + tail + left_out


def _worth(ranges: int) -> float:
    """How many pairs so many ranges are worth."""
    return _FIRST_RANGE + _OTHER_RANGE * (ranges - 1) if ranges else 0.0


def _by_weight(series: Series, pieces: Sequence[Piece], named: Named) -> list[int]:
    """The numbers of the pieces with figures, in an order that stays from night to night: what is unusual now, the
    first that varies, those that were unusual on some day, words that all readings say, those that vary in their
    order, those that hardly vary or count on, and what never varies."""
    figures = {figure.place: figure for figure in series.told if figure.varies}
    first = next((n for n, piece in enumerate(pieces) if figures.keys() & {*piece.places}), -1)
    words = [n for n, piece in enumerate(pieces) if n and piece.says_word and not piece.has_value][:_MOST_WORDS]

    def weight(n: int) -> int:
        varying = [figures[place] for place in pieces[n].places if place in figures]
        if any(len(figure.values) - 1 in named.of(figure) for figure in varying):
            return 0
        if n == first:
            return 1
        if any(map(named.of, varying)):
            return 2
        if n in words:
            return 3
        is_dull_one = all(is_dull(figure) or figure.rises or figure.falls for figure in varying)
        return 6 if not varying else 5 if is_dull_one else 4

    return sorted((n for n, piece in enumerate(pieces) if piece.places or n in words), key=lambda n: (weight(n), n))


def _said(series: Series, piece: Piece, named: Named | None) -> str:
    """A piece, with the range of each of its figures that vary behind it if the named values are given."""
    text = _ASIDE.sub("", piece.text)
    if named is None:
        return text
    varying = [figure for figure in series.told if figure.varies and figure.place in piece.places]
    asides = [aside for figure in varying if (aside := range_in_brackets(series, figure, named))]
    return f"{text.rstrip(' .,;:')} ({', '.join(asides)})" if asides else piece.text


def _without_brackets(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without the brackets in which several of them stand: each has a range in brackets of its own."""
    found: list[Piece] = []
    is_open = False
    for piece in pieces:
        is_open = is_open or piece.separator == " ("
        text = piece.text
        if is_open and text.count(")") > text.count("("):
            text, is_open = "".join(text.rsplit(")", 1)), False
        found.append(replace(piece, separator=", " if piece.separator == " (" else piece.separator, text=text))
    return found


def _strongest(pieces: Sequence[Piece]) -> str:
    """What divides the last of these pieces from the one before the first."""
    separators = [piece.separator for piece in pieces]
    return next((mark for mark in (". ", "; ", ", ") if mark in separators), separators[-1])


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
