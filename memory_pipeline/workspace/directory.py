"""Writes the pages of a project and blocks in files of others into a directory, and keeps the originals of these: what
stands already is not touched, and what a person changed is kept.

The pages are written first, then the blocks that lead to them, and what no longer stands is removed last: an index
never names a page that is missing. Every file is written as a whole; if one cannot be written, the error says how many
were.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, partial
from pathlib import Path

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import OutputError, in_words
from memory_pipeline.files.markers import HEAD, block_in, export_of, is_as_written, sealed
from memory_pipeline.files.places import check_is_free
from memory_pipeline.files.shared_blocks import FILES, WRITTEN, Body, SharedBlocks
from memory_pipeline.files.shared_files import change_text, remove_unless_changed
from memory_pipeline.files.writing import cause_and_mend, check_output, directories, nobody, real_path, writing_whole

#: Suffixes of the directories beside a store: its pages, and the first originals of files that exports changed.
PAGES, ORIGINALS = ".pages", ".originals"
MEMORY_FILE, PLAYBOOK_FILE, SERIES_FILE = "MEMORY.md", "memory/playbook.md", "memory/series.md"
#: The folder of the rollups of each level; a day's stands in its log.
ROLLUP_FOLDERS = {"day": "DailyLogs", "week": "weekly", "month": "monthly", "year": "yearly"}
_UNSAFE = re.compile(r"[^\w-]+")
_LONGEST_NAME = 80


def pages_of(store: Path, project: str) -> Path:
    """The directory of a project's pages."""
    return store.with_suffix(PAGES) / folder_of(project)


def daily_log(day: date) -> str:
    """The log of a day, among the pages of a project."""
    return f"{ROLLUP_FOLDERS['day']}/{day}.md"


def daily_summary(day: date) -> str:
    """The page that says what was kept of a day's conversations."""
    return f"daily/{day}.md"


def folder_of(project: str) -> str:
    """A project as the name of a directory: different projects have different ones, whatever they are called."""
    safe = _UNSAFE.sub("-", project.casefold()).strip("-_")[:_LONGEST_NAME]
    if safe and safe == project:
        return safe
    return f"{safe or 'project'}-{hashlib.sha256(project.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def written_files(store: Path) -> Iterator[Path]:
    """Every file with words of memories that was written to be read: pages, exports, originals, records of flushes."""
    for suffix in (PAGES, ORIGINALS, WRITTEN):
        yield from (path for path in sorted(store.with_suffix(suffix).rglob("*")) if path.is_file())
    exported: list[str] = []
    with suppress(OSError):
        text = (store.with_suffix(WRITTEN) / FILES).read_text(encoding="utf-8", errors="surrogateescape")
        exported = [name for name in dict.fromkeys(text.split("\n")) if name]
    pages = store.with_suffix(PAGES)
    yield from (path for path in map(Path, exported) if path.is_file() and not path.is_relative_to(pages))


def original_of(store: Path, path: Path) -> Path:
    """The place where the first original of a file is kept."""
    real = real_path(path)
    return store.with_suffix(ORIGINALS).joinpath(*real.relative_to(real.anchor).parts)


_WORDS = re.compile(r"[^\W_]+")
_LONGEST_PAGE = 5_000_000


class FileChange(Document):
    """The change of a file that was made, or would be."""

    file: str = Field(description="Its name in the directory.")
    outcome: str = Field(
        description="`created`, `changed`, `removed`, or `kept`: a page that a person has changed, left as it is."
    )
    added: int = Field(description="Lines that it has more.")
    removed: int = Field(description="Lines that it has no longer.")
    original: str | None = Field(
        default=None, description="Where its first original is kept, if it is of somebody else; null otherwise."
    )
    diff: str = Field(default="", description="The lines that differ, as a unified diff; empty unless asked for.")


@dataclass
class Outcome:
    """The changes of the files of a directory. `unchanged`: the number of those that were so already; `moved`: what a
    person wrote in our blocks, and where it stands now, in sentences, by file; `problems`: why a file could not be
    written, by file."""

    changes: list[FileChange] = field(default_factory=list)
    unchanged: int = 0
    moved: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def names(self, *outcomes: str) -> list[str]:
        """The files with these outcomes."""
        return [change.file for change in self.changes if change.outcome in outcomes]

    @property
    def told(self) -> list[str]:
        """Sentences that a person should know of the files."""
        return list(dict.fromkeys(self.moved.values()))


@dataclass(frozen=True)
class Plan:
    """The files that a directory is to hold.

    `export`: the name of the export, by which its pages are known; `pages`: whole files, unsealed, by name; `blocks`:
    by file and name of the block, its body, or what makes it of the file's text; `folders`: where pages may stand.
    """

    export: str
    pages: Mapping[str, str] = field(default_factory=dict)
    blocks: Mapping[tuple[str, str], Body] = field(default_factory=dict)
    folders: tuple[str, ...] = (".",)


def write_pages(
    directory: Path, blocks: Mapping[tuple[str, str], Body], store: Path, *, preview: bool = False
) -> Outcome:
    """Write blocks of the project's own pages; a file that cannot be written costs only itself."""
    writer = _Writer(directory, store, preview=preview, is_own=True)
    writer.write({}, blocks)
    return writer.outcome


def write_directory(
    directory: Path, plan: Plan, store: Path, *, force: bool = False, preview: bool = False, with_diff: bool = False
) -> Outcome:
    """Write what is planned into a directory of somebody else. With `force`, pages that a person has changed are
    written anew; never the file of another. With `preview`, nothing is written.

    Raises OutputError before anything is written if a file must not be written or the directory holds another export of
    this format, and afterwards if one could not be.
    """
    check_is_free(directory, store)
    before = {name: text for name, text in texts_in(directory, plan.folders) if export_of(text) is not None}
    for name, text in before.items():
        export = export_of(text) or ""
        if plan.pages and export != plan.export and export.split(" ")[0] == plan.export.split(" ")[0]:
            raise OutputError(
                f"'{directory / name}' belongs to another export ({export}); name another directory, or remove the "
                "files of that export"
            )
    pages = {name: sealed(text) for name, text in plan.pages.items()}
    names = list(dict.fromkeys([*pages, *(file for file, _ in plan.blocks)]))
    writer = _Writer(directory, store, force=force, preview=preview, with_diff=with_diff)
    for name in names:
        check_is_free(directory / name, store)
        if (directory / name).parent.is_dir():
            check_output(directory / name, lambda _: True)
    places = [] if preview else [directory, *dict.fromkeys((directory / name).parent for name in pages)]
    with directories(*places):
        writer.write(pages, plan.blocks)
        for name, text in before.items():
            if name not in pages and export_of(text) == plan.export and not writer.outcome.problems:
                writer.remove(name, text)
        if problems := list(writer.outcome.problems.values()):
            done = len(writer.outcome.names("created", "changed"))
            rest = f". {done} of {len(names)} files were written; run again for the others"
            raise OutputError(problems[0] + (rest if done else ""))
    return writer.outcome


@dataclass
class _Writer:
    """Writes into one directory, and keeps what became of it."""

    directory: Path
    store: Path
    force: bool = False
    preview: bool = False
    with_diff: bool = False
    is_own: bool = False
    outcome: Outcome = field(default_factory=Outcome)

    @cached_property
    def _blocks(self) -> SharedBlocks:
        return SharedBlocks(self.store)

    def write(self, pages: Mapping[str, str], blocks: Mapping[tuple[str, str], Body]) -> None:
        """Write pages, and then blocks, file by file. In a directory of somebody else, the first problem ends it."""
        of_file: dict[str, dict[str, Body]] = defaultdict(dict)
        for (name, block), body in blocks.items():
            of_file[name][block] = partial(_of_same_project, block, body)
        steps = [(name, partial(self._write_page, name, page)) for name, page in pages.items()]
        steps += [(name, partial(self._write_file, name, those)) for name, those in of_file.items()]
        for name, write in steps:
            try:
                write()
            except OutputError as error:
                self.outcome.problems[name] = in_words(error)
            except OSError as error:
                self.outcome.problems[name] = f"'{self.directory / name}' could not be written: {cause_and_mend(error)}"
            if self.outcome.problems and not self.is_own:
                return

    def remove(self, name: str, text: str) -> None:
        """Remove a page of ours, unless a person has changed it."""
        path = self.directory / name
        is_ours = is_as_written(text)
        if is_ours and (self.preview or remove_unless_changed(path, text.encode("utf-8", "surrogateescape"))):
            self._note(name, "removed", text, "")
        else:
            self._note(name, "kept", text, text)

    def _write_page(self, name: str, page: str) -> None:
        path, before, is_kept = self.directory / name, "", False

        def as_it_should_be(present: str) -> str:
            nonlocal before, is_kept
            before = present
            is_anothers = present not in ("", page) and not is_as_written(present)
            is_kept = is_anothers and not self.force
            if is_anothers and self.force:
                self._keep_original(name, present)
            return present if is_kept else page

        written = change_text(path, as_it_should_be, may_part=True, preview=self.preview)
        if not self.preview:
            self._blocks.note_file(path)
        if written != "unchanged":
            self._note(name, written, before, page)
        elif is_kept:
            self._note(name, "kept", before, before)
        else:
            self.outcome.unchanged += 1

    def _write_file(self, name: str, blocks: Mapping[str, Body]) -> None:
        path = self.directory / name
        done = self._blocks.write(path, blocks, preview=self.preview, keep_original=partial(self._keep_original, name))
        if warning := done.warning(path):
            self.outcome.moved[name] = warning
        if done.outcome != "unchanged":
            self._note(name, done.outcome, done.before, done.after)
        else:
            self.outcome.unchanged += path.exists()

    def _keep_original(self, name: str, text: str) -> None:
        """Keep the text of a file of somebody else that is to be changed, unless one of it is kept."""
        original = original_of(self.store, self.directory / name)
        if not (self.preview or self.is_own or original.exists()):
            with directories(original.parent), writing_whole(original, nobody, private=True) as file:
                file.write(text.encode("utf-8", "surrogateescape"))

    def _note(self, name: str, outcome: str, before: str, after: str) -> None:
        lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm=""))
        counted = lines[2:]
        original = None if self.is_own else original_of(self.store, self.directory / name)
        self.outcome.changes.append(
            FileChange(
                file=name,
                outcome=outcome,
                added=sum(line.startswith("+") for line in counted),
                removed=sum(line.startswith("-") for line in counted),
                original=str(original) if original is not None and original.exists() else None,
                diff="\n".join(lines) if self.with_diff else "",
            )
        )


def _of_same_project(name: str, body: Body, text: str) -> str:
    """A body, unless the block that stands there is of another project."""
    made = body if isinstance(body, str) else body(text)
    there, coming = ((block or "").split("\n", 1)[0] for block in (block_in(text, name), made))
    if all(line.startswith(HEAD) for line in (there, coming)) and there.split(":")[0] != coming.split(":")[0]:
        raise OutputError(f"it holds the memory of another project ({there[2:]}); take that block out first")
    return made


def texts_in(directory: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every file of Markdown in folders of a directory, no links, with its text; other bytes as lone surrogates."""
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


def free_name(stem: str, taken: Collection[str], ending: str = "") -> str:
    """A stem with its ending, and a number if there is one of that name: `taken`, in lower case."""
    name, number = f"{stem}{ending}", 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{ending}"
    return name
