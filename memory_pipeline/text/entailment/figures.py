"""Whether the values and quantities of a statement are the sources' own, and belong to what the statement says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_pipeline.text.clauses import Span, Statement, Value, Word, read_text
from memory_pipeline.text.entailment.evidence import (
    ALWAYS,
    MOSTLY,
    OFTEN,
    QUANTIFIERS,
    RARELY,
    RELATIVE,
    SOMETIMES,
    TIMES,
    Evidence,
    Place,
    Source,
    figures_of,
    is_alike,
    is_equal,
    own_keys,
    weighs,
)
from memory_pipeline.text.facts import Fact

_COUNTED = frozenset(
    "time times case cases run runs record records entry entries occasion occasions reading readings".split()
)


def unborne_values(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The values that no source has, or has for something else."""
    ranged = [value for span in statement.spans for value in (span.low, span.high)]
    for span in statement.spans:
        if _is_told(span, evidence):
            ranged = [value for value in ranged if value not in (span.low, span.high)]
        elif problem := _wrong_range(span, statement, evidence):
            yield problem
    for value in statement.values:
        if value in ranged or value.kind == "identifier" or _is_count(value, statement, evidence):
            continue  # an identifier is one of the words that a source must have
        if problem := _wrong_value(value, statement, evidence):
            yield problem


def _wrong_value(value: Value, statement: Statement, evidence: Evidence) -> str | None:
    number = statement.segment_of(value)
    places = list(evidence.having(value))
    if not places:
        return f"no source has the {value.kind} '{value.text}'"
    if not any(_belongs(source, place, value, number, statement, evidence) for source, place in places):
        return f"'{value.text}' belongs to something else in the sources"
    return None


def _belongs(source: Source, place: Place, value: Value, number: int, statement: Statement, evidence: Evidence) -> bool:
    segment = statement.segments[number]
    mates = [
        other
        for other in _mates(statement, number, value)
        if not any(is_equal(other, one.value) for one in source.places)
    ]
    if mates:
        return False
    if place.value.start == place.value.end == 0:  # a date that stands beside the content
        return all(source.says(word) for word in segment.keys if weighs(word))
    return any(
        any(place.value.key == one.value.key for one in source.bound_to(keys, place.value))
        for keys in own_keys(statement, number, value)
        if all(source.says(word) for word in keys if weighs(word) and evidence.knows(word))
    )


def _mates(statement: Statement, number: int, value: Value) -> list[Value]:
    """The other values that a value stands with: in its segment, or before the bracket that it is in."""
    segment = statement.segments[number]
    ranged = {v for span in statement.spans for v in (span.low, span.high)}
    mates = [other for other in segment.values if other is not value and other not in ranged]
    if segment.depth:
        place = number
        while place >= 0 and statement.segments[place].depth >= segment.depth:
            place -= 1
        if place >= 0:
            mates += [other for other in statement.segments[place].values[-1:] if other not in ranged]
    return [mate for mate in mates if mate.unit != "x"]


def _is_told(span: Span, evidence: Evidence) -> bool:
    """Whether a source has both ends in one statement, in this order: a change, not a range over sources."""
    return any(
        is_equal(span.low, one.low) and is_equal(span.high, one.high)
        for source in evidence.sources
        for statement in source.statements
        for one in statement.spans
    )


def values_of(span: Span, statement: Statement, evidence: Evidence) -> list[Value]:
    """The sources' values of what a range is about."""
    if span.low.kind == "identifier":
        return [
            place.value
            for source in evidence.sources
            for place in source.places
            if _shape(place.value) == _shape(span.low)
        ]
    number = statement.segment_of(span.low)
    readings = own_keys(statement, number)
    found = []
    for source in evidence.sources:
        for keys in readings:
            if all(source.says(word) for word in keys if weighs(word) and evidence.knows(word)):
                found += [place.value for place in source.bound_to(keys, span.high)]
                break
    return found


def order_of(value: Value) -> tuple[float, str]:
    """By what values of one kind are compared."""
    magnitude = value.magnitude
    return (magnitude, "") if magnitude is not None else (0.0, value.value)


def _wrong_range(span: Span, statement: Statement, evidence: Evidence) -> str | None:
    low, high = order_of(span.low), order_of(span.high)
    shown = f"'{span.low.text} to {span.high.text}'"
    if low >= high:
        return f"the range {shown} runs backwards"
    values = values_of(span, statement, evidence)
    if len({value.key for value in values}) < 2:
        return f"no sources have values from {shown}"
    rough = span.low.rough or span.high.rough
    ends = [_reaches(end, values, rough=rough) for end in (span.low, span.high)]
    if not all(ends):
        return f"the ends of {shown} are not the sources' own"
    slack = _unit_in_last_place(span.low) / 2 if rough else 0.0
    outside = [v for v in values if not (low[0] - slack, low[1]) <= order_of(v) <= (high[0] + slack, high[1])]
    said = [value for value in statement.values if value not in (span.low, span.high)]
    unsaid = [v for v in outside if not any(is_equal(v, one) or is_equal(one, v) for one in said)]
    if unsaid:
        return f"'{unsaid[0].text}' lies outside {shown}"
    words = {word.low for segment in statement.segments for word in segment.words}
    if outside and words & MOSTLY and 2 * len(outside) >= len(values):
        return f"most values do not lie within {shown}"
    return None


def _reaches(end: Value, values: Sequence[Value], *, rough: bool) -> bool:
    if any(is_equal(end, value) for value in values):
        return True
    magnitude = end.magnitude
    if not rough or magnitude is None:
        return False
    unit = _unit_in_last_place(end)
    return any(v.magnitude is not None and round(v.magnitude / unit) == round(magnitude / unit) for v in values)


def _unit_in_last_place(value: Value) -> float:
    _, _, decimals = value.value.partition(".")
    return 10.0 ** -len(decimals)


def _shape(value: Value) -> str:
    return "".join("0" if c.isdigit() else c for c in value.value)


def _is_count(value: Value, statement: Statement, evidence: Evidence) -> bool:
    """Whether a number counts the sources: it is checked with the quantities."""
    if value.kind != "number" or any(is_equal(value, place.value) for s in evidence.sources for place in s.places):
        return False
    return value.unit == "x" or (value.value == str(len(evidence.sources)) and _counts(value, statement))


def _counts(value: Value, statement: Statement) -> bool:
    following = [word for word in statement.words if value.end <= word.start <= value.end + 2]
    return bool(following) and following[0].low in _COUNTED


def ranged_facts(text: str, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The keys of the sources' facts that lie in a range of the text whose ends are the true ones."""
    return frozenset(
        value.key
        for statement in read_text(text)
        for span in statement.spans
        if not _is_told(span, evidence) and _wrong_range(span, statement, evidence) is None
        for value in values_of(span, statement, evidence)
        if order_of(span.low) <= order_of(value) <= order_of(span.high)
    )


def implied_facts(text: str, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The keys of the sources' facts that a text has in another form: in a range, in a list whose last value alone has
    the unit, or as a name after a number."""
    found = set(ranged_facts(text, evidence))
    for statement in read_text(text):
        found |= {("name", word.low) for word in statement.words if word.text[:1].isupper()}
        found |= {value.key for value in statement.values}
    return frozenset(found)


def is_derived(fact: Fact, text: str, evidence: Evidence) -> bool:
    """Whether a figure or identifier of a text that no source has as such comes from them all the same: a count of
    them, a date beside one, the rounded end of a range."""
    total = len(evidence.sources)
    number, _, unit = fact.value.partition(" ")
    if fact.kind == "number" and unit == "x":
        return number.isdigit() and int(number) <= total
    if fact.kind == "identifier":
        parts = [part for part in fact.value.split("/") if part]
        words = [Word(part, 0, 0, False) for part in parts if part.isalpha()]
        return len(parts) == len(words) > 1 and any(all(s.says(word) for word in words) for s in evidence.sources)
    for statement in read_text(text):
        rough = {end for span in statement.spans if span.low.rough or span.high.rough for end in (span.low, span.high)}
        for value in statement.values:
            if value.key != fact.key and value.text != fact.text:
                continue
            like = [place.value for source in evidence.sources for place in source.places]
            if any(is_equal(value, one) for one in like):
                return True
            if (value in rough or value.rough) and _reaches(value, [v for v in like if is_alike(v, value)], rough=True):
                return True
            if value.value == str(total) and _counts(value, statement):
                return True
    return False


def unborne_quantities(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The words of quantity that the sources do not bear out."""
    for number, segment in enumerate(statement.segments):
        for place, word in enumerate(segment.words):
            if word.low in RELATIVE and not evidence.knows(word):
                if not _compares(statement, number, word, evidence):
                    yield f"no source bears out '{word.text}'"
            elif word.low in QUANTIFIERS and not _is_said(word, evidence):
                before = segment.words[place - 1].low if place else ""
                if before == "at" and word.low in ("most", "least"):
                    continue  # a limit, which is checked with its value
                if before in ("the", "take", "takes") and word.low in ("most", "least"):
                    yield f"no source says 'the {word.low}'"
                elif not _is_enough(statement, number, word, evidence):
                    yield f"the sources do not bear out '{word.text}'"
        for value in segment.values:
            if value.unit == "x" and not any(True for _ in evidence.having(value)):
                behind = len(_bearing(statement, number, evidence, None))
                if value.value != str(behind):
                    yield f"{behind} sources bear it out, not {value.text}"


def _is_said(word: Word, evidence: Evidence) -> bool:
    groups = (ALWAYS, MOSTLY, OFTEN, SOMETIMES, RARELY)
    same = next((group for group in groups if word.low in group), frozenset((word.low,)))
    return any(
        one.low in same and not (n and s.words[n - 1].low in ("at", "the") and one.low == "most")
        for source in evidence.sources
        for s in source.statements
        for n, one in enumerate(s.words)
    )


def _is_enough(statement: Statement, number: int, word: Word, evidence: Evidence) -> bool:
    segment = statement.segments[number]
    if word.low == "each" and segment.values and segment.values[0].start < word.start:
        return True  # `3 pods each`: its values are checked with what they belong to
    if number + 1 < len(statement.segments) and not any(map(weighs, segment.keys)) and not figures_of(segment):
        number += 1  # `all | with 3 pods`
    total = len(evidence.sources)
    behind = len(_bearing(statement, number, evidence, word))
    if word.low in ALWAYS:
        return behind == total > 1
    if word.low in MOSTLY:
        return 2 * behind > total
    if word.low in OFTEN:
        return behind >= 2
    if word.low in SOMETIMES:
        return behind >= 2
    if word.low in RARELY:
        return 0 < 4 * behind <= total
    values = figures_of(statement.segments[number])
    if word.low == "once" and len(values) > 1:
        return all(_count(statement, number, [value], evidence) == 1 for value in values)
    return behind == TIMES[word.low]


def _bearing(statement: Statement, number: int, evidence: Evidence, word: Word | None) -> list[Source]:
    """The sources that say what a word of quantity is about: its segment's words, with one of its values."""
    segment = statement.segments[number]
    if word is not None and not figures_of(segment):
        number = _next_with_figures(statement, number)
    values = [value for value in figures_of(statement.segments[number]) if value.unit != "x"]
    words = [w for w in segment.keys if weighs(w)]
    if word is not None and word.low in ALWAYS:
        words += _listed_after(statement, number)
    if not words and not values:
        words = [w for s in statement.segments[: number + 2] for w in s.keys if weighs(w)]
    spans = [span for span in statement.spans if span.low in values or span.high in values]
    found = []
    for source in evidence.sources:
        if not all(source.says(w) for w in words):
            continue
        if (
            not values
            or any(_has(statement, number, source, value) for value in values if not spans)
            or (
                spans
                and any(
                    order_of(spans[0].low) <= order_of(one.value) <= order_of(spans[0].high)
                    for keys in own_keys(statement, number)
                    for one in source.bound_to(keys, spans[0].high)
                )
            )
        ):
            found.append(source)
    return found


def _has(statement: Statement, number: int, source: Source, value: Value) -> bool:
    likes = [place.value for place in source.places if is_equal(value, place.value)]
    return any(
        is_equal(value, one.value)
        for keys in own_keys(statement, number, value)
        if all(source.says(word) for word in keys if weighs(word))
        for like in likes
        for one in source.bound_to(keys, like)
    )


def _count(statement: Statement, number: int, values: list[Value], evidence: Evidence) -> int:
    return sum(any(_has(statement, number, source, value) for value in values) for source in evidence.sources)


def _next_with_figures(statement: Statement, number: int) -> int:
    """The next segment of the same clause that has a figure, before another word of quantity; or the same one."""
    segments = statement.segments
    clause = next((c for c in statement.clauses if c.start <= segments[number].start < c.end), None)
    for place in range(number + 1, len(segments)):
        here = segments[place]
        if clause is None or here.start >= clause.end or any(word.low in QUANTIFIERS for word in here.words):
            break
        if figures_of(here):
            return place
    return number


def _listed_after(statement: Statement, number: int) -> list[Word]:
    """The words of the items that are listed after a segment: what is always so of one is so of all."""
    words: list[Word] = []
    depth = statement.segments[number].depth
    clause = next((c for c in statement.clauses if c.start <= statement.segments[number].start < c.end), None)
    for segment in statement.segments[number + 1 :]:
        is_item = segment.depth == depth and clause is not None and segment.start < clause.end
        if not is_item or figures_of(segment) or any(word.low in QUANTIFIERS for word in segment.words):
            break
        words += [word for word in segment.keys if weighs(word)]
    return words


def _compares(statement: Statement, number: int, word: Word, evidence: Evidence) -> bool:
    """Whether the values after a word of comparison lie below, or above, all others of their kind."""
    mine = figures_of(statement.segments[number])
    if not mine or any(value.magnitude is None for value in mine):
        return False
    values = [
        place.value
        for source in evidence.sources
        for keys in own_keys(statement, number)[:1]
        for place in source.bound_to(keys, mine[0])
    ]
    others = [v for v in values if not any(is_equal(v, one) for one in mine) and v.magnitude is not None]
    if not others:
        return False
    if RELATIVE[word.low] > 0:
        return min(order_of(v) for v in mine) > max(order_of(v) for v in others)
    return max(order_of(v) for v in mine) < min(order_of(v) for v in others)
