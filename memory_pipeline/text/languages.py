"""Small words of other languages than English: their days, months and negations, and what tells them from English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import cache
from importlib import import_module
from typing import Literal

from memory_pipeline.text.days import DAYS_OF_WEEK, MONTHS
from memory_pipeline.text.facts import STOP_WORDS
from memory_pipeline.text.memo import remembered

#: The languages whose days and months are read: dateparser has their names, from the Unicode CLDR.
LANGUAGES = "de es pt fr it ru tr zh ja ko".split()
_NEGATIONS = frozenset(
    "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne nix net ned nit koa koan koane "
    "no nunca jamás nada nadie ningún ninguna ninguno sin tampoco "
    "não jamais ninguém nenhum nenhuma sem "
    "ne n pas rien aucun aucune sans non mai niente nulla nessuno nessun nessuna senza "
    "не нет никогда ничего никто без нельзя "
    "değil yok hiç asla".split()
)
#: Words of negation that are words of English or another language too.
_AMBIGUOUS = frozenset("no sin ne n non pas mai nada net ned nit".split())
_DAY_AND_MONTH = re.compile(
    r"(?<![\d.])(?P<day>\d{1,2})(?:[./](?P<figure>\d{1,2})[./](?P<year>\d{4})"
    r"|(?:\.|º|er)?\s+(?:de\s+)?(?P<word>[^\W\d_]{3,12})(?:\s+(?:de\s+)?(?P<years>\d{4}))?)(?!\d)"
)
_NEGATIONS_OF_CJK = "没有 不 没 未 无 非 别 勿 ません ない なかった なく 無 않 못 없 아니 비활성 미완".split()
#: Words that only these languages have and that are in nearly every sentence of them.
FUNCTION_WORDS = (
    frozenset(
        "der das den dem ein eine einen ist sind war wurde werden und oder nicht für mit auf von zu im am bei nach "
        "el la los las una del al es está están fue y o que para por con "
        "os um uma da do dos das no na nos nas é são foi e ou em com ao à "
        "le les des du une est sont a été et ou dans sur pour avec par au aux "
        "il lo gli della di del dei nel sul è sono stato e o per con che "
        "bir ve ile için bu olarak".split()
    )
    - STOP_WORDS
    - frozenset("a no am die on as so".split())
)
_GERMAN = frozenset(
    "der die das den dem ein eine einen ist sind war wurde werden und oder nicht für mit auf von zu im am bei nach ich "
    "er sie wir es".split()
)
#: English words that are no words of the other languages.
_ENGLISH = STOP_WORDS - frozenset(
    "a am an as at do has he her his i in me more no nor on so some to was we us via per".split()
)
#: In a text of more words, one sign of another language is enough if there is no sign of English.
_FEW_WORDS = 3
#: Letters of a number or an identifier are no words: `3fa9c1e`.
_WORD = re.compile(r"(?<![\w])[^\W\d_]++(?:-[^\W\d_]++)*+(?![\w])")
#: `I've`: its `ve` is no Turkish word.
_CONTRACTION = re.compile(r"(?<=[a-z])(?:n['’]t|['’](?:ve|re|ll|m))\b", re.IGNORECASE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")


@remembered
def is_english(text: str) -> bool:
    """True if the guard reads a text: most of its letters are Latin, and its small words are not those of another
    language. A text without small words (`deploy OK`) counts as read."""
    letters = len(_LETTER.findall(text))
    if letters and len(_OTHER_SCRIPT.findall(text)) > 0.3 * letters:
        return False
    contractions = len(_CONTRACTION.findall(text))
    words = [word.lower() for word in _WORD.findall(_CONTRACTION.sub("", text) if contractions else text)]
    foreign = sum(word in FUNCTION_WORDS for word in words)
    accented = sum(not word.isascii() for word in words)
    english = contractions + sum(word in _ENGLISH for word in words)
    signs = foreign + accented
    return signs <= english or signs < (1 if english == 0 and len(words) > _FEW_WORDS else 2)


@cache
def names_of(what: Literal["weekday", "month"]) -> dict[str, int]:
    """The names of the weekdays or the months in these languages, with their numbers from 1. Of abbreviations those
    that are hardly another word."""
    numbers: dict[str, int] = {}
    for language in LANGUAGES:
        info = import_module(f"dateparser.data.date_translation_data.{language}").info
        for number, english in enumerate(DAYS_OF_WEEK if what == "weekday" else MONTHS, start=1):
            names = [name.lower() for name in info[english.lower()] if name.replace("-", "").isalpha()]
            numbers |= {name: number for name in names if len(name) > 3 or len(names) == 1 or _is_whole(name, what)}
    return numbers


def weekdays_in(text: str) -> dict[int, str]:
    """The weekdays that a text names in one of these languages, by number from 1."""
    names = names_of("weekday")
    words = {word.lower() for word in _WORD.findall(text)}
    has_cjk = _CJK.search(text) is not None
    return {
        number: name
        for name, number in names.items()
        if name in words or (has_cjk and _CJK.search(name) and name in text)
    }


def _is_whole(name: str, what: str) -> bool:
    return len(name) > 1 and not name.isascii() and (what == "month" or _CJK.search(name) is not None)


def is_german(text: str) -> bool:
    """True if more of the small words of a text are German than English: German capitalises every noun."""
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in _GERMAN for word in words) > sum(word in _ENGLISH for word in words)


def negates(text: str) -> bool:
    """True if a text has a word of negation of one of these languages."""
    words = {word.lower() for word in _WORD.findall(text)} & _NEGATIONS - {"n"}
    if words - _AMBIGUOUS or any(sign in text for sign in _NEGATIONS_OF_CJK):
        return True
    return bool(words) and not is_english(text)


def with_iso_days(text: str, days: Iterable[date]) -> str:
    """A text in which days of those given are written as `2026-03-05`, whichever of these languages names their month, and
    also where they are figures alone (`5.3.2026`)."""
    known = {(day.day, day.month): day for day in days}

    def iso(match: re.Match[str]) -> str:
        month = int(match["figure"]) if match["figure"] else names_of("month").get((match["word"] or "").lower(), 0)
        day = known.get((int(match["day"]), month))
        year = match["year"] or match["years"]
        return match.group() if day is None or (year and int(year) != day.year) else f"{day}"

    return _DAY_AND_MONTH.sub(iso, text)
