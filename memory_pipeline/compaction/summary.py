"""The summary of a session, within a number of tokens: what was asked, decided, done and given up, and what is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date

from memory_pipeline.compaction.flush import Flush
from memory_pipeline.compaction.transcripts import short_name
from memory_pipeline.conversations.own_words import own_sentences
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
