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
from memory_pipeline.conversations.patterns import RelationshipPattern, patterns_of
from memory_pipeline.errors import OutputError, in_words
from memory_pipeline.files import cause_and_mend, real_path
from memory_pipeline.killpoints import reached
from memory_pipeline.places import check_is_free
from memory_pipeline.records import KeptExtraction
from memory_pipeline.shared_blocks import SharedBlocks, WrittenBlock, shared_in_words
from memory_pipeline.store import Store, Transaction
from memory_pipeline.workspace.conversation_blocks import (
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
from memory_pipeline.workspace.places import Places, places_of

#: By file and name of the block, its body.
Blocks = Mapping[tuple[Path, str], str]


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What came of the files, in sentences: `problems`: what could not be written; `moved`: what a person wrote
    between our marks, and where it stands now, and what else a person should know of the files."""

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
    shared: list[Path] = []
    blocks_here = SharedBlocks(store.path)
    for places, those in _by_root(places_of_projects(store, settings, projects)).items():
        place_of = {project_id: f"{project_id}\0{real_path(places.root)}" for project_id in those}
        # Days of a store that was imported as a whole, or of a project that came to this workspace, stand elsewhere.
        new = [project_id for project_id in those if not blocks_here.has_written(place_of[project_id])]
        with store.reading() as tx:
            nights = {night for project_id in those for night in waiting[project_id]}
            nights.update(row.night for project_id in new for row in tx.conversations.days(project_id))
            blocks = _united([blocks_of(tx, each, places, sorted(nights), len(those)) for each in those])
        failed = []
        for (path, name), body in blocks.items():
            problem, done = _write(places, path, name, body, store, blocks_here)
            failed += [f"{', '.join(those)}: {problem}"] if problem else []
            if done is not None:
                moved += [told for told in (done.told_of_lines(path), done.unknown) if told]
                shared += [path] if done.is_shared else []
        problems += failed
        reached("conversations.files")
        moved += filter(None, [blocks_here.note_written(place_of[each]) for each in new] if not failed else [])
        written = {(each, night) for each in those for night in waiting[each]}
        if written and not failed:
            with store.writing(holder, run_id) as tx:
                tx.conversations.note_written(written)
    moved += filter(None, [shared_in_words(shared)])
    return WrittenFiles(tuple(problems), tuple(dict.fromkeys(moved)))


def _by_root(places: Mapping[str, Places]) -> dict[Places, list[str]]:
    """The projects that have the same workspace, with its places; files that they share have a part for each."""
    roots: dict[Path, tuple[Places, list[str]]] = {}
    for project_id, each in sorted(places.items()):
        roots.setdefault(real_path(each.root), (each, []))[1].append(project_id)
    return dict(roots.values())


def _united(several: Sequence[Blocks]) -> Blocks:
    """The blocks of several projects, where they share one with the parts of all."""
    bodies: dict[tuple[Path, str], list[str]] = {}
    for blocks in several:
        for place, body in blocks.items():
            bodies.setdefault(place, []).append(body)
    return {place: "\n\n".join(filter(None, parts)) for place, parts in bodies.items()}


def places_of_projects(store: Store, settings: Settings, projects: Iterable[str]) -> dict[str, Places]:
    """The places of projects, also of those that follow from what their sources brought."""
    from memory_pipeline.ingest.sources import with_known_projects  # the importers, which a quiet night never needs

    known = with_known_projects(settings, store)
    return {project: places_of(known, project) for project in projects}


def blocks_of(tx: Transaction, project_id: str, places: Places, nights: list[date], sharers: int = 1) -> Blocks:
    """What stands in the files of a project; of its days, those of these nights. What goes into one file, also of so
    many projects, shares its budget."""
    everything = tx.conversations.standing(project_id)
    standing = standing_in(everything)
    patterns = patterns_in(tx, project_id, everything)
    blocks: dict[tuple[Path, str], str] = {}
    files = [real_path(path) for path in (places.user, places.relational, places.soul) if path is not None]
    for path, made in (
        (places.user, user_block),
        (places.relational, partial(relational_block, patterns=patterns)),
        (places.soul, soul_block),
    ):
        if path is not None:
            path = next((known for known, _ in blocks if real_path(known) == real_path(path)), path)
            before = blocks.get((path, CONVERSATIONS), "")
            tokens = places.block_tokens // (sharers * files.count(real_path(path)))
            added = made(project_id, standing, tokens=tokens)
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
    return patterns_of(kept, tx.conversations.told_again(project_id), tx.opinions.decisions(project_id))


def _write(
    places: Places, path: Path, name: str, body: str, store: Store, blocks: SharedBlocks
) -> tuple[str, WrittenBlock | None]:
    """Give a block its body; returns why it could not be written, or what became of it."""
    try:
        check_is_free(path, store.path)
        if not path.exists() and not body:
            return "", None
        if body and places.is_workspace and not places.root.is_dir():
            return f"'{places.root}' does not exist; check the path of the source", None
        return "", blocks.write(path, name, body, removes=True)
    except OutputError as error:
        return in_words(error), None
    except OSError as error:
        return f"'{path}' could not be written: {cause_and_mend(error)}", None
