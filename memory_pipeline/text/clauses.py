"""Reads a text as statements, clauses and segments, with their words and values: what each value belongs to.

A clause ends where another thought begins (`because`, `, and`, `;`, a bracket); a segment is the part of a clause
around one value (`the kitchen lamp draws 9 W` | `and the hallway lamp 12 W`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from memory_pipeline.text.facts import STOP_WORDS, locate_values, unit_of
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import plain_text
from memory_pipeline.text.sameness import forms_of
from memory_pipeline.text.sentences import split_statements, strip_lead_in

NEGATORS = frozenset(
    "not no never none nobody nothing neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't "
    "weren't shouldn't mustn't couldn't wouldn't hasn't haven't hadn't ain't needn't avoid refuse refuses refused "
    "unable".split()
)
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’](?=[^\W\d_]))*")
_CONTRACTION = re.compile(r"n['’]t$", re.IGNORECASE)
_CAUSE = r"because(?:\s+of)?|since|due\s+to|owing\s+to|on\s+account\s+of|caused\s+by|as\s+a\s+result\s+of"
_EFFECT = r"so(?!\s+that\b)|therefore|hence|thus|consequently|as\s+a\s+result"
_CONDITION = r"when(?:ever)?|if|once(?=\s+(?:the|it|a|an|they)\b)|unless|otherwise"
_OTHER = r"but|while|whereas|although|though|which|who|whose|including|using"
_CLAUSE_START = re.compile(
    rf"(?P<stop>[.!?]\s+(?=\w)|[;()\[\]{{}}]|\s[—–-]\s|:\s|,\s+(?:and|or|as|not|but|only|never|the|it|they|there|nobody|he|she|we)\s(?!\d))"
    rf"|,?\s*\b(?:and\s+|or\s+|only\s+)?\b(?P<cause>{_CAUSE})\b|,?\s*\b(?:and\s+)?\b(?P<effect>{_EFFECT})\b"
    rf"|,?\s*\b(?P<condition>{_CONDITION})\b|,?\s*\b(?P<other>{_OTHER})\b",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\([^()]*\)")
_SEGMENT_START = re.compile(r"[,;:()\[\]{}]|\s[—–-]\s|\b(?:and|or|but|with|while|whereas|then)\b", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:to|through|until|up\s+to|[–—-])\s*(?:about\s+|~)?", re.IGNORECASE)
_AND = re.compile(r"\s*and\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:about\s+)?$", re.IGNORECASE)
_ROUGHLY = re.compile(r"(?:\b(?:about|around|roughly|approximately|circa|nearly|almost)\s+|~\s?)$", re.IGNORECASE)
#: So many characters before a value are looked at for what limits it.
_BEFORE = 30
#: Words of state, which are stop words elsewhere.
_STATES = frozenset(("done", "down", "off"))
#: So many negators of one clause are read.
_MOST_NEGATORS = 8
#: A longer statement is read as one clause.
_LONGEST = 6_000
#: The connective of a clause that follows the cause or condition it depends on.
FRONTED = "fronted"


@dataclass(frozen=True, slots=True)
class Value:
    """A number, date, time or identifier, or a word with a figure in it (`eu1`)."""

    kind: str
    text: str
    value: str
    unit: str
    start: int
    end: int
    rough: bool = False

    @property
    def magnitude(self) -> float | None:
        """The number, or None if it is none."""
        try:
            return float(self.value)
        except ValueError:
            return None

    @property
    def key(self) -> tuple[str, str]:
        """The key of the fact (`Fact.key`)."""
        return self.kind, f"{self.value} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Word:
    """A word with the forms that it may be matched by."""

    text: str
    start: int
    end: int
    is_name: bool

    @property
    def low(self) -> str:
        """In lower case."""
        return self.text.lower().replace("’", "'").removesuffix("'s")

    @property
    def forms(self) -> frozenset[str]:
        """See `sameness.forms_of`."""
        return forms_of(self.low)


@dataclass(frozen=True)
class Segment:
    """A part of a clause around one value or list element. `depth`: how many brackets it is in."""

    start: int
    end: int
    depth: int
    words: tuple[Word, ...]
    values: tuple[Value, ...]

    @cached_property
    def keys(self) -> tuple[Word, ...]:
        """What a value here may belong to: words with a meaning, and identifiers."""
        named = (Word(value.text, value.start, value.end, True) for value in self.values if value.kind == "identifier")
        return (*(word for word in self.words if is_content(word.low)), *named)


@dataclass(frozen=True)
class Clause:
    """A part of a statement, from `start` to `end`, and how it follows the one before: `cause`, `effect`,
    `condition`, `other`, `stop` or empty."""

    text: str
    start: int
    end: int
    link: str
    connective: str
    depth: int
    words: tuple[Word, ...]
    values: tuple[Value, ...]
    negators: tuple[Word, ...]

    @property
    def shown(self) -> str:
        """Its beginning, as a message quotes it."""
        return " ".join(self.text.split()).strip(" ,;")[:70]

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words with a meaning of their own and the identifiers, without negators."""
        named = [Word(value.text, value.start, value.end, True) for value in self.values if value.kind == "identifier"]
        words = [word for word in self.words if is_content(word.low) or (word.is_name and word.low == "may")]
        return tuple(sorted((*words, *named), key=lambda word: word.start))


@dataclass(frozen=True)
class Span:
    """A range that a text states: from `low` to `high`."""

    low: Value
    high: Value


@dataclass(frozen=True)
class Statement:
    """A sentence with its clauses, segments, and the ranges in it."""

    text: str
    clauses: tuple[Clause, ...]
    segments: tuple[Segment, ...]
    spans: tuple[Span, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words."""
        return tuple(word for clause in self.clauses for word in clause.words)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All values."""
        return tuple(value for clause in self.clauses for value in clause.values)

    @cached_property
    def forms(self) -> frozenset[str]:
        """The forms of all words and the texts of all identifiers."""
        return frozenset().union(
            *(word.forms for word in self.words), *((value.text.lower(), value.value) for value in self.values)
        )

    @cached_property
    def named_parts(self) -> frozenset[str]:
        """The forms of the words in its identifiers: `recreate` in `--force-recreate`."""
        parts = (part for v in self.values if v.kind == "identifier" for part in re.split(r"[^a-z]+", v.value))
        return frozenset().union(*(forms_of(part) for part in parts if len(part) > 2))

    def segment_of(self, value: Value) -> int:
        """The number of the segment that contains a value."""
        return next(
            (n for n, segment in enumerate(self.segments) if segment.start <= value.start < segment.end),
            len(self.segments) - 1,
        )


def is_content(low: str) -> bool:
    """Whether a lower-case word has a meaning of its own."""
    return (low not in STOP_WORDS or low in _STATES) and low not in NEGATORS and unit_of(low) != "x"


@remembered
def read_text(text: str) -> tuple[Statement, ...]:
    """The statements of a text, read."""
    return tuple(read_statement(strip_lead_in(one)) for one in split_statements(text) or [text])


@remembered
def read_statement(text: str) -> Statement:
    """One statement, read."""
    text = plain_text(text)
    values, spans = _values(text)
    masked = _masked(text, values, spans)
    words = tuple(_words(text, masked))
    if len(text) > _LONGEST:
        whole = _clause(text, (0, len(text), "", "", 0), words, values, [])
        return Statement(text, (whole,), (Segment(0, len(text), 0, words, tuple(values)),), ())
    brackets = [match.span() for match in _BRACKET.finditer(masked)]
    outside = _BRACKET.sub(lambda match: " " * len(match.group()), masked)
    parts = [(start, end, link, said, 0) for start, end, link, said in _clause_spans(outside)]
    parts += [(start, end, "", "(", 1) for start, end in brackets]
    clauses = tuple(_clause(text, part, words, values, brackets) for part in sorted(parts))
    edges = sorted({0, len(text), *(edge for start, end, *_ in parts for edge in (start, end))})
    segments = tuple(s for start, end in pairwise(edges) for s in _segments(masked, start, end, words, values))
    return Statement(text, clauses, segments, tuple(spans))


def _clause(
    text: str,
    part: tuple[int, int, str, str, int],
    words: tuple[Word, ...],
    values: list[Value],
    brackets: list[tuple[int, int]],
) -> Clause:
    start, end, link, said, depth = part

    def is_mine(place: int) -> bool:
        within = depth == 0 and any(opens <= place < closes for opens, closes in brackets)
        return start <= place < end and not within

    mine = tuple(word for word in words if is_mine(word.start))
    return Clause(
        text[start:end],
        start,
        end,
        link,
        said,
        depth,
        mine,
        tuple(value for value in values if is_mine(value.start)),
        tuple(word for word in mine if word.low in NEGATORS or _CONTRACTION.search(word.low))[:_MOST_NEGATORS],
    )


def _values(text: str) -> tuple[list[Value], list[Span]]:
    values = [
        Value(fact.kind, fact.text, *_parts(fact.kind, fact.value), start, end, _is_rough(text, start))
        for fact, start, end in locate_values(text)
    ]
    values = _with_units(text, values)
    spans = []
    for one, other in pairwise(values):
        between = text[one.end : other.start]
        if one.kind == other.kind and (
            _RANGE.fullmatch(between)
            or (_AND.fullmatch(between) and _BETWEEN.search(text[max(0, one.start - _BEFORE) : one.start]))
        ):
            spans.append(Span(one, other))
    return values, spans


def _parts(kind: str, value: str) -> tuple[str, str]:
    if kind != "number":
        return value, ""
    number, _, unit = value.partition(" ")
    return number, unit


def _is_rough(text: str, start: int) -> bool:
    return _ROUGHLY.search(text[max(0, start - _BEFORE) : start]) is not None


def _with_units(text: str, values: list[Value]) -> list[Value]:
    """A list's numbers with the unit that only its last one is written with: `40, 25 and 30 minutes`."""
    for place in range(len(values) - 2, -1, -1):
        one, following = values[place], values[place + 1]
        joined = re.fullmatch(r"\s*(?:,|,?\s*(?:and|or|to|then)|[–—-])\s*", text[one.end : following.start])
        if joined and one.kind == following.kind == "number" and following.unit and not one.unit:
            values[place] = replace(one, unit=following.unit)
    return values


def _masked(text: str, values: list[Value], spans: list[Span]) -> str:
    """The text with its values and the words between the ends of a range as `x`, so that nothing in them divides it."""
    letters = list(text)
    for start, end in [(value.start, value.end) for value in values] + [(s.low.end, s.high.start) for s in spans]:
        letters[start:end] = "0" * (end - start)
    return "".join(letters)


def _words(text: str, masked: str) -> list[Word]:
    found: list[Word] = []
    for match in _WORD.finditer(masked):
        word = text[match.start() : match.end()]
        before = text[: match.start()].rstrip()
        opens = not before or before[-1] in ".!?:;•|\"'([*-–—"
        found.append(Word(word, match.start(), match.end(), word[:1].isupper() and (not opens or word[1:].isupper())))
    return found


def _clause_spans(masked: str) -> list[tuple[int, int, str, str]]:
    starts = [(0, "", "")]
    for match in _CLAUSE_START.finditer(masked):
        link = match.lastgroup or ""
        starts.append((match.start(link), link, " ".join(match[link].lower().split())))
    if len(starts) > 1 and not masked[: starts[1][0]].strip(" ,"):
        starts = starts[1:]
    starts = _with_fronted(masked, starts)
    ends = [start for start, _, _ in starts[1:]] + [len(masked)]
    return [
        (start, end, link, said)
        for (start, link, said), end in zip(starts, ends, strict=True)
        if masked[start:end].strip()
    ]


def _with_fronted(masked: str, starts: list[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
    """The starts of clauses with those after a clause that comes first: `When it rains, | the roof leaks`."""
    more = []
    for number, (start, link, said) in enumerate(starts):
        opens = not masked[:start].strip() or masked[:start].rstrip()[-1] in ";:—"
        end = starts[number + 1][0] if number + 1 < len(starts) else len(masked)
        comma = masked.find(",", start, end)
        more.append((start, link, said))
        if link in ("cause", "condition") and opens and comma > start:
            more.append((comma, "", FRONTED))
    return more


def _segments(masked: str, start: int, end: int, words: tuple[Word, ...], values: list[Value]) -> list[Segment]:
    edges = sorted({start, end, *(m.start() for m in _SEGMENT_START.finditer(masked, start, end))})
    return [
        Segment(
            left,
            right,
            masked.count("(", 0, left + 1) - masked.count(")", 0, left + 1),
            tuple(word for word in words if left <= word.start < right),
            tuple(value for value in values if left <= value.start < right),
        )
        for left, right in pairwise(edges)
        if masked[left:right].strip(" ,")
    ]
