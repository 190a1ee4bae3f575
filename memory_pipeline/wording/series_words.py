"""A series of readings in words: the newest values with their day, then how many readings, from when, and between
which values.

Everything comes from the readings. Of what there is to say, as much is said as fits into a number of tokens: the
values that moved most come first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from memory_pipeline.wording.readings import Break, Figure, Series, Value
from memory_pipeline.wording.templates import Place, list_elements

#: The form of the words: a series in another form is rewritten by the next night that has a reading for it.
WORDS_VERSION = "series-2"
#: A line with all its values is the headline up to this many characters; from a longer one, figures are chosen.
_LONGEST_HEADLINE = 130
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_LABEL = re.compile(r"([^\W\d](?:[\w '&-]|\.(?! )){0,40}?)\s*(?:\([\w .-]{1,30}\))?:\s+(?=\S)")
_SHOUTED = re.compile(r"\b[A-Z][A-Z_]{3,}\b")
_KEY = re.compile(r"([\w.-]+)\s*=\s*$")
_NAMED_BEFORE = re.compile(r"([^\W\d][^;,|:=(){}\[\]→.]{0,48}?)\s*:\s*$")
_NAMED_AFTER = re.compile(r"[ ]([^\W\d_][\w-]*)")
_UNIT_AFTER = re.compile(r"(%|[^\W\d_]{1,5}(?:/[^\W\d_]{1,3})?)(?![\w])")
_SPACED_UNIT = re.compile(
    r" (%|[CFK]|[kmcµn]?[mgslWVAJ]|[kMGT]i?[BWVH]z?|[kKMGT]?B|Hz|ppm|px|°[CF]|EUR|USD|min|sec|hours?|days?"
    r"|minutes?|seconds?|percent|tokens|bytes)(?![\w])"
)
_NO_NAMES = frozenset(
    "a an and are as at by for from in into is it of on or per since than that the then there to under up via was "
    "were with after before during while when because but not no over s ms h min sec".split()
)
_MEASURES = {"s": "time", "ms": "time", "min": "time", "h": "time", "B": "size", "KB": "size", "MB": "size",
             "GB": "size", "%": "share"}  # fmt: skip
_MOST_WORDS = 8
#: Of a long line, the newest values of at most this many figures are said.
_MOST_FIGURES = 12
_CLAUSE_END = re.compile(r"[.;,]\s|:\s|\s\(")
_KEYED_GAP = re.compile(r"[\w.-]+=\x00")
_PAIRS = re.compile(r"(=[^\s=,;]+)\s+(?=[\w.-]+=)")
_UNIT_AT_NUMBER = re.compile(r"(?<=\d)(?=(?:ms|[smhB]|min|sec|[KMG]i?B)\b)")
_EMPTY = re.compile(r"\(\s*[,;:=-]*\s*\)|\[\s*\]|\{\s*\}")
_BRACKETED = re.compile(r"(?<=\s)\[([^\[\]]{1,40})\]")
#: Marks of machinery and what stands for them.
_MARKS = (
    (re.compile(r"[\[\]{}\"`]|(?<!\w)'|'(?!\w)"), ""),
    (re.compile(r"(?<=\w)\s*=\s*(?=\S)"), " "),
    (re.compile(r"\s*(?:\||→|->|=>)\s*"), ", "),
    (re.compile(r"(?<=\w)×(?=[^\W\d])"), " "),
)
_COLON_BEFORE_NUMBER = re.compile(r"(?<=[\w)]):\s+(?=[-+]?[\d\x01])")
_DANGLING = re.compile(r"(?:\s*[→>=:;,|~@#*×+-]|\s+(?:at|on|to|in|of|from|as|into|id|by|for|since))+\s*$")
_HANGING = re.compile(r"\s+(?:at|on|in|to|from|by|for|of)(?=[:;,](?:\s|$))")
_BEFORE_STOP = re.compile(r"\s+([,;:.)\]])")
_SPACES = re.compile(r"\s{2,}")
_REPEATED_STOPS = re.compile(r"([,;:])(?:\s*[,;:])+")


def describe_series(series: Series, count_tokens: Callable[[str], int], most: int) -> str:
    """A series in at most `most` tokens, as whole sentences."""
    shortest = ""
    for text in _versions(series):
        if count_tokens(text) <= most:
            return text
        shortest = text if not shortest or len(text) < len(shortest) else shortest
    words = shortest.split()
    while len(words) > 1 and count_tokens(" ".join(words)) > most:
        words.pop()
    return " ".join(words)


def is_true(series: Series, text: str) -> bool:
    """Whether a text is one of the ways to say a series, or the beginning of one that was too long."""
    versions = list(_versions(series))
    return text in versions or min(versions, key=len).startswith(f"{text} ")


def name_of(series: Series, place: int) -> str:
    """What a place is called in its line: the words that stand next to it, or nothing."""
    text, places = series.newest.line.text, series.places
    here = places[place]
    before = _before(series, place)
    after = text[here.end : places[place + 1].start if place + 1 < len(places) else len(text)]
    if key := _KEY.search(before):
        return _readable(key.group(1))
    unit = _UNIT_AFTER.match(after) or _SPACED_UNIT.match(after)
    follows = _NAMED_AFTER.match(after[unit.end() :] if unit else after)
    label = _NAMED_BEFORE.search(before)
    lead = label is not None and not place and _LABEL.match(text) is not None
    if follows and follows.group(1).casefold() not in _NO_NAMES and (label is None or lead):
        return _readable(follows.group(1))
    if label:
        return _readable(label.group(1).strip(" -"))
    return ""


def unit_of(series: Series, place: int) -> str:
    """The unit that stands at a figure, with a space before a word: `%`, ` ms`."""
    text, end = series.newest.line.text, series.places[place].end
    unit = _UNIT_AFTER.match(text, end) or _SPACED_UNIT.match(text, end)
    if unit is None:
        return ""
    return unit.group(1) if unit.group(1) == "%" else f" {unit.group(1)}"


def headline(series: Series) -> str:
    """The line in readable words with its newest values; ids, dates and clock times are left out."""
    return _plain(_filled(series, series.newest.values))


def subject_of(series: Series) -> str:
    """The words of the line before its first value."""
    places = series.places
    marked = [
        "\x01" if place.kind in ("figure", "list") else value
        for place, value in zip(places, series.newest.values, strict=True)
    ]
    text = _plain(_filled(series, marked))
    start, found, _ = text.partition("\x01")
    if not found:
        return text
    clauses = [clause.strip() for clause in _CLAUSE_END.split(start)]
    whole = [clause for clause in clauses[:-1] if clause]
    last = _NAMED_BEFORE.sub("", clauses[-1]) if whole else clauses[-1]
    chosen = whole[0] if whole else _KEY.sub("", last)
    return chosen.strip(" :;,.=(") or text.replace("\x01", "").strip()


def _filled(series: Series, values: Sequence[str]) -> str:
    """The line with these values; ids, dates and clock times are marked as left out."""
    text, done = series.newest.line.text, 0
    parts: list[str] = []
    for place, value in zip(series.places, values, strict=True):
        parts += (text[done : place.start], _in_words(place, value))
        done = place.end
    return "".join([*parts, text[done:]])


def day_of(at: datetime, year: int | None = None) -> str:
    """A day in words, without its year if it is the given one."""
    return f"{at.day} {_MONTHS[at.month - 1]}" + ("" if at.year == year else f" {at.year}")


def _versions(series: Series) -> Iterator[str]:
    """Ways to say the series, the fullest first."""
    moving = _telling(series)
    whole, words = headline(series), _counted(series)
    breaks, fewer = _breaking(series, 2), _breaking(series, 1)
    if not moving:
        yield from _without_figures(series, whole, breaks)
        return
    in_line = sorted(moving, key=lambda f: f.place)
    if len(whole) <= _LONGEST_HEADLINE:
        start = f"{whole} on {day_of(series.newest.at)}; {_span(series)}."
        for tail in dict.fromkeys((words + breaks, words + fewer, fewer)):
            for level in (4, 3, 2):
                yield start + _ranges(series, in_line, level) + tail
            for many in range(min(4, len(moving) - 1), 0, -1):
                for level in (3, 2):
                    yield start + _ranges(series, sorted(moving[:many], key=lambda f: f.place), level) + tail
            yield start + _ranges(series, in_line, 1) + tail
            yield start + tail
    start = f"{subject_of(series)} on {day_of(series.newest.at)}; {_span(series)}:"
    tails = tuple(dict.fromkeys((breaks, fewer, _breaking_days(series))))
    for many in range(min(_MOST_FIGURES, len(moving)), 0, -1):
        for spans, tail in itertools.product((2, 1), tails):
            yield f"{start} {_newest_values(series, moving[:many], spans)}.{tail}"
    yield f"{start} {_named(series, moving[0], moving[0].newest)}."


def _newest_values(series: Series, figures: Sequence[Figure], most: int) -> str:
    """The newest values in the order of the line, and for the first `most` figures their extremes. `figures`: those
    that moved most come first."""
    spans = figures[:most]
    return ", ".join(
        _with_span(series, figure) if figure in spans else _named(series, figure, figure.newest)
        for figure in sorted(figures, key=lambda figure: figure.place)
    )


def _with_span(series: Series, figure: Figure) -> str:
    """The newest value of a figure, and in brackets its extremes with their days."""
    unit, year = unit_of(series, figure.place), series.newest.at.year

    def extreme(value: Value) -> str:
        day = f" on {day_of(value.at, year)}" if value.number != figure.newest.number else ""
        return f"{value.text}{unit}{day}"

    return f"{_named(series, figure, figure.newest)} ({extreme(figure.least)} to {extreme(figure.greatest)})"


def _telling(series: Series) -> list[Figure]:
    """The figures that vary, those that moved most first; of several that always have the same value only one, and
    none without a name if others have one."""
    moving = sorted((f for f in series.figures if f.varies), key=lambda f: (-f.movement, f.place))
    different = {tuple(v.number for v in f.values): f for f in sorted(moving, key=lambda f: -f.place)}
    chosen = [figure for figure in moving if figure in different.values()]
    named = [figure for figure in chosen if _name(series, figure.place)]
    return named or chosen


def _without_figures(series: Series, whole: str, breaks: str) -> Iterator[str]:
    """Ways to say a series in which no figure moves: how often, and which words."""
    subject = subject_of(series)
    if _counted(series):
        start = f"{whole} on {day_of(series.newest.at)}; {_span(series)}."
        for many in (_MOST_WORDS, 5, 2, 1):
            counted = _counted(series, many, with_newest=True)
            yield from (start + counted + breaks, start + counted)
        for many in (_MOST_WORDS, 6, 4, 2, 1):
            yield f"{_occurrences(series, subject)}{_counted(series, many)}{breaks}"
        yield _occurrences(series, subject) + breaks
    else:
        yield from (_occurrences(series, whole) + breaks, _occurrences(series, whole))
    yield _occurrences(series, subject)


def _occurrences(series: Series, whole: str) -> str:
    """How often, from when to when."""
    first, last = series.readings[0].at, series.newest.at
    start = str(first.day) if (first.year, first.month) == (last.year, last.month) else day_of(first, last.year)
    return f"{whole}, {len(series.readings)} times from {start} to {day_of(last)}."


def _span(series: Series) -> str:
    return f"{len(series.readings)} readings since {day_of(series.readings[0].at, series.newest.at.year)}"


def _ranges(series: Series, figures: Sequence[Figure], level: int) -> str:
    said = "; ".join(_range(series, figure, level) for figure in figures)
    return f" {_capitalised(said)}." if said else ""


def _range(series: Series, figure: Figure, level: int) -> str:
    """Level 1: the extremes; 2: with their days; 3: and the median; 4: and the first value."""
    name, unit = _name(series, figure.place) or "value", unit_of(series, figure.place)

    def with_day(value: Value) -> str:
        if level == 1 or value.number == figure.newest.number:
            return value.text + unit
        return f"{value.text}{unit} ({day_of(value.at, series.newest.at.year)})"

    if figure.rises and level > 1:
        oldest = f"{figure.first.text}{unit} ({day_of(figure.first.at, series.newest.at.year)})"
        text = f"{name} rose from {oldest} to {figure.greatest.text}{unit}"
    else:
        text = f"{name} {with_day(figure.least)} to {with_day(figure.greatest)}"
    if level >= 3:
        text += f", median {figure.median.text}{unit}"
    if level >= 4 and figure.first.number not in (figure.least.number, figure.greatest.number, figure.median.number):
        text += f", first {figure.first.text}{unit}"
    return text


def _name(series: Series, place: int) -> str:
    """The name of a figure, or what its unit measures."""
    return name_of(series, place) or _MEASURES.get(unit_of(series, place).strip(), "")


def _named(series: Series, figure: Figure, value: Value) -> str:
    return f"{_name(series, figure.place)} {value.text}{unit_of(series, figure.place)}".strip()


def _counted(series: Series, most: int = _MOST_WORDS, *, with_newest: bool = False) -> str:
    """The words of each place with their counts. Of a list, what is not always in it; what is always there comes first
    unless the newest list is said."""
    said = []
    for place in series.words:
        key = _KEY.search(_before(series, place))
        text = _with_counts(series.counts(place), most)
        said.append(f"{_readable(key.group(1))} {text}" if key else text)
    for place in (i for i, one in enumerate(series.places) if one.kind == "list"):
        counts = series.counts(place)
        always = [_readable(word) for word, count in counts if count == len(series.readings)]
        others = [(word, count) for word, count in counts if count < len(series.readings)]
        if others and with_newest:
            said.append(f"not always: {_with_counts(others, most)}")
        elif others:
            said += ([f"always {_listed(always[:most])}"] if always else []) + [_with_counts(others, most)]
    return "".join(f" {_capitalised(text)}." for text in said)


def _before(series: Series, place: int) -> str:
    """The text between a place and the one before it."""
    start = series.places[place - 1].end if place else 0
    return series.newest.line.text[start : series.places[place].start]


def _with_counts(counts: Sequence[tuple[str, int]], most: int) -> str:
    more = f" and {len(counts) - most} more" if len(counts) > most else ""
    return ", ".join(f"{_readable(word)} {count}" for word, count in counts[:most]) + more


def _breaking(series: Series, most: int) -> str:
    """The readings that break the series, by value and day: the newest `most` of them."""
    year = series.newest.at.year
    by_day: dict[str, list[str]] = {}
    for one in series.breaks:
        by_day.setdefault(day_of(one.value.at, year), []).append(_broken(series, one))
    said = [f"{' and '.join(dict.fromkeys(values))} on {day}" for day, values in by_day.items()]
    said += [f"'{_stranger(series, reading.values)}' on {day_of(reading.at, year)}" for reading in series.strangers]
    if not said:
        return ""
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return f" Unusual: {', '.join(said[-most:])}{more}."


def _breaking_days(series: Series) -> str:
    """The days with a reading that breaks the series, the newest two."""
    year = series.newest.at.year
    times = sorted({one.value.at for one in series.breaks} | {reading.at for reading in series.strangers})
    days = list(dict.fromkeys(day_of(at, year) for at in times))
    return f" Unusual on {_listed(days[-2:])}." if days else ""


def _broken(series: Series, one: Break) -> str:
    figures = [figure for figure in series.figures if figure.varies]
    name = _name(series, one.place) if len(figures) > 1 else ""
    return f"{name} {one.value.text}{unit_of(series, one.place)}".strip()


def _stranger(series: Series, values: Sequence[str]) -> str:
    """The new word of a reading."""
    known = {i: {reading.values[i] for reading in series.readings} for i in series.words}
    return next((values[i] for i, texts in known.items() if values[i] not in texts), "")


def _in_words(place: Place, value: str) -> str:
    if place.kind == "list" and value != "\x01":
        return _listed([_readable(word) for word in list_elements(value) or (value,)])
    return value if place.kind in ("figure", "word", "list") else "\x00"


def _listed(words: Sequence[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def _plain(text: str) -> str:
    """A text without the marks of machinery: brackets, equals signs, pipes, arrows, quotes, labels of programs. A NUL
    stands for a value that is left out."""
    text = _PAIRS.sub(r"\1, ", _KEYED_GAP.sub(" ", text)).replace("\x00", " ")
    text = _UNIT_AT_NUMBER.sub(" ", text)
    text = _EMPTY.sub(" ", text)
    text = _BRACKETED.sub(r"(\1)", text)
    for mark, words in _MARKS:
        text = mark.sub(words, text)
    text = _REPEATED_STOPS.sub(r"\1", _BEFORE_STOP.sub(r"\1", _SPACES.sub(" ", text))).strip()
    text = _HANGING.sub("", text)
    while (shorter := _DANGLING.sub("", text.rstrip(" ."))) != text:
        text = shorter
    text = _without_channels(text)
    label = _LABEL.match(text)
    start = label.end() if label else 0
    lead = _SHOUTED.sub(lambda match: match.group().replace("_", " ").lower(), text[:start])
    rest = _COLON_BEFORE_NUMBER.sub(" ", text[start:])
    return _capitalised((lead + rest).rstrip(" .;,:"))


def _without_channels(text: str) -> str:
    """A text without the labels of the program that wrote it, up to the label that names its subject."""
    while (label := _LABEL.match(text)) and (following := text[label.end() :]):
        if _LABEL.match(following) is None and not _is_channel(label.group(1), following):
            break
        text = following
    return text


def _is_channel(label: str, text: str) -> bool:
    """Whether a label only names a program: one word in capitals before a sentence, or words with which it begins."""
    one, other = (re.sub(r"[\W_]", "", words).casefold() for words in (label, text))
    return other.startswith(one) or bool(_SHOUTED.fullmatch(label) and text[:1].isupper())


def _readable(word: str) -> str:
    """A name as it is written, without quotes."""
    return word.strip(" -'\"")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
