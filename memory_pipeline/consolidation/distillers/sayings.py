"""Finds the distinct things that the statements of a cluster say, each with everyone who says it; and tells in one
sentence what was told of several times: the values in which those differ, each with its day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.models import Declined
from memory_pipeline.text.agreement import says_the_same, tells_one_time
from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.days import between_in_words, list_of_days, names_another_day
from memory_pipeline.text.facts import FACT_FIGURES, fact_keys
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.values import Value, normal_value, paired, values_in
from memory_pipeline.text.whole import facts_lacking

#: At most so many statements are tried as the wording of what others say: the most central ones.
_MOST_WORDINGS = 60
#: So many different values have a day each; more of them are listed with the days from which to which;
MOST_DATED = 3
#: and more than these are no sentence.
MOST_LISTED = 12

TOO_MANY = f"more than {MOST_LISTED} values differ: no sentence can hold them"

_NUMBERS = ("Once", "Twice", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
_NOUN_FOLLOWS = re.compile(r"[ -][^\W\d_]")
#: What leads to a value: `at step` in `diverged at step 900`.
_LEADING = re.compile(r"\b(?:at|on|in|after|for|from|by|with) (?:[\w'-]+ )?$", re.IGNORECASE)
_THIS_TIME = re.compile(r",?\s+(?:again|once more|once again|yet again|this time|this round)\b(?=\W)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one member: its place in it, the day of the member, its text without lead-ins."""

    member: int
    place: int
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing that is said: its fullest wording, and every telling of it with the values at the wording's places.

    `tellings`: by day; values are empty for a telling that gives none.
    """

    best: Statement
    tellings: tuple[tuple[Statement, tuple[Value, ...]], ...]

    @property
    def members(self) -> frozenset[int]:
        """Who says it."""
        return frozenset(statement.member for statement, _ in self.tellings)

    @property
    def varying(self) -> list[int]:
        """The places whose values differ between the tellings."""
        rows = [values for _, values in self.tellings if values]
        return [n for n, column in enumerate(zip(*rows, strict=True)) if len({normal_value(v) for v in column}) > 1]


def find_sayings(statements: Sequence[Statement], centrality: Sequence[float]) -> list[Saying]:
    """The distinct things that are said: what most members say first, then in the order in which they are told.

    Greedy: the wording that says what most members say is taken with all of those, then the next among the rest.
    """
    left = sorted(statements, key=lambda s: (-centrality[s.member], s.member, s.place))
    found: list[Saying] = []
    while left:
        tried = [_saying(best, left) for best in left[:_MOST_WORDINGS]]
        saying = min(tried, key=lambda s: _preference(s, centrality))
        found.append(saying)
        taken = {(statement.member, statement.place) for statement, _ in saying.tellings}
        left = [s for s in left if (s.member, s.place) not in taken and not _is_said(s, found)]
    return sorted(found, key=lambda s: (-len(s.members), s.best.place, s.best.day, s.best.member))


def _preference(saying: Saying, centrality: Sequence[float]) -> tuple[object, ...]:
    """Most members first; then the wording that holds for all times, has most facts, is central, and is short."""
    best = saying.best
    several = bool(saying.varying)
    return (
        -len(saying.members),
        several and tells_one_time(best.text),
        -len(fact_keys(best.text)),
        -centrality[best.member],
        len(best.text),
        best.text,
    )


def _saying(best: Statement, statements: Sequence[Statement]) -> Saying:
    tellings = [
        (statement, values)
        for statement in statements
        if (values := values_in(best.text) if statement is best else told_by(best, statement)) is not None
    ]
    tellings.sort(key=lambda telling: (telling[0].day, telling[0].member, telling[0].place))
    return Saying(best, tuple(tellings))


def told_by(best: Statement, statement: Statement) -> tuple[Value, ...] | None:
    """The values of a statement at the places of a wording that says the same, or None if it does not.

    Other figures of the same day are another claim, unless the statement gives none.
    """
    same_words = normalise(best.text) == normalise(statement.text)
    if not same_words and not says_the_same(statement.text, best.text):
        return None
    if best.day != statement.day and names_another_day(best.text) and names_another_day(statement.text):
        return None  # tomorrow is another day for each of them
    values = values_in(statement.text)
    if same_words:
        return values
    own = paired(values, values_in(best.text)) if values else ()
    if own is None:
        return () if not facts_lacking(best.text, statement.text) and _agree(best, statement) else None
    if values and _differ(values_in(best.text), own):
        if not says_the_same(best.text, statement.text):
            return None  # the wording would say of this time what only its own is said to have been
        finding = find_conflict(best.text, statement.text)  # two times agree in everything else, either way
        is_another = finding is None or (finding.kind in FACT_FIGURES and best.day != statement.day)
        return own if is_another else None
    return own if _agree(best, statement) and not facts_lacking(best.text, statement.text) else None


def _differ(one: Sequence[Value], other: Sequence[Value]) -> bool:
    return any(normal_value(a) != normal_value(b) for a, b in zip(one, other, strict=True))


def _agree(best: Statement, statement: Statement) -> bool:
    return find_conflict(best.text, statement.text) is None


def _is_said(statement: Statement, sayings: Sequence[Saying]) -> bool:
    """Whether a wording that was taken says all of a statement already."""
    return any(
        (values := told_by(saying.best, statement)) is not None
        and not _differ(values_in(saying.best.text), values or values_in(saying.best.text))
        for saying in sayings
    )


def told_once(saying: Saying) -> str | Declined:
    """The wording of a saying; if its tellings differ in values, with all of these.

    One differing place holds its values as a list. If several do, what belongs together stays together: the sentence
    gives the first telling whole, and those of the others follow it. Both begin with how many times there were.
    """
    places = saying.varying
    if not places:
        return saying.best.text
    rows = _rows(saying, places)
    if len(rows) > MOST_LISTED:
        return Declined(TOO_MANY)
    if len(places) == 1:
        return _listed(saying, places[0], rows)
    return _followed(saying, places, rows)


_Row = tuple[tuple[Value, ...], tuple[date, ...]]


def _rows(saying: Saying, places: Sequence[int]) -> list[_Row]:
    """Every distinct set of values at these places, oldest first, with its days."""
    found: dict[tuple[str, ...], tuple[tuple[Value, ...], list[date]]] = {}
    for statement, values in saying.tellings:
        if values:
            chosen = tuple(values[place] for place in places)
            key = tuple(normal_value(value) for value in chosen)
            found.setdefault(key, (chosen, []))[1].append(statement.day)
    return [(values, tuple(sorted(set(days)))) for values, days in found.values()]


def _listed(saying: Saying, place: int, rows: Sequence[_Row]) -> str:
    value = _values_of(saying.best, saying)[place]
    days = [day for _, row_days in rows for day in row_days]
    written = [values[0].written for values, _ in rows]
    text = saying.best.text
    before, after = _any_time(text[: value.start]), _any_time(text[value.end :])
    if len(set(days)) > 1 and len(rows) <= MOST_DATED and (value.unit or not _NOUN_FOLLOWS.match(after)):
        told = _and([f"{one} ({when})" for one, when in zip(written, _whens(rows), strict=True)])
        return f"{before}{told}{after}"
    sentence = f"{before}{_and(_with_one_unit(written))}{after}"
    if len(set(days)) == 1:
        return sentence
    end = sentence[-1] if sentence.endswith((".", "!")) else "."
    return f"{_times(rows)}: {sentence.rstrip('.!')}{end}"


def _with_one_unit(written: Sequence[str]) -> list[str]:
    """Amounts of which only the last one has its unit, if it is the same word: `50`, `35 minutes`."""
    parts = [text.partition(" ") for text in written]
    if len({unit for _, _, unit in parts}) > 1:
        return list(written)
    return [*(number for number, _, _ in parts[:-1]), written[-1]]


def _followed(saying: Saying, places: Sequence[int], rows: Sequence[_Row]) -> str:
    """The best wording with the values of the first time, and those of the other times after it."""
    (oldest, _), *others = rows
    days = [day for _, row_days in rows for day in row_days]
    several_days = len(set(days)) > 1
    each = several_days and len(rows) <= MOST_DATED
    whens = [f" ({when})" if each else "" for when in _whens(rows)]
    text = saying.best.text
    mine = _values_of(saying.best, saying)
    for place, value in sorted(zip(places, oldest, strict=True), reverse=True):
        text = f"{text[: mine[place].start]}{value.written}{text[mine[place].end :]}"
    text = _any_time(text).rstrip()
    end = text[-1] if text.endswith((".", "!")) else "."
    labels = [_label_of(saying, place) for place in places]
    lead = _leading(saying, places[0]) if len(places) == 2 else ""
    if lead:  # `at step 1050 with 4e-4, 900 with 3e-4`
        told = [
            f"{one.written} with {other.written}{when}"
            for ((one, other), _), when in zip(others, whens[1:], strict=True)
        ]
        following = f"{lead}{_and(told)}"
    else:
        told = [
            _and([f"{label} {value.written}".strip() for label, value in zip(labels, values, strict=True)]) + when
            for (values, _), when in zip(others, whens[1:], strict=True)
        ]
        following = f"then {', '.join(told)}"
    sentence = f"{text.rstrip('.!')}{whens[0]}; {following}{end}"
    return f"{_times(rows)}: {sentence}" if several_days and not each else sentence


def _times(rows: Sequence[_Row]) -> str:
    """`Four times between 17 October and 18 November 2026`. What was told on two days may have been one time."""
    days = [day for _, row_days in rows for day in row_days]
    span = between_in_words(min(days), max(days))
    if len(days) > len(rows):
        return f"{span[:1].upper()}{span[1:]}"
    number = _NUMBERS[len(rows) - 1] if len(rows) <= len(_NUMBERS) else str(len(rows))
    return f"{number} times {span}"


def _leading(saying: Saying, place: int) -> str:
    """The words that lead to a value, if all tellings have the same one before it: `at step `."""
    value = _values_of(saying.best, saying)[place]
    leading = _LEADING.search(saying.best.text[: value.start])
    return leading.group().lower() if leading and (leading.group().count(" ") == 1 or _label_of(saying, place)) else ""


def _label_of(saying: Saying, place: int) -> str:
    """The word before a value that has no unit, if all tellings have it there: `step` in `step 900`."""
    value = _values_of(saying.best, saying)[place]
    labels = {values[place].label for _, values in saying.tellings if values}
    if value.unit or value.kind != "number" or labels != {value.label} or not value.label:
        return ""
    before = re.search(r"([\w'-]+) $", saying.best.text[: value.start])
    return before.group(1) if before else ""


def _values_of(statement: Statement, saying: Saying) -> tuple[Value, ...]:
    return next(values for one, values in saying.tellings if one is statement)


def _whens(rows: Sequence[_Row]) -> list[str]:
    """The days of each row in words; the year where it first stands or changes."""
    flat = list_of_days([day for _, days in rows for day in days], year_of_first=True)
    whens = []
    for _, days in rows:
        whens.append(_and(flat[: len(days)]))
        flat = flat[len(days) :]
    return whens


def _any_time(text: str) -> str:
    """A part of a sentence without the words by which it meant one of several times."""
    return _THIS_TIME.sub("", text)


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
