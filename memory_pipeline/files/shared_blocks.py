"""Blocks of this program in files that people write too: what a person wrote between the markers is never lost.

A block whose seal fits was written by a program and is as it was, whoever wrote it. Where it does not fit, beside the
store stands, for every file, which lines its last texts had, and which lines this program ever wrote there, as hashes.
A line between markers that is none of them is a person's, also one of ours that was changed: it is moved, as it is, to
directly below the block. So are directories known that were made for such files, and removed with the last of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import block_in, parted, seal_in, seal_of_block, with_block, without_block
from memory_pipeline.files.shared_files import Written, change_text, changed_text, remove_unless_changed
from memory_pipeline.files.writing import cause_and_mend, directories, real_path, write_text

#: A body, or what makes it of the file's text.
Body = str | Callable[[str], str]
#: The directory beside a store with what is known of files that it wrote; in it, their paths, one a line.
WRITTEN, FILES = ".written", "files"
_DIGITS = 20
_DIRECTORIES, _CREATED = "directories", "created"
_SEALED, _TEXTS = "sealed:", ".texts"
#: The lines of so many texts of a file are known one by one.
_MOST_TEXTS = 6
#: So many lines that somebody put into a block together are found by its seal alone, in one of at most so many lines.
_MOST_PUT_IN, _MOST_LINES = 8, 400


@dataclass(frozen=True, slots=True)
class WrittenBlocks:
    """What became of a file. `before`, `after`: its text; `moved`: the lines of a person that stand below a block now;
    `copies`: where a block is kept as it was, if it is not known who wrote it; `is_shared`: another store writes these
    blocks too; `unknown`: why what was written before cannot be known or recorded."""

    outcome: Written | Literal["removed"] = "unchanged"
    before: str = ""
    after: str = ""
    moved: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    is_shared: bool = False
    unknown: str = ""

    def told(self, path: Path) -> str:
        """What a person should know of it, as a sentence; empty if there is nothing."""
        told = [self.told_of_lines(path), shared_in_words([path]) if self.is_shared else "", self.unknown]
        return "; ".join(filter(None, told))

    def told_of_lines(self, path: Path) -> str:
        """What became of lines that a person wrote, or may have written."""
        told = []
        if self.moved:
            one = len(self.moved) == 1
            which = "1 line that a person wrote stands" if one else f"{len(self.moved)} lines that a person wrote stand"
            told.append(f"{which} below our block in '{path}' now")
        told += [
            f"our block in '{path}' was replaced, and may not have been ours alone; it is kept in '{copy}'"
            for copy in self.copies
        ]
        return "; ".join(told)


def shared_in_words(paths: Sequence[Path]) -> str:
    """That another store writes the same blocks, as a sentence; empty without a file."""
    if not paths:
        return ""
    others = f" and {len(paths) - 1} other file{'s' if len(paths) > 2 else ''}" if len(paths) > 1 else ""
    return (
        f"'{paths[0]}'{others} {'are' if others else 'is'} also written by another store, and each run of one "
        "replaces the lines of the other; give each store a directory of its own, or stop using one of them"
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """A file with its blocks as they are to be: its text, the seals and lines of the blocks, copies to be kept."""

    text: str
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    copies: tuple[tuple[Path, str], ...]
    moved: tuple[str, ...]
    is_shared: bool


class SharedBlocks:
    """The blocks that one store's program keeps in files, with what is known of them beside the store."""

    def __init__(self, store: Path) -> None:
        self._known = store.with_suffix(WRITTEN)

    def write(
        self,
        path: Path,
        blocks: Mapping[str, Body],
        *,
        preview: bool = False,
        keep_original: Callable[[str], None] = lambda text: None,
    ) -> WrittenBlocks:
        """Give each block its body, or what its body makes of the file's text; a missing file is made for one that is
        not empty, with its directory.

        A block without a body is taken out with its markers, a file that holds nothing else too, and the directory that
        was made for it. With `preview`, nothing is written. `keep_original` is given the text of a file that this
        program did not create, before it is changed. Raises OutputError if the file cannot be written, or its markers
        are broken.
        """
        record = _digest(os.fspath(real_path(path)))
        try:
            is_known, unknown = self._lines(record) is not None, ""
            ours = _digest(os.fspath(path)) in (self._lines(_CREATED) or ())
        except OutputError as error:
            is_known, unknown, ours = False, str(error), False
        last = _Made("", (), (), (), False)
        wrong = unknown

        def changed(text: str) -> str:
            nonlocal last, wrong
            last = self._made(path, text, blocks, record if is_known else None)
            if preview:
                return last.text
            for copy, block in last.copies:
                self._keep(copy, block)
            for seal, digests in last.lines:
                noted = self._noted(record, [*digests, f"{_SEALED}{seal}"]) or self._note_text(record, seal, digests)
                wrong = wrong or noted
            if text != last.text:
                wrong = self._noted(FILES, [os.fspath(path)]) or wrong
                if text and not ours:
                    keep_original(text)
            return last.text

        if preview:
            before, after = changed_text(path, changed)
            outcome: Written = "unchanged" if before == after else "changed" if path.exists() else "created"
        else:
            before, after, outcome, unrecorded = self._change(path, changed, blocks)
            wrong = wrong or unrecorded
        gone = bool(before) and not after
        return WrittenBlocks(
            "removed" if gone else outcome,
            before,
            after,
            last.moved,
            tuple(copy for copy, _ in last.copies),
            last.is_shared,
            wrong,
        )

    def _change(
        self, path: Path, changed: Callable[[str], str], blocks: Mapping[str, Body]
    ) -> tuple[str, str, Written, str]:
        """The text before and after, what became of the file, and why that could not be recorded."""
        before = after = ""

        def seen(text: str) -> str:
            nonlocal before, after
            before, after = text, changed(text)
            return after

        if path.parent.is_dir():
            outcome, unknown = change_text(path, seen), ""
        elif not any(body if isinstance(body, str) else body("") for body in blocks.values()):
            return "", "", "unchanged", ""
        else:
            missing = [each for each in (path.parent, *path.parent.parents) if not each.is_dir()]
            with directories(path.parent):
                unknown = self._noted(_DIRECTORIES, [os.fspath(each) for each in missing])
                outcome = change_text(path, seen)
        if outcome == "created":
            unknown = unknown or self._noted(_CREATED, [_digest(os.fspath(path))])
        if outcome != "unchanged" and not after and path.is_file() and remove_unless_changed(path, b""):
            self.remove_directories(path.parent)
        return before, after, outcome, unknown

    def forget_earlier_texts(self) -> None:
        """Know of each file only the lines of the blocks that stand in it: hashes of other lines could confirm a guess
        at them."""
        files = {_digest(os.fspath(real_path(Path(place)))): Path(place) for place in self._lines(FILES) or () if place}
        for known in self._known.glob(f"*{_TEXTS}") if self._known.is_dir() else ():
            record = known.name.removesuffix(_TEXTS)
            file = files.get(record)
            text = file.read_text(encoding="utf-8", errors="replace") if file and file.is_file() else ""
            standing = {seal: sorted(lines) for seal, lines in self._texts(record).items() if seal in text}
            kept = [line for seal, lines in standing.items() for line in (f"{_SEALED}{seal}", *lines)]
            texts = [" ".join([seal, *lines]) for seal, lines in standing.items()]
            write_text(known, "\n".join(texts), lambda _: True, private=True)
            write_text(self._known / record, "\n".join(kept), lambda _: True, private=True)

    def note_file(self, path: Path) -> None:
        """Record a file that was written as a whole."""
        self._noted(FILES, [os.fspath(path)])

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

    def _made(self, path: Path, text: str, blocks: Mapping[str, Body], record: str | None) -> _Made:
        """What a text becomes; without a record, nothing is known of the file."""
        sealed, copies, moved, is_shared = [], [], list[str](), False
        for name, body in blocks.items():
            text, found = self._parted(path, text, name, record)
            present = block_in(text, name)
            inside = body if isinstance(body, str) else body(text)
            seal = seal_of_block(inside)
            if inside or present is None:
                text = with_block(text, name, inside, seal)
            elif present:
                text = without_block(text, name)
            lines = _lines_of(inside)
            copies += [(copy, present or "") for copy in found.copies if set(_lines_of(present or "")) - set(lines)]
            moved += found.moved
            is_shared = is_shared or found.is_shared
            sealed.append((seal, tuple(map(_digest, lines))))
        return _Made(text, tuple(sealed), tuple(copies), tuple(moved), is_shared)

    def _parted(self, path: Path, text: str, name: str, record: str | None) -> tuple[str, WrittenBlocks]:
        """The text in which lines of a person stand below the block, and what is known of that; without a record,
        nothing is known of the file. A block that is to be kept as it was has `copies`."""
        unchanged = WrittenBlocks()
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
            copy = self._known / f"before-{_digest(present)[:10]}-{path.name}"
            return text, replace(unchanged, copies=(copy,), is_shared=is_another)
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

    def _keep(self, copy: Path, block: str) -> None:
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            copy.write_text(block, encoding="utf-8", errors="surrogateescape", newline="")
        except OSError as error:
            raise OutputError(f"'{copy}' could not be written: {cause_and_mend(error)}") from error


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
