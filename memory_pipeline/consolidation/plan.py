"""A night: its options, and which night takes what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from memory_pipeline.errors import InputError
from memory_pipeline.moments import end_of, latest_complete_day
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

#: The longest period that `--days` may ask for: no memory is older.
MOST_DAYS = 18_250


@dataclass(frozen=True, slots=True)
class NightOptions:
    """The options of a night: `threshold` and `days` override the settings for this run, `cluster_id` selects one
    cluster, and `no_cache` asks the model again instead of using cached answers.

    `projects`, `memory_types`, `first_day`, `last_day` (by creation, both included) and `unconsolidated_only` limit
    the scope of the run; a named project is included even if nights leave it alone. `moment` is the logical time of a
    run that a person starts for now. With `whole_weeks`, a job forms principles as of the last week that has ended,
    as the weekly asset does, instead of its day.
    """

    partition: date
    run_id: str
    dry_run: bool = False
    threshold: float | None = None
    days: int | None = None
    cluster_id: str | None = None
    no_cache: bool = False
    projects: tuple[str, ...] = ()
    memory_types: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    unconsolidated_only: bool = False
    moment: datetime | None = None
    whole_weeks: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.5 <= self.threshold <= 1.0:
            raise InputError(f"--threshold is {self.threshold}; use a cosine between 0.5 and 1.0")
        if self.days is not None and not 1 <= self.days <= MOST_DAYS:
            raise InputError(f"--days is {self.days}; use 1 to {MOST_DAYS}")

    @property
    def is_narrow(self) -> bool:
        """True if the scope is narrower than whole projects: what belongs to these is left to the nights."""
        dates = self.first_day or self.last_day or self.days
        return bool(dates or self.memory_types or self.unconsolidated_only or self.cluster_id)

    @property
    def as_of(self) -> datetime:
        """The logical time of the night: the end of its day in UTC, or the given moment."""
        return self.moment or end_of(self.partition)


def next_night(store: Store, now: datetime) -> date:
    """The day of the night that runs next: that of the last complete day, unless it has been run."""
    complete = latest_complete_day(now)
    if not store.exists():
        return complete
    with store.reading() as tx:
        newest = tx.journal.newest_reported_day()
    return complete + timedelta(days=1) if newest and newest >= complete else complete


def night_of(moment: datetime, following: date) -> date:
    """The night that takes a change of this time, if `following` is the next one that runs."""
    return max(moment.date(), following)


def news_in_words(edits: int, entries: int) -> str:
    """`2 edits and 5 new entries`; empty for none."""
    parts = [how_many(edits, "edit")] if edits else []
    return " and ".join(parts + ([how_many(entries, "new entry")] if entries else []))


def waiting_in_words(edits: int, entries: int, night: str | None) -> str:
    """Says what waits, as `2 edits and 5 new entries wait for the night of 2026-03-14`; empty if nothing does."""
    if not (news := news_in_words(edits, entries)):
        return ""
    verb = "waits" if edits + entries == 1 else "wait"
    return f"{news} {verb} for " + (f"the night of {night}" if night else "a later night")
