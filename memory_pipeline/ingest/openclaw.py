"""Reads an OpenClaw workspace: long-term notes, daily logs, identity files and conversation logs.

Blocks that another consolidator manages and session dumps repeat other entries; they are skipped by default and
counted. Times come from headings and line starts in any zone, otherwise from the file's name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, tzinfo
from pathlib import Path

from memory_pipeline.files.writing import resolve_links
from memory_pipeline.ingest import foreign, markdown
from memory_pipeline.ingest import openclaw_files as workspace
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, Skipped, dated
from memory_pipeline.ingest.dates import file_date, leading_time, written_time
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, FilesImporter, OneFile, entry_id
from memory_pipeline.ingest.values import MAX_LABELS, text_at
from memory_pipeline.records import MEMORY_TYPES, Source
from memory_pipeline.text.kinds import kind_of
from memory_pipeline.text.normalise import LEADING_STAMP

#: A block of code with more lines than this is a dump, not a note.
_CODE_LINES = 60
_HASHTAG = re.compile(r"(?<![\w#&/])#([A-Za-z][\w-]{1,40})(?![\w])")
#: What a line of an index begins with.
_INDEX_LINK = re.compile(
    r"\W{0,4}(?:\[[^\]\n]{1,300}\]\((?P<path>[^)\n]{1,300}\.md)\)|\[\[(?P<name>[^\]\n]{1,200})\]\])"
)
_MARKED = re.compile(r"\[(CURATE|TEMPORARY)\]", re.IGNORECASE)

#: An entry, and its time with its quality.
_Timed = tuple[markdown.Entry, tuple[datetime, str]]


class OpenClawImporter(FilesImporter):
    """An OpenClaw workspace. The ids of its entries depend on their words."""

    name = "openclaw"
    about = (
        "An OpenClaw workspace: `MEMORY.md`, `memory/`, `DailyLogs/`, `raw/` and the identity files; or any folder of "
        "notes that are named by their day (`2026-03-14.md`)."
    )
    takes = "a workspace directory, or a folder of daily notes"
    takes_directory = True

    lacks = (
        "no MEMORY.md, USER.md, SOUL.md or RELATIONAL.md, no .md files in memory/, DailyLogs/ or raw/, and no notes "
        "that are named by their day (YYYY-MM-DD.md); give the workspace's own directory"
    )

    def reader(self, place: OneFile, files: Sequence[tuple[str, Path]]) -> Callable[[OneFile], Reading]:
        """Reads every entry of a file. Entries of one text come in the order of their times: which of them is the
        second one does not depend on how the file grows.

        A file's secrets are masked before it is split into entries: a key may span many lines, and headings and
        hashtags become categories and tags.
        """
        recalls = workspace.recall_counts(place.path)
        # The files of which an index in long-term notes says less than they do.
        notes = frozenset(resolve_links(note) for _, note in self.files(place.path, ALL_FILES, Skipped()))
        return lambda file: _read_file(file, recalls, notes)

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """Every file of the workspace that is chosen."""
        return workspace.workspace_files(path, skipped, choice)

    def sign_of(self, path: Path) -> str | None:
        """The first file of a workspace. A `MEMORY.md` beside other notes alone is none: other agents have one too."""
        first = next((name for name, _ in self.files(path, ALL_FILES, Skipped())), None) if path.is_dir() else None
        return None if first is None or workspace.is_of_another(path, first) else first

    def default_project(self, path: Path) -> str:
        """The directory's name in lower case, with digits and hyphens."""
        return foreign.project_of_directory(path)

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """Derived from the file and the entry's own words: those that lead in to it may change."""
        return entry_id(project, candidate.source.file or "", candidate.own_words or content)


def _leads_to(text: str, directory: Path, elsewhere: frozenset[Path]) -> bool:
    """True if an entry begins with a link to a file that is read by itself: it is a line of an index."""
    link = _INDEX_LINK.match(text) if elsewhere else None
    if link is None or "\0" in link[0]:
        return False
    target = link["path"] or f"{link['name']}.md"
    folders = (directory, directory / "memory", directory / "DailyLogs")
    return any(resolve_links(folder / target) in elsewhere for folder in folders)


def _read_file(file: OneFile, recalls: Sequence[workspace.Recall], notes: frozenset[Path]) -> Reading:
    skipped, now, role = file.skipped, file.now, workspace.role_of(file.name)
    elsewhere = notes if role == "long-term" else frozenset()
    text = workspace.text_of(file.path, skipped)
    if workspace.is_written_by_program(text):
        skipped.add("files that a program wrote")
        skipped.add_file(workspace.BY_PROGRAM, file.name)
        return
    if not text.strip():
        return
    why_silent = workspace.SESSION_DUMP if workspace.is_session_dump(text) else workspace.NO_ENTRY
    page = markdown.split_front_matter(text)
    stated = (text_at(page.fields, "memory_type") or text_at(page.fields, "type")).lower() if page else ""
    text = foreign.blank_wrappers(workspace.blank_managed(page.below if page else text, skipped), skipped)
    day, clock = file_date(file.path.name) or (None, None)
    undated = file.undated
    if day:
        undated = datetime.combine(day, clock or time(), file.zone), "exact" if clock else "date"
    if undated[0] > now and day:
        yield Rejected(file.name, 0, f"the file's date {day} is in the future")
        return
    note = markdown.parse_note(file.masked(text, keep_lines=True))
    leading = [entry for entry in note.entries if _leads_to(entry.text, file.path.parent, elsewhere)]
    skipped.add("lines of an index", len(leading))
    entries = [entry for entry in note.entries if entry not in leading and not _is_nothing(entry, skipped)]
    has_human_turns = any(markdown.HUMAN_LINE.match(f"{entry.text} ") for entry in entries)
    skipped.add(foreign.EMPTY_LABELS, list(note.structure.values()).count("empty label"))
    if not entries:
        skipped.add_file(why_silent, file.name)
    timed = []
    for entry in entries:
        own_time = _entry_time(entry, day, file.zone)
        timed.append((entry, own_time if own_time and own_time[0] <= now else undated))
    # The title of long-term and identity files, and of a day, only names the file.
    named_by_title = role in ("long-term", "identity") or workspace.A_DAY.fullmatch(file.path.name)
    for entry, when in _order_equal_entries(timed):
        is_titled = named_by_title and entry.path[:1] == (note.title,)
        for _, fields in markdown.parts_of_entry(entry, skipped):
            content, headings = fields["content"], fields["headings"]
            tags = _HASHTAG.findall(content) + _MARKED.findall(" ".join((*entry.path, content)))
            fields |= {"content": foreign.without_scores(content), "headings": headings[1:] if is_titled else headings}
            yield Candidate(
                source=Source(OpenClawImporter.name, file.name, entry.first_line),
                memory_type=_find_type(entry, content, role, stated, has_human_turns=has_human_turns),
                categories=_categories(entry) or (role,),
                tags=tuple(sorted({tag.lower() for tag in tags}))[:MAX_LABELS],
                pinned=role == "identity",
                reuse_count=workspace.recalled(recalls, file.name, entry),
                **fields,
                **dated(*when),
            )


def _is_nothing(entry: markdown.Entry, skipped: Skipped) -> bool:
    """True if an entry says nothing, or is nothing but a long block of code."""
    text = entry.text
    if reason := foreign.why_no_memory(text):
        skipped.add(reason)
        return True
    is_dump = text.count("\n") > _CODE_LINES and text.startswith(("```", "~~~")) and text.endswith(text[:3])
    if is_dump:
        skipped.add("lines of code dumps", text.count("\n") + 1)
    return is_dump


def _order_equal_entries(timed: Sequence[_Timed]) -> list[_Timed]:
    """The entries in the order of the file, those of one text among them by their times."""
    alike: dict[str, list[_Timed]] = defaultdict(list)
    for item in sorted(timed, key=lambda item: item[1][0], reverse=True):
        alike[item[0].text].append(item)
    return [alike[entry.text].pop() for entry, _ in timed]


def _find_type(entry: markdown.Entry, text: str, role: workspace.Role, stated: str, *, has_human_turns: bool) -> str:
    """The type that the file's front matter states, else what label, headings and wording tell."""
    if role == "conversation" or markdown.TURN_LINE.match(text + " "):
        return "conversation"
    if has_human_turns and markdown.AGENT_LINE.match(text + " "):
        return "conversation"
    if stated in MEMORY_TYPES:
        return stated
    return kind_of(text, (stated, *entry.above), "fact" if role == "long-term" else "other")


def _categories(entry: markdown.Entry) -> tuple[str, ...]:
    """The innermost headings that still have content after removing timestamps and ornaments."""
    names = []
    for title in reversed(entry.above):
        words = re.sub(
            r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?|\b(?:UTC|GMT|[A-Z]{2,3}T)\b", " ", title
        )
        if (category := foreign.slug(words)) and category not in names:
            names.append(category)
    return tuple(names[:2])


def _entry_time(entry: markdown.Entry, day: date | None, default_zone: tzinfo) -> tuple[datetime, str] | None:
    """The time with which the entry begins, else that of its innermost dated heading."""
    # The innermost dated heading gives the day in a file whose name has no date.
    above = next((stated[0] for title in reversed(entry.above) if (stated := file_date(title))), None)
    moment = leading_time(entry.text, day or above, default_zone)
    if moment:
        return moment, "exact"
    stamps = [stamp.group() for words in (entry.text, entry.lead.words) if (stamp := LEADING_STAMP.match(words))]
    for subject in [*stamps, *reversed(entry.above)]:
        if written := written_time(subject, day, default_zone):
            return written
    return None
