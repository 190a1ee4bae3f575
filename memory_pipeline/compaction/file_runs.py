"""The files that a flush or a compaction writes, with what they were, so that it can be taken back, with a store or
without one.

What a run changes is recorded beside the store before the file is written: a killed run can be taken back too.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.markers import block_in, seal_in, with_block, without_block
from memory_pipeline.shared_blocks import SharedBlocks, WrittenBlock
from memory_pipeline.shared_files import change_text, remove_unless_changed

#: So many runs can be taken back.
_MOST_RUNS = 200
_BEGINNING = '{"file_run": '
FileOutcome = Literal["restored", "removed", "block restored", "as it was", "left"]


class TakenBackFile(Document):
    """What became of a file when a run was taken back."""

    file: str = Field(description="The file.")
    outcome: FileOutcome = Field(
        description="`restored`: it has its bytes again; `removed`: the run had made it; `block restored`: the "
        "rest was changed since, and stays; `as it was`; or `left`."
    )
    why: str = Field(default="", description="Why it was left, or not restored as a whole.")


@dataclass
class _Change:
    """One block that a run wrote: the file before it, if there was one, and what it became."""

    file: str
    block: str
    existed: bool
    before: str
    digest: str
    written: str


@dataclass
class FileRun:
    """One run that writes blocks into files that people write too. `what`: what it does, in words."""

    store: Path
    what: str
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    undone_at: datetime | None = None
    changes: list[_Change] = field(default_factory=list)

    @property
    def has_changed(self) -> bool:
        """Whether it changed a file."""
        return bool(self.changes)

    def write(self, file: Path, block: str, body: str | Callable[[str], str]) -> WrittenBlock:
        """Give a block its body, as `SharedBlocks.write` does."""
        known = len(self.changes)

        def note(text: str, after: str) -> None:
            del self.changes[known:]
            written = block_in(after, block) or ""
            self.changes.append(_Change(str(file), block, file.exists(), text, _digest(after), written))
            self._keep()

        return SharedBlocks(self.store).write(file, block, body, note=note)

    def take_back(self, *, preview: bool = False) -> list[TakenBackFile]:
        """Give the files back what they were, the last one first. Where somebody has changed one since, only our block
        becomes what it was; a block that was changed is left, and the run can be taken back again.

        With `preview`, nothing is written."""
        later = [one for one in file_runs(self.store) if one.at > self.at and not one.undone_at]
        done = [self._take_back(change, later, preview=preview) for change in reversed(self.changes)]
        if not preview and not any(one.outcome == "left" for one in done):
            self.undone_at = datetime.now(UTC)
            if self.changes:
                self._keep()
        return done

    def _take_back(self, change: _Change, later: list[FileRun], *, preview: bool) -> TakenBackFile:
        path = Path(change.file)
        told = partial(TakenBackFile, file=change.file)
        now = _text_of(path)
        if now == (change.before if change.existed else None):
            return told(outcome="as it was")
        if now is None:
            return told(outcome="left", why="it was removed since")
        if _digest(now) == change.digest:
            if change.existed:
                if preview or change_text(path, lambda text: change.before if text == now else text) != "unchanged":
                    return told(outcome="restored")
            elif preview or remove_unless_changed(path, now.encode("utf-8", "surrogateescape")):
                if not preview:
                    SharedBlocks(self.store).remove_directories(path.parent)
                return told(outcome="removed")
        try:
            present = block_in(now, change.block)
            old = block_in(change.before, change.block)
        except OutputError as error:
            return told(outcome="left", why=str(error))
        if present != change.written:
            by = [one.run_id for one in later if any(_is_same(change, other) for other in one.changes)]
            kept = f"its block was changed since; what the file was is in '{self._record}'"
            why = f"run {by[-1]} has written its block since; take that back first" if by else kept
            return told(outcome="left", why=why)
        if not preview:
            change_text(
                path,
                lambda text: (
                    without_block(text, change.block)
                    if old is None
                    else with_block(text, change.block, old, seal_in(change.before, change.block))
                ),
            )
        return told(outcome="block restored", why="the rest of it was changed since, and stays")

    @property
    def _record(self) -> Path:
        return _records(self.store) / f"{self.at:%Y%m%dT%H%M%S%f}-{self.run_id}.json"

    def _keep(self) -> None:
        shown = {
            "file_run": self.run_id,
            "what": self.what,
            "at": self.at.isoformat(),
            "undone_at": self.undone_at.isoformat() if self.undone_at else None,
            "changes": [asdict(change) for change in self.changes],
        }
        with directories(_records(self.store)):
            write_text(self._record, json.dumps(shown), begins_with(_BEGINNING), private=True)
        for old in sorted(_records(self.store).glob("*.json"))[:-_MOST_RUNS]:
            old.unlink(missing_ok=True)


def file_runs(store: Path) -> Iterator[FileRun]:
    """The flushes and compactions that can be taken back, the oldest first."""
    for path in sorted(_records(store).glob("*.json")):
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            undone = kept["undone_at"]
            yield FileRun(
                store=store,
                what=kept["what"],
                run_id=kept["file_run"],
                at=datetime.fromisoformat(kept["at"]),
                undone_at=datetime.fromisoformat(undone) if undone else None,
                changes=[_Change(**change) for change in kept["changes"]],
            )
        except (OSError, ValueError, KeyError, TypeError):  # it was removed just now, or cut off
            continue


def file_run(store: Path, run_id: str) -> FileRun | None:
    """The only flush or compaction whose id starts so; None if there is none. Raises InputError for several, and for
    one that was taken back."""
    found = [one for one in file_runs(store) if run_id and one.run_id.startswith(run_id)]
    if len(found) > 1:
        raise InputError(f"{len(found)} runs begin with '{run_id}'; give more of the id")
    if found and (undone := found[0].undone_at):
        raise InputError(f"run '{found[0].run_id}' was already rolled back on {undone:%Y-%m-%d %H:%M:%S} UTC")
    return found[0] if found else None


def _records(store: Path) -> Path:
    return store.with_suffix(".written") / "runs"


def _is_same(change: _Change, other: _Change) -> bool:
    return (change.file, change.block) == (other.file, other.block)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"'{path}' cannot be read: {error.strerror or error}") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
