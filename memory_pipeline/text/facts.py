"""Extracts the facts in a text that must not be lost or altered: numbers with units, dates, times, names,
identifiers, negations and recommendations, each in a normal form so that `5 min` equals `five minutes`.

The preservation check of a distillation and the conflict guard use the same extraction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memory_pipeline.text.days import DAYS_OF_WEEK, MONTHS
from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text, plain_text, strip_leading
from memory_pipeline.text.sentences import strip_lead_in


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its kind, its normal form (which is compared) and its words in the text."""

    kind: str
    value: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """The key that two equal facts share."""
        return self.kind, self.value


#: Units, each with the words for it: of time, of data, of money and counts, of lengths, of amounts, and others.
_UNITS = (
    "ms:ms millisecond milliseconds msec|us:us µs microsecond microseconds|s:s sec secs second seconds|"
    "min:min mins minute minutes|h:h hr hrs hour hours|d:d day days|week:week weeks wk|month:month months|"
    "year:year years yr yrs|hz:hz|khz:khz|mhz:mhz|ghz:ghz|rpm:rpm|"
    "b:byte bytes|kb:kb kib kilobyte kilobytes|mb:mb mib megabyte megabytes|gb:gb gib gigabyte gigabytes|"
    "tb:tb tib terabyte terabytes|mbit:mbit mbps|gbit:gbit gbps|px:px pixels|token:token tokens|"
    "usd:$ usd dollar dollars|eur:€ eur euro euros|gbp:£ gbp|%:% percent pct|x:x times|k:k thousand|m:m million|"
    "mm:mm millimetre millimetres millimeter millimeters|cm:cm centimetre centimetres centimeter centimeters|"
    "km:km kilometre kilometres kilometer kilometers|mile:mi mile miles|"
    "l:litre litres liter liters|ml:ml|g:gram grams|mg:mg|kg:kg kilograms|"
    "w:watt watts|kw:kw|kwh:kwh|v:volt volts|db:decibel decibels|°c:°c celsius|°f:°f fahrenheit|"
    "retry:retry retries|core:core cores|row:row rows|worker:worker workers|request:request requests"
)
_UNIT_OF = {
    word: unit for group in _UNITS.split("|") for unit, _, words in [group.partition(":")] for word in words.split()
}
_SPELLED = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
_MONTHS = {"sept": 9} | {
    name.lower(): number for number, month in enumerate(MONTHS, start=1) for name in (month, month[:3])
}
_WEEKDAYS = {name: day for day in DAYS_OF_WEEK for name in (day, day[:3])} | {"tues": "tuesday", "thurs": "thursday"}
_MONTH_WORD = "|".join(sorted((m for m in _MONTHS if m not in ("may", "mar")), key=len, reverse=True)) + "|May|Mar"
_WEEKDAY_WORD = "|".join(DAYS_OF_WEEK) + "|Mon|Tue|Wed|Thu|Fri|Sat|Sun"

_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_WORD_DATE = re.compile(
    rf"\b(?:(?<![\d/.:-])(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_WORD})|({_MONTH_WORD})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?)"
    r"(?:,?\s+(\d{4}))?\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b({_WEEKDAY_WORD})s?\b", re.IGNORECASE)
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:])\s?([AaPp]\.?[Mm]\.?)?")
_HOUR = re.compile(r"(?<![\w:.,/-])(1[0-2]|0?[1-9])\s?([AaPp])(?:[Mm]\b|\.[Mm]\.)")
_URL = re.compile(r"https?://[^\s)>\]\"']+")
_CODE = re.compile(r"`([^`\n]+)`")
_IDENTIFIER = re.compile(
    r"(?<![\w/])(?:"
    r"--?[a-z][\w-]{2,}"  # flags
    r"|[\w.+-]{1,200}@[\w-]{1,200}\.[\w.]+"  # addresses
    r"|(?:~|\.{1,2})?/?[\w.-]{1,200}(?:/[\w.-]{1,200})+/?"  # paths
    r"|[A-Za-z][\w-]{0,200}(?:_\w+)+"  # snake_case
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}"  # camelCase
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+(?:\(\))?"  # dotted names
    r"|[A-Z][A-Z0-9]*-\d+|#\d+"  # tickets
    r"|v?\d+(?:\.\d+){2,}(?:[-+][\w.]+)?|v\d+(?:\.\d+)*"  # versions and addresses
    r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"  # hashes
    r")(?![\w])"
)
_NUMBER = re.compile(
    r"(?<![\w.])([~≈<>≤≥]?[-+]?)([$€£]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<!\d,)\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"(?:(/\d+(?:\.\d+)?)|(?:\s?-\s?|–)(\d+(?:\.\d+)?))?(?:\s?(%|°[CF]|µs)|\s?-?([A-Za-z]+))?"
)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}$)")
_SPELLED_NUMBER = re.compile(
    r"\b(" + "|".join(w for w in _SPELLED if w not in ("one", "zero")) + r")\b(?:[\s-]([A-Za-z]+))?", re.IGNORECASE
)
#: `eu1`, `A3`, `D4`
_CODED = re.compile(r"(?<!\w)[A-Za-z]+\d\w*")
#: A word, with the letters of any script.
WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NAME = re.compile(r"\b[A-Z](?:(?![a-z])[\w'’-]){0,200}[a-z][\w'’-]*\b|\b[A-Z]{2}[A-Z0-9]*\b")
_SENTENCE_END = re.compile(r"[.!?;:](?:\s|$)|\n|[。！？]")
#: Marks after which a sentence starts, and dashes after which one starts if they stand alone.
_BEFORE_SENTENCE = frozenset(".!?:;•|\n\"'([*")
_DASHES = frozenset("-–—")

NEGATORS = frozenset(
    "not no never none nobody nothing neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't "
    "weren't shouldn't mustn't couldn't wouldn't hasn't haven't hadn't ain't needn't".split()
)
MODALS = frozenset("should must always prefer avoid recommend recommended ought shall need needs remember".split())
STOP_WORDS = frozenset(
    "a an the and or but if then than so of in on at to for from by with as is are was were be been being am it its "
    "this that these those there here he she they we you i me my our your his her their them us do does did done has "
    "have had having will would can could may might just also very too into onto over under about after before when "
    "while which who whom whose what where why how all any each some such own same other more most much many few up "
    "down out off again once only both s t now still yet because due via per another since today therefore thus hence "
    "however besides".split()
)


@remembered
def find_facts(text: str) -> tuple[Fact, ...]:
    """All facts of a text, each once, in the order of their positions. Leading timestamps, scaffolding
    and words that only announce something (`Remember:`) hold none."""
    lines = "\n".join(strip_lead_in(strip_leading(line)) for line in without_scaffolding(text).split("\n"))
    located, rest = _located(lines)
    facts: dict[tuple[str, str], Fact] = {}
    for fact in chain(
        (fact for fact, _, _ in located), _names(rest), _negations_and_recommendations(plain_text(lines))
    ):
        facts.setdefault(fact.key, fact)
    return tuple(facts.values())


def fact_keys(text: str) -> frozenset[tuple[str, str]]:
    """The keys of all facts of a text."""
    return frozenset(fact.key for fact in find_facts(text))


def locate_values(text: str) -> list[tuple[Fact, int, int]]:
    """The numbers, dates, times and identifiers of a text in order, and its words with figures (`code`), each with the
    start and end of its words."""
    located, rest = _located(text)
    coded = ((Fact("code", match.group().lower(), match.group()), *match.span()) for match in _CODED.finditer(rest))
    return sorted((*located, *coded), key=lambda item: item[1:])


def _located(text: str) -> tuple[list[tuple[Fact, int, int]], str]:
    """The values of a text, reader by reader, and the text with blanks in their places."""
    located = []
    for pattern, read in _READERS:
        spans = []
        for match in pattern.finditer(text):
            for fact in read(match):
                start = text.index(fact.text, match.start()) if fact.text in match.group() else match.start()
                located.append((fact, start, start + len(fact.text)))
                spans.append((start, start + len(fact.text)))
        text = _blank(text, spans)
    return located, text


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += (text[done:start], " " * (end - start))
            done = end
    return "".join([*parts, text[done:]])


def _code(match: re.Match[str]) -> list[Fact]:
    inner = " ".join(match.group(1).split())
    if re.fullmatch(r"[\d.,]+\s?[A-Za-z%]*", inner):
        return [fact for number in _NUMBER.finditer(inner) for fact in _number(number)]
    return [Fact("identifier", inner.lower().rstrip(".,;:"), match.group())]


def _identifier(match: re.Match[str]) -> list[Fact]:
    value = match.group().rstrip(".,;:")
    is_fraction = re.fullmatch(r"\d+(?:\.\d+)?/\d+(?:\.\d+)?", value)  # 9/10 is a number
    return [] if is_fraction else [Fact("identifier", value.lower(), value)]


def _word_date(match: re.Match[str]) -> list[Fact]:
    day = int(match.group(1) or match.group(4))
    month = _MONTHS[(match.group(2) or match.group(3)).lower()]
    year = match.group(5) or "----"
    return [Fact("date", f"{year}-{month:02}-{day:02}", match.group())] if 1 <= day <= 31 else []


def _clock(match: re.Match[str]) -> list[Fact]:
    hour, half = int(match.group(1)), (match.group(3) or "").lower().replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return [Fact("time", f"{hour:02}:{match.group(2)}", match.group().strip())]


def _hour(match: re.Match[str]) -> list[Fact]:
    hour = int(match.group(1)) % 12 + 12 * (match.group(2).lower() == "p")
    return [Fact("time", f"{hour:02}:00", match.group())]


def _number(match: re.Match[str]) -> list[Fact]:
    sign, currency, digits, fraction, upper, symbol, word = match.groups()
    unit = _UNIT_OF.get((symbol or currency or word or "").lower(), "")
    if not unit and word and match.group().rstrip().endswith(f"{digits}{word}"):
        unit = word.lower()  # glued to the number: 3rd, 12k, 4vCPU
    text = match.group() if unit or not word else match.group()[: -len(word)].rstrip(" -")
    value = _plain_number(digits) + (fraction or "") + (f"-{_plain_number(upper)}" if upper else "")
    sign = sign if sign.endswith("-") else ""
    return [Fact("number", f"{'-' if sign else ''}{value}{' ' + unit if unit else ''}", text.strip())]


def _spelled(match: re.Match[str]) -> list[Fact]:
    unit = _UNIT_OF.get((match.group(2) or "").lower(), "")
    text = match.group() if unit else match.group(1)
    return [Fact("number", f"{_SPELLED[match.group(1).lower()]}{' ' + unit if unit else ''}", text)]


def _plain_number(digits: str) -> str:
    whole = _DECIMAL_COMMA.sub(".", digits).replace(",", "")
    if "." in whole:
        whole = whole.rstrip("0").rstrip(".")
    whole = whole.lstrip("0")
    return f"0{whole}" if not whole or whole.startswith(".") else whole


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Fact]]], ...] = (
    (_URL, lambda match: [Fact("identifier", match.group().rstrip(".,;:").lower(), match.group())]),
    (_CODE, _code),
    (_ISO_DATE, lambda match: [Fact("date", match.group(), match.group())]),
    (_CLOCK, _clock),
    (_HOUR, _hour),
    (_IDENTIFIER, _identifier),
    (_WORD_DATE, _word_date),
    (_WEEKDAY, lambda match: [Fact("date", _WEEKDAYS[match.group(1).lower()], match.group())]),
    (_NUMBER, _number),
    (_SPELLED_NUMBER, _spelled),
)


def _names(text: str) -> Iterator[Fact]:
    for match in _NAME.finditer(text):
        word = match.group()
        if len(word) < 2 or word.lower() in STOP_WORDS or word.lower() in NEGATORS:
            continue
        if word.isupper() or not _begins_sentence(text, match.start()):
            yield Fact("name", word.lower().removesuffix("'s").removesuffix("’s"), word)


def _begins_sentence(text: str, place: int) -> bool:
    """True if a sentence starts at this position, judging by the characters before it."""
    before = place
    while before > 0 and text[before - 1].isspace():
        before -= 1
        if text[before] == "\n":
            return True
    if before == 0:
        return place == 0
    if text[before - 1] in _BEFORE_SENTENCE:
        return True
    return place - before == 1 and before > 1 and text[before - 1] in _DASHES and text[before - 2].isspace()


def _negations_and_recommendations(text: str) -> Iterator[Fact]:
    """Each negator and modal with the word it refers to: the next content word in its sentence, else the previous
    one."""
    for sentence in _SENTENCE_END.split(text):
        bare = [match.group().strip("'’") for match in WORD.finditer(sentence)]
        words = [(word.lower().replace("’", "'"), word) for word in bare]
        for index, (word, written) in enumerate(words):
            kind = "negation" if word in NEGATORS else "recommendation" if word in MODALS else None
            if kind is None:
                continue
            near = (words[n] for n in (*range(index + 1, min(index + 5, len(words))), *range(index - 1, -1, -1)))
            bears_on = next(((low, raw) for low, raw in near if low not in STOP_WORDS), ("", ""))
            yield Fact(kind, f"{kind} {stem(bears_on[0])}".strip(), f"{written} {bears_on[1]}".strip())


#: Kinds of facts that are figures: they differ between two times at which one thing happened.
FACT_FIGURES = frozenset(("number", "date", "time", "identifier"))


def value_of(word: str) -> str | None:
    """The normal form of a word that contains a figure or spells a small number, or None: `1,000`, `0.90`, `five`."""
    if word in _SPELLED:
        return str(_SPELLED[word])
    if not any(c.isdigit() for c in word):
        return None
    return re.sub(r"\d[\d,]*(?:\.\d+)?", lambda match: _plain_number(match.group()), word)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A rough English stem, enough to see that `restarts`, `restarted` and `restarting` are one word."""
    for suffix in ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word


@remembered
def content_words(text: str) -> tuple[str, ...]:
    """The stemmed content words, in order: no stop words, numbers, timestamps or Markdown marks.

    Words of scripts without spaces are taken character by character.
    """
    plain = embedding_text(text)
    if plain.isascii():
        bare = (word.removesuffix("'s") for word in WORD.findall(plain.lower()))
        return tuple(stem(word) for word in bare if word not in STOP_WORDS)
    words: list[str] = []
    for match in WORD.finditer(plain):
        word = match.group().lower().replace("’", "'").removesuffix("'s")
        if any("\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in word):
            words.extend(word)
        elif word not in STOP_WORDS:
            words.append(stem(word))
    return tuple(words)
