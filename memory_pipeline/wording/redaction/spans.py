"""Positions in a text, and the judgements about values that several finders share."""

from __future__ import annotations

import re

from memory_pipeline.wording.redaction import words

Span = tuple[int, int]

#: What stands in for a value: references to a variable, an example, a type, a call, a mask of somebody else's.
_STAND_IN = re.compile(
    r"""(?ix) \$ [\w({] | \{ | %[\w({]+ | < | \[ | \( | ! [a-z]+ $ | \* | [x*•.\-_#]{3,} $ | (?:sk|pk)?-?(?:x{4,}|\.{3}|…)
      | your[\s_-] | my[_-]?(?:api|secret|pass|token|key) | (?:the|a|an|insert|enter|put|replace|add|some)[_-]
      | (?:os|process|env|settings|config|cfg|self|this|args|request|req|secrets|vars|var|local|data|module)[.\[]
      | (?:str|string|int|bool|bytes|optional|none|null|nil|true|false|undefined|any|text|varchar|secretstr)\b (?![\w!@#$%^&*-])
      | (?:https?|file|op|vault|arn|ssm|keyring|env):  | [./~]{1,3}/ | [a-z]:\\ | \.\.\. | … | 0x[0-9a-f]{1,8}$
      | (?:change[_-]?me|replace[_-]?me|example|placeholder|redacted|hidden|masked|todo|tbd|n/a|example_?key)\b
    """
)
_CALL = re.compile(r"[A-Za-z_.]+[(\[]|\w+\(\)")
_NAME_PATH = re.compile(r"[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]+)+(?:\[.*\])?$")
_VERSION = re.compile(r"[v^~=<>]*\d+(?:\.\d+){1,4}(?:[-+.][\w.]+)?$")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}\S*)?$|\d{1,2}[./]\d{1,2}[./]\d{2,4}$|\d{1,2}:\d{2}(?::\d{2})?$"
)
_FILE = re.compile(
    r"[\w.@/\\-]*\.(?:md|txt|py|js|ts|tsx|json|ya?ml|toml|env|enc|pem|key|pub|sh|html?|css|go|rs|sql|conf|ini)$"
)
_MEASURE = re.compile(
    r"[\d.,]+(?:th|st|nd|rd|x|k|m|g|b|kb|mb|gb|ms|s|sec|min|h|d|days?|bits?|bytes?|chars?|%|px|usd|eur)$", re.I
)
_ATTRIBUTE = re.compile(r"[A-Za-z_.-]+=(?:[\"'{]|[\d./,]*$)")
_MARKS = frozenset("!@#$%^&*+=?~")
_WORD = r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[a-zA-Z]|\d{1,4})"
_WORDS = re.compile(rf"[-_./:]*{_WORD}(?:[-_./:]+{_WORD})*[-_./:]*")
_ODD_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def is_stand_in(value: str) -> bool:
    """A reference, placeholder, type, call, address or path instead of a value."""
    return bool(
        _STAND_IN.match(value)
        or _CALL.match(value)
        or _ATTRIBUTE.match(value)
        or _NAME_PATH.match(value)
        or _VERSION.match(value)
        or _DATE.match(value)
        or _FILE.match(value)
        or _MEASURE.match(value)
    )


def has_letters_and_digits(value: str) -> bool:
    """At least one of each."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_machine_made(value: str) -> bool:
    """Characters that nobody would choose: letters and digits that do not form words and small numbers, or odd case."""
    if _WORDS.fullmatch(value):
        return False
    if has_letters_and_digits(value):
        return True
    return len(_ODD_CASE.findall(value)) >= max(2, len(value) // 8)


def is_random(value: str, shortest: int) -> bool:
    """A machine-made value of at least `shortest` characters that stands alone."""
    return len(value) >= shortest and value.isascii() and not is_stand_in(value) and is_machine_made(value)


def is_strong(value: str) -> bool:
    """Text that only a password looks like: letters with digits, or with marks in between, or four words joined."""
    if len(value) < 4 or is_stand_in(value) or value.lower().strip("!?.") in words.SAID_OF_ONE:
        return False
    if value.count("-") >= 3 and all(part.isalpha() for part in value.split("-")):
        return not any(part in words.OF_A_SENTENCE for part in value.lower().split("-"))
    if has_letters_and_digits(value):
        return True
    inner = value.rstrip("!?*")
    return any(c.isalnum() for c in value) and (
        sum(c in _MARKS for c in inner) >= 1 or (len(value) >= 6 and value[-1] in "!?" and value[-2] in _MARKS)
    )


def is_strong_phrase(value: str) -> bool:
    """At most four parts with a digit and a mark, as a password that holds a space: `p@ss w0rd9!`."""
    return (
        1 < len(value.split()) <= 4
        and not is_stand_in(value)
        and any(c.isdigit() for c in value)
        and any(c in _MARKS for c in value)
    )


def small_letters(text: str) -> str:
    """The text in lower case with unchanged positions: letters that would become two stay as they are."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
