"""What was said before and stands, to find what a new statement withdraws."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice

from memory_pipeline.conversations.changes import clauses_told, is_change, liked_in, likes_otherwise, replaces
from memory_pipeline.conversations.claims import subject_of
from memory_pipeline.conversations.reversals import reversals_of
from memory_pipeline.conversations.stances import turnings_in
from memory_pipeline.conversations.taking_back import OFTEN
from memory_pipeline.records import Extraction
from memory_pipeline.wording.facts import content_words, find_facts, stem

#: What a correction names as wrong: `not 5432`, `instead of Lisbon`, `not in Lisbon anymore`.
_REJECTED = re.compile(
    r"\b(?:not|instead of|rather than|no longer|didn't (?:say|mean|ask for)|never (?:said|meant))\s+(?:in |on |at |to |for |from |the |an? |my |by )*([^,.;!?]{1,60})",
    re.IGNORECASE,
)
#: Words of corrections and denials that two statements may share though they are of different things, as stems.
_OF_NO_MATTER = frozenset(
    map(stem, "no not nope nah yes correction sorry wait actually misspoke wrong mistake it's that's i'm isn't".split())
)
_IN_YEAR = re.compile(r"\b(?:in|back in|during|until|till) ((?:19|20)\d\d)\b", re.IGNORECASE)
_LEFT = re.compile(r"\b(?:any ?more|now|longer|today|please)\b", re.IGNORECASE)
#: Says that what was so before is not so now.
_CHANGES = re.compile(
    r"\b(?:now|any ?more|no longer|moved|relocated|changed|instead|switched|stopped|these days|nowadays|got (?:married|divorced|engaged)|"
    r"(?:since|as of|from) (?:last \w+|this \w+|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter))\b",
    re.IGNORECASE,
)
#: Kinds of facts of which a correction can name the wrong one: `not 5432`, `not 07:30`, `not 5 May`.
_FIGURES = frozenset(("number", "time", "date"))
#: What a human has one of at a time.
_ONLY_ONE = (
    (
        "home",
        re.compile(
            r"\b(?:i|we)(?:'m| am|'ve| have|'re| are)? (?:(?:now|still|currently|just|recently|finally|actually|also) )*(?:(?:live|living|based)(?: now| currently)? (?!with\b|alone\b|together\b)|(?:moved|relocated) (?:(?:here|back|over) )?(?:from [\w ]{2,30}? )?to\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "household",
        re.compile(
            r"\b(?:i|we)(?:'m| am|'ve| have|'re| are)? (?:\w+ )?(?:(?:live|living) (?:now |currently )?(?:with|alone|together)|moved (?:back )?in with)\b",
            re.IGNORECASE,
        ),
    ),
    ("name", re.compile(r"\bmy (?:\w+ )?name(?:'s| is)\b|\bcall me\b", re.IGNORECASE)),
    ("birthday", re.compile(r"\bmy birthday\b|\bi was born\b", re.IGNORECASE)),
    (
        "work",
        re.compile(
            r"\bi(?:'m| am)? work(?:ing)? (?:as\b|for\b|at (?!night|home|noon|the (?:moment|weekend)|my\b)|in (?!the\b|an?\b|my\b|our\b|silence|peace|pairs|shifts|bed))|\bmy job\b",
            re.IGNORECASE,
        ),
    ),
    (
        "status",
        re.compile(
            r"\b(?:i'm|i am|we're|we are|i got|we got) (?:now |just |recently |happily )?(?:single|married|divorced|widowed|engaged)\b",
            re.IGNORECASE,
        ),
    ),
    ("handedness", re.compile(r"\b(?:i'm|i am) (?:actually |in fact )?(?:left|right)-handed\b", re.IGNORECASE)),
    (
        "age",
        re.compile(
            r"\bi(?:'m| am) (?:now )?(?:[1-9]\d|(?:twenty|thirty|forty|fifty|sixty|seventy)(?:[- ]\w+)?)(?=\s*(?:[,.;!]|$|years old\b|now\b))",
            re.IGNORECASE,
        ),
    ),
    ("time zone", re.compile(r"\bmy time ?zone\b", re.IGNORECASE)),
)
_STATUS = re.compile(r"\b(?:single|married|divorced|widowed|engaged)\b", re.IGNORECASE)
#: Of these, one is wrong if somebody tells another.
_NEVER_BOTH = frozenset(("name", "birthday", "handedness", "status", "age", "time zone"))
_ACTUALLY = re.compile(
    r"\b(?:actually|in fact|turns out|mixed (?:it|that|them) up|i was wrong|i misspoke)\b", re.IGNORECASE
)
_SHARED = 0.5
#: Lines before a correction among which it corrects the nearest statement on its subject, though it names none.
_NEAR_LINES = 30
#: Lines before a decision that begins with a denial (`No, let's use Postgres`), among which it takes back another one.
_DIRECTLY = 3
_INSTEAD = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well),? )*(?:no|nope|nah|on second thoughts?|scratch that|scrap that|change of plans?)\b"
    r"(?! (?:problem|worr|doubt|matter|more|longer)\w*)",
    re.IGNORECASE,
)
#: The newest statements among which the one is looked for that a correction withdraws.
_MOST_LOOKED_AT = 500


class Earlier:
    """What was said before and stands, in the order in which it was said, to find what a new extraction withdraws.

    A correction withdraws the newest statement that has what it rejects (`not Lisbon`) or, in its own conversation and
    shortly before it, the newest on its subject. A fact that says that something changed (`I live in Porto now`)
    withdraws the one that it replaces; what a human takes back in so many words, or gives a new value to, withdraws all
    that says it. Nothing withdraws what is not of its project.
    """

    def __init__(self, extractions: Iterable[Extraction] = ()) -> None:
        self._gone: set[str] = set()
        self._by_token: dict[tuple[str, str], list[Extraction]] = defaultdict(list)
        self._by_subject: dict[tuple[str, str], list[Extraction]] = defaultdict(list)
        self._by_talk: dict[tuple[str, str, date], list[Extraction]] = defaultdict(list)
        self._by_slot: dict[tuple[str, str, str, str], list[Extraction]] = defaultdict(list)
        for one in extractions:
            self.add(one)

    def add(self, one: Extraction) -> None:
        """Note what was said last."""
        if one.kind == "correction":
            return
        for word in subject_of(one.quote):
            self._by_subject[one.project_id, word].append(one)
        for token in _tokens(one.quote):
            self._by_token[one.project_id, token].append(one)
        self._by_talk[one.project_id, one.conversation, one.day].append(one)
        if slot := _slot(one):
            self._by_slot[one.project_id, one.kind, one.speaker, slot].append(one)

    def forget(self, ids: Iterable[str]) -> None:
        """Leave out what was withdrawn."""
        self._gone.update(ids)

    def withdrawn_by(self, new: Extraction, *, by_model: bool = False) -> tuple[str, ...]:
        """The ids of the extractions that a new one withdraws.

        `by_model`: a model proposed it, so that it may be called a correction and be none. It withdraws only what it
        rejects in words (`not Lisbon`) or replaces, and an agent's nothing that the human said.
        """
        taken_back = tuple(one.id for one in self.taken_back_by(new, by_model=by_model))
        if new.kind == "correction":
            of_agent = by_model and new.speaker == "agent"
            named = self._rejected(new, of_agent=of_agent)
            return _each(named + taken_back) or (() if by_model else self._on_its_subject(new))
        is_now = _CHANGES.search(new.quote) and not OFTEN.search(new.quote) and not _is_of_the_past(new)
        is_meant = _slot(new) in _NEVER_BOTH and _ACTUALLY.search(new.quote)
        if new.kind in ("fact", "preference") and (is_now or is_meant):
            return _each(self._replaced(new) + taken_back)
        if new.kind == "decision" and new.speaker == "human" and _INSTEAD.match(new.quote):
            return _each(self._decided_before(new) + taken_back)
        return taken_back

    def taken_back_by(self, new: Extraction, *, by_model: bool = False) -> tuple[Extraction, ...]:
        """What a human takes back in so many words, the newest first: `You may no longer restart the workers`. Of what a
        model proposed, its kind takes nothing back."""
        if new.speaker != "human" or _is_of_the_past(new):
            return ()
        found: dict[str, Extraction] = {}
        for reversal in reversals_of(new, by_kind=not by_model):
            about = self._about(new, reversal.subject)
            found |= {one.id: one for one in about if reversal.takes_back(one)}
        for told in clauses_told(new.quote) if is_change(new.quote) else ():
            found |= {one.id: one for one in self._about(new, told.words) if replaces(new, one)}
        for word in liked_in(new.quote):
            found |= {one.id: one for one in self._about(new, [word]) if likes_otherwise(new, one)}
        for turning in () if by_model else turnings_in(new):
            found |= {one.id: one for one in self._about(new, turning.subject) if turning.takes_back(one)}
        return tuple(found.values())

    def _about(self, new: Extraction, words: Iterable[str]) -> Iterator[Extraction]:
        """What was said that has some words, the newest first."""
        said_of_it = [self._by_subject.get((new.project_id, word), []) for word in words]
        return self._newest(min(said_of_it, key=len, default=[]), new)

    def _newest(self, those: Sequence[Extraction], new: Extraction, *, of_agent: bool = False) -> Iterator[Extraction]:
        """The newest of some extractions first, or of an agent's alone; not those that are gone, and no more than can be
        looked at."""
        standing = (one for one in reversed(those) if one.id not in self._gone and one.id != new.id)
        return islice((one for one in standing if not of_agent or one.speaker == "agent"), _MOST_LOOKED_AT)

    def _rejected(self, new: Extraction, *, of_agent: bool) -> tuple[str, ...]:
        named = [_LEFT.sub(" ", match[1]) for match in _REJECTED.finditer(new.quote)]
        values = {word for text in named for word in _tokens(text)}
        if not values:
            return ()
        about = set(content_words(_REJECTED.sub(" ", new.quote))) - _OF_NO_MATTER
        rarest = min((self._by_token.get((new.project_id, value), []) for value in values), key=len)
        for one in self._newest(rarest, new, of_agent=of_agent):
            if values <= _tokens(one.quote) and (
                about & set(content_words(one.quote)) or _is_near(new, one) or _slot(new) == _slot(one) != ""
            ):
                return (one.id,)
        return ()

    def _on_its_subject(self, new: Extraction) -> tuple[str, ...]:
        words = set(content_words(new.quote))
        for one in self._newest(self._by_talk.get((new.project_id, new.conversation, new.day), []), new):
            if new.line - one.line > _NEAR_LINES:
                return ()
            theirs = set(content_words(one.quote))
            if _is_near(new, one) and theirs and len(words & theirs) >= _SHARED * min(len(words), len(theirs)) > 0:
                return (one.id,)
        return ()

    def _decided_before(self, new: Extraction) -> tuple[str, ...]:
        for one in self._newest(self._by_talk.get((new.project_id, new.conversation, new.day), []), new):
            if new.line - one.line > _DIRECTLY:
                return ()
            if one.kind == "decision" and one.line < new.line:
                return (one.id,)
        return ()

    def _replaced(self, new: Extraction) -> tuple[str, ...]:
        slot = _slot(new)
        same = self._by_slot.get((new.project_id, new.kind, new.speaker, slot), []) if slot else []
        last = next(self._newest(same, new), None)
        if last is None or _tokens(last.quote) == _tokens(new.quote):
            return ()
        return () if slot == "status" and _status_in(last) == _status_in(new) else (last.id,)


def withdrawn_by(new: Extraction, earlier: Sequence[Extraction]) -> tuple[str, ...]:
    """The ids of the extractions that a new one withdraws, of those that were said before it, in order."""
    return Earlier(earlier).withdrawn_by(new)


def _each(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _slot(one: Extraction) -> str:
    return next(
        (name for name, pattern in _ONLY_ONE if one.kind in ("fact", "correction") and pattern.search(one.quote)), ""
    )


def _is_of_the_past(new: Extraction) -> bool:
    """Whether a statement tells of a year that is over: `In 2019 I moved to Lisbon` says nothing of today."""
    return any(int(found[1]) < new.day.year for found in _IN_YEAR.finditer(new.quote))


def _status_in(one: Extraction) -> str:
    found = _STATUS.search(one.quote)
    return found[0].lower() if found else ""


def _is_near(new: Extraction, one: Extraction) -> bool:
    return new.conversation == one.conversation and new.day == one.day and 0 <= new.line - one.line <= _NEAR_LINES


def _tokens(text: str) -> set[str]:
    """Words with a meaning, and figures, times and days: a figure also without what it counts (`not 40`)."""
    found: set[str] = set()
    for fact in find_facts(text):
        if fact.kind in _FIGURES:
            found |= {fact.value.lower(), fact.value.partition(" ")[0].lower()}
    return found | set(content_words(text))
