"""Lines of one shape that are no readings of a gauge: facts about numbered or named things, and rules.

`Server 1 has 64 GB of RAM` and `Server 2 has 32 GB of RAM` differ in figures only, as two readings do; but 1 and 2 name
the servers, and a series would forget which has what. When in doubt, lines are facts and stay as they are.
"""

from __future__ import annotations

import re

from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_line import unit_of

#: Words of rules: what must not be done is no reading, whatever its figures.
_RULE = re.compile(r"\b(?:must|should|shall|always|never|cannot|mustn't|shouldn't|do not|don't|forbidden)\b", re.I)
_WORD_BEFORE = re.compile(r"(?:^|[^\w])([^\W\d_]+) $")
#: Marks of a program's line: what its ids name is over with the line.
_PROGRAM = re.compile(r"\b[A-Z][A-Z_-]{3,}:\s|\w=\w|\s\|\s")
_SAYS_MORE = re.compile(r":\s|\s(?:[a-z]{2}|[^\W\d_A-Z]{3})")
#: After these words, a number counts or measures something, or is the next one of a count.
_COUNTING = frozenset(
    "a about after all and as around at before by first for found from had has have in into is kept last made next of "
    "on only or over ran read saw sent since than that the then took under until was were with within wrote "
    "attempt batch build check cycle day epoch eval evaluation generation heartbeat iteration nr number pass round run "
    "sample session snapshot sprint step sweep tick trial try wave week".split()
)
_PARTICIPLE = re.compile(r"(?:ed|ing)$")
#: The part of the different lines that have a value of their own in a place that names things.
_DISTINCT = 0.8
_FEWEST_NAMES = 3


def tells_facts(series: Series) -> bool:
    """Whether the lines of a series tell facts or rules."""
    text = series.newest.line.text
    if _RULE.search(text):
        return True
    return any(_names_things(series, place) for place in range(len(series.places))) or any(
        _is_a_name(series, place) for place in series.words
    )


def _names_things(series: Series, place: int) -> bool:
    """Whether a place names the thing that the line is about: a number or an id that follows its noun, goes on into
    what is said of it, and is another one in nearly every line."""
    text, here = series.newest.line.text, series.places[place]
    if here.kind not in ("figure", "id"):
        return False
    start = series.places[place - 1].end if place else 0
    end = series.places[place + 1].start if place + 1 < len(series.places) else len(text)
    before = _WORD_BEFORE.search(text[start : here.start])
    if before is None or not _SAYS_MORE.match(text[here.end : end]):
        return False
    word = before.group(1).casefold()
    if word in _COUNTING or _PARTICIPLE.search(word) or (here.kind == "figure" and unit_of(series, place)):
        return False
    if here.kind == "id" and _PROGRAM.search(text):
        return False
    values = {reading.values[place] for reading in series.readings}
    lines = {reading.line.text for reading in series.readings}
    return len(values) >= max(_FEWEST_NAMES, _DISTINCT * len(lines))


def _is_a_name(series: Series, place: int) -> bool:
    """Whether a word names a thing: where it returns, so does a figure, which is another one beside other words."""
    told: dict[str, list[tuple[str, ...]]] = {}
    for reading in series.readings:
        told.setdefault(reading.values[place].casefold(), []).append(reading.values)
    if len(told) < 2 or told.keys() <= OUTCOMES or any(len(values) < 2 for values in told.values()):
        return False
    return any(
        all(len({values[figure.place] for values in mine}) == 1 for mine in told.values())
        for figure in series.figures
        if figure.varies
    )
