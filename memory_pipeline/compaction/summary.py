"""The log of a session in short, never longer than what it replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from memory_pipeline.compaction.flush import Flush, Kept, Kind, flush_text, terse_text
from memory_pipeline.compaction.transcripts import short_name
from memory_pipeline.conversations.marks import own_sentences
from memory_pipeline.records import Turn
from memory_pipeline.wording.counts import how_many

_LONGEST = 240
_MOST_ASKED = 8
_LEAST_WORDS = 4
#: The parts, in the order in which they stand.
_ASKED, _DECIDED, _RULES, _DONE, _GIVEN_UP, _OPEN = "Asked", "Decided", "Rules", "Done", "Given up", "Open"


def summary_of(flush: Flush, day: date, most_tokens: int, count: Callable[[str], int]) -> str:
    """The summary of what was said on a day, of at most so many tokens; empty if nothing finds room. What matters most
    is taken first: what is open, decisions and rules, then what was asked and done, from the newest back."""
    turns = [turn for turn in flush.session.turns if turn.day == day]
    if not turns:
        return ""
    first, last = min(turn.said_at for turn in turns), max(turn.said_at for turn in turns)
    head = [
        f"## Session Summary: {last.isoformat(timespec='seconds')}",
        "",
        f"{flush.session.agent}, session {short_name(flush.session)}: {how_many(len(turns), 'turn')} from "
        f"{first:%H:%M} to {last:%H:%M}.",
    ]
    told = {one.text for one in flush.kept}
    parts = {
        _ASKED: [text for text in _asked(turns) if text not in told][-_MOST_ASKED:],
        _DECIDED: [one.text for one in flush.of("decision", day)],
        _RULES: [one.text for one in flush.of("rule", day)],
        _DONE: [one.text for one in flush.of("done", day)],
        _GIVEN_UP: [one.text for one in flush.of("dead_end", day)],
        _OPEN: [one.text for one in flush.of("open", day)],
    }
    taken: set[tuple[str, int]] = set()
    for name, number in _in_order_of_worth(parts):
        if count(_text(head, parts, {*taken, (name, number)})) <= most_tokens:
            taken.add((name, number))
    if count("\n".join(head)) > most_tokens:
        return ""
    return _text(head, parts, taken)


def _in_order_of_worth(parts: dict[str, list[str]]) -> Iterator[tuple[str, int]]:
    for name in (_OPEN, _DECIDED, _RULES, _ASKED, _GIVEN_UP, _DONE):
        yield from ((name, number) for number in reversed(range(len(parts[name]))))


def _text(head: Sequence[str], parts: dict[str, list[str]], taken: set[tuple[str, int]]) -> str:
    lines = list(head)
    for name, texts in parts.items():
        own = [f"- {_short(text)}" for number, text in enumerate(texts) if (name, number) in taken]
        if own:
            lines += ["", f"**{name}:**", "", *own]
    return "\n".join(lines)


def _asked(turns: Sequence[Turn]) -> Iterator[str]:
    """The questions of the human, each once."""
    seen = set()
    for turn in turns:
        for said in own_sentences(turn.words) if turn.speaker == "human" else ():
            quote = " ".join(said.quote.split())
            if quote.endswith(("?", "？")) and len(quote.split()) >= _LEAST_WORDS and quote not in seen:
                seen.add(quote)
                yield quote


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} ..."


#: What goes first if there is no room: what is done, and last what the human decided, ordered or does.
_WORTH: Sequence[Kind] = ("done", "open", "config", "fact", "dead_end", "decision", "rule")


def fitted_logs(
    flush: Flush,
    days: Sequence[date],
    room: int,
    is_in_memory: Callable[[Kept], bool],
    count: Callable[[str], int],
) -> dict[date, str]:
    """The text of each day's log, in the fullest form that has room, and in the shortest if none has.

    `is_in_memory`: whether something stands in `MEMORY.md`; `room`: tokens for all of them.
    """
    logs: dict[date, str] = {}
    for logs in _forms(flush, days, is_in_memory):
        if sum(count(text) for text in logs.values()) <= room:
            break
    return logs


def _forms(flush: Flush, days: Sequence[date], is_in_memory: Callable[[Kept], bool]) -> Iterator[dict[date, str]]:
    yield {day: flush_text(flush, day) for day in days}
    yield {day: terse_text(flush, day) for day in days}
    left = [one for one in flush.kept if not is_in_memory(one)]
    for _ in range(len(left) + 1):
        rest = replace(flush, kept=tuple(left))
        yield {day: terse_text(rest, day, _told(flush, rest, day, is_in_memory)) for day in days}
        if left:
            left.remove(min(left, key=_worth))


def _worth(one: Kept) -> tuple[int, bool, float]:
    return _WORTH.index(one.kind), one.is_marked, one.confidence


def _told(flush: Flush, rest: Flush, day: date, is_in_memory: Callable[[Kept], bool]) -> str:
    """How much of a day stands elsewhere, and how much found no room."""
    gone = [one for one in flush.kept if one.day == day and one not in rest.kept]
    elsewhere = sum(is_in_memory(one) for one in gone)
    parts = [f"{elsewhere} in MEMORY.md"] if elsewhere else []
    parts += [f"{len(gone) - elsewhere} left out"] if len(gone) > elsewhere else []
    return ", ".join(parts)
