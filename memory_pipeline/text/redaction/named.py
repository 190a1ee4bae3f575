"""Secrets identified by their name: `password: X`, `DB_PASSWORD=X`, `the pw is X`, `contraseña: X`, `API key | X |`.

A name alone does not make a secret ("the password reset flow was fixed"): the following value is judged, more
strictly if the separator between the two says little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from memory_pipeline.text.redaction import spans
from memory_pipeline.text.redaction.spans import (
    Span,
    is_random,
    is_stand_in,
    is_strong,
    is_strong_phrase,
    small_letters,
)

How = Literal["assigned", "told", "beside"]

_ENDING = rf"(?:s(?![^\W_]))?(?:[_-](?!(?:{spans.OTHER_THINGS})\b)\w{{1,20}}){{0,2}}"
#: Families of names, and the pattern of each, for a text in small letters.
_NAMES = {
    "password": re.compile(rf"(?:(?:{spans.PASSWORDS})|(?<![^\W_])(?:{spans.SHORT_PASSWORDS})(?![^\W_])){_ENDING}"),
    "code": re.compile(
        # Behind another word, it is a code of another kind: `the error code of the gate`.
        rf"(?<![^\W_])(?:(?:(?<!\w\s)|(?<=the\s)|(?<=our\s)|(?<=new\s)|(?<=de[rn]\s))(?:code|pin)\s(?:{spans.PREPOSITIONS})"
        rf"\s(?:[^\W\d]{{2,12}}\s){{0,2}}?(?:{spans.OPENED})|(?:{spans.CODES}))(?![^\W_]){_ENDING}"
        # `the key box has a new code, 9027`
        rf"|(?<![^\W_])(?:{spans.OPENED})\s[^.!?\n]{{2,60}}?\s(?:a|the|its|new)\s(?:code|pin),?(?=\s(?:\w{{2,6}}\s)?\*?\d)"
    ),
    "keypad": re.compile(
        rf"(?<![^\W_])(?:{spans.OPENED})(?![^\W_])(?:\s[^.!?\n]{{2,60}}?(?=\s\*?\d[\d ]{{2,8}}\d#(?!\w)))?"
    ),
    # Of a key of which nothing says what it opens only what a machine made is masked, and behind a colon or a sign.
    "key": re.compile(r"(?<![^\W_])(?:key|token|secret)(?:\s[^\W\d_]{2,12}){0,4}(?=\s?[:=])"),
    "token": re.compile(
        rf"(?:(?:{spans.TOKENS})(?!['’a-rt-z])"
        rf"|(?<![^\W_])(?:{spans.MAKERS})(?:['’]s)?\s(?:\w{{2,12}}\s)?key(?![a-z])){_ENDING}"
    ),
}
_QUALIFIER = re.compile(
    rf"(?:[\"'`*\]]{{0,4}}(?:\s?\([^()\n]{{1,40}}\)|\s(?:{spans.PREPOSITIONS})(?:\s[^\s:=|]{{1,30}}){{1,5}}?)"
    rf"(?=[\"'`*]{{0,3}}(?:[:：]|\s(?:[:=|]|->|→|[-–—]\s|(?:is|ist|lautet|es|est|è|é)\s))))",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"[\"'`*_\])]{0,4}\s{0,3}(?:(?::=|=>|->|→|⇒|==?|:|：|(?<=\s)\||\|(?=\s))[*_]{0,3}(?:[ \t]{0,4}\n[ \t>]{0,12}(?=[`\"']?\S{6})|[ \t|]{0,8})"
    r"|[-–—][ \t])"
    r"|\s*/?>\s{0,2}(?=[^\s<])|[\"']\s{1,3}value=(?=[\"'])"
)
_TOLD = re.compile(rf"[\"'`*_]{{0,3}}(?:['’]s\s+|\s+{spans.COPULAS}|\s*{spans.TIGHT_COPULAS}\s*:?\s*)", re.IGNORECASE)
_BESIDE = re.compile(r"[\"'`*_]{0,3}\s+(?:\(\s?)?")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "«": "»", "「": "」", "『": "』", "‹": "›"}
_BARE = re.compile(
    r"(?:(?!</|[\"'`](?:[\s,;:)\]}]|$)|\\[\"n]|\|(?:\s|$)|[,;&][\"']?[\w.-]{1,30}[\"']?\s?[=:]|,\s)[^\s、。，；」』»”])+",
    re.MULTILINE,
)
#: What may follow a word that stands alone after its name.
_CLOSING = " \t.;,)*_|`\"'<}]"
#: A value up to a script in which the sentence goes on without a space: Thai, Chinese, Japanese, Korean.
_BEFORE_SENTENCE = re.compile(r"[^\u0e00-\u0eff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]{4,100}")
_LETTERS = re.compile(r"[^\W\d_]+")
_PHRASE = re.compile(r"[^\W\d_A-Z]{2,12}(?:[ -][^\W\d_A-Z]{2,12}){2,23}")
_CODE = re.compile(r"\*?\d[\d ]{2,8}\d(?![\d.:/-]*\d|\s?%)")
#: As it is keyed in: with the key that ends it.
_KEYED = re.compile(r"\*?\d[\d ]{2,8}\d#(?!\w)")
_OF_MACHINE = re.compile(r"[A-Za-z0-9_-]{20,200}(?![\w/-]|[.:]\w)")
#: An identifier in code rather than its value: `password=form_password`.
_NAMES_ONE = re.compile(r"(?i)pass|pwd|token|secret|key|user|input|value|field")


def find_named(text: str) -> Iterator[Span]:
    """Values whose name says that they are secret."""
    low = small_letters(text)
    for family, pattern in _NAMES.items():
        for match in pattern.finditer(low):
            yield from _after_name(text, match.start(), match.end(), family)


def _after_name(text: str, start: int, position: int, family: str) -> Iterator[Span]:
    name = text[start:position]
    several = family == "token" and text[position - 1] in "sS"  # of tokens there are counts more often than lists
    qualifier = _QUALIFIER.match(text, position)
    if qualifier:
        position = qualifier.end()
    ways: tuple[tuple[How, re.Pattern[str]], ...] = (("assigned", _ASSIGNED), ("told", _TOLD), ("beside", _BESIDE))
    for how, sign in ways:
        match = sign.match(text, position)
        if match is None:
            continue
        if how == "told" and match["old"] and is_strong(match["old"]):
            yield match.span("old")
        if how == "beside" and name in ("PASS", "Pass"):
            return  # the result of a test
        if several:
            how = "beside"
        elif "\n" in match[0]:
            how = "told"
        constant = name.isupper() and match[0] == "="
        span = _value(text, match.end(), how, family, constant=constant)
        if span:
            yield span
            return
        if how == "assigned":
            return


def _value(text: str, start: int, how: How, family: str, *, constant: bool) -> Span | None:
    while start < len(text) and text[start] in "*_" and text[start : start + 2] in ("**", "__"):
        start += 2
    if start >= len(text):
        return None
    if family in ("code", "keypad"):
        match = (_CODE if family == "code" else _KEYED).match(text, start + (text[start] in _QUOTES))
        return match.span() if match else None
    if family == "key":
        match = _OF_MACHINE.match(text, start + (text[start] in _QUOTES)) if how == "assigned" else None
        return match.span() if match and _is_of_machine(match[0]) else None
    close = _QUOTES.get(text[start])
    if close:
        end = text.find(close, start + 1, start + 400)
        if end > start and "\n" not in text[start:end]:
            value = text[start + 1 : end]
            if constant and how == "assigned" and is_strong_phrase(value):
                return start + 1, end
            return (start + 1, end) if _is_secret(value, family, how, quoted=True, alone=True) else None
        start += 1
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    value = _trim(bare[0])
    if not value.isascii() and (spaced := _BEFORE_SENTENCE.match(value)):
        value = spaced[0]
    line_end = text.find("\n", start)
    rest = text[start : line_end if line_end >= 0 else len(text)]
    if family == "password" and (phrase := _phrase(rest, how)):
        return start, start + len(phrase)
    after = text[start + len(value) : start + len(value) + 2].partition("\n")[0]
    alone = constant or (after.strip(_CLOSING) == "" and (after[:1] != " " or after == " |" or after == " "))
    is_secret = bool(value) and _is_secret(value, family, how, quoted=False, alone=alone)
    return (start, start + len(value)) if is_secret else None


def _trim(value: str) -> str:
    """The value without trailing punctuation, bold marks or brackets."""
    while True:
        shorter = value.removesuffix("**").removesuffix("__").rstrip(".,;:`")
        for opening, closing in ("()", "[]", "{}"):
            if shorter.endswith(closing) and shorter.count(closing) > shorter.count(opening):
                shorter = shorter[:-1]
        if shorter == value:
            return value
        value = shorter


def _phrase(rest: str, how: How) -> str | None:
    """A passphrase of at least four plain words that do not form a sentence."""
    match = _PHRASE.match(rest)
    if match is None or how == "beside":
        return None
    after = rest[match.end() : match.end() + 1]
    words = re.split("[ -]", match[0])
    if after.isalnum() or after == "_" or len(words) < 4:
        return None
    describing = sum(word in spans.SAID_OF_ONE for word in words)
    return None if describing > 1 or any(word in spans.OF_A_SENTENCE for word in words) else match[0]


def _is_of_machine(value: str) -> bool:
    """True for what nobody would take for a name, a number or a digest: it has both cases and digits."""
    return any(map(str.islower, value)) and any(map(str.isupper, value)) and is_random(value, 20)


def _is_secret(value: str, family: str, how: How, *, quoted: bool, alone: bool) -> bool:
    if is_stand_in(value) or value.lower().strip("!?.") in spans.SAID_OF_ONE:
        return False
    if family == "token" and " " not in value:
        return is_random(value, {"assigned": 8, "told": 10, "beside": 16}[how])
    if " " in value:
        parts = value.lower().split()
        if not quoted or how == "beside" or any(word in spans.OF_A_SENTENCE for word in parts):
            return False
        return is_strong_phrase(value) or (len(parts) >= 3 and sum(w in spans.SAID_OF_ONE for w in parts) < 2)
    if how == "beside":
        return len(value) >= 5 and is_strong(value)
    if is_strong(value):
        return True
    if value.isdigit():
        return 4 <= len(value) <= 16
    if how == "told":
        return quoted and len(value) >= 5 and bool(_LETTERS.fullmatch(value)) and value.isascii()
    return (
        (quoted or alone) and 5 <= len(value) <= 40 and bool(_LETTERS.fullmatch(value)) and not _NAMES_ONE.search(value)
    )
