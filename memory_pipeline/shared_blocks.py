"""Blocks of this program in files that people write too: what a person wrote between the markers is never lost.

A block whose seal fits was written by a program and is as it was, whoever wrote it. Where it does not fit, beside the
store stands, for every file, which lines its last texts had, and which lines this program ever wrote there, as hashes.
A line between markers that is none of them is a person's, also one of ours that was changed: it is moved, as it is, to
directly below the block. So are directories known that were made for such files, and removed with the last of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files import cause_and_mend, directories, real_path, write_text
from memory_pipeline.markers import block_in, parted, seal_in, seal_of_block, with_block, without_block
from memory_pipeline.shared_files import Written, change_text, remove_unless_changed

_DIGITS = 20
_DIRECTORIES, _WHOLE = "directories", "whole"
_SEALED, _TEXTS = "sealed:", ".texts"
#: The lines of so many texts of a file are known one by one.
_MOST_TEXTS = 6
#: So many lines that somebody put into a block together are found by its seal alone, in one of at most so many lines.
_MOST_PUT_IN, _MOST_LINES = 8, 400


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """What became of a file. `moved`: the lines of a person that stand below the block now; `copy`: where the block is
    kept as it was, if it is not known who wrote it; `is_shared`: another store writes this block too; `unknown`: why
    what was written before cannot be known or recorded."""

    outcome: Written
    moved: tuple[str, ...] = ()
    copy: Path | None = None
    is_shared: bool = False
    unknown: str = ""

    def told(self, path: Path) -> str:
        """What a person should know of it, as a sentence; empty if there is nothing."""
        told = [self.told_of_lines(path), shared_in_words([path]) if self.is_shared else "", self.unknown]
        return "; ".join(filter(None, told))

    def told_of_lines(self, path: Path) -> str:
        """What became of lines that a person wrote, or may have written."""
        if self.moved:
            one = len(self.moved) == 1
            which = "1 line that a person wrote stands" if one else f"{len(self.moved)} lines that a person wrote stand"
            return f"{which} below our block in '{path}' now"
        if self.copy is not None:
            return f"our block in '{path}' was replaced, and may not have been ours alone; it is kept in '{self.copy}'"
        return ""


def shared_in_words(paths: Sequence[Path]) -> str:
    """That another store writes the same blocks, as a sentence; empty without a file."""
    if not paths:
        return ""
    others = f" and {len(paths) - 1} other file{'s' if len(paths) > 2 else ''}" if len(paths) > 1 else ""
    return (
        f"'{paths[0]}'{others} {'are' if others else 'is'} also written by another store, and each run of one "
        "replaces the lines of the other; give each store a workspace of its own, or stop using one of them"
    )


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
                unknown = self._noted(_DIRECTORIES, [os.fspath(each) for each in missing])
                written = self._change(path, name, body, removes, note)
                written = replace(written, unknown=written.unknown or unknown)
        if removes and written.outcome != "unchanged" and path.is_file() and remove_unless_changed(path, b""):
            self.remove_directories(path.parent)
        return written

    def forget_earlier_texts(self) -> None:
        """Know of each file only the lines of its last text: hashes of other lines could confirm a guess at them."""
        for path in self._known.glob(f"*{_TEXTS}") if self._known.is_dir() else ():
            record = path.name.removesuffix(_TEXTS)
            newest = [*self._texts(record).items()][-1:]
            kept = [line for seal, lines in newest for line in (f"{_SEALED}{seal}", *sorted(lines))]
            write_text(path, "\n".join(" ".join([seal, *sorted(lines)]) for seal, lines in newest), lambda _: True,
                       private=True)  # fmt: skip
            write_text(self._known / record, "\n".join(kept), lambda _: True, private=True)

    def has_written(self, what: str) -> bool:
        """Whether something that is to be written as a whole was written before, as `note_written` recorded; False if
        that cannot be known."""
        try:
            return _digest(what) in (self._lines(_WHOLE) or ())
        except OutputError:
            return False

    def note_written(self, what: str) -> str:
        """Record that something was written as a whole; returns why it could not be, if so."""
        return self._noted(_WHOLE, [_digest(what)])

    def remove_directories(self, directory: Path) -> None:
        """Remove a directory, and those above it, as far as they were made for blocks and are empty."""
        try:
            made = set(self._lines(_DIRECTORIES) or ())
        except OutputError:  # they stay
            return
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
        record, found = _digest(os.fspath(real_path(path))), WrittenBlock("unchanged")
        try:
            is_known, unknown = self._lines(record) is not None, ""
        except OutputError as error:
            is_known, unknown = False, str(error)

        def changed(text: str) -> str:
            nonlocal found
            before = text
            text, found = self._parted(path, text, name, record if is_known else None)
            inside = body if isinstance(body, str) else body(text)
            seal = seal_of_block(inside)
            after = without_block(text, name) if removes and not inside else with_block(text, name, inside, seal)
            present = block_in(text, name)
            lines = _lines_of(inside)
            if found.copy is not None:
                others = set(_lines_of(present or "")) - set(lines)
                found = replace(found, copy=self._keep(found.copy, present or "") if others else None)
            digests = [_digest(line) for line in lines]
            wrong = self._noted(record, [*digests, f"{_SEALED}{seal}"]) or self._note_text(record, seal, digests)
            found = replace(found, unknown=unknown or wrong)
            if after != before:
                note(before, after)
            return after

        return replace(found, outcome=outcome) if (outcome := change_text(path, changed)) != "unchanged" else found

    def _parted(self, path: Path, text: str, name: str, record: str | None) -> tuple[str, WrittenBlock]:
        """The text in which lines of a person stand below the block, and what is known of that; without a record,
        nothing is known of the file. A block that is to be kept as it was has `copy`."""
        unchanged = WrittenBlock("unchanged")
        present, seal = block_in(text, name), seal_in(text, name)
        if present is None:
            return text, unchanged
        known = self._lines(record) or frozenset() if record else frozenset()
        is_another = record is not None and bool(seal) and f"{_SEALED}{seal}" not in known
        if seal == seal_of_block(present):
            return text, replace(unchanged, is_shared=is_another)
        put_in = lines_put_in(_lines_of(present), seal) if seal else None
        if put_in is not None:
            text, moved = parted(text, name, lambda line: line not in put_in)
        elif record is None or is_another:
            return text, replace(
                unchanged, copy=self._known / f"before-{_digest(present)[:10]}-{path.name}", is_shared=is_another
            )
        else:
            ours = self._texts(record).get(seal, known) if seal else known
            text, moved = parted(text, name, lambda line: _digest(line) in ours)
        return text, replace(unchanged, moved=moved, is_shared=is_another)

    def _lines(self, record: str) -> frozenset[str] | None:
        """The lines of a record; None if there is none. What a killed process wrote in part is none of them."""
        try:
            return frozenset((self._known / record).read_text(encoding="utf-8", errors="surrogateescape").split("\n"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OutputError(self._unknown(f"it cannot be read: {cause_and_mend(error)}")) from error

    def _texts(self, record: str) -> dict[str, frozenset[str]]:
        """The lines of the last texts of a file, by their seals."""
        try:
            told = (self._known / f"{record}{_TEXTS}").read_text(encoding="utf-8", errors="replace")
        except OSError:  # what was ever written is known instead
            return {}
        return {words[0]: frozenset(words[1:]) for line in told.split("\n") if (words := line.split())}

    def _note_text(self, record: str, seal: str, digests: Sequence[str]) -> str:
        """Record the lines of a text, the newest last; returns why they could not be, if so."""
        texts = self._texts(record)
        if [*texts][-1:] == [seal]:
            return ""
        texts.pop(seal, None)
        texts[seal] = frozenset(digests)
        lines = [" ".join([name, *sorted(those)]) for name, those in [*texts.items()][-_MOST_TEXTS:]]
        try:
            write_text(self._known / f"{record}{_TEXTS}", "\n".join(lines), lambda _: True, private=True)
        except OutputError as error:
            return self._unknown(str(error))
        return ""

    def _noted(self, record: str, lines: Iterable[str]) -> str:
        """Record lines; returns why they could not be, if so."""
        try:
            self._append(record, lines)
        except OutputError as error:
            return str(error)
        return ""

    def _append(self, record: str, lines: Iterable[str]) -> None:
        known = self._lines(record)
        new = [line for line in dict.fromkeys(lines) if line not in (known or ())]
        if not new and known is not None:
            return
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            with (self._known / record).open("ab") as file:
                file.write(("\n" + "\n".join(new) + "\n").encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(self._unknown(f"it cannot be written: {cause_and_mend(error)}")) from error

    def _unknown(self, why: str) -> str:
        return f"what was written before is not known from '{self._known}': {why}"

    def _keep(self, copy: Path, block: str) -> Path:
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            copy.write_text(block, encoding="utf-8", errors="surrogateescape", newline="")
        except OSError as error:
            raise OutputError(f"'{copy}' could not be written: {cause_and_mend(error)}") from error
        return copy


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _lines_of(block: str) -> list[str]:
    """The lines of a block, without blanks at their ends and without empty ones."""
    return [line.rstrip() for line in block.split("\n") if line.strip()]


def lines_put_in(lines: Sequence[str], seal: str) -> frozenset[str] | None:
    """The lines without which a seal fits, if a few were put into a block together; None if there are none."""
    if len(lines) > _MOST_LINES:
        return None
    for count in range(1, min(_MOST_PUT_IN, len(lines)) + 1):
        for place in range(len(lines) - count + 1):
            if seal_of_block("\n".join([*lines[:place], *lines[place + count :]])) == seal:
                return frozenset(lines[place : place + count])
    return None
