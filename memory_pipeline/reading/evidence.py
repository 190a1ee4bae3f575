"""Finds what a statement says beyond its evidence (figures, names, denials), and the words that both share; by code
alone, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.text.days import days_meant, months_meant
from memory_pipeline.text.facts import NEGATORS, STOP_WORDS, WORD, find_facts
from memory_pipeline.text.languages import is_german, negates, with_iso_days
from memory_pipeline.text.normalise import spaced
from memory_pipeline.text.preservation import find_invention
from memory_pipeline.text.redaction import redact

#: Words that a statement shares at least with the sentences of one of its quotes, or one of two. Of 909 statements of
#: a model all but a few do.
_LEAST_BORNE = 2
_LACKS = "none of its items"
#: A text in which more of the words inside of its sentences begin with a capital letter writes all nouns so.
_CAPITALISED = 0.3
_COUNTED = re.compile(r"(?<![\w.,-])(\d+) ([^\W\d_]{5,})(?![\w-])")
#: `7/7`: so many of so many, of whatever stands beside it.
_OF_SO_MANY = re.compile(r"(?<![\w./-])(\d+)/(\d+)(?![\w./-])")
_NUMBER_OF = re.compile(r"\b[Nn]o\.? ?(?=\d)")
#: What a setting or a log says with a word: `improving=no`.
_VALUE = re.compile(r"=\w+")
_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
#: A name of programs that may stand inside of code: `task_router`, `check.py`.
_INSIDE = re.compile(r"\w+(?:[_.]\w+)+(?:\(\))?|_\w+(?:\(\))?")
_FIRST_WORD = re.compile(r"(?:^|[.!?]\s+)([^\W\d_a-z][\w'’-]*)")
_CLOCK_AND_COLON = re.compile(r"(\d:\d\d):(?=\s)")
#: Words of negation, also as people type them: `dont`.
_NEGATORS = NEGATORS | {word.replace("'", "") for word in NEGATORS if word.endswith("n't")}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a statement: its quotes with the words around them, their whole sentences, its items and what it
    replaces, the days of both; the other turns of a conversation, in which names may stand; and what all items of the
    question name."""

    quotes: Sequence[str]
    sentences: Sequence[str]
    sources: Sequence[str]
    others: str
    named: frozenset[str]
    days: set[date]


def find_unsupported(text: str, evidence: Evidence) -> str:
    """The part of a statement that its evidence does not say; empty if it says all."""
    text = with_iso_days(text, {meant for day in evidence.days for meant in days_meant(day)})
    if strange := find_strange(_CLOCK_AND_COLON.sub(r"\1,", text), evidence.sources, evidence.days):
        return f"{_LACKS} has '{strange}'"
    source_texts = [*evidence.sources, evidence.others, *months_meant(evidence.days)]
    if unknown := unknown_name(text, source_texts) or _borrowed_name(text, evidence.named, source_texts):
        return f"{_LACKS} names '{unknown}'"
    mine = beginnings(text)
    denying = list(map(beginnings, filter(denies, [*evidence.quotes, *evidence.sentences])))
    if denies(text) and not any(len(mine & words) >= min(_LEAST_BORNE, len(mine), len(words)) for words in denying):
        return "it denies or forbids something, and the sentences of its quotes do not"
    if not denies(text) and all(map(denies, evidence.quotes)):
        return "its quote denies or forbids something, and the statement does not"
    if redact(text, personal=False)[1].total() > 0:
        return "it copies a secret"
    return ""


def find_missing(objection: str) -> str:
    """The part of a statement that none of its items says, casefolded, if an objection is about that; empty if not.
    Another item of the question may say it."""
    return objection.partition("'")[2].removesuffix("'").casefold() if objection.startswith(_LACKS) else ""


def find_strange(text: str, sources: Sequence[str], days: set[date]) -> str:
    """A figure or identifier of a text that no source has; empty if there is none. The year of a source is known, and a
    number to which a source gives no unit may have one that another number or another place there has."""
    numbers = [fact.value.split(" ") for source in sources for fact in find_facts(source) if fact.kind == "number"]
    bare = {value[0] for value in numbers if len(value) == 1}
    halves = {number for source in sources for pair in _OF_SO_MANY.findall(source) for number in pair}
    units = {value[1] for value in numbers if len(value) > 1}
    years = {f"{day.year}" for day in days}
    known, source_text = list(sources), "\n".join(sources)
    while strange := find_invention(known, text, days):
        value, _, unit = strange.value.partition(" ")
        has_unit = bool(unit) and (unit in units or _is_said(unit, source_text.casefold()))
        is_known = strange.value in years or (value in bare and has_unit)
        is_known |= value in halves and _counts(value, unit, source_text)
        if strange.kind == "identifier":
            is_known = _is_written(strange.text.strip("`"), source_text)
        if strange.kind not in ("number", "identifier") or not is_known or strange.text in known:
            return strange.text
        known.append(strange.text)
    return _other_counted(text, source_text)


def _is_written(identifier: str, source_text: str) -> bool:
    """True if a text has an identifier inside of something longer (`router` of `from a.router import x`), or all names
    that it joins (`GLM-5/M2.5`). Commands and paths are what they are with all their parts only."""
    if _INSIDE.fullmatch(identifier):
        inside = rf"(?<![\w./-]){re.escape(identifier.casefold())}(?![\w/-]|\.\d)"
        return re.search(inside, source_text.casefold()) is not None
    parts = identifier.split("/")
    return len(parts) > 1 and all(part[:1].isupper() and _is_said(part, source_text.casefold()) for part in parts)


def _other_counted(text: str, source_text: str) -> str:
    """A number of a text with the word after it, if its sources count something else with that number: `30 Stunden` of
    `30 Minuten`, `212 errors` of `212 tests of the parser passed, no errors`."""
    counted: dict[str, set[str]] = {}
    for number, word in _COUNTED.findall(source_text):
        counted.setdefault(number, set()).add(word)
    for number, word in _COUNTED.findall(text):
        is_counted = number in counted and word.lower() not in STOP_WORDS and not _YEAR.fullmatch(number)
        if is_counted and word not in counted[number] and not _counts(number, word, source_text):
            return f"{number} {word}"
    return ""


def _counts(number: str, word: str, source_text: str) -> bool:
    """True if a word stands beside a number in a text, in any form, with three words between them at most."""
    stem, gap = re.escape(word.casefold()[: max(4, len(word) - 2)]), r"(?:[\w'’./-]+\W+){0,3}?"
    after = rf"(?<![\w.,-]){number}(?:/\d+)?\W+{gap}{stem}"
    return re.search(rf"{after}|{stem}\w*\W+{gap}{number}(?!\w)", source_text.casefold()) is not None


def denies(text: str) -> bool:
    text = _NUMBER_OF.sub(" ", _VALUE.sub("=", text))
    words = {word.casefold().replace("’", "'") for word in WORD.findall(text)}
    return not words.isdisjoint(_NEGATORS) or negates(text)


def unknown_name(text: str, sources: Sequence[str]) -> str:
    """A name of a statement that none of its sources has, in any form; empty if there is none."""
    source_text = "\n".join(sources).casefold()
    plain = not is_german(f"{text}\n{source_text}") and not any(map(writes_nouns_so, (text, *sources)))
    for fact in find_facts(text):
        if fact.kind != "name":
            continue
        for part in (part for part in fact.text.split("-") if plain or is_marked_name(part)):
            if not _is_said(part, source_text):
                return part
    return ""


def find_names(texts: Iterable[str]) -> frozenset[str]:
    """The names in some texts, as they write them, of those that do not write all nouns like names."""
    plain = (text for text in texts if not is_german(text) and not writes_nouns_so(text))
    facts = (fact for text in plain for fact in find_facts(text) if fact.kind == "name")
    return frozenset(fact.text.removesuffix("'s").removesuffix("’s") for fact in facts)


def _borrowed_name(text: str, named: frozenset[str], sources: Sequence[str]) -> str:
    """A name at the start of a sentence that only other items have; empty if there is none. `named`: by all items."""
    source_text = "\n".join(sources).casefold()
    firsts = (match.group(1).removesuffix("'s").removesuffix("’s") for match in _FIRST_WORD.finditer(text))
    return next((word for word in firsts if word in named and not _is_said(word, source_text)), "")


def _is_said(name: str, source_text: str) -> bool:
    """True if a casefolded text has a name, in any form."""
    bare = name.casefold().removesuffix("'s").removesuffix("’s")
    return re.search(rf"(?<![^\W_]){re.escape(bare[: max(3, len(bare) - 2)])}", source_text) is not None


def is_marked_name(word: str) -> bool:
    """True if a word is a name in any language: it holds a digit or a capital letter after its first one."""
    return any(char.isdigit() or char.isupper() for char in word[1:])


def writes_nouns_so(text: str) -> bool:
    """True if a text begins its nouns with capital letters, as German does."""
    inside: list[str] = re.findall(r"(?<=[^\W\d_,;] )[^\W\d_]\w+", text)
    return len(inside) > 4 and sum(word[0].isupper() for word in inside) > _CAPITALISED * len(inside)


def are_enough(shared: set[str], mine: set[str], theirs: set[str]) -> bool:
    """True if the words that a statement shares with its sentences bear it: two, or one if either has few."""
    return len(shared) >= min(_LEAST_BORNE, len(mine), max(1, len(theirs) - 1))


def beginnings(text: str) -> set[str]:
    """The first letters of the longer words, in which the forms of one word agree, and the figures; of a script without
    spaces its pairs of characters."""
    words = (word for word in WORD.findall(spaced(text)) if len(word) > 3 or not word.isascii())
    return {word.casefold()[:4] for word in words} | set(_DIGITS.findall(text))
