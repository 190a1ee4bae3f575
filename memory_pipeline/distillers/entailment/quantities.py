"""Whether the sources bear out how often a statement says that something is so: always, mostly, three times."""

from __future__ import annotations

from collections.abc import Iterator

from memory_pipeline.distillers.entailment.evidence import (
    ALWAYS,
    MOSTLY,
    OFTEN,
    QUANTIFIERS,
    RARELY,
    RELATIVE,
    SOMETIMES,
    TIMES,
    Evidence,
    Source,
    is_equal,
    weighs,
    weighted_keys,
)
from memory_pipeline.distillers.entailment.figures import order_of
from memory_pipeline.wording.clauses import Segment, Statement, Value, Word, is_content

_OF_THINGS = frozenset("most all every each both many several some majority".split())


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
                elif _counts_things(statement, word, evidence):
                    yield f"no source says '{word.text}'"
                elif not _is_enough(statement, number, word, evidence):
                    yield f"the sources do not bear out '{word.text}'"
        for value in segment.values:
            if value.unit == "x" and not any(True for _ in evidence.having(value)):
                behind = len(_bearing(statement, number, evidence, None))
                if value.value != str(behind):
                    yield f"{behind} sources bear it out, not {value.text}"


def _counts_things(statement: Statement, word: Word, evidence: Evidence) -> bool:
    """Whether a word of quantity says how many things something is true of (`most of them`, `all images`), and not how
    often it is so: that no number of notes can tell, only lines of a log, each of which is one case."""
    if word.low not in _OF_THINGS or any(source.is_log for source in evidence.sources):
        return False
    following = next((other for other in statement.words if other.start > word.end), None)
    if following is None or statement.text[word.end : following.start].strip():
        return False
    return following.low == "of" or (weighs(following) and is_content(following.low))


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
    if number + 1 < len(statement.segments) and not any(map(weighs, segment.keys)) and not _figures(segment):
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
    values = _values_beside(statement, number)
    if word.low == "once" and len(values) > 1:
        return all(_count(statement, number, [value], evidence) == 1 for value in values)
    return behind == TIMES[word.low]


def _bearing(statement: Statement, number: int, evidence: Evidence, word: Word | None) -> list[Source]:
    """The sources that say what a word of quantity is about: its segment's words, with one of its values."""
    segment = statement.segments[number]
    if word is not None and not _figures(segment):
        number = _next_with_figures(statement, number)
    values = [value for value in _values_beside(statement, number) if value.unit != "x"]
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
                    for _, keys in weighted_keys(statement, number)
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
        for group, keys in weighted_keys(statement, number, value)
        if all(source.says(word) for word in group if weighs(word))
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
        if _figures(here):
            return place
    return number


def _listed_after(statement: Statement, number: int) -> list[Word]:
    """The words of the items that are listed after a segment: what is always so of one is so of all."""
    words: list[Word] = []
    depth = statement.segments[number].depth
    clause = next((c for c in statement.clauses if c.start <= statement.segments[number].start < c.end), None)
    for segment in statement.segments[number + 1 :]:
        is_item = segment.depth == depth and clause is not None and segment.start < clause.end
        if not is_item or _figures(segment) or any(word.low in QUANTIFIERS for word in segment.words):
            break
        words += [word for word in segment.keys if weighs(word)]
    return words


def _figures(segment: Segment) -> list[Value]:
    return [value for value in segment.values if value.kind != "identifier"]


def _values_beside(statement: Statement, number: int) -> list[Value]:
    """The values that a word of quantity is about: in its segment, and those that are listed after it."""
    segments = statement.segments
    values = _figures(segments[number])
    for segment in segments[number + 1 :]:
        if segment.depth != segments[number].depth or segment.keys or not values:
            break
        values += _figures(segment)
    return values


def _compares(statement: Statement, number: int, word: Word, evidence: Evidence) -> bool:
    """Whether the values after a word of comparison lie below, or above, all others of their kind."""
    mine = _values_beside(statement, number)
    if not mine or any(value.magnitude is None for value in mine):
        return False
    values = [
        place.value
        for source in evidence.sources
        for _, keys in weighted_keys(statement, number)[:1]
        for place in source.bound_to(keys, mine[0])
    ]
    others = [v for v in values if not any(is_equal(v, one) for one in mine) and v.magnitude is not None]
    if not others:
        return False
    if RELATIVE[word.low] > 0:
        return min(order_of(v) for v in mine) > max(order_of(v) for v in others)
    return max(order_of(v) for v in mine) < min(order_of(v) for v in others)
