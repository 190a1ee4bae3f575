"""Checks a statement against its sources by code: figures, names and denials, and the values that stand in a range. No
grammar is read, and no word understood but those that deny."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise

from memory_pipeline.text.facts import NEGATORS, STOP_WORDS, WORD, Fact, content_words, find_facts, locate_values
from memory_pipeline.text.languages import negates
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import normalise, plain_text
from memory_pipeline.text.sentences import split_statements, strip_lead_in

_NUMERAL = re.compile(r"-?\d+(?:\.\d+)?")
_MARK = re.compile(r"[-_./:]")
_PART_END = re.compile(r"[,;()\[\]{}]|:\s|[.!?]\s|\s[—–-]\s")
#: What stands between the ends of a range, and between the last values of a list: a dash, or a word of any language.
_RANGED = re.compile(r"\s*(?:[–—-]|[^\W\d_]{1,7})\s*")
_LISTED = re.compile(r"\s*(?:[–—-]|,?\s*[^\W\d_]{1,7}|,)\s*")
#: In a statement with more values no ranges are looked for: it is a table.
_MOST_VALUES = 60
#: A value or name belongs to so many words beside it.
_BESIDE = 3
#: Words are the same from so many first letters on.
_LETTERS = 4
#: Forms of a name differ in its last letter, of a longer one than this in its last two.
_SHORT = 6


@dataclass(frozen=True, slots=True)
class Token:
    """A word or value. `key`: what is compared; `sort`: `word`, `name`, or the kind and unit of a value."""

    key: str
    sort: str
    text: str
    start: int
    end: int

    @property
    def is_value(self) -> bool:
        """True if it is a figure or an identifier."""
        return self.sort not in ("word", "name")

    @property
    def low(self) -> str:
        """The whole word, in lower case."""
        return _low(self.text)

    def matches(self, other: Token) -> bool:
        """True if the other one says the same: a name has all its letters, a date may lack the year, a number the unit,
        and an identifier the part that it shares with others."""
        mine, theirs = self.key, other.key
        if self.sort == other.sort == "identifier":
            return mine in keys_of([other])
        if self.sort == other.sort == "date" and "----" in mine + theirs:
            return mine[-6:] == theirs[-6:]
        if mine != theirs or self.is_value != other.is_value:
            return False
        if not self.is_value:
            return "name" not in (self.sort, other.sort) or self.low == other.low
        return other.sort == self.sort or (self.sort == "number" and "number" in other.sort)


class Statement:
    """A sentence, read: its words and values in order, its parts between marks, and where it denies."""

    def __init__(self, text: str) -> None:
        self.text = plain_text(text)
        self.values = _with_units(self.text, [_value(*located) for located in locate_values(self.text)])
        letters = list(self.text)
        for value in self.values:
            letters[value.start : value.end] = "0" * (value.end - value.start)
        masked = "".join(letters)
        self.tokens = sorted([*self.values, *_words(self.text, masked)], key=lambda token: token.start)
        self.parts = list(pairwise([0, *(match.start() for match in _PART_END.finditer(masked)), len(self.text)]))
        self.negators = [match.span() for match in WORD.finditer(masked) if _is_negator(match.group())]

    @cached_property
    def ranges(self) -> list[tuple[Token, Token]]:
        """The pairs of values of one sort that a dash or one short word joins; none in a table."""
        return [
            (low, high)
            for low, high in pairwise(self.values if len(self.values) <= _MOST_VALUES else ())
            if low.sort == high.sort and _RANGED.fullmatch(self.text[low.end : high.start])
        ]

    def within(self, start: int, end: int) -> list[Token]:
        """The tokens between two places."""
        return [token for token in self.tokens if start <= token.start < end]

    def beside(self, token: Token) -> list[Token]:
        """The tokens that a value belongs to: the words before it, no further than another one of its sort unless there
        are none else; or those after it in its part, if it stands first."""
        before: list[Token] = []
        for neighbour in reversed(self.within(0, token.start)):
            if neighbour.sort == token.sort and before:
                break
            if neighbour.sort in ("word", "name", "identifier") and neighbour.sort != token.sort:
                before.append(neighbour)
        end = next((end for start, end in reversed(self.parts) if start <= token.start), len(self.text))
        after = [neighbour for neighbour in self.within(token.end, end) if not neighbour.is_value]
        return (before or after)[:_BESIDE]

    def around(self, sort: str) -> Iterator[tuple[Token, frozenset[str]]]:
        """The values of a sort, each with the keys of what stands between it and the ones before and after."""
        mine = [place for place, token in enumerate(self.tokens) if token.sort == sort]
        for before, place, after in zip([-1, *mine], mine, [*mine[1:], len(self.tokens)], strict=False):
            yield self.tokens[place], keys_of(self.tokens[before + 1 : after])

    @cached_property
    def said(self) -> list[tuple[list[Token], frozenset[str], int]]:
        """The tokens of each part, their keys, and how often it denies."""
        tokens = [self.within(*part) for part in self.parts]
        denied = [sum(start <= place < end for place, _ in self.negators) for start, end in self.parts]
        return [(some, keys_of(some), times) for some, times in zip(tokens, denied, strict=True) if some]

    @cached_property
    def denials(self) -> list[tuple[list[Token], list[Token]]]:
        """For each negator what it denies, the tokens after it in its part or else the two before it, and what stands
        before that."""
        denials = []
        for start, end in self.negators:
            first, last = next((part for part in reversed(self.parts) if part[0] <= start), (0, len(self.text)))
            before, after = self.within(first, start), self.within(end, last)
            if before or after:
                denials.append((after, before) if after else (before[-2:], []))
        return denials


def _value(fact: Fact, start: int, end: int) -> Token:
    if fact.kind != "number":
        return Token(fact.value, fact.kind.replace("code", "identifier"), fact.text, start, end)
    number, _, unit = fact.value.partition(" ")
    return Token(number, f"number {unit}".strip(), fact.text, start, end)


def _with_units(text: str, values: list[Token]) -> list[Token]:
    """The values, those of a list with the unit that only its last one is written with: `40, 25 and 30 minutes`."""
    for place in range(len(values) - 2, -1, -1):
        value, following = values[place], values[place + 1]
        if (
            value.sort == "number"
            and "number" in following.sort
            and _LISTED.fullmatch(text[value.end : following.start])
        ):
            values[place] = replace(value, sort=following.sort)
    return values


def _words(text: str, masked: str) -> Iterator[Token]:
    names = {fact.value for fact in find_facts(text) if fact.kind == "name"}
    for match in WORD.finditer(masked):
        low = _low(match.group())
        if (low in names or content_words(low)) and not _is_negator(low):
            yield Token(low[:_LETTERS], "name" if low in names else "word", match.group(), *match.span())


def _low(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")


def _is_negator(word: str) -> bool:
    low = word.lower().replace("’", "'")
    return low in NEGATORS or (low not in STOP_WORDS and negates(low))


def keys_of(tokens: Iterable[Token]) -> frozenset[str]:
    """The keys of tokens, words whole too, and what identifiers begin and end with: `eu1` of `svc-orders-eu1`."""
    keys = set()
    for token in tokens:
        keys |= {token.key, token.low}
        if token.sort == "identifier":
            marks = [match.start() for match in _MARK.finditer(token.key)]
            keys.update(part for position in marks for part in (token.key[:position], token.key[position + 1 :]))
    return frozenset(keys)


def _count(tokens: Iterable[Token], keys: Collection[str]) -> int:
    return sum((token.low if token.sort == "name" else token.key) in keys for token in tokens)


@remembered
def read_statements(text: str) -> tuple[Statement, ...]:
    return tuple(map(Statement, split_statements(text) or [text]))


class Evidence:
    """The sources that may bear a statement out. `dates`: the dates of each, if they are known."""

    def __init__(self, texts: Sequence[str], dates: Sequence[Sequence[date]] = ()) -> None:
        self.texts, self.dates = list(texts), list(dates)
        self.sources = [read_statements(text) for text in texts]
        self.statements = [statement for source in self.sources for statement in source]
        self.tokens = [token for statement in self.statements for token in statement.tokens]
        self.values = [token for token in self.tokens if token.is_value]
        self.words = frozenset(token.text.lower() for token in self.tokens if not token.is_value)

    def only(self, numbers: Iterable[int]) -> Evidence:
        """The same for some of the sources, by their place from 0."""
        chosen = list(numbers)
        return Evidence([self.texts[n] for n in chosen], [self.dates[n] for n in chosen] if self.dates else ())

    @cached_property
    def sentences(self) -> frozenset[str]:
        """The normal forms of the statements."""
        return frozenset(normalise(strip_lead_in(statement.text)) for statement in self.statements)

    @cached_property
    def days(self) -> frozenset[str]:
        """The keys of the dates and times that head the sources or stand beside them."""
        days = {day for dates in self.dates for day in dates}
        heads = {
            fact.value for text in self.texts for fact, _, _ in locate_values(text) if fact.kind in ("date", "time")
        }
        forms = (form for day in days for form in (f"{day}", f"----{day:-%m-%d}", f"{day:%A}".lower()))
        return frozenset([*forms, *(heads - {token.key for token in self.tokens})])

    def has(self, token: Token) -> bool:
        """True if any source has a value or a name, in any form, or it is a date beside one, or a count of all."""
        if not token.is_value:
            low = token.low
            return any(word.startswith(low[: max(3, len(low) - 1 - (len(low) > _SHORT))]) for word in self.words)
        counts = token.sort == "number x" and token.key.isdigit() and int(token.key) <= len(self.sources)
        return counts or token.key in self.days or any(token.matches(value) for value in self.values)

    def rounds_to(self, token: Token) -> bool:
        """True if a number of a source, rounded to as many decimals as a token has, is that."""
        decimals = len(token.key.partition(".")[2])
        numerals = (value for value in self.values if value.sort == token.sort and _NUMERAL.fullmatch(value.key))
        return bool(_NUMERAL.fullmatch(token.key)) and any(
            round(float(numeral.key), decimals) == float(token.key) for numeral in numerals
        )


def find_unborne(text: str, evidence: Evidence) -> list[str]:
    """The figures, names and denials of a statement that the sources do not bear out, in words."""
    if normalise(strip_lead_in(text)) in evidence.sentences:
        return []
    statement = Statement(text)
    return list(dict.fromkeys([*_unknown(statement, evidence), *_turned(statement, evidence)]))


def find_unborne_in(text: str, evidence: Evidence) -> str | None:
    """The first thing in a text of several statements that the sources do not bear out, or None."""
    return next(
        (problem for part in split_statements(text) or [text] for problem in find_unborne(part, evidence)), None
    )


def _unknown(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The figures and names that no source has."""
    ends = [end for ends in statement.ranges for end in ends]
    for token in statement.tokens:
        is_rounded = token in ends and evidence.rounds_to(token)
        if token.sort != "word" and not evidence.has(token) and not is_rounded:
            yield f"no source has the {token.sort.split()[0]} '{token.text}'"


def _turned(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The words that a statement denies and no source does, or the other way round."""
    denials = [denial for source in evidence.statements for denial in source.denials]
    denied_keys = [keys_of(near) for near, _ in denials]
    for scope, _ in statement.denials:
        shared = max((_count(scope, keys) for keys in denied_keys), default=0)
        if shared < min(2, len(scope)) and (not shared or 2 * shared < len(scope)):
            yield f"no source denies '{_join_tokens(scope)}'"
    for part, mine, denied in statement.said:
        known_times = [
            times for source in evidence.statements for _, keys, times in source.said if _count(part, keys) == len(part)
        ]
        if denied and known_times and denied not in known_times:
            yield f"no source denies '{_join_tokens(part)}' so often"
        for scope, before in [] if denied or 0 in known_times else denials:
            predicate, objects = scope[0], scope[1:]
            shared = _count(objects, mine)
            is_about = 2 * shared >= len(objects) and shared if objects else not before or _count(before, mine)
            if is_about and predicate.key in mine:
                yield f"a source denies '{_join_tokens(scope)}'"


def _join_tokens(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens[:4])


def ranged_facts(text: str, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The keys of the sources' facts between two joined values of a text that are the least and the greatest of all
    that it does not say elsewhere."""
    facts: set[tuple[str, str]] = set()
    for statement in read_statements(text):
        for low, high in statement.ranges:
            others = [value for value in statement.values if value not in (low, high)]
            near = (value for source in evidence.sources for value in _belonging(statement, low, source))
            own_values = [value for value in near if not any(value.matches(other) for other in others)]
            ends = sorted(own_values, key=_order)
            if own_values and low.matches(ends[0]) and high.matches(ends[-1]) and _order(low) < _order(high):
                facts |= {_fact_key(value) for value in own_values}
    return frozenset(facts)


def _belonging(statement: Statement, value: Token, source: Sequence[Statement]) -> list[Token]:
    """The values of a source that belong most closely to what a value of a statement belongs to."""
    neighbours = statement.beside(value)
    places = [(_count(neighbours, keys), candidate) for each in source for candidate, keys in each.around(value.sort)]
    best = max((shared for shared, _ in places), default=0)
    return [candidate for shared, candidate in places if shared == best]


def _order(value: Token) -> tuple[float, str]:
    try:
        return float(value.key), ""
    except ValueError:
        return 0.0, value.key


def _fact_key(value: Token) -> tuple[str, str]:
    kind, _, unit = value.sort.partition(" ")
    return kind, f"{value.key} {unit}".strip()


def implied_facts(text: str, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The keys of the sources' facts that a text has in another form: in a range, in a list whose last value alone has
    the unit, or as a name after a number."""
    tokens = [token for statement in read_statements(text) for token in statement.tokens]
    names = {("name", token.text.lower()) for token in tokens if token.text[:1].isupper()}
    return ranged_facts(text, evidence) | names | {_fact_key(token) for token in tokens if token.is_value}


def is_derived(fact: Fact, text: str, evidence: Evidence) -> bool:
    """True if a figure or identifier of a text that no source has as such comes from them all the same: a count of
    them, a date beside one, a number of a list, a rounded end of a range, or words of one source joined by `/`."""
    if fact.kind == "identifier":
        parts = [part for part in fact.value.split("/") if part]
        words = [word for part in parts for word in Statement(part).tokens if word.text.isalpha()]
        source_keys = (
            keys_of(token for statement in source for token in statement.tokens) for source in evidence.sources
        )
        return len(parts) == len(words) > 1 and any(_count(words, keys) == len(words) for keys in source_keys)
    return any(
        evidence.has(value) or (evidence.rounds_to(value) and any(value in ends for ends in statement.ranges))
        for statement in read_statements(text)
        for value in statement.values
        if _fact_key(value) == fact.key or value.text == fact.text
    )
