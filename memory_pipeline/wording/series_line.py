"""The line of a series in readable words: its text without the marks of machinery, and what its figures are called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.templates import Place, list_elements

_LABEL = re.compile(r"([^\W\d](?:[\w '&\U000F0000-\U000FFFFD-]|\.(?! )){0,40}?)\s*(?:\([\w .-]{1,30}\))?:\s+(?=\S)")
#: A label before the first of several pairs: `Phase: alpha: 3.4; beta: 2.1`.
_PAIRS_OF_ONE = re.compile(
    r"[^\W\d][\w '-]{0,40}: [^\W\d][\w .-]{0,40}(?:: [^\W\d][\w .-]{0,40})?:? [\U000F0000-\U000FFFFD]?[-+]?[\d\x01]\S*"
    r"[,;] [^\W\d][\w .-]{0,40}:? [\U000F0000-\U000FFFFD]?[-+]?[\d\x01]"
)
_SHOUTED = re.compile(r"\b[A-Z][A-Z_]{3,}\b")
#: A label of several of them, before a number that has its own name.
_SHOUTED_LABEL = re.compile(
    r"\b[\w.-]+ [A-Z]{4,}(?: [A-Z]{4,})+: (?=[\U000F0000-\U000FFFFD]?\d[\d.,]* [^\W\d]{2,} [^\W\d]{2,})"
)
_KEY = re.compile(r"([\w.-]+)\s*=\s*$")
#: A key of a word, which may stand in quotes before a colon.
_QUOTED_KEY = re.compile(r"([\w.-]+)(?:\s*=\s*|['\"]\s*:\s*)['\"]?$")
_NAMED_BEFORE = re.compile(r"([^\W\d][^;,|:=(){}\[\]→.]{0,48}?)\s*:\s*$")
_NAMED_AFTER = re.compile(r"[ ]([^\W\d_][\w-]*)")
_UNIT_AFTER = re.compile(r"(%|[^\W\d_]{1,5}(?:/[^\W\d_]{1,3})?)(?![\w])")
_SPACED_UNIT = re.compile(
    r" (%|[CFK]|[kmcµn]?[mgslWVAJ]|[kMGT]i?[BWVH]z?|[kKMGT]?B|Hz|ppm|px|°[CF]|EUR|USD|min|sec|hours?|days?"
    r"|minutes?|seconds?|percent)(?![\w])"
)
_NO_NAMES = frozenset(
    "a an and are as at by for from in into is it of on or per since than that the then there to under up via was "
    "were with after before during while when because but not no over s ms h min sec has have had took takes it "
    "this they you we i costs cost reached rose fell".split()
)
_MEASURES = {"s": "time", "ms": "time", "min": "time", "h": "time", "B": "size", "KB": "size", "MB": "size",
             "GB": "size", "%": "share"}  # fmt: skip
_CURRENCIES = "$€£¥"
#: Up to three words between a separator and a value: `, loss 0.4`, `20:30 mail queue 6`.
_PHRASE_BEFORE = re.compile(r"(?:^|[:;,|({\[]|\band)\s*(?:- )?((?:[^\W\d_]+[ ]){1,3})$")
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
    (re.compile(r"(?<=[;,.:] )- (?=[^\W\d])"), ""),
)
#: A label that is the name of a figure like those that follow: `Orders: 95, Revenue 4779.90 EUR`.
_ONE_OF_SEVERAL = re.compile(
    r"([^\W\d][\w ]{0,30}): (?=[\U000F0000-\U000FFFFD]?[-+]?\d[\d.,]*%?(?: [^\W\d]{1,4})?, [A-Z][\w ]{0,30} "
    r"[\U000F0000-\U000FFFFD]?[-+]?\d)"
)
_COLON_BEFORE_NUMBER = re.compile(r"(?<=[\w)]):\s+(?=[\U000F0000-\U000FFFFD]?[-+]?[\d\x01])")
#: Before a figure in a line with marks stands a character of its own: this one plus the number of its place.
_FIRST_MARK, _MOST_MARKS = 0xF0000, 0xFFFD
_MARKED = re.compile(r"[\U000F0000-\U000FFFFD]")
#: How far back the key of the structure is looked for in which a figure stands.
_LONGEST_STRUCTURE = 2000
_STRUCTURE = re.compile(r"[{}\[\]]|\.\s+(?=[A-Z\d]|$)")
_KEY_OF_STRUCTURE = re.compile(r"([\w%][\w .()%-]{0,30})['\"]?\s*[:=]\s*$")
_DANGLING = re.compile(r"(?:\s*[→>=:;,|~@#*×+-]|\s+(?:at|on|to|in|of|from|as|into|id|by|for|since))+\s*$")
_HANGING = re.compile(r"\s+(?:at|on|in|to|from|by|for|of)(?=[:;,](?:\s|$))")
_BEFORE_STOP = re.compile(r"\s+([,;:.)\]])")
_SPACES = re.compile(r"\s{2,}")
_REPEATED_STOPS = re.compile(r"([,;:])(?:\s*[,;:])+")


def name_of(series: Series, place: int) -> str:
    """What a place is called in its line: the words that stand next to it, or nothing."""
    return name_and_side(series, place)[0]


def unit_of(series: Series, place: int) -> str:
    """The unit that stands at a figure, with a space before a word: `%`, ` ms`."""
    if _text_after(series, place) == "/" and place + 1 < len(series.places):
        place += 1
    text, end = series.newest.line.text, series.places[place].end
    unit = _UNIT_AFTER.match(text, end) or _SPACED_UNIT.match(text, end)
    if unit is None:
        return ""
    return unit.group(1) if unit.group(1) == "%" else f" {unit.group(1)}"


def measure_of(series: Series, place: int) -> str:
    """What the unit of a figure measures: `time`, `size`, `share`, or nothing."""
    return _MEASURES.get(unit_of(series, place).strip(), "")


def amount(series: Series, place: int, value: str) -> str:
    """A value with its currency sign or its unit, and with its total where that is always the same: `5/6`."""
    start = series.places[place].start
    sign = series.newest.line.text[start - 1 : start] if has_currency(series, place) else ""
    total = "" if "/" in value else _total(series, place)
    return f"{sign}{value}{total}{unit_of(series, place)}"


def has_currency(series: Series, place: int) -> bool:
    """Whether a currency sign stands before a figure."""
    start = series.places[place].start
    return start > 0 and series.newest.line.text[start - 1] in _CURRENCIES


def amounts(series: Series, place: int, one: str, between: str, other: str) -> str:
    """Two values with their unit, which a word says once: `12 to 15 min`, `5/6 or 6/6`, `$3 to $4`."""
    first, last, unit = amount(series, place, one), amount(series, place, other), unit_of(series, place)
    return f"{first.removesuffix(unit) if unit.startswith(' ') else first}{between}{last}"


def _total(series: Series, place: int) -> str:
    """The total that a figure is a part of, with its stroke, if it never varies."""
    if _text_after(series, place) != "/" or place + 1 >= len(series.places):
        return ""
    totals = set(series.columns[place + 1])
    return f"/{totals.pop()}" if len(totals) == 1 else ""


def called(series: Series, place: int, value: str) -> str:
    """A value with its name, on the side on which it stands in the line: `phi 0.7`, `97 passed`."""
    return beside_name(series, place, amount(series, place, value))


def beside_name(series: Series, place: int, said: str) -> str:
    """What is said of a place, with its name on the side on which it stands in the line: `13 to 34 turns`."""
    name, comes_after = name_and_side(series, place)
    return " ".join(part for part in ((said, name) if comes_after else (name, said)) if part)


def name_and_side(series: Series, place: int) -> tuple[str, bool]:
    """The name of a place, and whether it comes after the value."""
    text = series.newest.line.text
    before, after = text_before(series, place).rstrip(_CURRENCIES), _text_after(series, place)
    if key := _KEY.search(before):
        return readable(key.group(1)), False
    unit = _UNIT_AFTER.match(after) or _SPACED_UNIT.match(after)
    follows = _NAMED_AFTER.match(after[unit.end() :] if unit else after)
    label = _NAMED_BEFORE.search(before)
    leads = label is not None and not place and _LABEL.match(text) is not None
    if follows and follows.group(1).casefold() not in _NO_NAMES and (label is None or leads):
        return readable(follows.group(1)), True
    if leads and has_currency(series, place):  # `Spent today: $3`: the sign says it
        return "", False
    if label is not None:
        return readable(label.group(1).strip(" -")), False
    if after == "/" and place + 1 < len(series.places):  # `5/6 modules`: both are of modules
        last = place + 1
        while last + 1 < len(series.places) and _text_after(series, last) == "/":
            last += 1
        return name_and_side(series, last)
    phrase = _PHRASE_BEFORE.search(before)
    words = phrase.group(1).split() if phrase and (place or not before.startswith(phrase.group(1))) else []
    return (" ".join(words) if words and not _NO_NAMES.intersection(map(str.casefold, words)) else ""), False


def key_of(series: Series, place: int) -> str:
    """The key before a value, as in `type=testing` and `'type': 'testing'`, or nothing."""
    key = (_QUOTED_KEY if series.places[place].kind == "word" else _KEY).search(text_before(series, place))
    return readable(key.group(1)) if key else ""


def _text_after(series: Series, place: int) -> str:
    """The text between a place and the next one."""
    text, places = series.newest.line.text, series.places
    return text[places[place].end : places[place + 1].start if place + 1 < len(places) else len(text)]


def headline(series: Series, *, with_words: bool = True) -> str:
    """The line in readable words with its newest values; ids, dates and clock times are left out, and so are words that
    vary, if asked for."""
    values = [
        value if with_words or place.kind != "word" else "\x00"
        for place, value in zip(series.places, series.newest.values, strict=True)
    ]
    return _plain(_filled(series, values))


def marked_headline(series: Series) -> str:
    """The headline with a mark before each figure, which `places_in` reads."""
    values = [
        f"{chr(_FIRST_MARK + n)}{value}" if place.kind == "figure" and n < _MOST_MARKS else value
        for n, (place, value) in enumerate(zip(series.places, series.newest.values, strict=True))
    ]
    return _plain(_filled(series, values))


def places_in(marked: str) -> list[int]:
    """The places of the figures in a part of a headline with marks."""
    return [ord(mark) - _FIRST_MARK for mark in _MARKED.findall(marked)]


def without_marks(marked: str) -> str:
    """A part of a headline as it is read."""
    return _MARKED.sub("", marked)


def structure_of(series: Series, place: int) -> str:
    """The key of the structure in which a figure stands, as in `timings={'total': 0.3}`, or nothing."""
    return next(iter(structures_of(series, place)), "")


def structures_of(series: Series, place: int) -> list[str]:
    """The key of the structure in which a figure stands, and of the one around it unless that is the outermost; nothing
    without a key."""
    text, opened = _opened(series, place)
    around = opened[-1:] + (opened[-2:-1] if len(opened) > 2 else [])
    keys = [_KEY_OF_STRUCTURE.search(text, 0, start) for start in around]
    return [readable(key.group(1).rpartition(". ")[2]) for key in keys if key] if keys and keys[0] else []


def _opened(series: Series, place: int) -> tuple[str, list[int]]:
    """The text before a figure, and where the structures begin in it that are still open."""
    end = series.places[place].start
    text = series.newest.line.text[max(0, end - _LONGEST_STRUCTURE) : end]
    opened: list[int] = []
    for mark in _STRUCTURE.finditer(text):
        if mark.group() in "{[":
            opened.append(mark.start())
        elif mark.group() in "}]":
            opened = opened[:-1]
        else:  # a sentence ends, and so do structures that a program cut off
            opened = []
    return text, opened


def subject_of(series: Series) -> str:
    """The words of the line before its first value."""
    places = series.places
    marked = [
        "\x01" if place.kind in ("figure", "list", "word") else value
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


def text_before(series: Series, place: int) -> str:
    """The text between a place and the one before it."""
    start = series.places[place - 1].end if place else 0
    return series.newest.line.text[start : series.places[place].start]


def _in_words(place: Place, value: str) -> str:
    if place.kind == "list" and value != "\x01":
        return listed([readable(word) for word in list_elements(value) or (value,)])
    return value if place.kind in ("figure", "word", "list") else "\x00"


def listed(words: Sequence[str]) -> str:
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
    rest = _COLON_BEFORE_NUMBER.sub(" ", _SHOUTED_LABEL.sub("", text[start:]))
    return capitalised(_ONE_OF_SEVERAL.sub(r"\1 ", lead + rest, count=1).rstrip(" .;,:"))


def _without_channels(text: str) -> str:
    """A text without the labels of the program that wrote it, up to the label that names its subject. What a structure
    or several pairs are of is no such label."""
    while _PAIRS_OF_ONE.match(text) is None and (label := _LABEL.match(text)) and (following := text[label.end() :]):
        if _LABEL.match(following) is None and not _is_channel(label.group(1), following):
            break
        text = following
    return text


def _is_channel(label: str, text: str) -> bool:
    """Whether a label only names a program: one word in capitals before a sentence, or words with which it begins."""
    one, other = (re.sub(r"[\W_]", "", words).casefold() for words in (label, text))
    return other.startswith(one) or bool(_SHOUTED.fullmatch(label) and text[:1].isupper())


def readable(word: str) -> str:
    """A name as it is written, without quotes."""
    return word.strip(" -'\"")


def capitalised(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a name of a program: `stock_sync`, `gpu-3`."""
    first = text.partition(" ")[0]
    if re.search(r"[_\d./\\]", first.rstrip(".")):
        return text
    return text[:1].upper() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
