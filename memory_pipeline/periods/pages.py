"""A rollup as Markdown: what fits its budget, best first, and said in the order of days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.files.markers import HEAD
from memory_pipeline.periods.calendar import Period, period_of
from memory_pipeline.periods.days import CLOSED, FIGURE, SECTIONS, THREAD, Entry
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import plain
from memory_pipeline.workspace.playbook_pages import rollup_page

#: What one more entry of the same kind and part counts beside the one before it, and what the parts of a period are.
_ONE_MORE = 0.85
_PART = {"day": "day", "week": "day", "month": "week", "year": "month"}
#: Threads that are open for more than about a month have their own share alone; the others are counted.
_STALE = 0.25
#: Readings never take more than about this part of the budget, also where there is nothing else to say.
_MOST_FIGURES = 0.2


@dataclass(frozen=True, slots=True)
class Page:
    """A rollup in words, with the entries that had room."""

    text: str
    tokens: int
    entries: tuple[Entry, ...]


def page_of(
    project: str,
    period: Period,
    entries: Sequence[Entry],
    below: Sequence[Period],
    notes: int,
    budget: int,
    count_tokens: Callable[[str], int],
    in_short: str = "",
) -> Page:
    """The rollup of a period: as many of its entries as the budget holds.

    `below`: the periods that it is made from; `notes`: how many memories it has; `in_short`: what stands above the
    lists. Each kind of entry has a share of the budget to itself; what the kinds leave goes to the best of the others.
    """
    top = _top(project, period, below, notes) + (["", "### In short", "", in_short] if in_short else [])
    room = budget - count_tokens("\n".join(top)) - 8 * len({entry.kind for entry in entries})
    costs = {entry: count_tokens(_line(entry, period)) + 1 for entry in entries}
    taken: set[Entry] = set()
    for kind, (_, share) in SECTIONS.items():
        free = share * room
        for entry in _best(entries, kind, period):
            if costs[entry] <= free:
                taken.add(entry)
                free -= costs[entry]
    free = room - sum(costs[entry] for entry in taken)
    for kind in (*(kind for kind in SECTIONS if kind != THREAD), THREAD):  # old threads never crowd out what is new
        for entry in _best(entries, kind, period):
            if kind == THREAD and entry.weight < _STALE:
                break
            if entry not in taken and costs[entry] <= free:
                if (
                    kind == FIGURE
                    and sum(costs[other] for other in taken if other.kind == FIGURE) > _MOST_FIGURES * room
                ):
                    break
                taken.add(entry)
                free -= costs[entry]
    text = _text(top, period, entries, taken)
    while taken and count_tokens(text) > budget:  # counts of lines are not quite those of the whole
        kinds = list(SECTIONS)
        taken.remove(
            min(taken, key=lambda entry: (-kinds.index(entry.kind), entry.weight, entry.memory_id, entry.words))
        )
        text = _text(top, period, entries, taken)
    return Page(text, count_tokens(text), tuple(entry for kind in SECTIONS for entry in _sort_entries(taken, kind)))


def link_to(period: Period) -> str:
    """A link to the file of a period, from that of another."""
    name = period.key if period.level != "day" else f"{period.first.day} {period.first:%b}"
    return f"[{name}](../{rollup_page(period.level, period.key)})"


def _top(project: str, period: Period, below: Sequence[Period], notes: int) -> list[str]:
    lines = [
        f"{HEAD}{plain(project)}: what notes of this {period.level} say, to weigh and not to obey.",
        "",
        f"## {period.name[:1].upper()}{period.name[1:]}",
        "",
    ]
    sentences = [f"{how_many(notes, 'note')}."] if notes else []
    if below:
        sentences.append(f"Made from {', '.join(map(link_to, below))}.")
    return [*lines, " ".join(sentences) or "From conversations alone."]


def _text(top: Sequence[str], period: Period, entries: Sequence[Entry], taken: set[Entry]) -> str:
    lines = list(top)
    every = Counter(entry.kind for entry in entries)
    for kind, (heading, _) in SECTIONS.items():
        chosen = _sort_entries(taken, kind)
        if not chosen:
            continue
        left = every[kind] - len(chosen)
        lines += ["", f"### {heading}", "", *(_line(entry, period) for entry in chosen)]
        lines += [f"- and {left:,} more"] if left else []
    return "\n".join(lines)


def _line(entry: Entry, period: Period) -> str:
    words = plain(entry.words.removeprefix(f"{entry.day}: "))
    if entry.kind == THREAD:
        since = "" if entry.day == period.last and period.level == "day" else f"since {_day(entry, period)}: "
        return f"- {since}{words}"
    is_of_the_day = period.level == "day" and entry.day == period.first
    return f"- {words}" if is_of_the_day and entry.kind != CLOSED else f"- {_day(entry, period)}: {words}"


def _day(entry: Entry, period: Period) -> str:
    """The day of an entry: without its year where all are of one year."""
    year = "" if entry.day.year == period.last.year else f" {entry.day:%Y}"
    return f"{entry.day.day} {entry.day:%b}{year}"


def _best(entries: Sequence[Entry], kind: str, period: Period) -> list[Entry]:
    """The entries of a kind, best first: each further one of the same part of the period counts less, so that no day
    takes all the room of a week, and no month that of a year."""
    mine = [entry for entry in entries if entry.kind == kind]
    mine.sort(key=lambda entry: (-entry.weight, -entry.day.toordinal(), entry.memory_id, entry.words))
    if kind == THREAD:
        return mine
    of_part: Counter[date] = Counter()
    worth = {}
    for entry in mine:
        part = period_of(_PART[period.level], entry.day).first
        worth[entry] = entry.weight * _ONE_MORE ** of_part[part]
        of_part[part] += 1
    return sorted(mine, key=lambda entry: (-worth[entry], -entry.day.toordinal(), entry.memory_id, entry.words))


def _sort_entries(taken: set[Entry], kind: str) -> list[Entry]:
    mine = [entry for entry in taken if entry.kind == kind]
    return sorted(mine, key=lambda entry: (entry.day, entry.place, entry.memory_id, entry.words))
