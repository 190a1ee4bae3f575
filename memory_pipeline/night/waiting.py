"""Which night takes what stands in the sources and no night has taken yet."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from memory_pipeline.moments import latest_complete_day
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many


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


def waiting_in_words(edits: int, entries: int, night: str | None) -> str:
    """What waits, as `2 edits and 5 new entries wait for the night of 2026-03-14`; empty if nothing does."""
    told = [how_many(edits, "edit")] if edits else []
    told += [how_many(entries, "new entry")] if entries else []
    if not told:
        return ""
    verb = "waits" if edits + entries == 1 else "wait"
    return f"{' and '.join(told)} {verb} for " + (f"the night of {night}" if night else "a later night")
