"""The entries kept of a session before its agent forgets it, and their text for the daily log.

What a model finds that reads the session, or else the sentences that the classifier keeps; and what was written down in
forms that say so (`reading/marks.py`). Only a human's own words become standing rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

from memory_pipeline.reading.extraction import Found, settle
from memory_pipeline.reading.marks import Noted, Section, noted_in, own_sentences
from memory_pipeline.records import Extraction, ExtractionKind, StatementKind, Turn
from memory_pipeline.sessions.transcripts import Session, short_name
from memory_pipeline.text.counts import estimated_tokens, how_many
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.normalise import content_hash
from memory_pipeline.text.steering import attempt_in

_LONGEST = 240
_MOST_ASKED = 8
_LEAST_WORDS = 4
#: The parts of a summary after what was asked, in the order in which they stand, and that in which they find room.
_PARTS: Mapping[str, Section] = {
    "Decided": "decision", "Rules": "rule", "Done": "done", "Given up": "dead_end", "Open": "open"
}  # fmt: skip
_BY_WORTH = ("Open", "Decided", "Rules", "Asked", "Given up", "Done")
#: How sure it is: what was marked, what was written down as a fact, and what else was said.
CURATED, NOTED, OTHER = 0.95, 0.85, 0.7
NOT_STATED = "not stated"
#: The sections in their order, with the mark of their entries; the last two are parts of one.
SECTIONS: Mapping[Section, tuple[str, str]] = {
    "decision": ("Decisions Made", "DEC"),
    "rule": ("Standing Rules", "RULE"),
    "dead_end": ("Dead Ends", "DEAD"),
    "fact": ("Facts Learned", "FACT"),
    "config": ("Configurations Changed", "CONFIG"),
    "done": ("Session Progress", ""),
    "open": ("Session Progress", ""),
}
_PROGRESS: Mapping[Section, str] = {"done": "Completed:", "open": "In Progress:"}
#: The section of what is found, and how sure it is by what it is: a human's own statement, and an agent's finding.
_KINDS: Mapping[ExtractionKind, tuple[Section, float, float]] = {
    "decision": ("decision", OTHER, OTHER),
    "boundary": ("rule", OTHER, OTHER),
    "trust": ("rule", OTHER, OTHER),
    "dynamic": ("rule", 0.9, OTHER),
    "fact": ("fact", 0.95, OTHER),
    "preference": ("fact", 0.9, OTHER),
    "context": ("fact", 0.85, 0.75),
    "correction": ("fact", 0.95, 0.8),
    "learning": ("fact", 0.9, 0.8),
    "marker": ("fact", 0.9, OTHER),
}
#: What a reader says more exactly.
_READ_AS: Mapping[StatementKind, Section] = {"thread": "open", "rule": "rule"}
#: `POOL_SIZE = 20`: a setting and its value.
_SETTING = re.compile(r"`?(?P<name>[A-Za-z][\w.-]{2,60})`?\s*(?:=|:=|->|→)\s*`?(?P<value>[^\s`,;]{1,80})`?")
#: The most that a sentence is sure which the classifier keeps: it finds one in four wrongly.
_CLASSIFIED = 0.75
#: Of what is done and of what is open, the newest are kept.
_MOST_DONE, _MOST_OPEN = 15, 10


@dataclass(frozen=True)
class Flush:
    """The entries kept of a session, in the order of the talk."""

    session: Session
    kept: tuple[Kept, ...]

    @cached_property
    def missed(self) -> tuple[Kept, ...]:
        """The notes with `[CURATE]` that are not among them, which may not be."""
        texts = {content_hash(entry.text) for entry in self.kept}
        return tuple(
            keep(turn, "fact", noted.text, confidence=CURATED, is_curated=True)
            for turn in self.session.turns
            for noted in noted_in(turn)
            if noted.is_curated and not _steers(turn.speaker, noted.text) and content_hash(noted.text) not in texts
        )

    def of(self, kind: Section, day: date | None = None) -> list[Kept]:
        """The entries of a kind, of one day or of all."""
        return [entry for entry in self.kept if entry.kind == kind and day in (None, entry.day)]

    @property
    def days(self) -> list[date]:
        """The days on which something was said that is kept."""
        return sorted({entry.day for entry in self.kept})


def flush_of(session: Session, findings: Found) -> Flush:
    """The entries kept of the turns of a session. `findings`: what a reader or the classifier found in them."""
    notes = [(turn, noted) for turn in session.turns for noted in noted_in(turn)]
    extracted = settle(session.turns, findings)
    withdrawn = extracted.withdrawn
    by_id = {turn.memory_id: turn for turn in session.turns}
    entries = [*_read_notes(notes), *_read_digests(session.turns, findings.digests)]
    for extraction in extracted.extractions:
        kind = _find_kind(extraction, findings.kinds.get(extraction.id))
        # What follows a bar is the reason or the source of a noted line, which its note has.
        if kind is not None and extraction.id not in withdrawn and not extraction.text.startswith("|"):
            entries.append(_make_entry(extraction, kind, by_id[extraction.turn_id]))
    entries = _once([entry for entry in entries if not _steers(entry.speaker, entry.text)])
    return Flush(session, tuple(_newest_progress(entries)))


def _steers(speaker: str, text: str) -> bool:
    """True if somebody else than the human said what would steer the reader of the flush."""
    return speaker != "human" and attempt_in(text) is not None


def _find_kind(extraction: Extraction, read_as: StatementKind | None) -> Section | None:
    """The section of an extraction; rules are a human's own words."""
    kind = _READ_AS.get(read_as) if read_as else None
    kind = kind or (_KINDS[extraction.kind][0] if extraction.kind in _KINDS else None)
    return "fact" if kind == "rule" and extraction.speaker != "human" else kind


def _make_entry(extraction: Extraction, kind: Section, turn: Turn) -> Kept:
    _, of_human, of_agent = _KINDS.get(extraction.kind, (kind, OTHER, OTHER))
    sure = of_human if extraction.speaker == "human" else of_agent
    if not extraction.proposed_by and not extraction.priority:
        sure = min(sure, _CLASSIFIED)
    setting = _SETTING.search(extraction.text) if kind == "fact" else None
    if setting is not None:
        kind = "config"
    return keep(
        turn,
        kind,
        setting["name"] if setting else extraction.text,
        confidence=sure,
        rationale=extraction.rationale,
        value=setting["value"] if setting else "",
        is_marked=extraction.priority,
        is_proposed=bool(extraction.proposed_by),
    )


def _read_digests(turns: Sequence[Turn], digests: Iterable[tuple[str, str]]) -> Iterator[Kept]:
    """Entries on what was done, as a reader says it of each day."""
    last = {f"{turn.day}": turn for turn in turns}
    for day, text in digests:
        if day in last:
            yield keep(last[day], "done", text, is_proposed=True)


def with_missed(flush: Flush) -> Flush:
    """The flush with the notes marked `[CURATE]` that it missed."""
    return Flush(flush.session, tuple(sorted((*flush.kept, *flush.missed), key=lambda entry: entry.line)))


def _read_notes(notes: Iterable[tuple[Turn, Noted]]) -> Iterator[Kept]:
    for turn, noted in notes:
        if noted.section == "rule" and turn.speaker != "human":
            continue
        kind, text, value = noted.section, noted.text, ""
        if kind == "config":
            text, _, value = (part.strip(" `") for part in noted.text.partition("="))
            if not value:
                kind, text = "fact", noted.text
        yield keep(
            turn,
            kind,
            text,
            confidence=CURATED if noted.is_curated else NOTED,
            rationale=noted.rationale,
            value=value,
            is_curated=noted.is_curated,
        )


def _once(entries: Iterable[Kept]) -> list[Kept]:
    """Each thing once, in the order in which it was said: the newest value of a setting, and of two that say the same
    the one that says why. What is a decision, a rule or a fact is not also progress."""
    best: dict[tuple[str, str], Kept] = {}
    for entry in entries:
        own = entry.kind if entry.kind in ("decision", "config") else "words"
        key = (own, content_hash(entry.text))
        before = best.get(key)
        if before is None:
            best[key] = entry
        elif entry.kind == "config":
            best[key] = entry if entry.line >= before.line else before
        else:
            stronger = before if _rank(before) <= _rank(entry) else entry
            best[key] = replace(
                stronger,
                rationale=stronger.rationale or before.rationale or entry.rationale,
                confidence=max(before.confidence, entry.confidence),
                is_curated=before.is_curated or entry.is_curated,
                is_marked=before.is_marked or entry.is_marked,
            )
    decided = {key for own, key in best if own == "decision"}
    merged = [entry for (own, key), entry in best.items() if own != "words" or key not in decided]
    merged = [entry for entry in merged if not any(_says_more(other, entry) for other in merged)]
    return sorted(merged, key=lambda entry: entry.line)


def _says_more(one: Kept, other: Kept) -> bool:
    """True if one has the words of a fact of its line, and others; of progress, if it has them without a label."""
    if one.line != other.line or one.text == other.text:
        return False
    if other.kind in _PROGRESS:
        return one.kind == other.kind and other.text.endswith(f": {one.text}")
    return other.kind in ("fact", one.kind) and other.text in one.text


def _rank(entry: Kept) -> tuple[int, bool]:
    return list(SECTIONS).index(entry.kind), not entry.is_curated


def _newest_progress(entries: Sequence[Kept]) -> list[Kept]:
    """The entries, of progress only the newest."""
    done, open_ = ([entry for entry in entries if entry.kind == kind] for kind in _PROGRESS)
    older = [*done[:-_MOST_DONE], *open_[:-_MOST_OPEN]]
    return [entry for entry in entries if entry not in older]


def flush_text(flush: Flush, day: date) -> str:
    """The block of the daily log of a day; empty if nothing of it is kept. The same words give the same text."""
    if not any(entry.day == day for entry in flush.kept):
        return ""
    turns = [turn for turn in flush.session.turns if turn.day == day]
    newest: datetime = max(turn.said_at for turn in turns)
    lines = [turn.line for turn in turns]
    session = f"{flush.session.agent}, session {short_name(flush.session)}"
    text = [
        f"## Memory Flush: {newest.isoformat(timespec='seconds')}",
        "",
        f"{session}, lines {min(lines)} to {max(lines)}.",
    ]
    for kind, (title, mark) in SECTIONS.items():
        entries = [
            entry_text(entry, f"{mark}-{number:03d}" if mark else "")
            for number, entry in enumerate(flush.of(kind, day), 1)
        ]
        if entries:
            heading = f"### {title}"
            text += [""] if heading in text else ["", heading, ""]
            text += [*([_PROGRESS[kind], ""] if kind in _PROGRESS else []), *entries]
    return "\n".join(text)


def terse_text(flush: Flush, day: date, note: str) -> str:
    """The entries of a day with a mark for each, and without headings and sources. `note`: stands at its end."""
    entries = [
        _terse(entry, f"{mark}-{number:03d}" if mark else _PROGRESS[kind].rstrip(":"))
        for kind, (_, mark) in SECTIONS.items()
        for number, entry in enumerate(flush.of(kind, day), 1)
    ]
    if not entries and not note:
        return ""
    newest = max(turn.said_at for turn in flush.session.turns if turn.day == day)
    return "\n".join([f"## Memory Flush: {newest:%Y-%m-%d %H:%M}", "", *entries, *([f"- {note}"] if note else [])])


def _terse(entry: Kept, mark: str) -> str:
    why = f" | Rationale: {entry.rationale}" if entry.rationale and entry.rationale not in entry.text else ""
    value = f" = {entry.value}" if entry.kind == "config" else ""
    tag = "[CURATE] " if entry.is_curated else ""
    return f"- {mark}: {tag}{entry.text}{value}{why}"


def entry_text(entry: Kept, mark: str) -> str:
    """One entry as the template has it."""
    head = f"- {mark}: " if mark else "- "
    if entry.kind == "decision":
        return f"{head}{entry.text} | Rationale: {entry.rationale or NOT_STATED}"
    if entry.kind == "fact":
        tag = "[CURATE] " if entry.is_curated else ""
        source = f"{entry.speaker}, line {entry.line}"
        return f"{head}{tag}{entry.text} | Source: {source} | Confidence: {entry.confidence:.2f}"
    return f"{head}{entry.text} = {entry.value}" if entry.kind == "config" else f"{head}{entry.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One thing that is kept: what it is, the words as they were said, why (of a decision), the value (of a setting),
    and who said it where. `is_proposed`: a model found it."""

    kind: Section
    text: str
    day: date
    speaker: str
    line: int
    confidence: float = 1.0
    rationale: str = ""
    value: str = ""
    is_curated: bool = False
    is_marked: bool = False
    is_proposed: bool = False


def keep(turn: Turn, kind: Section, text: str, *, rationale: str = "", value: str = "", **more: Any) -> Kept:
    """The entry for what a turn says of a kind, with its words, its reason and its value each on one line."""
    text, rationale, value = map(one_line, (text, rationale, value))
    place: dict[str, Any] = {"day": turn.day, "speaker": turn.speaker, "line": turn.line}
    return Kept(kind=kind, text=text, rationale=rationale, value=value, **place, **more)


def one_line(text: str) -> str:
    """The words on one line; nothing in them hides what comes after them."""
    return " ".join(visible(text).split()).replace("<!--", "&lt;!--")


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
    entry_texts = {entry.text for entry in flush.kept}
    parts = {"Asked": [text for text in _asked(turns) if text not in entry_texts][-_MOST_ASKED:]}
    parts |= {name: [entry.text for entry in flush.of(kind, day)] for name, kind in _PARTS.items()}
    if count("\n".join(head)) > most_tokens:
        return ""
    text, taken = "\n".join(head), set[tuple[str, int]]()
    for part in _BY_WORTH:
        for number in reversed(range(len(parts[part]))):
            more = _text(head, parts, {*taken, (part, number)})
            if count(more) <= most_tokens:
                text = more
                taken.add((part, number))
    return text


def _text(head: Sequence[str], parts: dict[str, list[str]], taken: set[tuple[str, int]]) -> str:
    lines = list(head)
    for name, texts in parts.items():
        own = [f"- {_short(text)}" for number, text in enumerate(texts) if (name, number) in taken]
        lines += ["", f"**{name}:**", "", *own] if own else []
    return "\n".join(lines)


def _asked(turns: Sequence[Turn]) -> list[str]:
    """The questions of the human, each once."""
    sentences = [sentence for turn in turns if turn.speaker == "human" for sentence in own_sentences(turn.words)]
    quotes = dict.fromkeys(" ".join(sentence.quote.split()) for sentence in sentences)
    return [quote for quote in quotes if quote.endswith(("?", "？")) and len(quote.split()) >= _LEAST_WORDS]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} ..."


#: What goes first if there is no room: what is done, and last what the human decided, ordered or does.
_WORTH: Sequence[Section] = ("done", "open", "config", "fact", "dead_end", "decision", "rule")


def fitted_logs(flush: Flush, days: Sequence[date], room: int, is_in_memory: Callable[[Kept], bool]) -> dict[date, str]:
    """The text of each day's log, in full if there is room for so many tokens, else as terse as it can be: then what
    stands in `MEMORY.md` goes first, and what matters least."""
    logs = {day: flush_text(flush, day) for day in days}
    left = sorted(
        flush.kept,
        key=lambda entry: (not is_in_memory(entry), _WORTH.index(entry.kind), entry.is_marked, entry.confidence),
    )
    while left and sum(map(estimated_tokens, logs.values())) > room:
        rest = replace(flush, kept=tuple(entry for entry in flush.kept if entry in left))
        logs = {day: terse_text(rest, day, _left_out(flush, rest, day, is_in_memory)) for day in days}
        left.pop(0)
    return logs


def _left_out(flush: Flush, rest: Flush, day: date, is_in_memory: Callable[[Kept], bool]) -> str:
    """Says how much of a day stands in `MEMORY.md` alone, and how much found no room."""
    gone = [entry for entry in flush.kept if entry.day == day and entry not in rest.kept]
    elsewhere = sum(map(is_in_memory, gone))
    parts = [f"{elsewhere} in MEMORY.md"] if elsewhere else []
    return ", ".join([*parts, *([f"{len(gone) - elsewhere} left out"] if len(gone) > elsewhere else [])])
