"""Writes what was kept of conversations into the pages of each project.

The blocks are functions of what stands in the store. A file that says it already is not touched; a block with nothing
to say is taken out, and with it a file that holds nothing else.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from memory_pipeline.config.exports import LOGS, RELATIONAL, SOUL, SUMMARIES, USER
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.patterns import RelationshipPattern, patterns_of
from memory_pipeline.killpoints import reached
from memory_pipeline.records import KeptExtraction
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
from memory_pipeline.workspace.directory import write_pages
from memory_pipeline.workspace.places import daily_log, daily_summary, pages_of

#: By file and name of the block, its body.
Blocks = dict[tuple[str, str], str]
CONTENTS = (USER, RELATIONAL, SOUL, LOGS, SUMMARIES)


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What came of the files, in sentences: `problems`: what could not be written; `moved`: what a person wrote
    between our marks, and where it stands now, and what else a person should know of the files."""

    problems: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def write_files(store: Store, settings: Settings, holder: str, run_id: str | None) -> WrittenFiles:
    """Write the pages of every project of which conversations were read.

    The three files are compared on every call, those of single days only while they may be out of date, and if the
    project has no pages yet.
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
    for project_id in projects:
        root = pages_of(store.path, project_id)
        with store.reading() as tx:
            nights = set(waiting[project_id])
            if not (root / "daily").is_dir():  # of a store that was imported whole, or whose pages somebody removed
                nights.update(row.night for row in tx.conversations.days(project_id))
            blocks = conversation_blocks(tx, project_id, settings, CONTENTS, sorted(nights))
        done = write_pages(root, blocks, store.path)
        problems += [f"{project_id}: {problem}" for problem in done.problems.values()]
        moved += done.told
        reached("conversations.files")
        if waiting[project_id] and not done.problems:
            with store.writing(holder, run_id) as tx:
                tx.conversations.note_written({(project_id, night) for night in waiting[project_id]})
    return WrittenFiles(tuple(problems), tuple(dict.fromkeys(moved)))


def conversation_blocks(
    tx: Transaction,
    project_id: str,
    settings: Settings,
    contents: Collection[str],
    nights: Sequence[date] | None = None,
) -> Blocks:
    """What stands in the files of a project about its conversations; of its days, those of these nights, or all. What
    goes into one file shares its budget."""
    everything = tx.conversations.standing(project_id)
    standing = standing_in(everything)
    blocks: Blocks = {}
    patterns = patterns_in(tx, project_id, everything) if RELATIONAL in contents else []
    names = settings.compression.destinations
    made = [
        (name, block)
        for content, name, block in (
            (USER, names.user, user_block),
            (RELATIONAL, names.relational, partial(relational_block, patterns=patterns)),
            (SOUL, names.soul, soul_block),
        )
        if name and content in contents
    ]
    files = [name for name, _ in made]
    for name, block in made:
        added = block(project_id, standing, tokens=settings.conversations.block_tokens // files.count(name))
        before = blocks.get((name, CONVERSATIONS), "")
        blocks[name, CONVERSATIONS] = "\n\n".join(part for part in (before, added) if part)
    if nights is None:
        nights = tx.conversations.nights(project_id)
    for night in nights if LOGS in contents else ():
        ever = tx.conversations.of_night(project_id, night, also_gone=True)
        for day in sorted({one.day for one in ever}):
            then = {old for one in everything if one.day <= day for old in one.withdraws}  # the log is of its day
            of_day = [one for one in everything if one.id not in then]
            blocks[daily_log(day), DECISIONS] = decisions_block(project_id, day, of_day)
    for night in nights if SUMMARIES in contents else ():
        row = tx.conversations.day(project_id, night)
        those = [one for one in everything if one.night == night]
        body = summary_block(project_id, night, json.loads(row.coverage), those) if row else ""
        blocks[daily_summary(night), SUMMARY] = body
    return blocks


def patterns_in(
    tx: Transaction, project_id: str, standing: Sequence[KeptExtraction] | None = None
) -> list[RelationshipPattern]:
    """The patterns of a project, of what stands, what was told again, and what people decided."""
    known = tx.conversations.standing(project_id) if standing is None else standing
    kept = [one for one in known if one.destination != "drop" or one.kind == "correction"]
    return patterns_of(kept, tx.conversations.told_again(project_id), tx.opinions.decisions(project_id))
