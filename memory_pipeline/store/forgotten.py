"""Tombstones of what persons had this store forget: by them no import brings it back, and its history can be told.

A memory that is forgotten gets another id, a keyed hash of the one it had: ids hold names of files and hashes of words.
Its words leave such a hash too. The key belongs to the store, so that hashes of two stores cannot be compared, and each
hash takes some milliseconds (scrypt), so that nobody finds short words by trying many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from memory_pipeline.records import MADE, Memory
from memory_pipeline.store.memories import Memories
from memory_pipeline.store.rows import Statements
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.redaction import redact

#: A tombstone: the new id, the project, and the hash of the words.
Stone = tuple[str, str, str | None]
#: A rejected row: file, line, reason and excerpt.
Rejected = tuple[str, int, str, str]
_Thing = TypeVar("_Thing")
#: What the new ids begin with.
FORGOTTEN_ID = "forgotten:"
#: scrypt: 1 MB of memory and some 3 ms a hash.
_COST, _BLOCK = 1 << 10, 8


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The remains of a memory that a person had forgotten."""

    memory_id: str
    project_id: str
    forgotten_at: datetime
    forgotten_by: str


def keyed_hash(key: str, *parts: str) -> str:
    """A slow hash of some texts, as 32 hex digits."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=bytes.fromhex(key), n=_COST, r=_BLOCK, p=1, dklen=16).hex()


def new_id_of(key: str, old_id: str) -> str:
    """The id of a forgotten memory that had another one."""
    return FORGOTTEN_ID + keyed_hash(key, "id", old_id)


def words_hash(key: str, memory: Memory) -> str | None:
    """The hash by which the words of a memory are known again in its project, masked or not, whatever its file; None
    for what a night made. A turn of a conversation is one with its time: many say the same few words."""
    if memory.source.connector == MADE:
        return None
    said_at = memory.created_at.isoformat() if memory.memory_type == "conversation" else ""
    return keyed_hash(key, "words", memory.project_id, normalise(redact(memory.content)[0]), said_at)


def rejected_hash(key: str, file: str, excerpt: str) -> str:
    """The hash by which a row is known again that was rejected; the same in every project."""
    return keyed_hash(key, "rejected", excerpt or file)


class Forgotten(Statements):
    """The tombstones of a store."""

    def key(self) -> str | None:
        """The key of the hashes; None as long as nothing was forgotten."""
        key = self._sql.value("select key from forgotten_key")
        return str(key) if key is not None else None

    def stones(self, ids: Sequence[str], key: str) -> list[Stone]:
        """The tombstones that memories get when they are forgotten."""
        memories = Memories(self._sql).read(ids)
        return [(new_id_of(key, m.id), m.project_id, words_hash(key, m)) for m in memories.values()]

    def among(self, memories: Sequence[Memory]) -> set[str]:
        """The ids of those of these memories, which the store does not have, that a person had forgotten: by their ids,
        or by their words in their project."""
        gone = self._recognise(memories, lambda key, memory: (new_id_of(key, memory.id), words_hash(key, memory)))
        return {memory.id for memory in gone}

    def ids_among(self, ids: Iterable[str]) -> set[str]:
        """Those of these ids that a forgotten memory had."""
        return set(self._recognise(list(ids), lambda key, memory_id: (new_id_of(key, memory_id),)))

    def not_forgotten(self, rejected: Sequence[Rejected]) -> list[Rejected]:
        """Those of some rejected rows (file, line, reason, excerpt) that were not forgotten."""
        gone = set(self._recognise(rejected, lambda key, row: (rejected_hash(key, row[0], row[3]),)))
        return [row for row in rejected if row not in gone]

    def find(self, memory_id: str) -> Tombstone | None:
        """The tombstone of a memory, by the id that it had or by the one that it has."""
        key = self.key()
        if key is None:
            return None
        row = self._sql(memory_id, new_id_of(key, memory_id)).row("""
            select memory_id, project_id, forgotten_at, forgotten_by
            from forgotten
            where memory_id in ($1, $2)
            """)
        return Tombstone(*row) if row else None

    def of_forgetting(self, forgetting: str) -> list[str]:
        """The memories of one forgetting, by their new ids."""
        return self._sql(forgetting).strings(
            "select memory_id from forgotten where forgetting = $1 and project_id <> '' order by 1"
        )

    def _recognise(
        self, things: Sequence[_Thing], hashes_of: Callable[[str, _Thing], tuple[str | None, ...]]
    ) -> list[_Thing]:
        """Those of some things that were forgotten: of which one of the hashes, given the key, is known."""
        key = self.key() if things else None
        if key is None:
            return []
        hashes = [hashes_of(key, thing) for thing in things]
        known = self._sql([each for some in hashes for each in some if each]).rows("""
            select memory_id, words_hash
            from forgotten
            where memory_id in (select unnest($1::text[])) or words_hash in (select unnest($1::text[]))
            """)
        found = {each for row in known for each in row if each}
        return [thing for thing, some in zip(things, hashes, strict=True) if not found.isdisjoint(some)]
