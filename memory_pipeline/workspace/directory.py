"""Writes a directory of pages and blocks: what stands already is not touched, and what a person changed is kept.

The pages are written first, then the blocks that lead to them, and what no longer stands is removed last: an index
never names a page that is missing. Every file is written as a whole; if one cannot be written, the error says how many
were.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_pipeline.errors import OutputError
from memory_pipeline.files import check_output, directories
from memory_pipeline.markers import export_of, is_as_written, sealed
from memory_pipeline.places import check_is_free
from memory_pipeline.shared_blocks import SharedBlocks
from memory_pipeline.shared_files import change_text, remove_unless_changed

_WORDS = re.compile(r"[^\W_]+")
_LONGEST_PAGE = 5_000_000


@dataclass
class Outcome:
    """What happened to the files of a directory, by their names in it. `moved`: what a person wrote in our blocks, and
    where it stands now, in sentences."""

    written: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What a directory is to hold.

    `export`: the name of the export, by which its pages are known; `pages`: whole files, unsealed, by name; `blocks`:
    by file and name of the block, what makes its body of the file's text; `folders`: where pages may stand.
    """

    export: str
    pages: Mapping[str, str] = field(default_factory=dict)
    blocks: Mapping[tuple[str, str], Callable[[str], str]] = field(default_factory=dict)
    folders: tuple[str, ...] = (".",)


def write_directory(directory: Path, plan: Plan, store: Path, *, force: bool = False) -> Outcome:
    """Write what is planned. With `force`, pages that a person has changed are written anew; never the file of another.

    Raises OutputError before anything is written if a file must not be written or the directory holds another export of
    this format, and afterwards if one could not be.
    """
    check_is_free(directory, store)
    before = dict(pages_in(directory, plan.folders))
    for name, text in before.items():
        if plan.pages and _is_another(export_of(text), plan.export):
            raise OutputError(
                f"'{directory / name}' belongs to another export ({export_of(text)}); name another directory, or "
                "remove the files of that export"
            )
    pages = {name: sealed(text) for name, text in plan.pages.items()}
    places = [directory / name for name in (*pages, *dict.fromkeys(file for file, _ in plan.blocks))]
    outcome = Outcome()
    with directories(directory, *dict.fromkeys(place.parent for place in places)):
        for place in places:
            check_is_free(place, store)
            check_output(place, lambda _: True)
        try:
            _write(directory, plan, pages, outcome, SharedBlocks(store), force=force)
            for name, text in before.items():
                if name not in pages and export_of(text) == plan.export:
                    _remove(directory, name, text, outcome)
        except OutputError as error:
            if not outcome.written:
                raise
            done = len(outcome.written)
            raise OutputError(
                f"{error}. {done} of {len(places)} files were written; run again for the others"
            ) from error
    return outcome


def _write(
    directory: Path, plan: Plan, pages: Mapping[str, str], outcome: Outcome, blocks: SharedBlocks, *, force: bool
) -> None:
    for name, page in pages.items():
        kept = False

        def as_it_should_be(present: str, page: str = page) -> str:
            nonlocal kept
            kept = bool(present) and present != page and not force and not is_as_written(present)
            return present if kept else page

        if change_text(directory / name, as_it_should_be, may_part=True) != "unchanged":
            outcome.written.append(name)
        elif kept:
            outcome.kept.append(name)
        else:
            outcome.unchanged += 1
    for (name, block), body in plan.blocks.items():
        written = blocks.write(directory / name, block, body)
        outcome.moved += [told] if (told := written.told(directory / name)) else []
        if written.outcome != "unchanged":
            outcome.written.append(name)
        else:
            outcome.unchanged += (directory / name).exists()


def _remove(directory: Path, name: str, text: str, outcome: Outcome) -> None:
    if is_as_written(text) and remove_unless_changed(directory / name, text.encode("utf-8", "surrogateescape")):
        outcome.removed.append(name)
    else:
        outcome.kept.append(name)


def _is_another(found: str | None, export: str) -> bool:
    """Whether an export is of the same format, but not the same one."""
    return found is not None and found != export and found.split(" ")[0] == export.split(" ")[0]


def pages_in(directory: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The pages of this program that stand in folders of a directory, by name, with their text."""
    for name, text in texts_in(directory, folders):
        if export_of(text) is not None:
            yield name, text


def texts_in(directory: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every file of Markdown in folders of a directory, no links, with its text; bytes that are not UTF-8 are kept as
    lone surrogates."""
    for folder in folders:
        place = directory / folder
        for path in sorted(place.glob("*.md")) if place.is_dir() else ():
            try:
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LONGEST_PAGE:
                    text = path.read_bytes().decode("utf-8", "surrogateescape")
                    yield path.relative_to(directory).as_posix(), text
            except OSError:  # it was removed just now, or belongs to somebody else
                continue


def stem_of(title: str, digits: str, longest: int) -> str:
    """A file name without its ending: the words of a title, at most so many bytes, and digits that make it unique."""
    words = "-".join(_WORDS.findall(unicodedata.normalize("NFC", title.casefold())))
    cut = words.encode("utf-8", "ignore")[:longest].decode("utf-8", "ignore")
    if len(cut) < len(words) and "-" in cut[len(cut) // 2 :]:
        cut = cut.rpartition("-")[0]
    cut = cut.strip("-")
    return f"{cut}-{digits}" if cut else digits
