"""A line with many figures in several texts: each tells some of them whole, with what the line is about and its day."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

from memory_pipeline.wording.readings import Reading, Series
from memory_pipeline.wording.series_beside import Beside, beside
from memory_pipeline.wording.series_days import newest_day
from memory_pipeline.wording.series_line import capitalised, structures_of
from memory_pipeline.wording.series_pieces import Piece
from memory_pipeline.wording.templates import list_elements

#: So many texts tell the figures of a line that vary; those that find no room in them are counted in the last one.
_MOST_TEXTS = 6
#: Of a longer line, only so many pairs are looked at.
_MOST_PAIRS = 40
#: So many words that all readings say are told.
_MOST_WORDS = 3
#: Words in brackets between a name and its value.
_ASIDE = re.compile(r" \([^\W\d][^()\d]{0,30}\)(?= \d)")
_MORE = re.compile(r" and (\d+) more figures?")
_LABEL = re.compile(r"([^\W\d][^:]{0,60}): (?=\S)")
_NUMBER = re.compile(r"(?<!\w)\d[\d.,]*")
#: The end of what a line is about that its values say too.
_DONE = re.compile(r"(?<=\w \w\w)(\w*) (?:complete|completed|done|finished)$")


@dataclass(frozen=True)
class _Line:
    """A line with what is read of it once: what it is about, its pairs, and what is said of its readings. `span`: how
    many they are, since when; `counts`: ways to say which words vary, the fullest first."""

    series: Series
    lead: str
    pairs: tuple[Piece, ...]
    span: str
    counts: tuple[str, ...]

    @cached_property
    def valued(self) -> tuple[int, ...]:
        """The numbers of the pairs with a value, each once."""
        columns = self.series.columns
        said: dict[object, int] = {}
        for n, pair in enumerate(self.pairs):
            said.setdefault((pair.text, tuple(columns[place] for place in pair.places)), n)
        return tuple(n for n in said.values() if self.pairs[n].has_value)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """The numbers of the pairs with a figure that varies."""
        varying = {figure.place for figure in self.series.told if figure.varies}
        return tuple(n for n in self.valued if varying & {*self.pairs[n].places})[:_MOST_PAIRS]

    @cached_property
    def told(self) -> tuple[int, ...]:
        """The numbers of the pairs that may be told: all with a value, of a longer line those that vary."""
        return self.valued if len(self.valued) <= _MOST_PAIRS else self.moving

    @cached_property
    def ways(self) -> dict[int, Beside]:
        """By the number of a pair, the ways to tell it."""
        figures = {figure.place: figure for figure in self.series.told}
        found = {}
        for n in self.told:
            of_each = [beside(self.series, figures[p]) for p in self.pairs[n].places if p in figures] or [Beside()]
            text = _worded(self.pairs[n])
            whole = _together(text, [one.whole for one in of_each])
            found[n] = Beside(whole, _together(text, [one.short or one.whole[-1:] for one in of_each]))
        return found

    @cached_property
    def structures(self) -> dict[int, list[str]]:
        """By the number of a pair, the key of the structure in which its figure stands, and of that around it."""
        return {n: structures_of(self.series, self.pairs[n].places[0]) for n in self.told if self.pairs[n].places}

    @cached_property
    def always(self) -> str:
        """Words that are the same in all readings, told with their number: those that vary are counted."""
        values = [(one.kind, value) for one, value in zip(self.series.places, self.series.newest.values, strict=True)]
        varying = {value.casefold() for kind, value in values if kind == "word"}
        varying |= {one.casefold() for kind, value in values if kind == "list" for one in list_elements(value) or ()}
        said = [pair for pair in self.pairs if pair.says_word and not pair.has_value]
        same = [pair for pair in said if pair.text.rpartition(": ")[2].casefold() not in varying][:_MOST_WORDS]
        return ", ".join(map(_worded, same)) if not self.series.strangers else ""

    def named(self, n: int, way: str, before: str) -> str:
        """A pair as it is told, with the names of its structures unless they stand before it already."""
        for name in self.structures.get(n, ()):
            way = way if name in before or name in way else f"{name} {way}"
        return way

    def ends(self, *, is_first: bool) -> list[str]:
        """Ways to end a text, the fullest first: the first one says the words, unless a text of its own says what is
        always so."""
        always = f"{self.always}, as in all " if self.always and is_first else ""
        counts = self.counts if is_first else ("",)
        return [f"; {words}{self.span}.{counted}" for words in dict.fromkeys((always, "")) for counted in counts]

    @property
    def end_of_always(self) -> list[str]:
        """Ways to end the text of what is always so, with the words and without."""
        words = f", {self.always}" if self.always else ""
        return [f"{said}, as in all {self.span}." for said in dict.fromkeys((words, ""))]

    @cached_property
    def starts(self) -> tuple[str, str]:
        """What the line is about, and the day; and with the clock time of the newest reading, if it has another one."""
        days = (newest_day(self.series, with_clock=with_clock) for with_clock in (False, True))
        plain, clock = (capitalised(f"{self.lead} on {day}: " if self.lead else f"On {day}: ") for day in days)
        return plain, clock

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """The numbers of the pairs that may be told and never vary, neither in a figure nor in a word."""
        return tuple(n for n in self.told if n not in self.moving and self._is_constant(n))

    def _is_constant(self, n: int) -> bool:
        """Whether the text around a pair is the same in all readings, from the figures before it to those behind it: a
        word, a unit or an id beside its figure belongs to it."""
        places = self.pairs[n].places
        others = {place for m, pair in enumerate(self.pairs) if m != n for place in pair.places}
        before = max((place for place in others if places and place < min(places)), default=None)
        behind = min((place for place in others if places and place > max(places)), default=None)

        def around(reading: Reading) -> str:
            text, there = reading.line.text, reading.line.places
            start = 0 if before is None else there[before].end
            return text[start : len(text) if behind is None else there[behind].start]

        return bool(places) and len({around(reading) for reading in self.series.every}) == 1


def in_texts(
    series: Series,
    pieces: Sequence[Piece],
    span: str,
    counts: Sequence[str],
    count_tokens: Callable[[str], int],
    most: int,
    *,
    is_long: bool,
) -> tuple[str, ...]:
    """The line in texts of at most `most` tokens, which together tell each of its figures; nothing, if there is no room
    for one. `span`: how many readings there are, since when; `counts`: ways to say which words vary, the fullest first.

    Figures that find no room are counted: those that never vary before others, and then the last ones of the line.
    Those that never vary are left out where there is no room even for their number. A line that begins with a value has
    one text, which has to tell each of its figures unless it `is_long`.
    """
    line = _read(series, pieces, span, counts)
    teller = _Teller(line, lambda text: count_tokens(text) <= most)
    most_texts = _MOST_TEXTS if line.lead else 1
    fewest = 1 if line.lead or is_long else len(line.moving)
    for number in range(len(line.moving), fewest - 1, -1):
        for in_order in (True, False):
            groups = teller.groups(line.moving[:number], in_order=in_order)
            if groups and len(groups) <= most_texts and (texts := teller.texts(groups)):
                return texts
    return ()


def are_texts(series: Series, pieces: Sequence[Piece], span: str, counts: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether texts are ways to tell a line that together tell each of its figures that vary, or count those left
    out."""
    line = _read(series, pieces, span, counts)
    found: list[int] = []
    left = 0
    for n, text in enumerate(texts):
        numbers, more = _numbers_in(line, text, {*found}, is_first=not n)
        if not numbers:
            return False
        found, left = [*found, *numbers], left + more
    return len(found) + left == len(line.valued) or (not left and {*found} >= {*line.moving})


def _together(text: str, of_each: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """A pair with what stands beside each of its figures, the fullest first."""
    depths = range(max(map(len, of_each)))
    said = ("; ".join(filter(None, (ways[min(depth, len(ways) - 1)] for ways in of_each))) for depth in depths)
    return tuple(f"{text} ({one})" if one else text for one in dict.fromkeys(said))


def _read(series: Series, pieces: Sequence[Piece], span: str, counts: Sequence[str]) -> _Line:
    lead, pairs = _lead_and_pairs(series, pieces)
    return _Line(series, lead, tuple(pairs), span, tuple(counts))


@dataclass(frozen=True)
class _Text:
    """A text of some pairs: the way to tell each, by its number; its end, and how many figures are left out."""

    line: _Line
    said: Mapping[int, str]
    end: str
    left: int = 0
    with_clock: bool = False

    def __str__(self) -> str:
        told: list[str] = []
        for n, way in sorted(self.said.items()):
            told.append(self.line.named(n, way, ", ".join([self.line.lead, *told])))
        more = f" and {self.left} more figure{'s' if self.left > 1 else ''}" if self.left else ""
        return f"{self.line.starts[self.with_clock]}{', '.join(told)}{more}{self.end}"


@dataclass(frozen=True)
class _Teller:
    """Tells a line in texts that fit."""

    line: _Line
    fits: Callable[[str], bool]

    def groups(self, numbers: Sequence[int], *, in_order: bool) -> list[list[int]]:
        """The pairs in groups that fit into a text each, every pair in that of the one before it or, unless they are to
        stay `in_order`, in the first one that has room for it; nothing, if one does not fit alone."""
        groups: list[list[int]] = []
        for before, n in pairwise([-1, *numbers]):
            nearest = sorted(range(len(groups)), key=lambda k: before not in groups[k])[: 1 if in_order else None]
            room = next((k for k in nearest if self._shortest([*groups[k], n], is_first=not k)), None)
            if room is not None:
                groups[room].append(n)
            elif self._shortest([n], is_first=not groups):
                groups.append([n])
            else:
                return []
        return groups

    def texts(self, groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
        """The texts of these groups, and what never varies: in the only one if it has room for it, else in a text of
        its own. Figures left out are counted; nothing, if one that varies is left out and there is no room for that."""
        line, constants = self.line, {n: self.line.ways[n].whole[0] for n in self.line.constants}
        told = [self._fullest(numbers, is_first=not k) for k, numbers in enumerate(groups)]
        if len(told) == 1 and self.fits(str(whole := replace(told[0], said={**told[0].said, **constants}))):
            told = [whole]
        elif constants and (always := self._always(constants)) is not None:
            first = self._fullest(groups[0], is_first=True, without_words=line.always in always.end)
            told = [first, *told[1:], always]
        left = len(line.valued) - sum(len(text.said) for text in told)
        last = len(groups) - 1
        if left and self.fits(str(counted := replace(told[last], left=left))):
            told[last] = counted
        elif left and sum(map(len, groups)) < len(line.moving):
            return ()
        return tuple(map(self._with_clock, told))

    def _always(self, constants: Mapping[int, str]) -> _Text | None:
        """The text of what never varies, or of as much of it as there is room for."""
        texts = (
            _Text(self.line, dict(sorted(constants.items())[:number]), end)
            for number in range(len(constants), 0, -1)
            for end in self.line.end_of_always
        )
        return next((text for text in texts if self.fits(str(text))), None)

    def _shortest(self, numbers: Sequence[int], *, is_first: bool) -> bool:
        """Whether some pairs fit into a text, each in its shortest whole way; into the first one beside the words, if
        one pair does."""
        said = {n: self._short_way(n, is_first=is_first) for n in numbers}
        one = {numbers[0]: said[numbers[0]]}
        ends = self.line.ends(is_first=is_first)
        end = next((end for end in ends if self.fits(str(_Text(self.line, one, end)))), None)
        return end is not None and self.fits(str(_Text(self.line, said, end)))

    def _short_way(self, n: int, *, is_first: bool) -> str:
        """The shortest whole way to tell a pair, if there is room for it in a text of its own; or another one."""
        ways, end = self.line.ways[n], self.line.ends(is_first=is_first)[-1]
        fitting = (way for way in (ways.whole[-1], *ways.short) if self.fits(str(_Text(self.line, {n: way}, end))))
        return next(fitting, ways.every[-1])

    def _fullest(self, numbers: Sequence[int], *, is_first: bool, without_words: bool = False) -> _Text:
        """The text of some pairs that fit, with as much of the words and beside each value as there is room for.
        `without_words`: another text says what is always so."""
        short = {n: self._short_way(n, is_first=is_first) for n in numbers}
        ends = [end for end in self.line.ends(is_first=is_first) if not (without_words and ", as in all " in end)]
        texts = [_Text(self.line, short, end) for end in ends]
        text = next((one for one in texts if self.fits(str(one))), texts[-1])
        for n in numbers:
            ways = (replace(text, said={**text.said, n: way}) for way in self.line.ways[n].every)
            text = next((one for one in ways if self.fits(str(one))), text)
        return text

    def _with_clock(self, text: _Text) -> str:
        """A text with the clock time of the newest reading, if there is another one on its day, and room."""
        longer = str(replace(text, with_clock=True))
        return longer if self.fits(longer) else str(text)


def _numbers_in(line: _Line, text: str, told: Collection[int], *, is_first: bool) -> tuple[list[int], int]:
    """The numbers of the pairs that a text tells, and how many figures it counts; none if it is no way to tell some.
    `told`: those that texts before tell."""
    ends = [(end, line.told) for end in line.ends(is_first=is_first)]
    ends += [(end, line.constants) for end in line.end_of_always]
    for with_clock, (end, some) in product((False, True), ends):
        start = line.starts[with_clock]
        if text.startswith(start) and text.endswith(end) and len(start) + len(end) < len(text):
            left = [n for n in some if n not in told]
            found = _pairs_in(line, text[len(start) : -len(end)], left, "")
            if found is not None:
                return found
    return [], 0


def _pairs_in(line: _Line, text: str, left: Sequence[int], before: str) -> tuple[list[int], int] | None:
    for place, n in enumerate(left):
        for way in line.ways[n].every:
            said = line.named(n, way, f"{line.lead}, {before}" if before else line.lead)
            if not text.startswith(said):
                continue
            rest = text[len(said) :]
            if not rest or (more := _MORE.fullmatch(rest)):
                return [n], int(more.group(1)) if rest and more else 0
            following = _pairs_in(line, rest[2:], left[place + 1 :], f"{before}{said}, ") if rest[:2] == ", " else None
            if following is not None:
                return [n, *following[0]], following[1]
    return None


def _lead_and_pairs(series: Series, pieces: Sequence[Piece]) -> tuple[str, list[Piece]]:
    """What the line is about, and its pairs. Of a line that begins with a value, the former is empty; a number that
    never varies is part of a label (`NAS volume 1: 83.0% used`)."""
    first, *others = _without_brackets(pieces)
    label = _LABEL.match(first.text)
    if label is not None:
        places = first.places[len(_NUMBER.findall(label.group(1))) :]
        if all(len({*series.columns[place]}) == 1 for place in {*first.places} - {*places}):
            lead = _DONE.sub(r"\1", label.group(1))
            return lead, [replace(first, text=first.text[label.end() :], places=places), *others]
    return ("", [first, *others]) if first.places else (_DONE.sub(r"\1", first.text.rstrip(" .,;:")), others)


def _without_brackets(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without the brackets in which several of them stand."""
    found: list[Piece] = []
    is_open = False
    for piece in pieces:
        is_open = is_open or piece.separator == " ("
        text = piece.text
        if is_open and text.count(")") > text.count("("):
            text, is_open = "".join(text.rsplit(")", 1)), False
        found.append(replace(piece, text=text))
    return found


def left_out_sentence(number: int) -> str:
    """How many figures of the line are not told."""
    return f" {number} more figure{'s are' if number > 1 else ' is'} left out."


def _worded(piece: Piece) -> str:
    text = _ASIDE.sub("", piece.text).rstrip(" .,;:")
    label = _LABEL.match(text)
    if label is not None and piece.has_value:
        return f"{label.group(1)} {text[label.end() :]}"
    if not piece.says_word:
        return text
    name, _, word = text.partition(": ")
    return f"{name[:1].lower() + name[1:] if name[1:].islower() else name} {word}"
