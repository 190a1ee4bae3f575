"""What changed in the active memory between two states, as data and text."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.recall.past import PastState
from memory_pipeline.records import EXPIRED
from memory_pipeline.wording.quoting import clipped


class CameMemory(Document):
    """A memory that is active only in the later state."""

    id: str = Field(description="The memory.")
    content: str = Field(description="Its content.")


class WentMemory(CameMemory):
    """A memory that is active only in the earlier state."""

    why: str = Field(description="What it was archived into, or that it is no longer in use.")
    into: str | None = Field(description="The memory that it was archived into; null if it is no longer in use.")


class ChangedMemory(CameMemory):
    """A memory that is active in both states and differs between them."""

    what: str = Field(description="Each field that changed, with its values.")


class Difference(Document):
    """What changed in the active memory from one state to another."""

    before: str = Field(alias="from", description="The earlier state, in words.")
    after: str = Field(alias="to", description="The later state, in words.")
    added: tuple[CameMemory, ...] = Field(description="Memories that were added, by id.")
    gone: tuple[WentMemory, ...] = Field(description="Memories that are no longer active, and why, by id.")
    changed: tuple[ChangedMemory, ...] = Field(description="Memories that changed, with the changes, by id.")
    tokens_before: int = Field(description="Tokens of the active memories in the earlier state.")
    tokens_after: int = Field(description="Tokens of the active memories in the later state.")


def diff_states(before: PastState, after: PastState) -> Difference:
    """The memories that are active in only one of two states, and the changes of those that are active in both."""
    old, new = before.active, after.active
    later = {memory.id: memory for memory in after.memories}
    gone = []
    for memory_id in sorted(old.keys() - new.keys()):
        now = later.get(memory_id)
        into = now.consolidated_into_id if now else None
        expired = now is not None and now.archived_by == EXPIRED
        why = f"archived into {into}" if into else "its time was over in its source" if expired else "no longer in use"
        gone.append(WentMemory(id=memory_id, content=old[memory_id].content, why=why, into=into))
    changed = []
    for memory_id in sorted(old.keys() & new.keys()):
        what = [
            f"{name} {getattr(old[memory_id], name)} -> {getattr(new[memory_id], name)}"
            for name in ("importance", "pinned", "reuse_count", "useful_count")
            if getattr(old[memory_id], name) != getattr(new[memory_id], name)
        ]
        if what:
            changed.append(ChangedMemory(id=memory_id, content=new[memory_id].content, what=", ".join(what)))
    return Difference(
        before=before.label,
        after=after.label,
        added=tuple(CameMemory(id=i, content=new[i].content) for i in sorted(new.keys() - old.keys())),
        gone=tuple(gone),
        changed=tuple(changed),
        tokens_before=sum(memory.token_count for memory in old.values()),
        tokens_after=sum(memory.token_count for memory in new.values()),
    )


def replaced(difference: Difference) -> list[tuple[CameMemory, list[WentMemory]]]:
    """Each new memory with what it replaced; those that replaced most come first, then those that replaced nothing."""
    gone: dict[str | None, list[WentMemory]] = {}
    for memory in difference.gone:
        gone.setdefault(memory.into, []).append(memory)
    pairs = [(memory, gone.get(memory.id, [])) for memory in difference.added]
    return sorted(pairs, key=lambda pair: (-len(pair[1]), pair[0].id))


def headline(difference: Difference) -> str:
    """The counts of a difference in one sentence."""
    return (
        f"From {difference.before} to {difference.after}: {len(difference.added)} added, {len(difference.gone)} "
        f"removed, {len(difference.changed)} changed; {difference.tokens_before} -> {difference.tokens_after} active "
        "tokens"
    )


def diff_text(difference: Difference, most: int | None = None) -> str:
    """A difference as lines: `+` added, `-` removed, with the words of what it was archived into, `~` changed; at most
    `most` of each."""
    words = {memory.id: memory.content for memory in (*difference.added, *difference.changed)}
    lines = [headline(difference)]
    lines += [f"+ {memory.id}  {_flat(memory)}" for memory in difference.added[:most]]
    lines += [f"- {memory.id}  {_flat(memory)}  ({_why(memory, words)})" for memory in difference.gone[:most]]
    lines += [f"~ {memory.id}  {_flat(memory)}  ({memory.what})" for memory in difference.changed[:most]]
    return "\n".join(lines)


def _why(memory: WentMemory, words: Mapping[str, str]) -> str:
    if memory.into is None or memory.into not in words:
        return memory.why
    return f"archived into “{clipped(words[memory.into], 60)}”, {memory.into[:8]}"


def _flat(memory: CameMemory) -> str:
    return clipped(memory.content, 160)
