"""Ids that follow from what they identify, and short handles of them for texts that people and agents read."""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache

from memory_pipeline.errors import InputError

#: Maximum length of the id of a memory or a project.
MAX_ID = 200
#: Namespace of every derived id.
ID_NAMESPACE = uuid.UUID("6f1d3e0a-8d2c-5b7e-9c41-2f6a0b9d4e55")


def fingerprint_of(member_ids: tuple[str, ...] | list[str]) -> str:
    """SHA-256 over the sorted member ids, one per line: the same members give the same fingerprint."""
    return hashlib.sha256("\n".join(sorted(member_ids)).encode()).hexdigest()


def derived_id(*parts: str) -> str:
    """UUIDv5 of the parts: a deterministic id, so that a re-run finds what an earlier run wrote."""
    return str(uuid.uuid5(ID_NAMESPACE, "\x1f".join(parts)))


def connected_groups(ids: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The ids in groups: those that pairs of them connect, directly or through others, in one. Groups and their members
    are in the given order; a pair with another id connects nothing."""
    leader = {one: one for one in ids}

    def first(one: str) -> str:
        while leader[one] != one:
            leader[one] = one = leader[leader[one]]
        return one

    for one, other in pairs:
        if one in leader and other in leader:
            leader[first(one)] = first(other)
    groups: dict[str, list[str]] = {}
    for one in leader:
        groups.setdefault(first(one), []).append(one)
    return list(groups.values())


#: Letters of a handle at least, of twenty bits together, and of a whole hash.
SHORTEST, LONGEST = 4, 16
_HANDLE = re.compile(rf"\^?([a-z2-7]{{{SHORTEST},{LONGEST}}})")
_MOST_IDS = 3


def is_handle(text: str) -> bool:
    """True if a text has the form of a handle, with its mark or without."""
    return _HANDLE.fullmatch(text) is not None


@lru_cache(200_000)
def hash_letters(memory_id: str) -> str:
    """The hash of an id, of which its handle is the beginning."""
    digest = hashlib.sha256(memory_id.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest[: LONGEST * 5 // 8]).decode().lower()


class Handles:
    """The handles of some ids."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._entries = sorted((hash_letters(memory_id), memory_id) for memory_id in ids)

    def with_further(self, ids: Sequence[str]) -> Handles:
        """The handles of these ids too."""
        if not self._entries:
            return Handles(ids)
        both = copy(self)
        both._entries = self._entries.copy()
        for memory_id in ids:
            insort(both._entries, (hash_letters(memory_id), memory_id))
        return both

    def shorten(self, memory_id: str) -> str:
        """The handle of an id, without its mark."""
        letters = hash_letters(memory_id)
        place = bisect_left(self._entries, (letters, memory_id))
        beside = [self._entries[n] for n in (place - 1, place, place + 1) if 0 <= n < len(self._entries)]
        neighbours = [near for near, near_id in beside if near_id != memory_id]
        lengths = range(SHORTEST, LONGEST)
        length = next((n for n in lengths if not any(near[:n] == letters[:n] for near in neighbours)), LONGEST)
        return letters[:length]

    def whole_id(self, text: str) -> str:
        """The id that a handle stands for, with its mark or without; any other text as it is.

        Raises InputError if the handle stands for several ids.
        """
        match = _HANDLE.fullmatch(text)
        if match is None:
            return text
        matches = []
        for letters, memory_id in self._entries[bisect_left(self._entries, (match[1], "")) :]:
            if not letters.startswith(match[1]):
                break
            matches.append(memory_id)
        if len(matches) > 1:
            ids = ", ".join(matches[:_MOST_IDS]) + (", ..." if len(matches) > _MOST_IDS else "")
            raise InputError(f"the handle '{text}' stands for {len(matches)} ids ({ids}); give one of these")
        return matches[0] if matches else text
