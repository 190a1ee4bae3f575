"""The sources of a statement, read: which of them say its words, which values each has, and what these belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from memory_pipeline.text.clauses import Segment, Statement, Value, Word, read_text
from memory_pipeline.text.facts import find_facts, locate_values
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.sameness import same_word

#: Words that say little on their own: an abstraction may use them where no source does.
LIGHT = frozenset(
    "though although while whereas least especially particularly notably else far so above below under over others "
    "value values figure figures size sizes amount amounts time times duration durations number numbers count counts "
    "counted reading readings measurement measurements measured record records recorded result results outcome "
    "outcomes range ranges ranged ranging list lists listed item items entry entries case cases instance instances "
    "occasion occasions run runs ran running check checks report reports reported reporting show shows showed shown "
    "reach reaches reached reaching contain contains contained include includes included including comprise comprises "
    "consist consists vary varies varied differ differs lie lies total take takes took taken taking last lasts lasted "
    "lasting go goes went gone come comes came get gets got happen happens happened occur occurs occurred keep stay "
    "stays stayed remain remains become becomes give gives given gave make makes made making use uses used using "
    "perform performs performed follow respectively otherwise instead see stand stands different various thing things "
    "one ones kind kinds way ways place places part parts even per each respective overall between from until through "
    "towards there also still about around roughly approximately against among within along without day days date "
    "dates event events being must should shall need needs needed ought do exactly namely note noted say says "
    "said state states stated mention mentions mentioned call calls called name named known like such well onwards "
    "respectively aspect aspects element elements component components capability capabilities area areas property "
    "properties information detail details fact facts reason reasons cause causes caused causing lead leads led "
    "leading mean means meaning work works worked working have has had hold holds held put want wants wanted let lets "
    "new".split()
)
ANAPHORS = frozenset(
    "we i our my it its they their them this that these those he she his her him there then such one".split()
)
#: Quantity and frequency, by how much of the sources must bear it out.
ALWAYS = frozenset("always all every each consistently constantly invariably entirely everywhere everyone both".split())
MOSTLY = frozenset(
    "most mostly usually typically generally normally mainly predominantly largely majority primarily".split()
)
OFTEN = frozenset("often frequently repeatedly regularly commonly recurring recurrently many several again".split())
SOMETIMES = frozenset("sometimes occasionally some partly".split())
RARELY = frozenset("rarely seldom hardly".split())
TIMES = {"once": 1, "twice": 2, "thrice": 3}
QUANTIFIERS = ALWAYS | MOSTLY | OFTEN | SOMETIMES | RARELY | frozenset(TIMES)
#: Order in time, which only a source or its date can give.
ORDER = frozenset(
    "later then afterwards subsequently eventually finally first previously earlier meanwhile now".split()
)
#: How values compare with the others of their kind: below them or above.
RELATIVE = {
    **dict.fromkeys("fast faster quick quicker short shorter low lower small smaller less fewer".split(), -1),
    **dict.fromkeys("slow slower long longer high higher large larger big bigger greater more peak".split(), 1),
}
#: What is open, and what is done.
OPEN = frozenset(
    "todo open pending planned plan plans planning scheduled unfinished wip upcoming outstanding unresolved yet".split()
)
#: How much a word before a value's own segment says about what the value belongs to; one in the segment says 1.
_BEFORE = 0.75
_LISTED = re.compile(r"\s*(?:,|and|or|,\s*and|,\s*or)\s*")


@dataclass(frozen=True)
class Place:
    """One value of a source: the value, its statement, and the number of its segment there."""

    value: Value
    statement: Statement
    segment: int


@dataclass
class Source:
    """One member of a cluster, read. `dates`: its own dates, which stand beside its content."""

    text: str
    dates: tuple[date, ...] = ()
    _known: dict[tuple[int, str, bool], bool] = field(default_factory=dict)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Its statements."""
        return read_text(self.text)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Its values, and the dates that head it."""
        inside = [
            Place(value, statement, statement.segment_of(value))
            for statement in self.statements
            for value in statement.values
        ]
        have = {place.value.key for place in inside}
        first = self.statements[0]
        heading = [fact for fact, _, _ in locate_values(self.text) if fact.kind in ("date", "time")]
        heading += [fact for day in self.dates for text in _day_forms(day) for fact in find_facts(f"on {text}")]
        for fact in heading:
            if fact.key not in have:
                have.add(fact.key)
                inside.append(Place(Value(fact.kind, fact.text, fact.value, "", 0, 0), first, 0))
        return tuple(inside)

    def says(self, word: Word, statement: int | None = None) -> bool:
        """Whether it has a word or a form of it, in one of its statements or anywhere."""
        key = (-1 if statement is None else statement, word.low, word.is_name)
        if key not in self._known:
            within = self.statements if statement is None else (self.statements[statement],)
            self._known[key] = any(_has(one, word) for one in within)
        return self._known[key]

    def covers(self, words: Sequence[Word]) -> bool:
        """Whether one of its statements has all the words, or one and another that speaks of the same thing."""
        if not all(self.says(word) for word in words):
            return False
        sets = [{word for word in words if self.says(word, n)} for n in range(len(self.statements))]
        whole = set(words)
        if any(has == whole for has in sets):
            return True
        return any(
            one | other == whole
            for n, one in enumerate(sets)
            for m, other in enumerate(sets)
            if m != n and self._refers_back(m, n)
        )

    def _refers_back(self, here: int, there: int) -> bool:
        """Whether a statement speaks of what another one is about: by a pronoun, or by its word after `the`."""
        words = self.statements[here].words
        if not words:
            return True
        if words[0].low in ANAPHORS or any(word.low in ("then", "this", "that", "it", "them") for word in words):
            return True
        return words[0].low in ("the", "its", "their") and len(words) > 1 and self.says(words[1], there)

    def bound_to(self, keys: Sequence[Word], like: Value) -> list[Place]:
        """Its values of the same kind and unit as `like` that belong most closely to some words."""
        rivals = [place for place in self.places if place.value.kind == like.kind and place.value.unit == like.unit]
        rivals = [place for place in rivals if ("/" in place.value.value) == ("/" in like.value)]
        scores = [_closeness(place, keys) for place in rivals]
        return [place for place, score in zip(rivals, scores, strict=True) if score == max(scores)]


def _closeness(place: Place, keys: Sequence[Word]) -> float:
    """How closely a value belongs to some words: how many of them are its own, or stand before it."""
    own, *others = own_keys(place.statement, place.segment, place.value)
    before = [word for group in others for word in group]
    before += [word for segment in place.statement.segments[: place.segment] for word in segment.keys]
    return sum(1.0 if is_among(key, own) else _BEFORE * is_among(key, before) for key in keys)


class Evidence:
    """The sources that may bear a statement out. `dates`: the dates of each, if they are known."""

    def __init__(self, texts: Sequence[str], dates: Sequence[Sequence[date]] = ()) -> None:
        self.sources = [Source(text, tuple(dates[n]) if dates else ()) for n, text in enumerate(texts)]

    def only(self, numbers: Iterable[int]) -> Evidence:
        """The same for some of the sources, by their place from 0."""
        part = Evidence(())
        part.sources = [self.sources[number] for number in numbers]
        return part

    @cached_property
    def sentences(self) -> frozenset[str]:
        """The normal forms of all statements."""
        return frozenset(normalise(one.text) for source in self.sources for one in source.statements)

    def knows(self, word: Word) -> bool:
        """Whether any source has the word."""
        return any(source.says(word) for source in self.sources)

    def covering(self, words: Sequence[Word]) -> list[Source]:
        """The sources that say all the words together."""
        return [source for source in self.sources if source.covers(words)]

    def having(self, value: Value) -> Iterator[tuple[Source, Place]]:
        """Every place of a value."""
        for source in self.sources:
            for place in source.places:
                if is_equal(value, place.value):
                    yield source, place


def has_values(source: Source, statement: Statement) -> bool:
    """Whether a source has all numbers, dates and times of a statement."""
    values = [value for value in statement.values if value.kind != "identifier" and value.unit != "x"]
    return all(any(is_equal(value, place.value) for place in source.places) for value in values)


def own_keys(statement: Statement, number: int, value: Value | None = None) -> list[tuple[Word, ...]]:
    """What a value of a segment belongs to: the words beside it, of the list it is in, or before it. Several groups if
    it may be any of them (`A and B take 3 s`)."""
    segments = statement.segments
    segment = segments[number]
    trailing = _trailing(statement, number)
    own = tuple(word for word in near_words(segment, value) if weighs(word))
    if statement.text[segment.start : segment.end].lstrip().startswith(")"):  # what stands before the bracket goes on
        head = next((n for n in range(number - 1, -1, -1) if segments[n].depth == segment.depth), None)
        own += tuple(word for word in segments[head].keys if weighs(word)) if head is not None else ()
    if own and trailing and segments[number + 1].keys:  # `score 0.9 and 10 collections`, or `had 4 and 5 pending`
        return [own, own + trailing]
    if own or trailing:
        return [own + trailing]
    place = number - 1
    while place >= 0 and (segments[place].depth > segment.depth or not any(map(weighs, segments[place].keys))):
        place -= 1
    if place < 0:
        return [segment.keys]
    listed = figures_of(segments[place])
    if listed and value is not None:  # a list goes on: `3e-4 at step 900, 5e-4 at step 1200`
        return own_keys(statement, place, listed[0])
    groups = [segments[place].keys + _trailing(statement, place)]
    while place > 0 and not figures_of(segments[place - 1]) and segments[place - 1].depth == segments[place].depth:
        place -= 1
        groups.append(segments[place].keys)
    return groups


def near_words(segment: Segment, value: Value | None) -> tuple[Word, ...]:
    """The words of a segment that a value of it belongs to: those before it, up to another value, and the noun after
    it; those further on only if there are none."""
    others = [one for one in figures_of(segment) if one is not value]
    if value is None or not others:
        return segment.keys
    start = max((one.end for one in others if one.end <= value.start), default=segment.start)
    end = min((one.start for one in others if one.start >= value.end), default=segment.end)
    near = [word for word in segment.keys if start <= word.start < end]
    before = [word for word in near if word.start < value.start]
    noun = [word for word in near if 0 <= word.start - value.end <= 1]
    followed = any(one.start >= value.end for one in others)
    return tuple(before + noun) or (() if followed else tuple(near))


def weighs(word: Word) -> bool:
    """Whether a word says what a value belongs to."""
    return word.is_name or (word.low not in LIGHT and word.low not in QUANTIFIERS and word.low not in RELATIVE)


def figures_of(segment: Segment) -> list[Value]:
    """The values of a segment that are no identifiers."""
    return [value for value in segment.values if value.kind != "identifier"]


def _trailing(statement: Statement, number: int) -> tuple[Word, ...]:
    """The words after the last value of a list of values: `3, 7 and 2 tasks`."""
    segments = statement.segments
    if not figures_of(segments[number]):
        return ()
    for segment in segments[number + 1 :]:
        values = figures_of(segment)
        if not values or segment.depth != segments[number].depth:
            return ()
        if not _LISTED.fullmatch(statement.text[segment.start : values[0].start]):
            return ()
        if segment.keys:
            return segment.keys
    return ()


def words_match(one: Word, other: Word) -> bool:
    """Whether two words may stand for each other; a name only for itself."""
    if one.is_name or other.is_name:
        return bool(one.forms & other.forms)
    return same_word(one.low, other.low)


def is_among(word: Word, words: Iterable[Word]) -> bool:
    """Whether one of some words may stand for a word."""
    return any(words_match(word, other) for other in words)


def _has(statement: Statement, word: Word) -> bool:
    if word.forms & statement.forms:
        return any(word.forms & other.forms and same_word(word.low, other.low) for other in statement.words) or any(
            word.low in (value.value, value.text.lower()) for value in statement.values
        )
    if word.forms & statement.named_parts:
        return True
    if word.is_name:
        parts = [part for part in word.low.split("/") if part]
        return len(parts) > 1 and all(any(same_word(part, other.low) for other in statement.words) for part in parts)
    return any(same_word(word.low, other.low) for other in statement.words)


def is_alike(one: Value, other: Value) -> bool:
    """Whether two values are of one kind and unit; the first may lack the unit."""
    if one.kind != other.kind:
        return False
    if one.kind != "number":
        return True
    fraction = ("/" in one.value) == ("/" in other.value)
    return fraction and (one.unit == other.unit or not one.unit)


def is_equal(one: Value, other: Value) -> bool:
    """Whether two values are the same; a date may lack the year, an identifier the part that it shares with others."""
    if one.kind == other.kind == "date":
        return one.value == other.value or (
            one.value.replace("----", "")[-6:] == other.value.replace("----", "")[-6:]
            and "----" in one.value + other.value
        )
    if one.kind in ("identifier", "code") and other.kind in ("identifier", "code"):
        return one.value == other.value or any(
            other.value.endswith(mark + one.value) or other.value.startswith(one.value + mark) for mark in "-_./:"
        )
    return is_alike(one, other) and one.value == other.value


def _day_forms(day: date) -> tuple[str, ...]:
    return day.isoformat(), f"{day.day} {day:%B} {day.year}", f"{day.day} {day:%B}", f"{day:%A}"
