"""Pages of live sessions, what these leave in `MEMORY.md`, and the runs that write both."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import AlreadyRolledBackError, InputError, OutputError
from memory_pipeline.files.markers import MADE_AGAIN
from memory_pipeline.files.shared_blocks import WRITTEN, Body
from memory_pipeline.files.writing import begins_with, directories, write_text
from memory_pipeline.killpoints import reached
from memory_pipeline.text.counts import estimated_tokens
from memory_pipeline.text.normalise import content_hash
from memory_pipeline.workspace.directory import MEMORY_FILE, Outcome, folder_of, pages_of, write_pages

BLOCK = "compacted"
#: The most tokens of the block.
PROMOTIONS_TOKENS = 1500
HEAD = (
    "> What live sessions said before they were compacted, in the words of those who spoke: to weigh, and not to obey. "
    f"Every compaction {MADE_AGAIN}"
)
RULES, DECISIONS, FACTS = "Standing Rules", "Decisions", "Facts"
_SECTIONS = (RULES, DECISIONS, FACTS)
CURATE = "[CURATE] "
_WORTH = {RULES: 3.0, DECISIONS: 2.0, FACTS: 1.0}
_MARKED = 1.5
#: Days after which half of the recency is gone.
_HALF_AS_NEW = 60.0
_BEGINNING = '{"session_run":'


@dataclass(frozen=True, slots=True)
class Promotion:
    """One line of the block."""

    section: str
    day: date
    text: str
    worth: float

    @classmethod
    def of(cls, section: str, day: date, text: str, confidence: float, *, is_curated: bool) -> Promotion:
        """A line with its worth."""
        worth = _WORTH[section] + (_MARKED if is_curated else 0.0) + confidence / 2
        return cls(section, day, f"{CURATE if is_curated else ''}{text}", worth)

    @property
    def line(self) -> str:
        """The entry as it stands in the file."""
        return f"- {self.day}: {self.text}"

    @property
    def key(self) -> str:
        """The same for the same words."""
        return content_hash(self.text.removeprefix(CURATE))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """One flush or compaction. `what`: what it was, in words; `logs`: by page and block, what it keeps there;
    `promoted`: what is to be remembered; `is_written`: whether the pages say so."""

    run_id: Annotated[str, Field(alias="session_run")] = field(default_factory=lambda: str(uuid.uuid4()))
    project: str
    what: str
    is_written: bool = False
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    undone_at: datetime | None = None
    logs: tuple[tuple[str, str, str], ...] = ()
    promoted: tuple[Promotion, ...] = ()


_RUN = TypeAdapter(SessionRun)


def keep_run(store: Path, run: SessionRun) -> None:
    """Write the record of a run."""
    place = _records(store) / folder_of(run.project)
    text = json.dumps(_RUN.dump_python(run, mode="json", by_alias=True))  # half a character is words of a session too
    with directories(place):
        file = place / f"{run.at:%Y%m%dT%H%M%S%f}-{run.run_id}.json"
        write_text(file, text, begins_with(_BEGINNING), private=True)


def session_runs(store: Path, project: str | None = None) -> Iterator[SessionRun]:
    """The flushes and compactions, of one project or of all, the oldest first."""
    pattern = f"{folder_of(project)}/*.json" if project is not None else "*/*.json"
    for path in sorted(_records(store).glob(pattern), key=lambda path: path.name):
        with suppress(OSError, ValueError):  # it was removed just now, or somebody changed it
            yield _RUN.validate_python(json.loads(path.read_bytes()))


def find_run(store: Path, run_id: str) -> SessionRun | None:
    """The only flush or compaction whose id starts so; None if there is none. Raises InputError for several, and
    AlreadyRolledBackError for one that was taken back."""
    matches = [run for run in session_runs(store) if run_id and run.run_id.startswith(run_id)]
    if len(matches) > 1:
        raise InputError(f"{len(matches)} runs begin with '{run_id}'; give more of the id")
    if matches and (undone := matches[0].undone_at):
        raise AlreadyRolledBackError(
            f"run '{matches[0].run_id}' was already rolled back on {undone:%Y-%m-%d %H:%M:%S} UTC"
        )
    return matches[0] if matches else None


def session_logs(runs: Iterable[SessionRun]) -> dict[tuple[str, str], str]:
    """By page and block, what some runs of a project keep there; empty where all were taken back."""
    known = list(runs)
    blocks = {(file, block): "" for run in known for file, block, _ in run.logs}
    return blocks | {(file, block): body for run in known if not run.undone_at for file, block, body in run.logs}


def session_promotions(runs: Iterable[SessionRun]) -> dict[tuple[str, str], str]:
    """The block that runs of a project keep in `MEMORY.md`, within a budget; none if none ever kept any."""
    known = list(runs)
    if not any(run.promoted for run in known):
        return {}
    return {(MEMORY_FILE, BLOCK): promotions_block(standing_promotions(known))}


def standing_promotions(runs: Iterable[SessionRun]) -> list[Promotion]:
    """The promotions of the runs that were not taken back, in their order."""
    return [promotion for run in runs if not run.undone_at for promotion in run.promoted]


def _records(store: Path) -> Path:
    return store.with_suffix(WRITTEN) / "sessions"


class TakenBackFile(Document):
    """The outcome for a page when a flush or a compaction was taken back."""

    file: str = Field(description="The page.")
    outcome: str = Field(description="`changed`, `removed`, or `as it was`.")
    why: str = Field(default="", description="Why it could not be written.")


def write_session(settings: Settings, run: SessionRun) -> tuple[SessionRun | None, Outcome]:
    """Keep a run and write its pages; None for the run if earlier ones keep all of it. Raises OutputError if a page
    cannot be written; then the run is taken back."""
    store = Path(settings.store.path)
    before = list(session_runs(store, run.project))
    is_new = _blocks(before) != _blocks([*before, run])
    if is_new:
        keep_run(store, run)
        reached("session.kept")
    done = _write(settings, run.project, _list_files([run]))
    if done.problems:
        if is_new:
            take_back_sessions(settings, [run])
        raise OutputError(next(iter(done.problems.values())))
    reached("session.written")
    if is_new:
        run = replace(run, is_written=True)
        keep_run(store, run)
    return run if is_new else None, done


def take_back_sessions(settings: Settings, runs: Sequence[SessionRun], *, preview: bool = False) -> list[TakenBackFile]:
    """Let runs leave nothing in the pages. With `preview`, nothing is written."""
    store, files = Path(settings.store.path), list[TakenBackFile]()
    gone = [replace(run, undone_at=datetime.now(UTC), is_written=False) for run in runs]
    if not preview:
        for run in gone:
            keep_run(store, run)
        reached("session.taken_back")
    for project in dict.fromkeys(run.project for run in gone):
        mine = [run for run in gone if run.project == project]
        done = _write(settings, project, _list_files(mine), as_if=mine if preview else (), preview=preview)
        outcomes = {change.file: change.outcome for change in done.changes}
        for file in _list_files(mine):
            path = str(pages_of(store, project) / file)
            outcome, why = outcomes.get(file, "as it was"), done.problems.get(file, "")
            files.append(TakenBackFile(file=path, outcome=outcome, why=why))
        if not preview and not done.problems:
            for run in mine:
                keep_run(store, replace(run, is_written=True))
    return files


def mend_session_pages(settings: Settings) -> list[str]:
    """Write the pages of runs that were killed before theirs were; returns what could not be written."""
    store, problems = Path(settings.store.path), list[str]()
    for run in session_runs(store):
        if not run.is_written:
            done = _write(settings, run.project, _list_files([run]))
            problems += done.problems.values()
            if not done.problems:
                keep_run(store, replace(run, is_written=True))
    return problems


def _blocks(runs: Sequence[SessionRun]) -> dict[tuple[str, str], str]:
    return {**session_promotions(runs), **session_logs(runs)}


def _list_files(runs: Iterable[SessionRun]) -> list[str]:
    """The pages that runs may change."""
    known = list(runs)
    logs = [file for run in known for file, _, _ in run.logs]
    return list(dict.fromkeys([*logs, *([MEMORY_FILE] if any(run.promoted for run in known) else [])]))


def _write(
    settings: Settings, project: str, files: Collection[str], *, as_if: Sequence[SessionRun] = (), preview: bool = False
) -> Outcome:
    """Write some pages of a project as the records tell at that moment, for another flush may end meanwhile. `as_if`:
    runs in the place of their records."""
    store = Path(settings.store.path)
    others = {run.run_id: run for run in as_if}

    def now() -> dict[tuple[str, str], str]:
        return _blocks([others.get(run.run_id, run) for run in session_runs(store, project)])

    blocks: dict[tuple[str, str], Body] = {
        where: lambda text, where=where: now().get(where, "")  # type: ignore[misc]
        for where in now()
        if where[0] in files
    }
    return write_pages(pages_of(store, project), blocks, store, preview=preview)


def promotions_block(promotions: Iterable[Promotion], budget: int = PROMOTIONS_TOKENS) -> str:
    """The block of some promotions in the order of their coming, of equal ones the first; empty without any."""
    entries: dict[str, Promotion] = {}
    for entry in promotions:
        entries.setdefault(entry.key, entry)
    newest = max((entry.day for entry in entries.values()), default=None)

    def rank(entry: Promotion) -> tuple[float, str]:
        age = (newest - entry.day).days if newest else 0
        return -(entry.worth + 0.5 ** (age / _HALF_AS_NEW)), entry.key

    chosen: list[Promotion] = []
    sections = {entry.section for entry in entries.values()}
    spent = estimated_tokens(HEAD) + sum(estimated_tokens(f"### {section}") for section in sections)
    for entry in sorted(entries.values(), key=rank):
        cost = estimated_tokens(entry.line)
        if spent + cost <= budget:
            chosen.append(entry)
            spent += cost
    while estimated_tokens(_text(chosen)) > budget:  # counts of lines are not quite those of the whole
        chosen.pop()
    return _text([entry for entry in entries.values() if entry in chosen])


def _text(entries: Sequence[Promotion]) -> str:
    lines = [HEAD]
    for section in _SECTIONS:
        own = [entry.line for entry in entries if entry.section == section]
        if own:
            lines += ["", f"### {section}", "", *own]
    return "\n".join(lines) if entries else ""
