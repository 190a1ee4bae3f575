"""Blocks of this program in files that people write too: what a person wrote between the markers is never lost.

Beside the store stands, for every file, which lines this program ever wrote into its blocks, as hashes. A line between
markers that is none of them is a person's, also one of ours that was changed: it is moved, as it is, to directly below
the block. So are directories known that were made for such files, and removed with the last of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files import cause_and_mend, directories, real_path
from memory_pipeline.markers import block_in, parted, with_block, without_block
from memory_pipeline.shared_files import Written, change_text, remove_unless_changed

_DIGITS = 20
_DIRECTORIES, _WHOLE = "directories", "whole"


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """What became of a file. `moved`: the lines of a person that stand below the block now; `copy`: where the block is
    kept as it was, if it is not known who wrote it."""

    outcome: Written
    moved: tuple[str, ...] = ()
    copy: Path | None = None

    def told(self, path: Path) -> str:
        """What a person should know of it, as a sentence; empty if there is nothing."""
        if self.moved:
            one = len(self.moved) == 1
            which = "1 line that a person wrote stands" if one else f"{len(self.moved)} lines that a person wrote stand"
            return f"{which} below our block in '{path}' now"
        if self.copy is not None:
            return f"our block in '{path}' was replaced, and may not have been ours alone; it is kept in '{self.copy}'"
        return ""


class SharedBlocks:
    """The blocks that one store's program keeps in files, with what is known of them beside the store."""

    def __init__(self, store: Path) -> None:
        self._known = store.with_suffix(".written")

    def write(
        self,
        path: Path,
        name: str,
        body: str | Callable[[str], str],
        *,
        removes: bool = False,
        note: Callable[[str, str], None] = lambda before, after: None,
    ) -> WrittenBlock:
        """Give a block its body, or what `body` makes of the file's text; a missing file is made for one that is not
        empty, with its directory.

        With `removes`, a block without a body is taken out with its markers, a file that holds nothing else too, and
        the directory that was made for it. `note` is told the text before and after, directly before it is written,
        and again if somebody else wrote meanwhile. Raises OutputError if the file cannot be written, or its markers are
        broken.
        """
        if path.parent.is_dir():
            written = self._change(path, name, body, removes, note)
        elif not (body if isinstance(body, str) else body("")):
            return WrittenBlock("unchanged")
        else:
            missing = [each for each in (path.parent, *path.parent.parents) if not each.is_dir()]
            with directories(path.parent):
                self._append(_DIRECTORIES, [os.fspath(each) for each in missing])
                written = self._change(path, name, body, removes, note)
        if removes and written.outcome != "unchanged" and path.is_file() and remove_unless_changed(path, b""):
            self.remove_directories(path.parent)
        return written

    def has_written(self, what: str) -> bool:
        """Whether something that is to be written as a whole was written before, as `note_written` recorded."""
        return _digest(what) in (self._lines(_WHOLE) or ())

    def note_written(self, what: str) -> None:
        """Record that something was written as a whole."""
        self._append(_WHOLE, [_digest(what)])

    def remove_directories(self, directory: Path) -> None:
        """Remove a directory, and those above it, as far as they were made for blocks and are empty."""
        made = set(self._lines(_DIRECTORIES) or ())
        for each in (directory, *directory.parents):
            if os.fspath(each) not in made:
                return
            try:
                each.rmdir()
            except OSError:
                return

    def _change(
        self,
        path: Path,
        name: str,
        body: str | Callable[[str], str],
        removes: bool,
        note: Callable[[str, str], None],
    ) -> WrittenBlock:
        record = _digest(os.fspath(real_path(path)))
        is_known = self._lines(record) is not None
        found = WrittenBlock("unchanged")

        def changed(text: str) -> str:
            nonlocal found
            before, present = text, block_in(text, name)
            known = self._lines(record) or frozenset()
            moved: tuple[str, ...] = ()
            if is_known:
                text, moved = parted(text, name, lambda line: _digest(line) in known)
            inside = body if isinstance(body, str) else body(text)
            after = without_block(text, name) if removes and not inside else with_block(text, name, inside)
            lines = [line.rstrip() for line in inside.split("\n") if line.strip()]
            copy = None
            if present is not None and not is_known:
                others = {line.rstrip() for line in present.split("\n") if line.strip()} - set(lines)
                copy = self._keep(path, present) if others else None
            self._append(record, [digest for line in lines if (digest := _digest(line)) not in known])
            found = WrittenBlock("unchanged", moved, copy)
            if after != before:
                note(before, after)
            return after

        return replace(found, outcome=outcome) if (outcome := change_text(path, changed)) != "unchanged" else found

    def _lines(self, record: str) -> frozenset[str] | None:
        """The lines of a record; None if there is none. What a killed process wrote in part is none of them."""
        try:
            return frozenset((self._known / record).read_text(encoding="utf-8", errors="surrogateescape").split("\n"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OutputError(f"'{self._known / record}' cannot be read: {cause_and_mend(error)}") from error

    def _append(self, record: str, lines: Iterable[str]) -> None:
        new = list(dict.fromkeys(lines))
        if not new and (self._known / record).exists():
            return
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            with (self._known / record).open("ab") as file:
                file.write(("\n" + "\n".join(new) + "\n").encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"'{self._known / record}' could not be written: {cause_and_mend(error)}") from error

    def _keep(self, path: Path, block: str) -> Path:
        copy = self._known / f"before-{_digest(block)[:10]}-{path.name}"
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            copy.write_text(block, encoding="utf-8", errors="surrogateescape", newline="")
        except OSError as error:
            raise OutputError(f"'{copy}' could not be written: {cause_and_mend(error)}") from error
        return copy


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
