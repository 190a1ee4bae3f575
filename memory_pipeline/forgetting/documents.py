"""The documents of a forgetting: its preview and its outcome, and both as text for a person."""

from __future__ import annotations

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.normalise import one_line

_MOST_SHOWN, _LINES = 100, 20
_NOT_REACHED = "Not reached from here"


class MemoryToForget(Document):
    """A memory that would go."""

    place: int = Field(description="Its place in the list, for `--only`; 0 for what goes with the chosen ones.")
    id: str = Field(description="The memory.")
    project: str = Field(description="Its project.")
    day: str = Field(description="The day that it is about.")
    why: str = Field(description="`chosen`, `not chosen`, `the same words`, `made from it`, or `behind it`.")
    content: str = Field(description=f"Its first {_MOST_SHOWN} characters.")


class AlikeMemory(Document):
    """A memory that says nearly the same, and stays."""

    id: str = Field(description="The memory.")
    similarity: float = Field(description="How alike it is, up to 1.")
    content: str = Field(description=f"Its first {_MOST_SHOWN} characters.")


class ForgetPreview(Document):
    """A preview of a forgetting; nothing was changed."""

    code: str = Field(description="Confirms exactly this: `--yes --code CODE`.")
    memories: tuple[MemoryToForget, ...] = Field(
        description="The memories that were found, and those that go with them."
    )
    going: int = Field(description="How many memories go.")
    rejected_rows: int = Field(description="Rows in quarantine that go.")
    active_again: tuple[str, ...] = Field(
        description="Memories that are active again, because what was made of them goes; the next night makes it again "
        "from them."
    )
    made_again: tuple[str, ...] = Field(description="Rollups that are made again without it.")
    snapshots: int = Field(description="Snapshots and copies that are written anew without them.")
    files: tuple[str, ...] = Field(description="Files beside the store that quote them, and are cleaned.")
    alike: tuple[AlikeMemory, ...] = Field(description="Memories that say nearly the same, and stay.")
    outside: tuple[str, ...] = Field(
        description="Where the words may be that this command does not reach, in sentences."
    )


class Forgotten(Document):
    """The outcome of a forgetting."""

    forgetting: str = Field(description="The id of this forgetting, in the audit log.")
    memories: tuple[str, ...] = Field(description="The tombstones: the new ids of the memories.")
    completed: bool = Field(description="Whether a forgetting that was interrupted was completed.")
    snapshots: tuple[str, ...] = Field(description="Snapshots and copies that were written anew.")
    removed: tuple[str, ...] = Field(description="Snapshots and copies that could not be read, and were removed.")
    files: tuple[str, ...] = Field(description="Files beside the store that were cleaned or removed.")
    searched: int = Field(description="Files that were searched afterwards; 0 if the words were gone before.")
    left: tuple[str, ...] = Field(description="Those of them that still say any of it.")
    exports: tuple[str, ...] = Field(
        description="Files of exports that still say it, since no setting makes them again or the line is yours."
    )
    problems: tuple[str, ...] = Field(description="Files that could not be made again; the next night does that.")
    snapshot: str = Field(description="The snapshot that was taken afterwards.")
    outside: tuple[str, ...] = Field(
        description="Where the words may be that this command does not reach, in sentences."
    )


def shorten(text: str) -> str:
    """The beginning of a text, on one line."""
    line = one_line(text)
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 3]}..."


def preview_text(selected: ForgetPreview, *, choosing: bool) -> str:
    """The preview for a person; `choosing`: with places, to choose from."""
    listed = [memory for memory in selected.memories if memory.place]
    others = [memory for memory in selected.memories if not memory.place]
    lines = []
    for memory in listed:
        mark = "" if memory.why != "not chosen" else "  (not chosen)"
        place = f"{memory.place:>4}  " if choosing else "  "
        lines += [f"{place}{memory.day}  {memory.content}{mark}", f"{'      ' if choosing else '  '}{memory.id}"]
    if others:
        lines += ["", "With these go"]
        lines += [f"  {memory.why}: {memory.content}\n    {memory.id}" for memory in others[:_LINES]]
        lines += [f"  and {len(others) - _LINES} more"] if len(others) > _LINES else []
    if selected.rejected_rows:
        lines += ["", f"{selected.rejected_rows} rejected rows go too."]
    if selected.active_again:
        count = len(selected.active_again)
        lines += [
            "",
            f"{count} {'memory is' if count == 1 else 'memories are'} active again, because what was made of "
            f"{'it' if count == 1 else 'them'} goes. The next night makes that again from what is left:",
            *(f"  {memory_id}" for memory_id in selected.active_again[:_LINES]),
            *([f"  and {count - _LINES} more"] if count > _LINES else []),
        ]
    if selected.made_again:
        lines += ["", f"Made again at once: {', '.join(selected.made_again[:_LINES])}, the pages and the exports."]
    lines += ["", f"Would be cleaned: {_cleaned_places(selected.snapshots, len(selected.files))}."]
    if selected.alike:
        lines += ["", "These say nearly the same and stay; name them too if they should go:"]
        lines += [
            f"  {memory.similarity:.2f}  {memory.content}\n        {memory.id}" for memory in selected.alike[:_LINES]
        ]
    if selected.outside:
        lines += ["", _NOT_REACHED, *(f"  {each}" for each in selected.outside)]
    going = how_many(selected.going, "memory")
    lines += ["", f"{going} would be forgotten. This cannot be undone, not by a rollback and not by a snapshot."]
    return "\n".join(lines)


def forgotten_text(done: Forgotten) -> str:
    """The outcome of a forgetting, for a person."""
    lines = [
        f"{how_many(len(done.memories), 'memory')} forgotten"
        f"{' (this completes one that was interrupted)' if done.completed else ''}.",
        f"Cleaned: {_cleaned_places(len(done.snapshots), len(done.files))}.",
    ]
    if done.removed:
        lines.append(f"Removed, because it could not be read: {', '.join(done.removed)}.")
    if done.searched:
        says = f"{len(done.left)} still say it:" if done.left else "none says any of it."
        lines.append(f"Searched afterwards: {how_many(done.searched, 'file')} of this store and beside it; {says}")
        lines += [f"  {path}" for path in done.left]
    lines += [f"Could not be made again: {each}" for each in done.problems]
    lines.append(f"A snapshot without it was taken: {done.snapshot}.")
    lines.append("A tombstone without words stays in the store; it keeps imports from bringing it back.")
    if done.exports:
        lines += ["", "Exports that still say it; export there again, or edit the line if it is yours"]
        lines += [f"  {path}" for path in done.exports]
    lines += ["", _NOT_REACHED, *(f"  {each}" for each in done.outside)]
    return "\n".join(lines)


def _cleaned_places(copies: int, files: int) -> str:
    """The store, its copies and the files beside it that a forgetting cleans, in words."""
    places = ["the store"]
    places += [how_many(copies, "snapshot or copy of it", "snapshots and copies of it")] if copies else []
    places += [f"{how_many(files, 'file')} beside it (reports, Dagster's history)"] if files else []
    return ", ".join(places)
