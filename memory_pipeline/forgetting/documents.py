"""What forgetting shows before and after, and its texts for a person."""

from __future__ import annotations

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.wording.normalise import one_line

_SHOWN = 100
_LINES = 20


class MemoryToForget(Document):
    """A memory that would go."""

    place: int = Field(description="Its place in the list, for `--only`; 0 for what goes with the chosen ones.")
    id: str = Field(description="The memory.")
    project: str = Field(description="Its project.")
    day: str = Field(description="The day that it is about.")
    why: str = Field(description="`chosen`, `not chosen`, `the same words`, `made from it`, or `behind it`.")
    content: str = Field(description=f"Its first {_SHOWN} characters.")


class AlikeMemory(Document):
    """A memory that says nearly the same, and stays."""

    id: str = Field(description="The memory.")
    similarity: float = Field(description="How alike it is, up to 1.")
    content: str = Field(description=f"Its first {_SHOWN} characters.")


class ForgetPreview(Document):
    """What would be forgotten; nothing was changed."""

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
    with_them: dict[str, int] = Field(description="What else is known of these memories, and goes, by kind.")
    snapshots: int = Field(description="Snapshots and copies that are written anew without them.")
    files: tuple[str, ...] = Field(description="Files beside the store that quote them, and are cleaned.")
    alike: tuple[AlikeMemory, ...] = Field(description="Memories that say nearly the same, and stay.")
    outside: tuple[str, ...] = Field(
        description="Where the words may be that this command does not reach, in sentences."
    )


class Forgotten(Document):
    """What was forgotten."""

    forgetting: str = Field(description="The id of this forgetting, in the audit log.")
    memories: tuple[str, ...] = Field(description="The tombstones: the new ids of the memories.")
    completed: bool = Field(description="Whether a forgetting that was interrupted was completed.")
    snapshots: tuple[str, ...] = Field(description="Snapshots and copies that were written anew.")
    removed: tuple[str, ...] = Field(description="Snapshots and copies that could not be read, and were removed.")
    files: tuple[str, ...] = Field(description="Files beside the store that were cleaned or removed.")
    searched: int = Field(description="Files that were searched afterwards; 0 if the words were gone before.")
    left: tuple[str, ...] = Field(description="Files that still say any of it, and why they are not changed.")
    problems: tuple[str, ...] = Field(description="Files that could not be made again; the next night does that.")
    snapshot: str = Field(description="The snapshot that was taken afterwards.")
    outside: tuple[str, ...] = Field(
        description="Where the words may be that this command does not reach, in sentences."
    )


def shorten(text: str) -> str:
    """The beginning of a text, on one line."""
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."


def preview_text(shown: ForgetPreview, *, choosing: bool) -> str:
    """The preview for a person; `choosing`: with places, to choose from."""
    listed = [one for one in shown.memories if one.place]
    others = [one for one in shown.memories if not one.place]
    lines = []
    for one in listed:
        mark = "" if one.why != "not chosen" else "  (not chosen)"
        place = f"{one.place:>4}  " if choosing else "  "
        lines += [f"{place}{one.day}  {one.content}{mark}", f"{'      ' if choosing else '  '}{one.id}"]
    if others:
        lines += ["", "With these go"]
        lines += [f"  {one.why}: {one.content}\n    {one.id}" for one in others[:_LINES]]
        lines += [f"  and {len(others) - _LINES} more"] if len(others) > _LINES else []
    known = [f"{number} {name}" for name, number in shown.with_them.items() if number]
    known += [f"{shown.rejected_rows} rejected rows"] if shown.rejected_rows else []
    if known:
        lines += ["", f"What else is known of them goes too: {', '.join(known)}."]
    if shown.active_again:
        count = len(shown.active_again)
        lines += [
            "",
            f"{count} {'memory is' if count == 1 else 'memories are'} active again, because what was made of "
            f"{'it' if count == 1 else 'them'} goes. The next night makes that again from what is left:",
            *(f"  {memory_id}" for memory_id in shown.active_again[:_LINES]),
            *([f"  and {count - _LINES} more"] if count > _LINES else []),
        ]
    if shown.made_again:
        lines += ["", f"Made again at once: {', '.join(shown.made_again[:_LINES])}, the pages and the exports."]
    lines += ["", f"{shown.snapshots} snapshots and copies of the store are written anew without it."]
    if shown.files:
        lines += [f"{len(shown.files)} files beside the store quote it and are cleaned (reports, Dagster's history)."]
    if shown.alike:
        lines += ["", "These say nearly the same and stay; name them too if they should go:"]
        lines += [f"  {one.similarity:.2f}  {one.content}\n        {one.id}" for one in shown.alike[:_LINES]]
    if shown.outside:
        lines += ["", "Not reached from here", *(f"  {each}" for each in shown.outside)]
    going = "1 memory" if shown.going == 1 else f"{shown.going} memories"
    lines += ["", f"{going} would be forgotten. This cannot be undone, not by a rollback and not by a snapshot."]
    return "\n".join(lines)


def forgotten_text(done: Forgotten) -> str:
    """What was forgotten, for a person."""
    count = "1 memory" if len(done.memories) == 1 else f"{len(done.memories)} memories"
    lines = [f"{count} forgotten{' (this completes one that was interrupted)' if done.completed else ''}."]
    if done.snapshots:
        lines.append(f"The store and {len(done.snapshots)} snapshots and copies of it were written anew.")
    if done.removed:
        lines.append(f"Removed, because it could not be read: {', '.join(done.removed)}.")
    lines.append(f"{len(done.files)} files beside the store were cleaned.")
    if done.searched and not done.left:
        lines.append(f"Searched {done.searched} files afterwards: none says any of it.")
    lines += [f"Still there: {each}" for each in done.left]
    lines += [f"Could not be made again: {each}" for each in done.problems]
    lines.append(f"Snapshot {done.snapshot} was taken afterwards.")
    lines += [f"Not reached from here: {each}" for each in done.outside]
    return "\n".join(lines)
