"""Reads the memories of Codex (`~/.codex/memories`): its handbook, its summary, and what it noted of each thread.

A model rewrites these files, so the ids of entries depend on their words. Entries have the time and the working
directory of the thread that they come from, where the file tells them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from memory_pipeline.ingest.candidates import Candidate, Reading, RowError, Skipped, dated
from memory_pipeline.ingest.dates import parse_moment, time_or_none
from memory_pipeline.ingest.foreign import project_name
from memory_pipeline.ingest.importer import ALL_FILES, FilesImporter, OneFile, entry_id
from memory_pipeline.ingest.markdown import Entry, parse_note, parts_of_entry
from memory_pipeline.ingest.openclaw_files import note_text
from memory_pipeline.ingest.text_files import beginning
from memory_pipeline.ingest.turns import without_put_in
from memory_pipeline.records import Source
from memory_pipeline.text.kinds import kind_of

_NAMED = ("MEMORY.md", "raw_memories.md", "memory_summary.md")
_SUMMARIES = "rollout_summaries"
#: What its user told it to remember, a file each, named for the time; `instructions.md` beside them is Codex's own.
_NOTES = "extensions/ad_hoc"
_INSTRUCTIONS = "instructions.md"
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)[:-]?(\d\d)[:-]?(\d\d)")
_VERSION = re.compile(r"v\d+\s*")
#: What begins the notes of one thread, or one block of the handbook.
_THREAD = re.compile(r"## (?:Thread|Session) `|# Task Group:")
_FIELD = re.compile(
    r"[ \t]*(?P<name>thread_id|updated_at|cwd|rollout_path|rollout_summary_file|git_branch|task|task_group|task_outcome"
    r"|keywords|scope|applies_to|description):[ \t]*(?P<value>.*)"
)
_UPDATED = re.compile(r"\bupdated_at=([^\s,)]{10,40})")
_PLACE = re.compile(r"\bcwd=([^;\n]{1,400})")
#: Sections that lead to other files.
_INDEXES = re.compile(r"rollout[_ ]summary[_ ]files?|keywords|what's in memory|references? files?", re.IGNORECASE)
_PREFERENCES = re.compile(r"user preferences|preference signals|user profile", re.IGNORECASE)
_FAILURES = re.compile(r"failures|how to do differently", re.IGNORECASE)
_TASK_REFS = re.compile(r"(?:\s?\[Task \d{1,3}\])+$")
_TASK_REF = re.compile(r"\[Task (\d{1,3})\]")
_TASK = re.compile(r"#{2,3} Task (\d{1,3})\b")
_NOTHING = re.compile(r"No raw memories yet\.?|Merged stage-1 raw memories\b.*:|-{3,}|\.\.\.|<!--.*-->", re.DOTALL)


@dataclass
class _Origin:
    """The origin of the entries from a line on: the project, the time of the thread, and those of its tasks."""

    line: int
    project: str | None = None
    moment: datetime | None = None
    tasks: dict[int, datetime] = field(default_factory=dict)

    def find_time(self, entry: Entry) -> datetime | None:
        """The newest time of the tasks that an entry names, or below whose heading it stands; else the thread's."""
        end = _TASK_REFS.search(entry.text)
        numbers = _TASK_REF.findall(end.group()) if end else []
        numbers = numbers or [match[1] for title in entry.path if (match := _TASK.match(f"## {title}"))]
        times = [self.tasks[int(number)] for number in numbers if int(number) in self.tasks]
        return max(times, default=self.moment)


class CodexImporter(FilesImporter):
    """Codex's memories. The ids of entries depend on their words."""

    name = project = "codex"  # of what belongs to no working directory
    about = (
        "Codex's memories: its handbook, summary, raw memories, `rollout_summaries/` and notes (`extensions/ad_hoc`)."
    )
    takes = "the directory of Codex's memories"
    takes_directory = True
    lacks = f"no {', '.join(_NAMED)} and no {_SUMMARIES}/; give ~/.codex/memories"

    def found(self, directory: Path) -> list[Path]:
        """The files that hold memories."""
        top = directory / "memories" if (directory / "memories").is_dir() else directory
        notes = [file for file in sorted((top / _NOTES).rglob("*.md")) if file.name != _INSTRUCTIONS]
        return [*(top / name for name in _NAMED), *sorted((top / _SUMMARIES).glob("*.md")), *notes]

    def read_file(self, file: OneFile) -> Reading:
        """Every entry."""
        text = note_text(file)
        if text is None:
            return
        skipped = file.skipped
        undated, quality = _named_time(file.path.name, file.now) or file.undated
        text = file.masked(without_put_in(text, skipped))
        lines, origins = _without_fields(text.split("\n"), file.zone, file.now, skipped)
        origin = iter(origins)
        current, following = next(origin), next(origin, None)
        for entry in parse_note("\n".join(lines)).entries:
            while following and following.line <= entry.first_line:
                current, following = following, next(origin, None)
            words = _TASK_REFS.sub("", entry.text)
            leads_elsewhere = any(_INDEXES.fullmatch(title.strip("*_: ")) for title in entry.above)
            if leads_elsewhere or not words.strip() or _NOTHING.fullmatch(words.strip()):
                skipped.add("lines of an index")
                continue
            if len(words.split()) == 1:
                skipped.add("entries of a single word")
                continue
            moment = current.find_time(entry)
            # The names of sections stand beside what they hold.
            entry = replace(entry, lead=replace(entry.lead, joins=False))
            for own_words, fields in parts_of_entry(entry, skipped, words):
                yield Candidate(
                    source=Source(self.name, file.name, entry.first_line),
                    project_id=current.project,
                    memory_type=_find_type(own_words, entry),
                    **fields,
                    **dated(moment or undated, "exact" if moment else quality),
                )

    def sign_of(self, path: Path) -> str | None:
        """The way in which Codex writes its files."""
        signs = {"raw_memories.md": "# Raw Memories", "memory_summary.md": "v1\n", "MEMORY.md": "# Task Group:"}
        for name, file in self.files(path, ALL_FILES, Skipped()):
            sign = signs.get(file.name, "thread_id: ")
            if beginning(file, 2000).lstrip("\n").startswith(sign):
                return f"{name} as Codex writes it"
        return None

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """Derived from the file and the words, as in a workspace."""
        file = (candidate.source.file or "").removeprefix("memories/")
        return entry_id(project, file, candidate.own_words or content, self.name)


def _without_fields(lines: list[str], zone: tzinfo, now: datetime, skipped: Skipped) -> tuple[list[str], list[_Origin]]:
    """The lines without fields, but for the descriptions of threads, and what these tell of the entries below them."""
    bare = list(lines)
    origins = [_Origin(0)]
    task: int | None = None
    if lines and _VERSION.fullmatch(lines[0]):
        bare[0] = ""
    for number, line in enumerate(lines, start=1):
        if _THREAD.match(line):
            origins.append(_Origin(number))
        if line.startswith(("# ", "## ")) or _TASK.match(line):
            named = _TASK.match(line)
            task = int(named[1]) if named else None
        stated = _FIELD.fullmatch(line)
        name, value = stated.group("name", "value") if stated else ("", "")
        place = value if name == "cwd" else None
        times = [value] if name == "updated_at" else _UPDATED.findall(line)
        if name == "applies_to" and (match := _PLACE.search(value)):
            place = match[1]
        if stated:
            bare[number - 1] = f"- {value.strip()}" if name == "description" and value.strip() else ""
        origin = origins[-1]
        origin.project = origin.project or (_parse_project(place) if place else None)
        for time in times:
            try:
                moment = parse_moment(time.strip().rstrip("`"), zone, now, "updated_at")
            except RowError:
                skipped.add("times that cannot be read")
                continue
            if moment is not None:
                origin.moment = max(moment, origin.moment or moment)
                if task is not None:
                    origin.tasks[task] = max(moment, origin.tasks.get(task, moment))
    return bare, origins


def _named_time(name: str, now: datetime) -> tuple[datetime, str] | None:
    """The time, in UTC, that a note's file name begins with; None for one that names none that has been."""
    stamp = _STAMP.match(name)
    moment = time_or_none(f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}Z", UTC, now) if stamp else None
    return (moment, "exact") if moment and moment <= now else None


def _parse_project(place: str) -> str | None:
    """The project of a working directory; None for what is none (`unknown`, or words)."""
    path = place.strip().strip("`\"'").rstrip("/\\")
    if not re.match(r"[/~$]|[A-Za-z]:|\\\\", path) or len(path.split()) > 12:
        return None
    return project_name(re.split(r"[/\\]", path)[-1])


def _find_type(text: str, entry: Entry) -> str:
    """The type that the section tells, else the words."""
    section = entry.above[-1] if entry.above else ""
    if _PREFERENCES.search(section):
        return "feedback"
    if _FAILURES.search(section):
        return "lesson"
    return kind_of(text, entry.above, "fact")
