"""What all readings of a series say, and how often each word stands in them, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_line import capitalised, key_of, listed, readable
from memory_pipeline.wording.series_unusual import failed_with

#: So many words of a place are told, with their counts.
MOST_WORDS = 8
#: An outcome of at most so many of so many readings is rare.
_RARE, _ENOUGH_FOR_RARE = 2, 8
#: What programs count when all is well.
_WELL = re.compile(r"(?<![\d.,/])0 (?:failed|failures|errors)\b", re.IGNORECASE)


def all_well(series: Series) -> str:
    """That all readings say `0 failed`, if they do: another number would have stood in the same place. A line with
    another word, `failure` for `success`, is of another shape, so that nothing can be said of all."""
    text, places = series.newest.line.text, series.places
    columns = zip(places, series.columns, strict=True)
    held = [(place.start, place.end) for place, column in columns if len(set(column)) > 1]
    words = []
    for match in _WELL.finditer(text):
        start, end = match.span()
        if all(end <= a or b <= start for a, b in held):
            words.append(match.group())
    return f", all {listed(list(dict.fromkeys(words)))}" if words else ""


def counted_fully_first(series: Series) -> list[str]:
    """The words with their counts, with every figure of another outcome, and without those that only repeat it."""
    return list(dict.fromkeys(counted_words(series, with_repeated=with_repeated) for with_repeated in (True, False)))


def counted_words(
    series: Series, most: int = MOST_WORDS, *, with_repeated: bool = True, with_newest: bool = False
) -> str:
    """The words of each place with their counts. `with_newest`: marks those of the newest reading, where the line is
    told without them."""
    said = []
    for place in series.words:
        counts = _with_strange_days(series, place, with_repeated=with_repeated)
        if with_newest:
            newest = series.newest.values[place]
            counts = [(word, n, aside or (" (newest)" if word == newest else "")) for word, n, aside in counts]
        key, text = key_of(series, place), _with_counts(counts, most)
        said.append(f"{key} {text}" if key else text)
    return "".join(f" {capitalised(text)}." for text in said)


def _with_strange_days(series: Series, place: int, *, with_repeated: bool) -> list[tuple[str, int, str]]:
    """The words of a place with their counts, and with the days of one that only a stranger says, and of an outcome
    that is rare; with the figures of the one reading that has another outcome."""
    known = {reading.values[place] for reading in series.readings}
    days: dict[str, dict[str, None]] = {}
    figures: dict[str, list[str]] = {}
    for n, reading in enumerate(series.every):
        word = reading.values[place]
        days.setdefault(word, {})[day_of(reading.at, series.newest.at.year)] = None
        if n in series.lone_outcomes:
            figures[word] = failed_with(series, n, with_repeated=with_repeated)
    is_long = len(series.every) >= _ENOUGH_FOR_RARE
    found = []
    for word, count in series.counts(place):
        is_strange = count == 1 and word not in known
        if is_strange or (is_long and count <= _RARE and word.casefold() in OUTCOMES):
            told = listed(list(days[word])) + (f": {', '.join(figures[word])}" if figures.get(word) else "")
            found.append((word, count, f" ({told})"))
        else:
            found.append((word, count, ""))
    return found


def _with_counts(counts: Sequence[tuple[str, int, str]], most: int) -> str:
    shown = counts if len(counts) == most + 1 else counts[:most]
    others = sum(count for _, count, _ in counts[len(shown) :])
    said = [f"{readable(word)} {count}{aside}" for word, count, aside in shown]
    return ", ".join([*said, *([f"others {others}"] if others else [])])
