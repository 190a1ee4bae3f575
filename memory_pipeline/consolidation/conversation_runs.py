"""Runs of conversations alone, outside of a night: one day, or all that are open; and what stands of each day."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.conversations import (
    ConversationOrder,
    describe_left,
    names_in,
    read_days,
    unanswered,
    write_pages,
)
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.models.choose import model_reads
from memory_pipeline.reading.turns import MEND_SPEAKERS
from memory_pipeline.records import Destination, ExtractionKind, Speaker
from memory_pipeline.store import Store, create_snapshot
from memory_pipeline.store.conversations import SpokenDay
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.conversation_pages import (
    CONTENTS,
    coverage_in_words,
    place_of,
    standing_in,
    without_speaker,
)
from memory_pipeline.workspace.exporting import problems_of, run_changed

_HOLDER = "memory-pipeline conversations"


class ShownExtraction(Document):
    """One thing that was extracted from what was said."""

    id: str = Field(description="Its id.")
    kind: ExtractionKind = Field(description="What it is.")
    speaker: Speaker = Field(description="Who said it.")
    text: str = Field(description="What was said.")
    significance: float = Field(description="How much it matters, 0 to 1.")
    priority: bool = Field(description="Whether its speaker marked it as important.")
    destination: Destination = Field(description="Where it went; `drop`: nowhere.")
    withdrawn: bool = Field(description="Whether a later sentence corrects it.")
    where: str = Field(description="The file and the line of its turn.")
    turn_id: str = Field(description="The memory of its turn.")
    memory_id: str | None = Field(description="The memory that was made of it.")
    proposed_by: str = Field(default="", description="The model that found it; empty if the classifier did.")


class ShownDay(Document):
    """One day of one project's conversations."""

    project_id: str = Field(description="The project.")
    day: date = Field(description="The day: the later one by UTC and by the clock of the source.")
    run_id: str = Field(description="The run that read it.")
    coverage: dict[str, Any] = Field(description="What was read, kept and dropped, and why, as counts.")
    extractions: tuple[ShownExtraction, ...] = Field(description="What was extracted, in the order of the turns.")


class ListedDay(Document):
    """A day of conversations, and whether it was read."""

    project_id: str = Field(description="The project.")
    day: date = Field(description="The day: the later one by UTC and by the clock of the source.")
    turns: int = Field(description="The memories of its turns.")
    state: str = Field(
        description="`read`, `open` (never read), `late` (other turns are known since), `stale` (an earlier day "
        "was read since), or `taken back` (by a rollback; it is read when it is asked for)."
    )
    kept: int = Field(description="What was extracted from it and kept.")
    without_speaker: int = Field(default=0, description="The memories of which nobody knows who speaks.")
    unanswered: int = Field(default=0, description="Questions about it that a model has not answered.")


class ConversationRun(Document):
    """The result of a run over conversations."""

    run_id: str = Field(description="The run, for `rollback`.")
    days: tuple[ShownDay, ...] = Field(description="The days that were read.")
    changed: int = Field(description="How many of them differ from what stood before.")
    snapshot: str | None = Field(description="The snapshot that was taken first.")
    problems: tuple[str, ...] = Field(description="What could not be read or written.")
    open_again: tuple[date, ...] = Field(
        default=(), description="Later days that are open again, since what stands before them has changed."
    )
    left: str | None = Field(default=None, description="That a person took days back, which are left.")
    moved: tuple[str, ...] = Field(
        default=(), description="Files in which lines of a person stood between our marks: they stand below them now."
    )


def run_conversations(
    store: Store,
    settings: Settings,
    days: Collection[date] | None,
    *,
    projects: Sequence[str] = (),
    now: datetime,
    progress: Callable[[str, int, int], None] = lambda step, done, total: None,
) -> ConversationRun:
    """Read some days, or without any all that are open up to yesterday, and write what is kept of them.

    Raises InputError for a day that has not ended, or on which nothing was said, and StoreBusyError while a night runs.
    """
    yesterday = now.astimezone(UTC).date() - timedelta(days=1)
    if days and (late := [day for day in days if day > yesterday]):
        raise InputError(f"{min(late)} has not ended by UTC; its night reads it afterwards")
    run_id = str(uuid.uuid4())
    options = NightOptions(max(days or [yesterday]), run_id, projects=tuple(projects))
    night = Night(store, settings, options, holder=_HOLDER, progress=progress)

    def mine(day: SpokenDay) -> bool:
        return night.may_touch(day.project_id)

    with store.kept_open():
        night.hold_lease()
        try:
            with store.reading() as tx:
                order = ConversationOrder(tx, yesterday, asks=model_reads(settings), names=names_in(store, settings))
            asked = [day for day in order.spoken if days and day.night in days and mine(day)]
            if days and not asked:
                named = ", ".join(str(day) for day in sorted(days))
                raise InputError(f"nothing was said on {named}; 'memory-pipeline conversations list' has the days")
            snapshot = (
                create_snapshot(store, "conversations", datetime.now(UTC), settings.store.snapshots_kept).name
                if asked or (not days and any(mine(day) and order.is_due(day) for day in order.spoken))
                else None
            )
            done = read_days(night, order, asked, also_open=not days)
            written = write_pages(night)
            for project in sorted({day.project_id for day in done}):
                for problem in problems_of(run_changed(store, settings, project, CONTENTS)):
                    night.note_error("", "export", problem)
        finally:
            store.release_lease(run_id)
    again = sorted({day.night for day in order.spoken if order.state_of(day) == "stale" and mine(day)})
    left = [] if days else [day for day in order.taken_back() if mine(day)]
    return ConversationRun(
        run_id=run_id,
        days=tuple(shown_day for day in done for shown_day in show_day(store, day.night, day.project_id)),
        changed=sum(day.is_changed for day in done),
        snapshot=snapshot,
        problems=tuple(error.error for error in night.errors),
        moved=written.moved,
        open_again=tuple(again),
        left=describe_left(left) if left else None,
    )


def show_day(store: Store, day: date, project: str | None = None) -> list[ShownDay]:
    """All that is known of a day, of one project or all."""
    with store.reading() as tx:
        rows = [row for row in tx.conversations.days(project, first=day) if row.night == day]
        shown_days = []
        for row in rows:
            standing = {extraction.id for extraction in standing_in(tx.conversations.standing(row.project_id))}
            coverage = json.loads(row.coverage)
            extractions = tuple(
                ShownExtraction.of_record(each, withdrawn=each.id not in standing, where=place_of(each))
                for each in tx.conversations.of_night(row.project_id, day)
            )
            shown_days.append(ShownDay.of_record(row, day=day, coverage=coverage, extractions=extractions))
    return shown_days


def list_days(store: Store, project: str | None, today: date, settings: Settings | None = None) -> list[ListedDay]:
    """Every day on which something was said, with what became of it. With settings, days are open again of which it is
    known now who speaks."""
    names = names_in(store, settings) if settings is not None else lambda project: {}
    with store.reading() as tx:
        known = {(row.project_id, row.night): row for row in tx.conversations.days(project)}
        order = ConversationOrder(tx, today, names=names)
    listed = []
    for day in order.spoken:
        if project not in (None, day.project_id):
            continue
        row = known.get((day.project_id, day.night))
        coverage = json.loads(row.coverage) if row else {"routed": {}, "memories_dropped": {}}
        listed.append(
            ListedDay.of_record(
                day,
                day=day.night,
                state=order.state_of(day),
                kept=sum(count for name, count in coverage["routed"].items() if name != "drop"),
                without_speaker=without_speaker(coverage),
                unanswered=unanswered(row) if row else 0,
            )
        )
    return listed


def speakers_in_words(days: Sequence[ListedDay]) -> str | None:
    """That nobody knows who speaks in some memories, and what to do; None if it is known of all."""
    unknown = sum(day.without_speaker for day in days)
    return f"Nobody knows who speaks in {how_many(unknown, 'memory')}: {MEND_SPEAKERS}." if unknown else None


def day_as_text(day: ShownDay) -> str:
    lines = [f"{day.day}, {day.project_id} (run {day.run_id[:8]})"]
    lines += [f"  {line}" for line in coverage_in_words(day.coverage)]
    for extraction in day.extractions:
        marks = ", important" if extraction.priority else ""
        marks += ", withdrawn" if extraction.withdrawn else ""
        marks += f", found by {extraction.proposed_by}" if extraction.proposed_by else ""
        kind = f"{extraction.kind}, {extraction.speaker}, {extraction.significance:.2f}"
        lines.append(f"  -> {extraction.destination:<10} {kind}{marks}: {extraction.text}")
        lines.append(f"     {extraction.id[:8]:<10} {extraction.where}")
    return "\n".join(lines)
