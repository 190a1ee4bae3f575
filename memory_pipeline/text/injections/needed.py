"""Strings that a text must contain for a pattern to match: most patterns need not be tried on most texts.

Derived from the pattern itself, as Cox describes for code search (https://swtch.com/~rsc/regexp/regexp4.html): the
strings that a part of it can be, if they are few, otherwise a set of strings of which every match contains one.
Looking into all patterns takes a quarter of a second, so the strings are kept in `needed.json`; after a change of
patterns, `python -m memory_pipeline.text.injections` writes it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from itertools import product
from typing import Any, NamedTuple

#: The file in this package with the strings that every pattern needs.
FILE = "needed.json"
#: Maximum number of strings to follow through a pattern; shorter strings than this say too little.
_MOST_STRINGS, _LEAST_LENGTH = 256, 3
#: Letters that a pattern matches case-insensitively, although `lower` leaves them unchanged.
_AS_ASCII = str.maketrans("ıİſ\u212a", "iisk")


class Needed(NamedTuple):
    """Folded strings (see `folded`) of which an ASCII text, or any text, must contain one for a pattern to match; None
    if nothing is known, and an empty set if no such text can match."""

    in_ascii: frozenset[str] | None = None
    anywhere: frozenset[str] | None = None


class _Part(NamedTuple):
    """All strings that a part of a pattern can be, if they are few; and strings of which it contains one, if known."""

    exact: frozenset[str] | None
    needed: frozenset[str] | None


_ANYTHING, _NOTHING = _Part(None, None), _Part(frozenset([""]), None)


def folded(text: str) -> str:
    """A text in small letters: it contains an ASCII string wherever a pattern finds that string, whatever its case."""
    return text.lower() if text.isascii() else text.translate(_AS_ASCII).lower()


def strings_needed(pattern: str, *, anywhere: bool = False) -> frozenset[str] | None:
    """Folded strings of which every ASCII text that the pattern matches (case-insensitively) contains one; with
    `anywhere`, every text. None if nothing is known; an empty set if no such text can match."""
    from re import _parser  # type: ignore[attr-defined]  # private, and the only way to see a pattern's parts

    needed = _best(_of_sequence(_parser.parse(pattern), anywhere=anywhere))
    if needed is None:
        return None
    return frozenset(string for string in needed if string.isascii())


def kept_strings() -> Mapping[str, Needed]:
    """What patterns need according to the file, by the key of the pattern; a pattern that is not in it is unknown."""
    kept = json.loads((resources.files(__package__) / FILE).read_text("utf-8"))
    return {key: Needed(*(None if one is None else frozenset(one) for one in both)) for key, both in kept.items()}


def key_of(pattern: str) -> str:
    """The key of a pattern in the file: another pattern has another one."""
    return hashlib.sha256(pattern.encode()).hexdigest()[:16]


def as_file(patterns: Iterable[str]) -> str:
    """The contents of the file for these patterns."""
    lines = []
    for pattern in patterns:
        both = (strings_needed(pattern), strings_needed(pattern, anywhere=True))
        lines.append(f'"{key_of(pattern)}": {json.dumps([None if one is None else sorted(one) for one in both])}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _of_sequence(items: Iterable[tuple[Any, Any]], *, anywhere: bool) -> _Part:
    run, candidates, whole = frozenset([""]), [], True
    for item in items:
        part = _of_item(*item, anywhere=anywhere)
        if part.exact is not None and len(run) * len(part.exact) <= _MOST_STRINGS:
            run = frozenset(before + after for before, after in product(run, part.exact))
            continue
        candidates += [_Part(run, None), part]
        run, whole = frozenset([""]), False
    if whole:
        return _Part(run, None)
    return _Part(None, _strongest([_best(part) for part in (*candidates, _Part(run, None))]))


def _of_item(kind: Any, value: Any, *, anywhere: bool) -> _Part:
    name = str(kind)
    if name == "LITERAL":
        return _of_letters([value], anywhere=anywhere)
    if name == "IN" and all(str(one) == "LITERAL" for one, _ in value):
        return _of_letters([letter for _, letter in value], anywhere=anywhere)
    if name in ("AT", "ASSERT", "ASSERT_NOT"):
        return _NOTHING
    if name == "SUBPATTERN":
        return _of_sequence(value[-1], anywhere=anywhere)
    if name == "BRANCH":
        return _of_branches([_of_sequence(branch, anywhere=anywhere) for branch in value[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _of_repeat(value[0], value[1], _of_sequence(value[2], anywhere=anywhere))
    return _ANYTHING


def _of_letters(letters: Iterable[int], *, anywhere: bool) -> _Part:
    """One of several letters. Which others a letter beyond ASCII matches is left open: in an ASCII text, none."""
    found = frozenset(folded(chr(letter)) for letter in letters)
    return _ANYTHING if anywhere and not all(map(str.isascii, found)) else _Part(found, None)


def _of_branches(branches: Sequence[_Part]) -> _Part:
    exact = [part.exact for part in branches if part.exact is not None]
    strings = frozenset[str]().union(*exact)
    if len(exact) == len(branches) and len(strings) <= _MOST_STRINGS:
        return _Part(strings, None)
    needed = [_best(part) for part in branches]
    known = [one for one in needed if one is not None]
    return _Part(None, frozenset[str]().union(*known) if len(known) == len(needed) else None)


def _of_repeat(least: int, most: Any, body: _Part) -> _Part:
    if (least, most) == (1, 1):
        return body
    if (least, most) == (0, 1) and body.exact is not None:
        return _Part(body.exact | {""}, None)
    return _Part(None, _best(body)) if least else _ANYTHING


def _best(part: _Part) -> frozenset[str] | None:
    """Strings of which a part contains one, as few as possible."""
    strings = part.exact if part.exact is not None else part.needed
    if strings is None or any(len(string) < _LEAST_LENGTH and string.isascii() for string in strings):
        return None
    return frozenset(s for s in strings if not any(other != s and other in s for other in strings))


def _strongest(found: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    """Of several sets, the one with the longest strings, then the fewest."""
    known = [frozenset(string for string in one if string.isascii()) for one in found if one is not None]
    return min(known, key=lambda one: (-min(map(len, one), default=99), len(one), sorted(one)), default=None)
