"""Blocks of this program in files that people write too: what a person wrote between the markers is never lost.

A block whose seal fits is as a program wrote it. Where it does not fit, somebody has changed it: beside the store
stands, for every file, which lines its last texts had, as hashes, by their seals. A line between markers that is none
of them is a person's, also one of ours that was changed: it is moved, as it is, to directly below the block. A changed
block of which nothing is known is kept beside the store, and then replaced. So are directories known that were made for
such files, and removed with the last of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import block_in, parted, seal_in, seal_of_block, with_block, without_block
from memory_pipeline.files.shared_files import Written, change_text, remove_unless_changed
from memory_pipeline.files.writing import cause_and_mend, directories, real_path, write_text, writing_whole

#: A body, or what makes it of the file's text.
Body = str | Callable[[str], str]
#: The directory beside a store with what is known of files that it wrote; in it, their paths, one a line.
WRITTEN, FILES = ".written", "files"
_DIGITS = 20
_DIRECTORIES, _CREATED, _TEXTS = "directories", "created", ".texts"
#: The lines of so many texts of a file are known.
_MOST_TEXTS = 20


@dataclass(frozen=True, slots=True)
class WrittenBlocks:
    """The outcome for a file. `before`, `after`: its text; `moved`: the lines of a person that stand below a block now;
    `copies`: where a block is kept as it was, if it is not known who changed it; `unknown`: why what is written cannot
    be recorded."""

    outcome: Written | Literal["removed"] = "unchanged"
    before: str = ""
    after: str = ""
    moved: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    unknown: str = ""

    def warning(self, path: Path) -> str:
        """The sentence that a person should read about it; empty if there is nothing."""
        sentences = []
        if moved := len(self.moved):
            which = "1 line that a person wrote stands" if moved == 1 else f"{moved} lines that a person wrote stand"
            sentences.append(f"{which} below our block in '{path}' now")
        sentences += [
            f"our block in '{path}' was replaced, and may not have been ours alone; it is kept in '{copy}'"
            for copy in self.copies
        ]
        return "; ".join(filter(None, [*sentences, self.unknown]))


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
        was made for it. With `preview`, nothing is written. `keep_original` is given the text of a file that another
        program created, before it is changed. Raises OutputError if it cannot be written, or its markers are broken.
        """
        if not path.exists() and not any(body if isinstance(body, str) else body("") for body in blocks.values()):
            return WrittenBlocks()
        done = WrittenBlocks()

        def changed(text: str) -> str:
            nonlocal done
            done = self._changed(path, text, blocks, preview=preview)
            is_changed = not preview and text not in ("", done.after)
            if is_changed and _digest(os.fspath(path)) not in self._read_record(_CREATED):
                keep_original(text)
            return done.after

        if preview:
            outcome = change_text(path, changed, preview=True)
        else:
            missing = [os.fspath(each) for each in (path.parent, *path.parent.parents) if not each.is_dir()]
            with directories(path.parent):
                unknown = self._note(_DIRECTORIES, missing)
                outcome = change_text(path, changed)
            if outcome == "created":
                unknown = unknown or self._note(_CREATED, [_digest(os.fspath(path))])
            done = replace(done, unknown=done.unknown or unknown)
            if outcome != "unchanged" and not done.after and path.is_file() and remove_unless_changed(path, b""):
                self.remove_directories(path.parent)
        return replace(done, outcome="removed" if done.before and not done.after else outcome)

    def forget_earlier_texts(self) -> None:
        """Know of each file only the lines that stand in it: hashes of others could confirm a guess at them."""
        files = {_digest(os.fspath(real_path(place))): Path(place) for place in self._read_record(FILES) if place}
        for known in self._known.glob(f"*{_TEXTS}") if self._known.is_dir() else ():
            file = files.get(known.name.removesuffix(_TEXTS))
            text = file.read_text(encoding="utf-8", errors="replace") if file and file.is_file() else ""
            texts = known.read_text(encoding="utf-8", errors="replace").split("\n")
            standing = [line for line in texts if line.partition(" ")[0] in text]
            write_text(known, "\n".join(standing), lambda _: True, private=True)

    def note_file(self, path: Path) -> None:
        """Record a file that was written as a whole."""
        self._note(FILES, [os.fspath(path)])

    def remove_directories(self, directory: Path) -> None:
        """Remove a directory, and those above it, as far as they were made for blocks and are empty."""
        made = self._read_record(_DIRECTORIES)
        for each in (directory, *directory.parents):
            if os.fspath(each) not in made:
                return
            try:
                each.rmdir()
            except OSError:
                return

    def _changed(self, path: Path, before: str, blocks: Mapping[str, Body], *, preview: bool) -> WrittenBlocks:
        """The text with these blocks; without `preview`, record its lines, and keep what is not known to be ours."""
        text, moved, copies, unknown = before, list[str](), list[Path](), ""
        texts = self._texts(path)
        for name, body in blocks.items():
            present, seal = block_in(text, name), seal_in(text, name)
            is_changed = present is not None and seal != seal_of_block(present)
            ours = texts.get(seal)
            if is_changed and ours is not None:
                text, lines = parted(text, name, lambda line, ours=ours: _digest(line) in ours)  # type: ignore[misc]
                moved += lines
            inside = body if isinstance(body, str) else body(text)
            if is_changed and ours is None and set(_split_lines(present or "")) - set(_split_lines(inside)):
                copies.append(self._known / f"before-{_digest(present or '')[:10]}-{path.name}")
                if not preview:
                    with directories(self._known), writing_whole(copies[-1], lambda _: True, private=True) as file:
                        file.write((present or "").encode("utf-8", "surrogateescape"))
            seal = seal_of_block(inside)
            present = block_in(text, name)
            if inside or present is None:
                text = with_block(text, name, inside, seal)
            elif present:
                text = without_block(text, name)
            if not preview:
                texts.pop(seal, None)
                texts[seal] = frozenset(map(_digest, _split_lines(inside)))
        if not preview:
            unknown = self._keep_texts(path, texts)
            if before != text:
                unknown = self._note(FILES, [os.fspath(path)]) or unknown
        return WrittenBlocks("unchanged", before, text, tuple(moved), tuple(copies), unknown)

    def _record(self, path: Path) -> str:
        return f"{_digest(os.fspath(real_path(path)))}{_TEXTS}"

    def _texts(self, path: Path) -> dict[str, frozenset[str]]:
        """The lines of the last texts of a file, by their seals, but for what a killed process wrote in part."""
        lines = self._read_record(self._record(path))
        return {words[0]: frozenset(words[1:]) for line in lines if (words := line.split())}

    def _keep_texts(self, path: Path, texts: Mapping[str, Iterable[str]]) -> str:
        """Record the lines of texts, the newest last; returns why they could not be, if so."""
        if [*texts] == [*self._texts(path)]:
            return ""
        lines = [" ".join([seal, *sorted(those)]) for seal, those in [*texts.items()][-_MOST_TEXTS:]]
        try:
            with directories(self._known):
                write_text(self._known / self._record(path), "\n".join(lines), lambda _: True, private=True)
        except OutputError as error:
            return self._unknown(str(error))
        return ""

    def _read_record(self, record: str) -> list[str]:
        """The lines of a record; none if it cannot be read."""
        try:
            return (self._known / record).read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        except OSError:
            return []

    def _note(self, record: str, lines: Iterable[str]) -> str:
        """Record lines; returns why they could not be, if so."""
        known = set(self._read_record(record))
        new = [line for line in lines if line not in known]
        if not new:
            return ""
        try:
            self._known.mkdir(parents=True, exist_ok=True)
            with (self._known / record).open("ab") as file:
                file.write(("\n" + "\n".join(new) + "\n").encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return self._unknown(f"it cannot be written: {cause_and_mend(error)}")
        return ""

    def _unknown(self, why: str) -> str:
        return f"what was written before is not known from '{self._known}': {why}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _split_lines(block: str) -> list[str]:
    """The lines of a block, without blanks at their ends and without empty ones."""
    return [line.rstrip() for line in block.split("\n") if line.strip()]
