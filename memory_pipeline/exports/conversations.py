"""Writes what was kept of conversations into the files of each project's workspace.

The blocks are functions of what stands in the store. A file that says it already is not touched; a block with nothing
to say is taken out, and with it a file that holds nothing else.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.pages import (
    CONVERSATIONS,
    DECISIONS,
    SUMMARY,
    decisions_block,
    relational_block,
    soul_block,
    standing_in,
    summary_block,
    user_block,
)
from memory_pipeline.conversations.patterns import RelationshipPattern, patterns_of
from memory_pipeline.conversations.places import Places, places_of
from memory_pipeline.errors import OutputError, in_words
from memory_pipeline.files import cause_and_mend, real_path
from memory_pipeline.killpoints import reached
from memory_pipeline.places import check_is_free
from memory_pipeline.records import KeptExtraction
from memory_pipeline.shared_blocks import SharedBlocks
from memory_pipeline.store import Store, Transaction

#: By file and name of the block, its body.
Blocks = Mapping[tuple[Path, str], str]


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What came of the files, in sentences: `problems`: what could not be written; `moved`: what a person wrote
    between our marks, and where it stands now."""

    problems: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def write_files(store: Store, settings: Settings, holder: str, run_id: str | None) -> WrittenFiles:
    """Write the files of every project of which conversations were read.

    The three files are compared on every call, those of single days only while they may be out of date, and at the
    first call for a place.
    """
    with store.reading() as tx:
        projects = tx.conversations.projects()
        if not projects:
            return WrittenFiles()
        waiting: dict[str, list[date]] = defaultdict(list)
        for project_id, night in tx.conversations.unwritten():
            waiting[project_id].append(night)
    problems: list[str] = []
    moved: list[str] = []
    blocks_here = SharedBlocks(store.path)
    for project_id, places in places_of_projects(store, settings, projects).items():
        place = f"{project_id}\0{real_path(places.root)}"
        is_new = not blocks_here.has_written(
            place
        )  # of a store that was imported as a whole, days were written elsewhere
        with store.reading() as tx:
            nights = waiting[project_id]
            nights = [row.night for row in tx.conversations.days(project_id)] if is_new else nights
            blocks = blocks_of(tx, project_id, places, sorted({*nights, *waiting[project_id]}))
        failed = []
        for (path, name), body in blocks.items():
            problem, told = _write(places, path, name, body, store)
            failed += [f"{project_id}: {problem}"] if problem else []
            moved += [told] if told else []
        problems += failed
        reached("conversations.files")
        if is_new and not failed:
            blocks_here.note_written(place)
        if waiting[project_id] and not failed:
            with store.writing(holder, run_id) as tx:
                tx.conversations.note_written({(project_id, night) for night in waiting[project_id]})
    return WrittenFiles(tuple(problems), tuple(moved))


def places_of_projects(store: Store, settings: Settings, projects: Iterable[str]) -> dict[str, Places]:
    """The places of projects, also of those that follow from what their sources brought."""
    from memory_pipeline.ingest.sources import with_known_projects  # the importers, which a quiet night never needs

    known = with_known_projects(settings, store)
    return {project: places_of(known, project) for project in projects}


def blocks_of(tx: Transaction, project_id: str, places: Places, nights: list[date]) -> Blocks:
    """What stands in the files of a project; of its days, those of these nights."""
    everything = tx.conversations.standing(project_id)
    standing = standing_in(everything)
    patterns = patterns_in(tx, project_id, everything)
    blocks: dict[tuple[Path, str], str] = {}
    for path, made in (
        (places.user, user_block),
        (places.relational, partial(relational_block, patterns=patterns)),
        (places.soul, soul_block),
    ):
        if path is not None:
            before = blocks.get((path, CONVERSATIONS), "")
            added = made(project_id, standing, tokens=places.block_tokens)
            blocks[path, CONVERSATIONS] = "\n\n".join(part for part in (before, added) if part)
    for night in nights:
        ever = tx.conversations.of_night(project_id, night, also_gone=True)
        for day in sorted({one.day for one in ever}):
            then = {old for one in everything if one.day <= day for old in one.withdraws}  # the log is of its day
            of_day = [one for one in everything if one.id not in then]
            blocks[places.daily_log(day), DECISIONS] = decisions_block(project_id, day, of_day)
        row = tx.conversations.day(project_id, night)
        those = [one for one in everything if one.night == night]
        body = summary_block(project_id, night, json.loads(row.coverage), those) if row else ""
        blocks[places.daily_summary(night), SUMMARY] = body
    return blocks


def patterns_in(
    tx: Transaction, project_id: str, standing: Sequence[KeptExtraction] | None = None
) -> list[RelationshipPattern]:
    """The patterns of a project, of what stands, what was told again, and what people decided."""
    known = tx.conversations.standing(project_id) if standing is None else standing
    kept = [one for one in known if one.destination != "drop" or one.kind == "correction"]
    return patterns_of(kept, tx.conversations.told_again(project_id), tx.conversations.decisions(project_id))


def _write(places: Places, path: Path, name: str, body: str, store: Store) -> tuple[str, str]:
    """Give a block its body; returns why it could not be written, and what a person should know."""
    try:
        check_is_free(path, store.path)
        if not path.exists() and not body:
            return "", ""
        if body and places.is_workspace and not places.root.is_dir():
            return f"'{places.root}' does not exist; check the path of the source", ""
        return "", SharedBlocks(store.path).write(path, name, body, removes=True).told(path)
    except OutputError as error:
        return in_words(error), ""
    except OSError as error:
        return f"'{path}' could not be written: {cause_and_mend(error)}", ""
