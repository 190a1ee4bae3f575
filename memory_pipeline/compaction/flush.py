"""What is kept of a session before its agent forgets it, word for word, and the text of it for the daily log.

Sentences that conversations give (`conversations/`), what was written down (`noted.py`), and what was changed, done,
left open or given up (`spoken.py`). Only a human's own words become standing rules.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory_pipeline.compaction.answered import answered_in, without_denied
from memory_pipeline.compaction.choices import (
    chosen_in,
    is_for_once,
    is_to_be_done,
    new_values_in,
    without_old_values,
)
from memory_pipeline.compaction.kept import CURATED, NOTED, OTHER, Kept, Kind, keep, with_reply
from memory_pipeline.compaction.left_over import left_over_in
from memory_pipeline.compaction.noted import Noted, noted_in
from memory_pipeline.compaction.rejected import (
    Correction,
    corrections_in,
    is_for,
    is_rejected,
    rejected_before,
    rejected_in,
)
from memory_pipeline.compaction.spoken import spoken_in
from memory_pipeline.compaction.tasks import without_settled
from memory_pipeline.compaction.transcripts import Session, short_name
from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import Extracted, extract
from memory_pipeline.conversations.manners import manner_in
from memory_pipeline.conversations.orders import standing_order_in
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.conversations.proposals import Proposals
from memory_pipeline.conversations.work import decision_in
from memory_pipeline.distillers import attempt_in
from memory_pipeline.records import Extraction, ExtractionKind, Turn
from memory_pipeline.wording.normalise import content_hash

NOT_STATED = "not stated"
#: The sections in their order, with the mark of their entries; the last two are parts of one.
SECTIONS: Mapping[Kind, tuple[str, str]] = {
    "decision": ("Decisions Made", "DEC"),
    "rule": ("Standing Rules", "RULE"),
    "dead_end": ("Dead Ends", "DEAD"),
    "fact": ("Facts Learned", "FACT"),
    "config": ("Configurations Changed", "CONFIG"),
    "done": ("Session Progress", ""),
    "open": ("Session Progress", ""),
}
_PROGRESS: Mapping[Kind, str] = {"done": "Completed:", "open": "In Progress:"}
_KINDS: Mapping[ExtractionKind, Kind] = {
    "decision": "decision",
    "boundary": "rule",
    "trust": "rule",
    "fact": "fact",
    "preference": "fact",
    "context": "fact",
    "correction": "fact",
    "learning": "fact",
    "marker": "fact",
}
#: What a human may reject after it was said.
_REVERSIBLE = frozenset(("decision", "config", "fact", "rule"))
#: Of what a human says about the two: that something is to be so, and not only that it is.
_ORDERS = re.compile(
    r"\b(?:from (?:now|here|today|this point) on|(?:from|as of|starting|effective) (?:today|now|tomorrow)|going forward|henceforth|effective immediately|in (?:the )?future,|please|never|don't|do not|must|should|always (?!help|been|have|had|do|did))|"
    r"^\W*(?:answer|ask|use|keep|call|write|stop|be|give|show|tell|let|make|speak|reply|explain|check|start)\b",
    re.IGNORECASE,
)
_FROM_NOW_ON = re.compile(
    r"\W*(?:(?:and|also|so|ok|please),? )*(?:from (?:now|here|today|this point) on|(?:from|as of) (?:today|now)|going forward|henceforth|effective immediately),?(?! i\b| i')",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"\W*(?:(?:no|ok|okay|actually|wait|then|so),? )*(?:scrap|forget|drop|ditch|undo|revert|skip)\b[^,;:–—.]{1,60}"
    r"[,;:–—]\s*(?:(?:and|then|please|just|so) )*(?:we |let's (?!talk|chat|move on|go on|continue)|(?!let's)[a-z']+ (?!me\b|us\b)\w)",
    re.IGNORECASE,
)
_NEVER_MIND = re.compile(r"\W*(?:oh,? |actually,? )?never mind\b", re.IGNORECASE)
#: How sure a fact is by what it is: a human's own statement is surer than an agent's finding.
_CONFIDENCE: Mapping[tuple[str, str], float] = {
    ("fact", "human"): 0.95,
    ("correction", "human"): 0.95,
    ("preference", "human"): 0.9,
    ("marker", "human"): 0.9,
    ("learning", "human"): 0.9,
    ("context", "human"): 0.85,
    ("learning", "agent"): 0.8,
    ("correction", "agent"): 0.8,
    ("context", "agent"): 0.75,
    ("preference", "agent"): 0.7,
    ("dynamic", "human"): 0.9,
}
_LESS_IF_DOUBTED = 0.2
#: What no rule found is a little less sure.
_PROPOSED = 0.1
#: Of what is done and of what is open, the newest are kept.
_MOST_DONE, _MOST_OPEN = 15, 10


@dataclass(frozen=True, slots=True)
class Flush:
    """What is kept of a session, in the order in which it was said. `temporary`: how many notes were left out because
    they say that they are; `missed`: notes with `[CURATE]` that are not among what is kept, which may not be."""

    session: Session
    kept: tuple[Kept, ...]
    temporary: int = 0
    missed: tuple[str, ...] = ()

    def of(self, kind: Kind, day: date | None = None) -> list[Kept]:
        """What is kept of a kind, of one day or of all."""
        return [one for one in self.kept if one.kind == kind and day in (None, one.day)]

    @property
    def days(self) -> list[date]:
        """The days on which something was said that is kept."""
        return sorted({one.day for one in self.kept})

    @property
    def proposed(self) -> int:
        """How much of what is kept a model proposed."""
        return sum(one.is_proposed for one in self.kept)

    def counts(self) -> dict[str, int]:
        """How much is kept of each kind."""
        counts = Counter(one.kind for one in self.kept)
        return {kind: counts[kind] for kind in SECTIONS}


def flush_of(session: Session, chunk_tokens: int = 800, proposed: Proposals | None = None) -> Flush:
    """What is kept of the turns of a session. `proposed`: what a model proposes beside what the rules find."""
    notes = [(turn, noted) for turn in session.turns for noted in noted_in(turn)]
    corrections = corrections_in(session.turns)
    answered = answered_in(session.turns)
    extracted = extract(chunks_of(session.turns, chunk_tokens), proposed=proposed) if session.turns else None
    found = [*_of_notes(notes), *_of_extractions(session.turns, extracted), *spoken_in(session.turns)]
    right = [(each.wrong, keep(each.turn, "fact", each.text, confidence=CURATED)) for each in corrections]
    found += chosen_in(session.turns, [one.reply.head for one in answered.denied])
    found = [*without_denied([*found, *(one for wrong, one in right if not wrong)], answered), *answered.kept]
    found += [one for wrong, one in right if wrong]
    judged = {(one.turn_id, one.quote) for one in extracted.extractions} if extracted else set()
    found += without_denied([*left_over_in(session.turns, found, judged)], answered)
    kept = _once([one for one in found if not _steers(one.speaker, one.text)])
    curated = [noted.text for turn, noted in notes if noted.is_curated and not _steers(turn.speaker, noted.text)]
    texts = {_key(one.text) for one in kept}
    missed = tuple(text for text in curated if _key(text) not in texts)
    rejected, against = rejected_in(session.turns), rejected_before(session.turns)
    standing = [one for one in kept if not _is_rejected(one, rejected.get(one.line, ()), against)]
    standing = [_corrected(one, corrections) for one in standing]
    standing = [*without_old_values(standing, new_values_in(session.turns))]
    return Flush(session, tuple(_newest_progress(without_settled(standing))), session.temporary, missed)


def _steers(speaker: str, text: str) -> bool:
    """Whether somebody else than the human said what would steer the reader of the flush."""
    return speaker != "human" and attempt_in(text) is not None


def _is_rejected(one: Kept, rejections: Sequence[frozenset[str]], against: Mapping[str, int]) -> bool:
    if one.kind == "decision" and any(one.line < line and is_for(one.text, name) for name, line in against.items()):
        return True
    return one.kind in _REVERSIBLE and is_rejected(f"{one.text} {one.value}", rejections)


def with_missed(flush: Flush) -> Flush:
    """The flush with the notes marked `[CURATE]` that it missed."""
    if not flush.missed:
        return flush
    found = [
        keep(turn, "fact", noted.text, confidence=CURATED, is_curated=True)
        for turn in flush.session.turns
        for noted in noted_in(turn)
        if noted.is_curated and noted.text in flush.missed
    ]
    return replace(flush, kept=tuple(sorted((*flush.kept, *found), key=lambda one: one.line)), missed=())


def _of_notes(notes: Iterable[tuple[Turn, Noted]]) -> Iterator[Kept]:
    for turn, noted in notes:
        if noted.section == "rule" and turn.speaker != "human":
            continue
        kind: Kind = noted.section
        text, value = noted.text, ""
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


def _of_extractions(turns: Sequence[Turn], extracted: Extracted | None) -> Iterator[Kept]:
    by_id = {turn.memory_id: turn for turn in turns}
    of_model = extracted.proposed if extracted else frozenset()
    withdrawn = extracted.withdrawn if extracted else {}
    for one in extracted.extractions if extracted else ():
        kind = _kind_of(one)
        if one.kind == "correction" and one.speaker == "human" and _chooses(one.quote):
            kind = "decision"  # what is wrong, and what is done instead
        if kind == "decision" and one.speaker == "human" and _FROM_NOW_ON.match(one.quote):
            kind = "rule"
        if one.speaker == "human" and (
            (kind == "rule" and is_for_once(one.quote)) or (kind == "fact" and is_to_be_done(one.quote))
        ):
            kind = "open"
        if kind is None or one.id in withdrawn or (kind == "fact" and _NEVER_MIND.match(one.quote)):
            continue
        yield keep(
            by_id[one.turn_id],
            kind,
            one.quote,
            confidence=round(_confidence_of(one) - (_PROPOSED if one.id in of_model else 0.0), 2),
            rationale=one.rationale,
            is_marked=one.priority,
            is_proposed=one.id in of_model,
        )


def _chooses(quote: str) -> bool:
    """Whether a correction says what is done instead: `Scrap that, tag releases with semver.`"""
    return bool(_REPLACES.match(quote)) or decision_in(Said.alone(quote)) is not None


def _kind_of(one: Extraction) -> Kind | None:
    if one.kind == "dynamic":
        return "rule" if one.speaker == "human" and _is_order(one.quote) else None
    return _KINDS.get(one.kind)


def _is_order(quote: str) -> bool:
    """Whether a human says how something is to be from now on."""
    said = Said.alone(quote)
    return bool(_ORDERS.search(quote)) or standing_order_in(said) is not None or manner_in(said) is not None


def _confidence_of(one: Extraction) -> float:
    sure = _CONFIDENCE.get((one.kind, one.speaker), OTHER)
    words = one.quote.lower()
    doubted = any(doubt in words for doubt in ("i think", "i guess", "probably", "not sure", "maybe", "i believe"))
    return round(sure - (_LESS_IF_DOUBTED if doubted else 0.0), 2)


def _corrected(one: Kept, corrections: Sequence[Correction]) -> Kept:
    """What an agent said, with what its human said against a figure or a name in it."""
    told = [each.text for each in corrections if one.speaker == "agent" and each.is_about(one.text, one.line)]
    if told and told[-1] in one.text:
        return one
    return replace(one, text=with_reply(one.text, told[-1])) if told else one


def _key(text: str) -> str:
    return content_hash(text)


def _once(found: Iterable[Kept]) -> list[Kept]:
    """Each thing once, in the order in which it was said: the newest value of a setting, and of two that say the same
    the one that says why. What is a decision, a rule or a fact is not also progress."""
    best: dict[tuple[str, str], Kept] = {}
    for one in found:
        own = one.kind if one.kind in ("decision", "config") else "words"
        key = (own, _key(one.text))
        before = best.get(key)
        if before is None:
            best[key] = one
        elif one.kind == "config":
            best[key] = one if one.line >= before.line else before
        else:
            stronger = before if _rank(before) <= _rank(one) else one
            best[key] = replace(
                stronger,
                rationale=stronger.rationale or before.rationale or one.rationale,
                confidence=max(before.confidence, one.confidence),
                is_curated=before.is_curated or one.is_curated,
                is_marked=before.is_marked or one.is_marked,
            )
    decided = {key for own, key in best if own == "decision"}
    kept = [one for (own, key), one in best.items() if own != "words" or key not in decided or one.is_humans]
    kept = [one for one in kept if not any(_says_more(other, one) for other in kept)]
    return sorted(kept, key=lambda one: one.line)


def _says_more(one: Kept, than: Kept) -> bool:
    """Whether one has the words of a fact of its line, and others; of progress, whether it has them without a label."""
    if one.line != than.line or one.text == than.text:
        return False
    if than.kind in _PROGRESS:
        return one.kind == than.kind and than.text.endswith(f": {one.text}")
    return than.kind in ("fact", one.kind) and than.text in one.text


def _rank(one: Kept) -> tuple[int, bool]:
    return list(SECTIONS).index(one.kind), not one.is_curated


def _newest_progress(found: Iterable[Kept]) -> Iterator[Kept]:
    kept = list(found)
    most: Mapping[Kind, int] = {"done": _MOST_DONE, "open": _MOST_OPEN}
    left = {kind: sum(one.kind == kind for one in kept) - number for kind, number in most.items()}
    for one in kept:
        if left.get(one.kind, 0) > 0:
            left[one.kind] -= 1
        else:
            yield one


def flush_text(flush: Flush, day: date) -> str:
    """The block of the daily log of a day; empty if nothing of it is kept. The same words give the same text."""
    if not any(one.day == day for one in flush.kept):
        return ""
    turns = [turn for turn in flush.session.turns if turn.day == day]
    at: datetime = max(turn.said_at for turn in turns)
    lines = [turn.line for turn in turns]
    session = f"{flush.session.agent}, session {short_name(flush.session)}"
    text = [
        f"## Memory Flush: {at.isoformat(timespec='seconds')}",
        "",
        f"{session}, lines {min(lines)} to {max(lines)}, in the words of those who spoke.",
    ]
    by_title: dict[str, list[str]] = defaultdict(list)
    for kind, (title, mark) in SECTIONS.items():
        entries = flush.of(kind, day)
        if not entries:
            continue
        if kind in _PROGRESS:
            by_title[title] += [*([""] if by_title[title] else []), _PROGRESS[kind], ""]
        by_title[title] += [
            entry_text(one, f"{mark}-{number:03d}" if mark else "") for number, one in enumerate(entries, 1)
        ]
    for title, entries_of_title in by_title.items():
        text += ["", f"### {title}", "", *entries_of_title]
    return "\n".join(text)


def terse_text(flush: Flush, day: date, note: str = "") -> str:
    """What is kept of a day with a mark for each entry, and without headings and sources. `note`: stands at its end."""
    entries = [
        _terse(one, f"{mark}-{number:03d}" if mark else _PROGRESS[kind].rstrip(":"))
        for kind, (_, mark) in SECTIONS.items()
        for number, one in enumerate(flush.of(kind, day), 1)
    ]
    if not entries and not note:
        return ""
    at = max(turn.said_at for turn in flush.session.turns if turn.day == day)
    return "\n".join([f"## Memory Flush: {at:%Y-%m-%d %H:%M}", "", *entries, *([f"- {note}"] if note else [])])


def _terse(one: Kept, mark: str) -> str:
    why = f" | Rationale: {one.rationale}" if one.rationale and one.rationale not in one.text else ""
    value = f" = {one.value}" if one.kind == "config" else ""
    whose = " (the human does this)" if one.is_humans else ""
    tag = "[CURATE] " if one.is_curated else ""
    return f"- {mark}: {tag}{one.text}{value}{why}{whose}"


def entry_text(one: Kept, mark: str) -> str:
    """One entry as the template has it."""
    head = f"- {mark}: " if mark else "- "
    if one.kind == "decision":
        return f"{head}{one.text} | Rationale: {one.rationale or NOT_STATED}"
    if one.kind == "fact":
        tag = "[CURATE] " if one.is_curated else ""
        return f"{head}{tag}{one.text} | Source: {one.source} | Confidence: {one.confidence:.2f}"
    whose = " (the human does this)" if one.is_humans else ""
    return f"{head}{one.text} = {one.value}" if one.kind == "config" else f"{head}{one.text}{whose}"
