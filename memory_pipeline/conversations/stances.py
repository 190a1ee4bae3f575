"""Which side a clause takes on its subject, whatever its words: it allows, forbids, affirms or denies.

`Deploying on Fridays is fine from now on` and `Never deploy on Fridays` have one subject and opposite sides, so the
later one takes the earlier one back. No form of sentence is asked for: the words that say which side is taken are left
out, and what is left of a clause must be the subject of the earlier statement, with nothing that narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memory_pipeline.conversations.changes import LIKING_KEYS, is_change, told_in
from memory_pipeline.conversations.claims import LIKING, is_about_speaker, key_of, subject_of
from memory_pipeline.conversations.forms import is_plain
from memory_pipeline.conversations.own_words import as_read
from memory_pipeline.conversations.taking_back import OFTEN, TEMPORARY
from memory_pipeline.records import Extraction

Side = Literal["allows", "forbids", "affirms", "denies"]
_OPPOSITE: frozenset[tuple[Side, Side]] = frozenset(
    {("allows", "forbids"), ("forbids", "allows"), ("denies", "affirms"), ("denies", "allows")}
)
#: Opposite only where the later statement says that something changed.
_OPPOSITE_NOW: frozenset[tuple[Side, Side]] = frozenset(
    {("affirms", "denies"), ("affirms", "forbids"), ("allows", "denies"), ("forbids", "affirms")}
)
_ALLOWS = re.compile(
    r"\b(?:is|are|'s|be) (?:(?:perfectly|totally|absolutely|completely|quite|really|all|now|again|just|also|always) )*"
    r"(?:fine|ok|okay|alright|right|allowed|acceptable|permitted|safe|welcome|no (?:longer )?(?:a )?(?:problem|issue)|not (?:a )?(?:problem|issue|forbidden|off limits))\b|"
    r"\byou(?:'re| are)? (?:(?:now|also|again|always) )*(?:may|can|are free|free|allowed|welcome)\b(?! not\b)|\b(?:feel free|go ahead)\b|\bno (?:more )?need\b|"
    r"\b(?:don't|do not|needn't|need not) (?:need|have) to\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:never|don't|do not|must not|mustn't|may not|can't|cannot|stop|quit|avoid|no more)\b|\b(?:show|ask|tell|check with|run (?:it|them) (?:by|past)) me\b|"
    r"\bwithout (?:my|asking|telling|checking)\b|\b(?:needs?|requires?) my\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|never|no longer|no more|nobody|none|stopped|quit)\b|n['’]t\b|\bany ?more\b", re.IGNORECASE
)
_ORDERS = frozenset(("boundary", "dynamic", "trust"))
_OF_THE_SPEAKER = frozenset(("fact", "preference", "emotion"))
#: Says that what was said before is not meant any more.
_RETRACTS = re.compile(
    r"\b(?:chang(?:ed|ing) (?:my|our) minds?|tak(?:e|ing) (?:that|this|it|all that) back|on second thoughts?|i was wrong about|scratch that|strike that)\b",
    re.IGNORECASE,
)
#: Says that something is so since then, or again.
_NOW = re.compile(
    r"\b(?:now|again|after all|any ?more|no longer|from (?:now|today|here) on|from (?:now|today)|as of|nowadays|these days|back (?:on|to|with)|instead|meanwhile)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r"[,;–—]\s|:\s|\.\s|\s-\s|\b(?:because|since (?:the|it|we|he|she|they|i)|so that|before you|and (?:i|we|you))\b"
)
#: Words that say which side is taken, how sure, and since when.
_SAID_WITH = frozenset(map(key_of, (
    "fine ok okay alright right allowed acceptable permitted safe welcome problem issue forbidden limits need free may can "
    "better best good worse bad prefer preferred show tell check changed mind turn turned turns out thought second back yesterday "
    "actually okay start started begin stop stopped quit shift shifted move moved moving change switch switched postpone meanwhile "
    "mean meant time long wrong"
).split()))  # fmt: skip
#: Verbs that only say that something is so, has a place or an owner, or happens: `Paul owns billing`, `The backup runs at 3`.
_OF_COURSE = frozenset(map(key_of, (
    "run start begin open close happen take place cost pay meet stand set schedule plan hold last due expire leave arrive be stay amount total come "
    "own belong handle do responsible charge live work use go have night day week morning evening month year daily weekly service system"
).split()))  # fmt: skip
#: Words for things of any kind: `the files in /srv/photos` are /srv/photos.
_GENERAL = frozenset(map(key_of, "file files folder directory thing stuff".split()))
#: Denies less than what it names: `I'm not the only teacher any more`.
_IN_PART = re.compile(
    r"(?:\bnot|n['’]t) (?:the |an? |my |our )?(?:only|just|always|all|every|each|so|very|too|as|really|sure|entirely|completely|quite|alone|usually|often|exactly)\b",
    re.IGNORECASE,
)
#: How a thing is given up, with the thing: `We threw Jenkins out`, `I left Philips`, `Caddy didn't work out`.
_GIVEN_UP = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:(?:just|now|finally|also) )?(?:"
    r"(?:left|quit|sold|dropped|ditched|abandoned|scrapped|removed|cancelled|canceled|retired|replaced|gave up(?: on)?|got rid of|moved (?:away |off )?from|switched (?:away )?from|parted with|said goodbye to|broke up with) (?:the |our |my )?(?P<one>[\w.+#' -]{2,40}?)"
    r"|(?:threw|kicked|chucked|tossed|phased|took|ripped) (?:the |our |my )?(?P<two>[\w.+#' -]{2,40}?) (?:out|away))\s*$|"
    r"^\W*(?:the |our |my )?(?P<three>[\w.+#' -]{2,40}?) (?:did(?:n't| not) work(?: out)?|does(?:n't| not) work(?: out)?(?: for us)?|turned out (?:badly|too \w+|a mistake|wrong)|(?:is|was) (?:out|off|dead|gone|history|over|a mistake|no good|cancelled|canceled|off the table))\s*$",
    re.IGNORECASE,
)
#: What a statement tells of its subject, behind a form of `be`, a verb of having or of using, or where and with whom.
_TOLD = re.compile(
    r"\b(?:is|are|(?<!let)'s|use|uses|using|drive|drives|take|rent|go(?:ing)? with|with|at|for|in|by|on|host(?:ed|ing)?)\s+(?:an? |the |our |my )?(?P<what>[\w.+#'-]+(?: (?-i:[A-Z])[\w'-]+)*)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'-]+")
_NOT_THAT = re.compile(
    r",? (?:and )?not (?:to |in |on |at |by |with |for |from |of )?(?:the |our |my )?(?P<what>[\w.+#:'-]+(?: [\w'-]+)?)(?: any ?more| any longer)?\W*$",
    re.IGNORECASE,
)
#: A rest of a sentence that has no side of its own.
_REST = re.compile(r"\W*(?:and |but )?not\b", re.IGNORECASE)
#: How much of an earlier subject a later clause has to name: the rest is what it does not repeat.
_MOST, _HALF = 0.6, 0.5


@dataclass(frozen=True, slots=True)
class Stance:
    """What a clause says of what: its side, and the words and values of its subject as keys."""

    side: Side
    subject: frozenset[str]


def stances_in(text: str) -> Iterator[Stance]:
    """The stances of a sentence: of the whole of it, and of each clause."""
    parts = [part for part in _CLAUSES.split(text) if part and part.strip()]
    for part in dict.fromkeys([text, *parts]):
        subject = subject_of(part) - _SAID_WITH
        if subject - LIKING_KEYS and not _REST.match(part):
            yield Stance(_side(part), subject)


def _side(clause: str) -> Side:
    if _ALLOWS.search(clause):
        return "allows"
    if _FORBIDS.search(clause) and not re.match(r"\W*(?:i|we|my|our|the|it|he|she|they)\b", clause, re.IGNORECASE):
        return "forbids"
    return "denies" if _DENIES.search(clause) else "affirms"


def stance_of(one_kind: str, quote: str) -> Stance:
    """The stance of a statement that stands."""
    subject = subject_of(quote) - _SAID_WITH
    if one_kind == "trust":
        return Stance("allows", subject)
    denied = bool(_DENIES.search(quote))
    if one_kind in _ORDERS:
        return Stance("forbids" if denied else "affirms", subject)
    return Stance("denies" if denied else "affirms", subject)


def turns_round(new: Extraction, old: Extraction) -> bool:
    """Whether a sentence of a human takes the other side of what an earlier statement says.

    A limit is lifted only by what names all that it limits; a permission ends also with one that names most of it.
    """
    if new.speaker != "human" or old.kind == "correction" or (old.kind in _OF_THE_SPEAKER and old.speaker != "human"):
        return False
    words = new.quote
    if TEMPORARY.search(words) or OFTEN.search(words) or _IN_PART.search(words) or not is_plain(as_read(words)):
        return False
    if _valued_anew(new, old) or _rejected(words, old):
        return True
    if old.kind in _OF_THE_SPEAKER and is_about_speaker(words) != is_about_speaker(old.quote):
        return False
    if old.kind == "preference" and LIKING & subject_of(old.quote) - subject_of(words) and not _RETRACTS.search(words):
        return False  # who does something no longer may still like it
    retracts, now = _RETRACTS.search(words) is not None, _NOW.search(words) is not None
    said = stance_of(old.kind, old.quote)
    for taken in stances_in(words):
        sides = taken.side, said.side
        lifts = taken.side in ("allows", "affirms") and said.side == "forbids"
        least = len(said.subject - _GENERAL) if lifts else _MOST * len(said.subject)
        if not taken.subject <= said.subject or len(taken.subject - _GENERAL) < least:
            continue
        if len(taken.subject) < 2 and taken.subject != said.subject:
            continue
        if retracts or sides in _OPPOSITE or (now and sides in _OPPOSITE_NOW):
            return True
    return _given_up(words, old)


def _given_up(words: str, old: Extraction) -> bool:
    """Whether a clause says of nothing but what was told or chosen that it was given up."""
    if old.kind not in ("decision", "context", "fact", "dynamic"):
        return False
    told = {key_of(found["what"].split()[0].rstrip(".'-")) for found in _TOLD.finditer(old.quote)}
    for clause in _CLAUSES.split(words):
        found = _GIVEN_UP.search(clause) if clause else None
        if found is None:
            continue
        thing = subject_of(found["one"] or found["two"] or found["three"] or "")
        if len(thing) == 1 and thing <= told:
            return True
    return False


def _valued_anew(new: Extraction, old: Extraction) -> bool:
    """Whether a change gives another value to a subject: `We shifted the backup to 05:00`."""
    if old.kind not in ("fact", "context", "decision") or not is_change(new.quote):
        return False
    now, before = told_in(new.quote), told_in(old.quote)
    shared = [kind for kind in now.values if kind in before.values]
    if len(shared) != 1 or now.values[shared[0]] & before.values[shared[0]] or len(now.values) > len(before.values):
        return False
    if len(now.values[shared[0]]) != 1 or len(before.values[shared[0]]) != 1:
        return False
    if shared == ["name"] and old.kind == "decision":
        return False  # what is chosen for a thing is not replaced by where it is
    ours, theirs = now.words - _SAID_WITH - _OF_COURSE, before.words - _SAID_WITH - _OF_COURSE
    if ours & {key_of(name) for name in _NAME.findall(old.quote)}:  # `Mia turned eight`, of `My daughter Mia is seven`
        return ours <= theirs and shared != ["name"]
    about_one = is_about_speaker(new.quote) == is_about_speaker(old.quote) or old.kind not in _OF_THE_SPEAKER
    return about_one and bool(ours) and ours == theirs


def _rejected(words: str, old: Extraction) -> bool:
    """Whether a sentence ends with what it is not any more, and the earlier statement says just that of the same:
    `Billing belongs to Lena now, not to Paul`."""
    found = _NOT_THAT.search(words)
    if found is None or _DENIES.search(old.quote):
        return False
    denied, about = subject_of(found["what"]), subject_of(words[: found.start()]) - _SAID_WITH - _OF_COURSE
    said = subject_of(old.quote) - _SAID_WITH
    rest = said - denied - _OF_COURSE
    return bool(denied) and denied <= said and len(about & rest) >= max(1, _HALF * len(rest))
