"""The template of a line written by machinery: what it says apart from its values, with a place for each value.

Lines of one template differ only in figures, ids, clock times, dates and lists in the same places. Everything else
must be equal, so that two facts about two things never share a template. Found in time proportional to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal

#: `cut`: a word that a program cut off; `word`: a word that stands as a value (`fields_in`).
PlaceKind = Literal["figure", "id", "clock", "date", "list", "cut", "word"]

#: Characters that hold a value together; a value is read within one run of them. Scripts that write no space between
#: words end a run.
_RUN = re.compile(r"(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[#\w.:,/+%-])++")
_DIGIT = re.compile(r"\d")
_TRAILING = ".,:;/+-"
_LEADING = ".,:;/+"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?(?:[eE][-+]?\d{1,3}(?![\w]))?"
_UNIT = r"(?:%|[A-Za-zµ]{1,5}(?:/[a-z]{1,3})?)?"
_FIGURE = re.compile(rf"[-+]?({_NUMBER})({_UNIT})")
_FIGURES = re.compile(rf"[-+]?{_NUMBER}{_UNIT}(?:[/:x-]{_NUMBER}{_UNIT})+")
_ONE_NUMBER = re.compile(_NUMBER)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{4}/\d{2}/\d{2}")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?(?:[AaPp][Mm]|Z)?")
_MEASURED = re.compile(r" (?!is\b|was\b|has\b|had\b|are\b|in\b|on\b|at\b|to\b|by\b)[A-Za-z%€$]{1,7}(?![\w])")
_LONG_NUMBER = re.compile(r"\d{8,}")
_VERSION = re.compile(r"v?\d+(?:\.\d+){2,}(?::\d+)?")
_NUMBERED = re.compile(r"#\d+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=[0-9a-f]*[a-f])(?=(?:[a-f]*[0-9]){2})[0-9a-f]{7,64}", re.IGNORECASE)
_GENERATED = re.compile(r"\d{4}")
#: What may stand before the first thing that a line says: a bracket, or the key of a value.
_BEGINS = re.compile(r"\W{0,4}(?:[\w.-]{1,40}=)?\W{0,2}")
_LONGEST_FIELD = 24
_LETTER = re.compile(r"[^\W\d]")
#: A list of quoted words in brackets; its elements are checked one by one.
_LIST = re.compile(r"[\[{(][^\[\]{}()\n]{2,4000}[\]})]")
_ELEMENT = re.compile(r"\s*(?:'([^'\n]*)'|\"([^\"\n]*)\")\s*")
#: What matters for finding words that were cut off: brackets, quotes, and the last word of a sentence.
_CUT_MARKS = re.compile(r"[\[\]{}'\"]|(?<!\w)(\w++)(?:\.{1,3}|…)?(?=\s+[A-Z]|\s*$|\s+\d+ [a-z])")
_BEFORE_OPENING = frozenset(" {[(,:=")
_MARK = {"figure": "\ue010", "id": "\ue011", "clock": "\ue012", "date": "\ue013", "list": "\ue014", "word": "\ue015"}
_MARK["cut"] = _MARK["id"]
_FIELD_WORD = r"([^\W\d_]++(?:[_-][^\W\d_]++)*+)"
#: A word that stands alone between marks, or behind an equals sign: `outcome: success (`, `task=success`, `[OK]`.
_FIELD = re.compile(
    rf"(?<==)['\"]?{_FIELD_WORD}(?!\w|[-.:/@]\w)"
    rf"|(?<=[:(\[{{,;|>→])[ '\"]*+{_FIELD_WORD}(?=[ '\"]*+(?:[,;|)\]}}(→>]|[.!?]?$|[.!?] ))"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a line: its kind, and where it stands."""

    kind: PlaceKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """A text on one line, without marks and leading times, and its places in their order."""

    text: str
    places: tuple[Place, ...]

    def value(self, place: Place) -> str:
        return self.text[place.start : place.end]

    @property
    def values(self) -> tuple[str, ...]:
        """The words of each place."""
        return tuple(self.value(place) for place in self.places)

    @property
    def shape(self) -> str:
        """The line with a mark of its kind in place of each value."""
        parts: list[str] = []
        done = 0
        for place in self.places:
            parts += (self.text[done : place.start], _MARK[place.kind])
            done = place.end
        return "".join([*parts, self.text[done:]])


def read_line(text: str) -> Line:
    """The places of a text that is already on one line, without marks."""
    return Line(text, tuple(_places(text)))


def fields_in(line: Line) -> list[Place]:
    """Every word that stands where programs write a value: alone between marks, or behind an equals sign. Not what the
    line begins with, which names what it is about, and no word in mixed case, which is a name or a title."""
    fields, starts = [], [place.start for place in line.places]
    for match in _FIELD.finditer(line.text):
        start, end = match.span(match.lastindex or 0)
        word = line.text[start:end]
        if len(word) > _LONGEST_FIELD or word not in (word.lower(), word.upper()):
            continue
        after = bisect_left(starts, end)
        is_free = not after or line.places[after - 1].end <= start
        if is_free and not _BEGINS.fullmatch(line.text, 0, start):
            fields.append(Place("word", start, end))
    return fields


def line_key(line: Line) -> str:
    """The shape of a line with a mark for each field too: readings of one series share it."""
    fields = fields_in(line)
    places = tuple(sorted((*line.places, *fields), key=lambda place: place.start)) if fields else line.places
    folded = Line(line.text, places).shape.casefold()
    return folded.rstrip(" .!") or folded


def list_elements(text: str) -> tuple[str, ...] | None:
    """The words of a bracketed list of quoted words, or None if it is something else."""
    matches = [_ELEMENT.fullmatch(part) for part in text[1:-1].split(",")]
    if not matches or any(match is None for match in matches):
        return None
    return tuple((match.group(1) or match.group(2) or "") for match in matches if match is not None)


def _places(text: str) -> Iterator[Place]:
    cuts = list(_cut_words(text))
    if not cuts:
        yield from _whole_values(text)
        return
    cut_positions = {position for word in cuts for position in range(word.start, word.end)}
    others = (place for place in _whole_values(text) if cut_positions.isdisjoint(range(place.start, place.end)))
    yield from sorted([*others, *cuts], key=lambda place: place.start)


def _cut_words(text: str) -> Iterator[Place]:
    """The words that programs cut off when they print the first so many characters of a structure: each ends a
    sentence inside a bracket and a quotation that never close (`{'max': 0.76, 'measureme. Weakest: ...`)."""
    if not ("'" in text or '"' in text) or not ("{" in text or "[" in text):
        return
    depth, quote, following = 0, "", -1
    for match in _CUT_MARKS.finditer(text):
        mark, position = match.group(), match.start()
        if match.group(1) is not None:
            if not quote:
                continue
            if following < match.end():
                following = text.find(quote, match.end()) % (len(text) + 1)
            if following == len(text) or _opens(text, following):
                yield Place("cut", match.start(1), match.end(1))
                depth, quote = 0, ""
        elif mark in "[{":
            depth += not quote
        elif mark in "]}":
            depth -= bool(depth and not quote)
        elif quote == mark:
            quote = ""
        elif depth and not quote and _opens(text, position):
            quote, following = mark, -1


def _opens(text: str, position: int) -> bool:
    """True if a quotation mark opens a quotation."""
    return (position == 0 or text[position - 1] in _BEFORE_OPENING) and text[position + 1 : position + 2].isalnum()


def _whole_values(text: str) -> Iterator[Place]:
    done = 0
    for match in _LIST.finditer(text) if "'" in text or '"' in text else ():
        if list_elements(match.group()) is not None:
            yield from _values(text, done, match.start())
            yield Place("list", match.start(), match.end())
            done = match.end()
    yield from _values(text, done, len(text))


def _values(text: str, start: int, end: int) -> Iterator[Place]:
    for match in _RUN.finditer(text, start, end):
        run = match.group()
        if _DIGIT.search(run):
            left = len(run) - len(run.lstrip(_LEADING))
            word = run[left:].rstrip(_TRAILING)
            position = match.start() + left
            yield from _read(word, position, is_measured=_MEASURED.match(text, position + len(word)) is not None)


def _read(word: str, position: int, *, is_measured: bool) -> Iterator[Place]:
    """The places of one run of characters with a digit in it; none if it is a name, such as `p95` or `web-01`.
    `is_measured`: a unit follows, so that a long number is no id."""
    if _DATE.fullmatch(word):
        yield Place("date", position, position + len(word))
    elif _CLOCK.fullmatch(word):
        yield Place("clock", position, position + len(word))
    elif _is_id(word) and not (is_measured and word.isdigit()):
        yield Place("id", position, position + len(word))
    elif figure := _FIGURE.fullmatch(word):
        if _is_finite(figure.group(1)):
            yield Place("figure", position, position + figure.end(1))
    elif _FIGURES.fullmatch(word):
        for number in _ONE_NUMBER.finditer(word):
            if _is_finite(number.group()):
                yield Place("figure", position + number.start(), position + number.end())


def _is_finite(number: str) -> bool:
    """True if a number can be reckoned with: 1e999 cannot."""
    return isfinite(float(number.replace(",", "")))


def _is_id(word: str) -> bool:
    """True if a word is an id that was generated or counted, rather than the name of a thing."""
    if any(form.fullmatch(word) for form in (_LONG_NUMBER, _VERSION, _NUMBERED, _UUID, _HEX)):
        return True
    return bool(_GENERATED.search(word) and _LETTER.search(word) and not _FIGURE.fullmatch(word))
