"""What a person wants forgotten: memories by their ids, or all that hold some words, a file brought, or a conversation
said."""

from __future__ import annotations

from dataclasses import dataclass

from memory_pipeline.errors import InputError
from memory_pipeline.records import Memory
from memory_pipeline.store import Chosen, Transaction


@dataclass(frozen=True, slots=True)
class Selection:
    """Exactly one of ids, words, a file and a conversation. `only`: of what is found, these places of the list."""

    memory_ids: tuple[str, ...] = ()
    search: str | None = None
    source: str | None = None
    conversation: str | None = None
    project: str | None = None
    only: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        given = [one for one in (self.memory_ids, self.search, self.source, self.conversation) if one]
        if len(given) != 1:
            raise InputError("give ids of memories, or exactly one of --search, --source and --conversation")
        if self.search is not None and not self.search.split():
            raise InputError("--search needs words")
        if self.only and self.memory_ids:
            raise InputError("--only chooses among what was found; name the ids alone instead")

    def find(self, tx: Transaction) -> list[Memory]:
        """The memories, in the order in which they are listed. Raises InputError if there is none."""
        if self.memory_ids:
            found = tx.memories.read(self.memory_ids)
            for memory_id in self.memory_ids:
                if memory_id not in found:
                    raise InputError(_unknown(tx, memory_id))
            return [found[memory_id] for memory_id in dict.fromkeys(self.memory_ids)]
        if self.search:
            return tx.erasure.saying(self.search.split(), self.project)
        if self.source:
            return tx.erasure.from_file(self.source, self.project)
        return tx.erasure.of_conversation(self.conversation or "", self.project)

    def choose(self, tx: Transaction) -> tuple[list[Memory], Chosen]:
        """What was found, and what of it is chosen. Raises InputError if that is nothing."""
        found = self.find(tx)
        rejected = tx.erasure.rejected(self.source, (self.search or "").split()) if not self.only else []
        if not found and not rejected:
            what = {"--search": self.search, "--source": self.source, "--conversation": self.conversation}
            name, value = next((name, value) for name, value in what.items() if value)
            raise InputError(f"nothing in the store matches {name} '{value}'")
        strange = [place for place in self.only if not 1 <= place <= len(found)]
        if strange:
            raise InputError(f"--only {strange[0]} is not in the list, which has {len(found)} memories")
        chosen = [found[place - 1] for place in sorted(set(self.only))] if self.only else found
        return found, Chosen(tuple(memory.id for memory in chosen), tuple(rejected))


def _unknown(tx: Transaction, memory_id: str) -> str:
    gone = tx.forgotten.find(memory_id)
    if gone is not None:
        return f"memory '{memory_id}' was forgotten on {gone.forgotten_at:%Y-%m-%d} by {gone.forgotten_by}"
    return f"there is no memory '{memory_id}'; 'memory-pipeline forget --search WORDS' lists memories with their ids"
