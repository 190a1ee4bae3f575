"""Strings that a text must contain for a pattern to match: most patterns need not be tried on most texts.

Derived from the pattern itself, as Cox describes for code search (https://swtch.com/~rsc/regexp/regexp4.html): the
strings that a part of it can be, if they are few, otherwise a set of strings of which every match contains one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

#: Maximum number of strings to follow through a pattern; shorter strings than this say too little.
_MOST_STRINGS, _LEAST_LENGTH = 256, 3
#: Letters that a pattern matches case-insensitively, although `lower` leaves them unchanged.
_AS_ASCII = str.maketrans("ıİſ\u212a", "iisk")


class _Part(NamedTuple):
    """All strings that a part of a pattern can be, if they are few; and strings of which it contains one, if known."""

    exact: frozenset[str] | None
    needed: frozenset[str] | None


_ANYTHING, _NOTHING = _Part(None, None), _Part(frozenset([""]), None)


def strings_needed(pattern: str) -> frozenset[str] | None:
    """Lower-case strings of which every ASCII text that the pattern matches (case-insensitively) contains one. None
    if nothing is known, also if this Python shows patterns in another form; an empty set if no ASCII text can match."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # private, and the only way to see a pattern's parts

        needed = _best(_of_sequence(_parser.parse(pattern)))
    except (ImportError, AttributeError, TypeError, ValueError, LookupError):
        return None
    if needed is None:
        return None
    return frozenset(string for string in needed if string.isascii())


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> _Part:
    run, candidates, whole = frozenset([""]), [], True
    for item in items:
        part = _of_item(*item)
        if part.exact is not None and len(run) * len(part.exact) <= _MOST_STRINGS:
            run = frozenset(before + after for before, after in product(run, part.exact))
            continue
        candidates += [_Part(run, None), part]
        run, whole = frozenset([""]), False
    if whole:
        return _Part(run, None)
    return _Part(None, _strongest([_best(part) for part in (*candidates, _Part(run, None))]))


def _of_item(kind: Any, value: Any) -> _Part:
    name = str(kind)
    if name == "LITERAL":
        return _Part(frozenset([_lowered(value)]), None)
    if name == "IN" and all(str(one) == "LITERAL" for one, _ in value):
        return _Part(frozenset(_lowered(letter) for _, letter in value), None)
    if name in ("AT", "ASSERT", "ASSERT_NOT"):
        return _NOTHING
    if name == "SUBPATTERN":
        return _of_sequence(value[-1])
    if name == "BRANCH":
        return _of_branches([_of_sequence(branch) for branch in value[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _of_repeat(value[0], value[1], _of_sequence(value[2]))
    return _ANYTHING


def _lowered(letter: int) -> str:
    return chr(letter).translate(_AS_ASCII).lower()


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
