"""Whether sources bear out what a statement says of them: its words, figures, names and negations, and what stands
beside these. No grammar is read, and no word understood but those that deny."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise

from memory_pipeline.text.facts import NEGATORS, STOP_WORDS, Fact, content_words, find_facts, locate_values
from memory_pipeline.text.languages import negates
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import normalise, plain_text
from memory_pipeline.text.sentences import split_statements, strip_lead_in

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_MARK = re.compile(r"[-_./:]")
_PART_END = re.compile(r"[,;()\[\]{}]|:\s|[.!?]\s|\s[—–-]\s")
#: What stands between the ends of a range, and between the last values of a list: a dash, or a word of any language.
_RANGED = re.compile(r"\s*(?:[–—-]|[^\W\d_]{1,7})\s*")
_LISTED = re.compile(r"\s*(?:[–—-]|,?\s*[^\W\d_]{1,7}|,)\s*")
#: In a statement with more values no ranges are looked for: it is a table.
_MOST_VALUES = 60
#: A value or name belongs to so many words beside it.
_BESIDE = 3
#: Of its words a statement may have this share that no source has; and always one.
_MOST_NEW = 0.34
#: Words are the same from so many first letters on.
_LETTERS = 4


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
        """Whether it is a figure or an identifier."""
        return self.sort not in ("word", "name")

    @property
    def low(self) -> str:
        """The whole word, in lower case."""
        return _low(self.text)

    def matches(self, other: Token) -> bool:
        """Whether the other one says the same: a name has all its letters, a date may lack the year, a number the unit,
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


#: The keys of what stands before a value or name, and after it.
Around = tuple[frozenset[str], frozenset[str]]


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
        self.negators = [match.span() for match in _WORD.finditer(masked) if _is_negator(match.group())]

    def within(self, start: int, end: int) -> list[Token]:
        """The tokens between two places."""
        return [token for token in self.tokens if start <= token.start < end]

    def beside(self, token: Token) -> tuple[list[Token], bool]:
        """What a token belongs to: the words before it, no further than another one of its sort unless there are none
        else; or those after it in its part, if it stands first. With whether it is these."""
        before: list[Token] = []
        for other in reversed(self.within(0, token.start)):
            if other.sort == token.sort and before:
                break
            if other.sort in ("word", "name", "identifier") and other.sort != token.sort:
                before.append(other)
        end = next((end for start, end in reversed(self.parts) if start <= token.start), len(self.text))
        after = [other for other in self.within(token.end, end) if not other.is_value]
        return (before or after)[:_BESIDE], not before

    def around(self, sort: str, names: frozenset[str] = frozenset()) -> Iterator[tuple[Token, Around]]:
        """The tokens of a sort, each with what stands between it and the ones before and after."""
        mine = [place for place, token in enumerate(self.tokens) if _sort(token, names) == sort]
        for before, place, after in zip([-1, *mine], mine, [*mine[1:], len(self.tokens)], strict=False):
            yield (
                self.tokens[place],
                (keys_of(self.tokens[before + 1 : place]), keys_of(self.tokens[place + 1 : after])),
            )

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
        found = []
        for start, end in self.negators:
            first, last = next((part for part in reversed(self.parts) if part[0] <= start), (0, len(self.text)))
            before, after = self.within(first, start), self.within(end, last)
            if before or after:
                found.append((after, before) if after else (before[-2:], []))
        return found


def _value(fact: Fact, start: int, end: int) -> Token:
    if fact.kind != "number":
        return Token(fact.value, fact.kind.replace("code", "identifier"), fact.text, start, end)
    number, _, unit = fact.value.partition(" ")
    return Token(number, f"number {unit}".strip(), fact.text, start, end)


def _with_units(text: str, values: list[Token]) -> list[Token]:
    """The values, those of a list with the unit that only its last one is written with: `40, 25 and 30 minutes`."""
    for place in range(len(values) - 2, -1, -1):
        one, following = values[place], values[place + 1]
        if one.sort == "number" and "number" in following.sort and _LISTED.fullmatch(text[one.end : following.start]):
            values[place] = replace(one, sort=following.sort)
    return values


def _words(text: str, masked: str) -> Iterator[Token]:
    names = {fact.value for fact in find_facts(text) if fact.kind == "name"}
    for match in _WORD.finditer(masked):
        low = _low(match.group())
        if (low in names or content_words(low)) and not _is_negator(low):
            yield Token(low[:_LETTERS], "name" if low in names else "word", match.group(), *match.span())


def _low(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")


def _is_negator(word: str) -> bool:
    low = word.lower().replace("’", "'")
    return low in NEGATORS or (low not in STOP_WORDS and negates(low))


def _sort(token: Token, names: frozenset[str]) -> str:
    """Its sort; a word that is a name elsewhere is one at the start of a sentence, too."""
    return "name" if token.sort == "word" and token.low in names else token.sort


def keys_of(tokens: Iterable[Token]) -> frozenset[str]:
    """The keys of tokens, words whole too, and what identifiers begin and end with: `eu1` of `svc-orders-eu1`."""
    found = set()
    for token in tokens:
        found |= {token.key, token.low}
        if token.sort == "identifier":
            marks = [match.start() for match in _MARK.finditer(token.key)]
            found.update(part for at in marks for part in (token.key[:at], token.key[at + 1 :]))
    return frozenset(found)


def _count(tokens: Iterable[Token], keys: Collection[str]) -> int:
    return sum((token.low if token.sort == "name" else token.key) in keys for token in tokens)


@remembered
def read_statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text, read."""
    return tuple(map(Statement, split_statements(text) or [text]))


class Evidence:
    """The sources that may bear a statement out. `dates`: the dates of each, if they are known."""

    def __init__(self, texts: Sequence[str], dates: Sequence[Sequence[date]] = ()) -> None:
        self.texts, self.dates = list(texts), list(dates)
        self.sources = [read_statements(text) for text in texts]
        self.statements = [statement for source in self.sources for statement in source]
        self.tokens = [token for statement in self.statements for token in statement.tokens]
        self.values = [token for token in self.tokens if token.is_value]
        self.words = frozenset(token.key for token in self.tokens if not token.is_value)
        self.whole_words = frozenset(token.text.lower() for token in self.tokens if not token.is_value)
        self.names = frozenset(token.low for token in self.tokens if token.sort == "name")

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

    @cached_property
    def places(self) -> list[tuple[Token, Around, Statement]]:
        """The values and names, with what each may belong to, and its statement. The only name of a source may belong
        to anything in it."""
        found: list[tuple[Token, Around, Statement]] = []
        for source in self.sources:
            tokens = [token for statement in source for token in statement.tokens]
            everything = keys_of(tokens)
            is_alone = len({token.low for token in tokens if token.low in self.names}) == 1
            for statement in source:
                for sort in {_sort(token, self.names) for token in statement.tokens} - {"word", "identifier"}:
                    for token, around in statement.around(sort, self.names):
                        whole = (everything, everything) if sort == "name" and is_alone else around
                        found.append((replace(token, sort=sort), whole, statement))
        return found

    def has(self, token: Token) -> bool:
        """Whether any source has a token, or it is a date beside one, or a count of all of them."""
        if token.sort == "name":
            return any(word.startswith(token.text.lower()[: max(3, len(token.text) - 2)]) for word in self.whole_words)
        if not token.is_value:
            return token.key in self.words
        counts = token.sort == "number x" and token.key.isdigit() and int(token.key) <= len(self.sources)
        return counts or token.key in self.days or any(token.matches(other) for other in self.values)

    def saying(self, tokens: Sequence[Token]) -> list[bool]:
        """Of each source whether it says all of some tokens."""
        keys = [keys_of(token for statement in source for token in statement.tokens) for source in self.sources]
        return [_count(tokens, known) == len(tokens) for known in keys]


def find_unborne(text: str, evidence: Evidence) -> list[str]:
    """Everything in a statement that the sources do not bear out, in words."""
    if normalise(strip_lead_in(text)) in evidence.sentences:
        return []
    statement = Statement(text)
    problems = [*_unknown(statement, evidence), *_misplaced(statement, evidence), *_turned(statement, evidence)]
    return list(dict.fromkeys(problems))


def find_unborne_in(text: str, evidence: Evidence) -> str | None:
    """The first thing in a text of several statements that the sources do not bear out, or None."""
    return next((problem for one in split_statements(text) or [text] for problem in find_unborne(one, evidence)), None)


def is_unsaid_by_some(text: str, evidence: Evidence) -> bool:
    """Whether a source lacks a figure or a name of a statement that another source says whole."""
    known = [token for token in Statement(text).tokens if evidence.has(token)]
    return any(evidence.saying(known)) and not all(evidence.saying([one for one in known if one.sort != "word"]))


def _unknown(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """What no source has."""
    strange = [token for token in statement.tokens if not evidence.has(token)]
    words = [token for token in strange if token.sort == "word"]
    if len(words) > max(1, _MOST_NEW * sum(token.sort == "word" for token in statement.tokens)):
        yield f"no source says '{words[0].text}'"
    yield from (f"no source has the {one.sort.split()[0]} '{one.text}'" for one in strange if one.sort != "word")


def _misplaced(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The figures and names that the sources have beside something else."""
    for token in statement.tokens:
        sort = _sort(token, evidence.names)
        if sort in ("word", "identifier") or token.key in evidence.days:
            continue
        words, is_after = statement.beside(replace(token, sort=sort))
        beside = [word for word in words if evidence.has(word)]
        mine = {one: sides for other, sides, one in evidence.places if token.matches(other)}
        best = max((_count(beside, before | after) for before, after in mine.values()), default=0)
        rivals = [place for place in evidence.places if place[0].sort == sort and not token.matches(place[0])]
        beaten = {
            one
            for _, sides, one in rivals
            if one in mine and _count(beside, sides[is_after]) > _count(beside, mine[one][is_after])
        }
        is_elsewhere = any(
            one not in mine
            and _count(beside, before | after) > best
            and not any(other.matches(value) for value in statement.values)
            for other, (before, after), one in rivals
        )
        if mine and (is_elsewhere or len(beaten) == len(mine) or 2 * best < len(beside)):
            yield f"'{token.text}' belongs to something else in the sources"


def _turned(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """What a statement denies and no source does, or the other way round."""
    denials = [denial for one in evidence.statements for denial in one.denials]
    denied_keys = [keys_of(near) for near, _ in denials]
    for scope, _ in statement.denials:
        shared = max((_count(scope, keys) for keys in denied_keys), default=0)
        if shared < min(2, len(scope)) and (not shared or 2 * shared < len(scope)):
            yield f"no source denies '{_shown(scope)}'"
    for part, mine, denied in statement.said:
        told = [times for one in evidence.statements for _, keys, times in one.said if _count(part, keys) == len(part)]
        if denied and told and denied not in told:
            yield f"no source denies '{_shown(part)}' so often"
        for scope, before in [] if denied or 0 in told else denials:
            predicate, objects = scope[0], scope[1:]
            shared = _count(objects, mine)
            is_about = 2 * shared >= len(objects) and shared if objects else not before or _count(before, mine)
            if is_about and predicate.key in mine:
                yield f"a source denies '{_shown(scope)}'"


def _shown(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens[:4])


def ranged_facts(text: str, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The keys of the sources' facts between two joined values of a text that are the least and the greatest of all
    that it does not say elsewhere."""
    found: set[tuple[str, str]] = set()
    for statement in read_statements(text):
        for low, high in pairwise(statement.values if len(statement.values) <= _MOST_VALUES else ()):
            if low.sort == high.sort and _RANGED.fullmatch(statement.text[low.end : high.start]):
                others = [value for value in statement.values if value not in (low, high)]
                near = (value for source in evidence.sources for value in _belonging(statement, low, source))
                told = [value for value in near if not any(value.matches(other) for other in others)]
                ends = sorted(told, key=_order)
                if told and low.matches(ends[0]) and high.matches(ends[-1]) and _order(low) < _order(high):
                    found |= {_fact_key(value) for value in told}
    return frozenset(found)


def _belonging(statement: Statement, value: Token, source: Sequence[Statement]) -> list[Token]:
    """The values of a source that belong most closely to what a value of a statement belongs to."""
    beside, _ = statement.beside(value)
    around = [one for each in source for one in each.around(value.sort)]
    places = [(_count(beside, before | after), other) for other, (before, after) in around]
    best = max((shared for shared, _ in places), default=0)
    return [other for shared, other in places if shared == best]


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
    """Whether a figure or identifier of a text that no source has as such comes from them all the same: a count of
    them, a date beside one, a number of a list, or words of one source joined by `/`."""
    if fact.kind == "identifier":
        parts = [part for part in fact.value.split("/") if part]
        words = [word for part in parts for word in Statement(part).tokens if word.text.isalpha()]
        return len(parts) == len(words) > 1 and any(evidence.saying(words))
    values = [value for statement in read_statements(text) for value in statement.values]
    return any(evidence.has(value) for value in values if _fact_key(value) == fact.key or value.text == fact.text)
