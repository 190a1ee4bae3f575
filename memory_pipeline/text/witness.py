"""A second reader of facts, independent of the distillers and the judge: it reports which facts of the sources a
text keeps, attaches or has lost.

It reads token by token, whereas `wording.facts` uses patterns, so that each detects errors of the other. It finds
numbers with their units, dates and times, names, identifiers, negations and recommendations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import strip_leading

#: Opens the line of facts that an abstraction has beside its text.
_ATTACHED = "\nDetails:"
_UNITS = {
    "ms": ("ms", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
    "%": ("%", "percent", "pct"),
    "kb": ("kb", "kib"),
    "mb": ("mb", "mib"),
    "gb": ("gb", "gib"),
    "tb": ("tb", "tib"),
    "$": ("$", "usd", "dollar", "dollars"),
    "€": ("€", "eur", "euro", "euros"),
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}
_SMALL = dict(zip("two three four five six seven eight nine ten eleven twelve".split(), range(2, 13), strict=True))
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NEGATORS = frozenset("not no never none nobody nothing neither nor without cannot".split())
_ADVICE = frozenset("should must always prefer avoid recommend recommended ought".split())
_EMPTY = frozenset(
    "a an the and or but if so of in on at to for from by with as is are was were be been being it its this that these "
    "those there we you they he she i my our your their them us do does did has have had will would can could may "
    "might just also very too into than then when while any all each some such only more most other".split()
)
_EDGES = "`'\"“”‘’*_~.,;:!?()[]{}<>|—–…"
_BREAKS = ",;:.!?)]}'\""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=:)\s+|[•|—]|\s[-–]\s")
_ASSIGNED = re.compile(r"(?<=\w)=(?=[\w~])")
_FIGURE = re.compile(r"[~≈<>≤≥+]?(-?)([$€£]?)(\d[\d,]*(?:\.\d+)?)([a-zµ%]*)$")
_END = r"(\d[\w.:-]{0,60}?|[A-Za-z][\w-]{0,30}?\d[\w-]{0,30}?)"
_RANGE = re.compile(
    rf"(?<![\w.-]){_END}\s?[a-z%]{{0,8}}(?:\s+(?:to|and)\s+|\s?[–-]\s?){_END}(?=[a-z%]{{0,8}}(?:[\s,;:)]|\.(?!\d)|$))"
)
#: A value with the word before it and the word after it.
_PLACED = re.compile(
    r"(?:(?P<before>[A-Za-z_]{1,40})\W{0,5})?(?<![\w.])(?P<value>[A-Za-z]\w{0,40}\d[\w-]{0,40}|\d[\w:]{0,40}_\w{1,40}|\d\d?:\d\d|\d[\d,]*(?:\.\d+)?)"
    r"(?:[a-z%]{1,3}(?![a-z]))?(?=(?:\W{0,3}(?P<after>[A-Za-z_]{2,40}))?)"
)
_LISTED = re.compile(
    r"(?<![\w.])(?P<list>(?:\d[\d.]*\s*(?:,\s*(?:and|or)\s|,\s|\sand\s|\sor\s|\sto\s)\s*){1,60})\d[\d.,]*\s?(?P<unit>[A-Za-z%]+)"
)
_PAIR = re.compile(r"(?<![\w./])(\d{1,5})/(\d{1,5})(?![\w/])")
_ISO_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:t.*)?$")
_CLOCK = re.compile(r"(\d{1,2}:\d{2})(?::\d{2})?(?:am|pm|z)?$")
_MARKED = re.compile(r"[a-z0-9][_/@#\\]|[_/@#\\][a-z0-9]|[a-z]\.[a-z]|\d\.\d+\.\d|^--[a-z]")


@dataclass(frozen=True, slots=True)
class Said:
    """One fact in a text that must not be lost: its kind, its compared form, and its words."""

    kind: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The number of facts in the sources, how many of them the text keeps or attaches, and the lost ones."""

    found: int
    kept: int
    attached: int
    lost: tuple[Said, ...]


def what_is_kept(sources: Sequence[str], stored: str) -> Kept:
    """Read the sources and the memory that replaces them again, and look up every fact of the sources in that
    memory."""
    text, _, details = stored.partition(_ATTACHED)
    in_text, in_details = _reading_of(text), _reading_of(details)
    facts = {(said.kind, said.value): said for source in reversed(sources) for said in read_said(source)}
    kept = {key for key in facts if in_text.has(*key)}
    attached = {key for key in facts if key not in kept and in_details.has(*key)}
    ranged = _in_ranges(text, sources, [said for key, said in facts.items() if key not in kept and key not in attached])
    kept |= ranged
    lost = tuple(said for key, said in sorted(facts.items()) if key not in kept and key not in attached)
    return Kept(len(facts), len(kept), len(attached), lost)


def _in_ranges(text: str, sources: Sequence[str], lost: Sequence[Said]) -> set[tuple[str, str]]:
    """The facts that lie in a range of the text (`31s to 36s`) whose ends stand in sources where the facts stand."""
    ranges = [(match[1], match[2]) for match in _RANGE.finditer(text)]
    if not lost or not ranges:
        return set()
    where: dict[str, set[str]] = {}
    for match in (match for source in sources for match in _PLACED.finditer(source)):
        where.setdefault(_even(match["value"]), set()).update(filter(None, (match["before"], match["after"])))
    found = set()
    for low, high in ranges:
        ends = where.get(_even(low), set()) & where.get(_even(high), set())
        for said in lost:
            value = said.value.split(" ")[0]
            places = ends & where.get(_even(value), set())
            if said.kind in ("number", "date", "identifier") and places and _lies_between(value, low, high):
                found.add((said.kind, said.value))
    return found


def _even(value: str) -> str:
    """A number in one form, or the text as it is, in lower case."""
    try:
        return f"{float(value.replace(',', '')):.12g}"
    except ValueError:
        return value.lower()


def _lies_between(value: str, low: str, high: str) -> bool:
    try:
        return float(_even(low)) <= float(_even(value)) <= float(_even(high))
    except ValueError:
        shapes = {re.sub(r"\d", "0", one.lower()) for one in (value, low, high)}
        return len(shapes) == 1 and low.lower() <= value.lower() <= high.lower()


class _Reading:
    """A text that was read once, for looking up facts."""

    def __init__(self, text: str) -> None:
        said = read_said(text)
        self._keys = {(one.kind, one.value) for one in said} | set(_with_the_last_unit(text))
        self._keys |= {("number", f"{float(part):g}") for pair in _PAIR.findall(text) for part in pair}
        self._values = {one.value.split(" ")[0] for one in said if one.kind == "number"}
        self._words = f" {' '.join(_bare(token) for token in text.split())} "
        self._plain = text.lower()
        firsts = (part.split()[:1] for part in _SENTENCE.split(text.lower()) if part)
        self._firsts = {_root(_bare(token)) for first in firsts for token in first}
        self._sentences = [{_root(_bare(token)) for token in part.split()} for part in _SENTENCE.split(text.lower())]

    def has(self, kind: str, value: str) -> bool:
        """Whether the text contains the fact, in the same or equivalent words."""
        if (kind, value) in self._keys:
            return True
        if kind in ("name", "identifier", "date"):
            return f" {value} " in self._words or (kind == "identifier" and value in self._plain)
        if kind == "number":  # a figure whose unit is spelled out elsewhere in the sentence
            return " " not in value and value in self._values
        if kind == "recommendation" and value in self._firsts:  # an imperative
            return True
        signs = _NEGATORS if kind == "negation" else _ADVICE
        roots = {_root(sign) for sign in signs} | ({"n't"} if kind == "negation" else set())
        return any(value in words and (words & roots or _refuses(words)) for words in self._sentences)


def _with_the_last_unit(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of a list with the unit that only its last one has: `40, 25 and 30 minutes`."""
    for match in _LISTED.finditer(text):
        unit = _UNIT_OF.get(match["unit"].lower())
        for figure in re.findall(r"\d[\d,]*(?:\.\d+)?(?=\W|$)", match["list"]) if unit else ():
            value = figure.replace(",", "")
            yield "number", f"{float(value):g} {unit}" if len(value) < 6 else f"{value} {unit}"


@remembered
def _reading_of(text: str) -> _Reading:
    return _Reading(text)


@remembered
def read_said(text: str) -> tuple[Said, ...]:
    """Every fact in a text that must not be lost. A leading timestamp or date of a line is not part of its content."""
    return tuple(_all_said(text))


def _all_said(text: str) -> Iterator[Said]:
    lines = "\n".join(strip_leading(line) for line in text.split("\n"))
    for sentence in _SENTENCE.split(_ASSIGNED.sub(" ", lines)):
        tokens = [token for token in (sentence or "").split() if token.strip(_EDGES)]
        for place, token in enumerate(tokens):
            breaks_off = token[-1] in _BREAKS or place + 1 == len(tokens)  # what comes next is not a unit of it
            following = "" if breaks_off else tokens[place + 1]
            yield from _said_by(token, following, place == 0 or token[0] in "\"'(*[`", tokens[place + 1 :])


def _said_by(token: str, following: str, opens: bool, rest: Sequence[str]) -> Iterator[Said]:
    bare = _bare(token)
    after = _bare(following)
    if bare in _NEGATORS or bare.endswith(("n't", "n’t")):
        yield from _bearing("negation", token, rest)
    elif bare in _ADVICE:
        yield from _bearing("recommendation", token, rest)
    elif _ISO_DAY.match(bare) or _CLOCK.match(bare):
        match = _ISO_DAY.match(bare) or _CLOCK.match(bare)
        assert match is not None
        yield Said("date", match[1].zfill(5), token)
    elif figure := _FIGURE.match(bare):
        yield from _number(figure, after, f"{token} {following}".strip(" .,;:!?"))
    elif bare in _SMALL and (after in _UNIT_OF):
        yield Said("number", f"{_SMALL[bare]} {_UNIT_OF[after]}", f"{token} {following}")
    elif bare[:3] in _MONTHS and token[:1].isupper() and re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)?", after):
        yield Said("date", f"{bare[:3]} {int(re.sub('[a-z]', '', after))}", f"{token} {following}")
    elif _MARKED.search(bare):
        yield Said("identifier", bare, token)
    elif token.strip(_EDGES)[:1].isupper() and bare not in _EMPTY and len(bare) > 1:
        word = token.strip(_EDGES)
        if not opens or (word.isupper() and len(word) > 2):
            yield Said("name", bare.removesuffix("'s").removesuffix("’s"), word)


def _number(figure: re.Match[str], after: str, words: str) -> Iterator[Said]:
    sign, currency, digits, glued = figure.groups()
    value = digits.replace(",", "")
    value = f"{float(value):g}" if len(value) < 6 else value
    unit = _UNIT_OF.get(glued) or _UNIT_OF.get(currency) or (_UNIT_OF.get(after) if not glued else None) or glued
    yield Said("number", f"{sign}{value}{' ' + unit if unit else ''}", words if unit else words.split()[0])


def _bearing(kind: str, token: str, rest: Sequence[str]) -> Iterator[Said]:
    """A negation or a recommendation with the word it refers to."""
    word = next((bare for other in rest[:4] if (bare := _bare(other)) and bare not in _EMPTY), None)
    if word is not None:
        yield Said(kind, _root(word), f"{token} {word}")


def _refuses(words: set[str]) -> bool:
    return any(word.endswith(("n't", "n’t")) for word in words)


def _bare(token: str) -> str:
    return token.strip(_EDGES).lower().replace("’", "'")


def _root(word: str) -> str:
    """The start of a word, which its forms share."""
    return word if len(word) <= 4 or any(c.isdigit() for c in word) else word[: max(4, len(word) - 3)]
