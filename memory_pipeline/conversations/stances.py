"""Which side a clause takes on its subject, whatever its words: it allows, forbids, affirms or denies.

`Deploying on Fridays is fine from now on` and `Never deploy on Fridays` have one subject and opposite sides, so the
later one takes the earlier one back. No form of sentence is asked for: the words that say which side is taken are left
out, and what is left of a clause must be the subject of the earlier statement, with nothing that narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from memory_pipeline.conversations.about_human import TOOLS
from memory_pipeline.conversations.changes import LIKING_KEYS, Told, is_change, told_in
from memory_pipeline.conversations.claims import LIKING, is_about_speaker, key_of, subject_of
from memory_pipeline.conversations.forms import is_plain
from memory_pipeline.conversations.own_words import as_read
from memory_pipeline.conversations.taking_back import OFTEN, TEMPORARY, WITH_APPROVAL
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
_ORDERS = frozenset(("boundary", "dynamic"))
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
    r"(?:\bnot|n['’]t) (?:the |an? |my |our )?(?:only|just|always|all|every|each|so|very|too|as|really|sure|entirely|completely|quite|alone|usually|often|exactly)\b|\bmarried to (?:this|that|the|any)\b",
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
_WHEN = r"(?: (?:on (?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|year|weekend|spring|summer|autumn|winter)|yesterday|over the weekend|since (?:last )?\w+))?"
#: The same without a subject, or of what people are in: `Sold the Skoda on Saturday`, `I'm out of the brass band`.
_PARTED = re.compile(
    rf"^\W*(?:(?:(?:i|we)(?:'ve| have)? )?(?:just |finally |now )?(?:sold|gave up|given up|got rid of|parted with)|(?:i|we)(?:'ve| have)? (?:just |finally |now )?quit) (?:the |our |my )(?P<one>[\w.+#' -]{{2,40}}?){_WHEN}\s*$|"
    r"^\W*(?:(?:i'm|i am|we're|we are) (?:now |finally )?out of|(?:i|we)(?:'ve| have)? (?:just |now |finally )?left) (?:the |our |my )(?P<two>(?:[\w'-]+ ){0,2}?(?:band|choir|team|club|board|group|orchestra|league|union|committee|council|association|program(?:me)?|squad|crew|company|firm|church|gym|quartet|troupe|society))"
    + _WHEN + r"\s*$|"
    r"^\W*(?:i|we)(?:'ve| have)? (?:just |finally |now )?(?:cancell?ed|swapped|traded in) (?:the |our |my )?(?P<three>(?-i:[A-Z])[\w+#'-]+)(?: for (?:an? |the )[\w' -]{2,30})?" + _WHEN + r"\s*$",
    re.IGNORECASE,
)  # fmt: skip
#: Somebody who does no work for the speaker any more.
_LEFT_US = re.compile(
    r"^\W*(?:(?:so|and|but|sadly|unfortunately|by the way),? )*(?P<who>(?-i:[A-Z])[\w'-]+)(?:'s| has| is)? (?:just |sadly |also )?(?:stopped working (?:for|with) (?:us|me)|left (?:us|the (?:company|team|practice|firm|office|department|shop))|resigned|retired|"
    r"no longer works? (?:for|with) (?:us|me)|not working (?:for|with) (?:us|me) any ?more|doesn't work (?:for|with) (?:us|me) any ?more|handed in (?:his|her|their) notice|was let go)\b" + _WHEN + r"\W*$",
    re.IGNORECASE,
)  # fmt: skip
_MOVED = re.compile(
    r"^\W*(?:(?:so|and|but|by the way),? )*(?:my |our )?(?:[a-z]+ )?(?P<who>(?-i:[A-Z])[\w'-]+)(?: has|'s)? (?:just |recently |finally |now )*(?:moved|relocated) (?:back |house )?to (?!(?:accounting|sales|marketing|support|finance|hr|it|legal|ops|engineering|operations|research|design)\b)"
    rf"(?!{TOOLS}\b)(?P<where>(?-i:[A-Z])[\w'-]+)(?: (?-i:[A-Z])[\w'-]+)?{_WHEN}\W*$",
    re.IGNORECASE,
)
#: What a statement tells of its subject, behind a form of `be`, a verb of having or of using, or where and with whom.
_TOLD = re.compile(
    r"\b(?:is|are|(?<!let)'s|use|uses|using|drive|drives|take|rent|go(?:ing)? with|with|at|for|in|by|on|host(?:ed|ing)?)\s+(?:an? |the |our |my )?(?P<what>[\w.+#'-]+(?: (?-i:[A-Z])[\w'-]+)*)",
    re.IGNORECASE,
)
#: What is used, owned or played, and what somebody is in: up to the next mark.
_USED = re.compile(
    r"^\W*(?:i|we)(?:'m|'re|'ve)? (?:also |still |now |only )?(?:use|drive|own|ride|rent|lease|have|play|sing|row|wear|am|are|coach|train|volunteer|an?|in|with|part|got)\b(?P<what>[^,;.!?]{2,80})",
    re.IGNORECASE,
)
_KIN = r"(?:sister|brother|mother|father|mum|mom|dad|wife|husband|partner|son|daughter|aunt|uncle|cousin|niece|nephew|friend|girlfriend|boyfriend|grand\w+|neighbou?r|dog|cat)"
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'-]+")
_NOT_THAT = re.compile(
    r",? (?:and )?not (?:to |in |on |at |by |with |for |from |of )?(?:the |our |my )?(?P<what>[\w.+#:'-]+(?: [\w'-]+)?)(?: any ?more| any longer)?\W*$",
    re.IGNORECASE,
)
#: A rest of a sentence that has no side of its own.
_REST = re.compile(r"\W*(?:and |but )?not\b", re.IGNORECASE)
#: How much of an earlier subject a later clause has to name: the rest is what it does not repeat.
_MOST, _HALF = 0.6, 0.5
_MOST_OF_THING = 3


@dataclass(frozen=True, slots=True)
class Stance:
    """What a clause says of what: its side, and the words and values of its subject as keys."""

    side: Side
    subject: frozenset[str]


def _stances_in(text: str) -> Iterator[Stance]:
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


def _stance_of(old: Extraction) -> Stance:
    """The stance of a statement that stands."""
    subject = subject_of(old.quote) - _SAID_WITH
    if old.kind == "trust":
        return Stance("allows", subject)
    denied = bool(_DENIES.search(old.quote))
    if old.kind in _ORDERS:
        return Stance("forbids" if denied else "affirms", subject)
    return Stance("denies" if denied else "affirms", subject)


@dataclass(frozen=True, slots=True)
class Turning:
    """What a sentence turns round: what has all the words of `subject`, and of which `takes_back` says so."""

    subject: frozenset[str]
    takes_back: Callable[[Extraction], bool]


def turnings_in(new: Extraction) -> Iterator[Turning]:
    """What a sentence of a human turns round, by taking the other side of it.

    A limit is lifted only by what names all that it limits; a permission ends also with one that names most of it.
    """
    words = new.quote
    if new.speaker != "human" or any(one.search(words) for one in (TEMPORARY, OFTEN, _IN_PART, WITH_APPROVAL)):
        return
    retracts, now = _RETRACTS.search(words) is not None, _NOW.search(words) is not None
    stances = [
        (one, sides) for one in _stances_in(words) if (sides := _turned_by(one.side, retracts=retracts, now=now))
    ]
    given_up = [thing for thing in _things(_GIVEN_UP, words) if len(thing) == 1]
    parted = [thing for thing in _things(_PARTED, words) if 1 <= len(thing) <= _MOST_OF_THING]
    gone, moved = _LEFT_US.search(words), _MOVED.search(words)
    rejected = _NOT_THAT.search(words)
    anew = told_in(words) if is_change(words) else None
    if not (stances or given_up or parted or gone or moved or rejected or anew) or not is_plain(as_read(words)):
        return
    about_speaker = is_about_speaker(words)
    likes = retracts or bool(LIKING & subject_of(words))
    for stance, sides in stances:
        yield Turning(stance.subject, partial(_is_turned, stance, sides, about_speaker, likes, retracts))
    for thing in given_up:
        yield Turning(thing, partial(_tells, thing, about_speaker))
    for thing in parted:
        yield Turning(thing, partial(_is_of_thing, thing, about_speaker))
    if gone is not None:
        yield Turning(subject_of(gone["who"]), partial(_works_for_us, gone["who"]))
    if moved is not None:
        yield Turning(subject_of(moved["who"]), partial(_lives_elsewhere, moved["who"], moved["where"]))
    if rejected is not None:
        denied, about = subject_of(rejected["what"]), subject_of(words[: rejected.start()]) - _SAID_WITH - _OF_COURSE
        yield Turning(denied, partial(_is_rejected, denied, about))
    if anew is not None:
        yield Turning(anew.words - _SAID_WITH - _OF_COURSE, partial(_is_valued_anew, anew, about_speaker))


def _turned_by(side: Side, *, retracts: bool, now: bool) -> frozenset[Side]:
    """The sides of earlier statements that a side turns round."""
    if retracts:
        return frozenset(get_args(Side))
    return frozenset(other for mine, other in (_OPPOSITE | _OPPOSITE_NOW if now else _OPPOSITE) if mine == side)


def _can_be_of(old: Extraction, *, about_speaker: bool) -> bool:
    """Whether a sentence that is about its speaker, or is not, can be about what an earlier statement is about."""
    if old.kind not in _OF_THE_SPEAKER:
        return old.kind != "correction"
    return old.speaker == "human" and about_speaker == is_about_speaker(old.quote)


def _is_turned(
    stance: Stance, sides: frozenset[Side], about_speaker: bool, likes: bool, retracts: bool, old: Extraction
) -> bool:
    if not _can_be_of(old, about_speaker=about_speaker):
        return False
    if old.kind == "preference" and not likes and LIKING & subject_of(old.quote):
        return False  # who does something no longer may still like it
    said = _stance_of(old)
    if said.side not in sides or not stance.subject <= said.subject:
        return False
    if retracts:
        return len(stance.subject - _GENERAL) >= max(1, _HALF * len(said.subject))
    lifts = stance.side in ("allows", "affirms") and said.side == "forbids"
    least = len(said.subject - _GENERAL) if lifts else _MOST * len(said.subject)
    return len(stance.subject - _GENERAL) >= least and (len(stance.subject) > 1 or stance.subject == said.subject)


def _things(way: re.Pattern[str], words: str) -> Iterator[frozenset[str]]:
    """What the clauses of a sentence say was given up, or parted with, in a way that names it, each as keys."""
    for clause in _CLAUSES.split(words.rstrip(" .!")):
        if clause and (found := way.search(clause)):
            yield subject_of(found["one"] or found["two"] or found["three"] or "")


def _is_of_thing(thing: frozenset[str], about_speaker: bool, old: Extraction) -> bool:
    """Whether an earlier statement tells that its speaker uses a thing, or is in something, with all words of it."""
    if old.kind != "fact" or old.speaker != "human" or _DENIES.search(old.quote):
        return False
    return thing <= subject_of(old.quote) and any(
        thing <= set(map(key_of, re.findall(r"[\w+#'-]+", found["what"]))) for found in _USED.finditer(old.quote)
    )


def _works_for_us(who: str, old: Extraction) -> bool:
    """Whether an earlier statement tells of somebody what he or she does for the speaker."""
    if old.kind not in ("fact", "context") or old.speaker != "human" or _DENIES.search(old.quote):
        return False
    name = re.escape(who)
    of_us = rf"^\W*(?:our|my) (?!{_KIN}\b)(?:[a-z][\w-]* ){{1,3}}(?:is )?{name}\b|^\W*{name}(?:'s| is| was)? (?:now )?(?:our|my|the) (?!{_KIN}\b)[a-z]|^\W*{name} (?:handles|runs|manages|does|comes|cleans|works|leads|reviews|answers|maintains|keeps)\b"
    return (
        re.search(of_us, old.quote) is not None or re.search(of_us, old.quote[:1].lower() + old.quote[1:]) is not None
    )


def _lives_elsewhere(who: str, where: str, old: Extraction) -> bool:
    """Whether an earlier statement tells that somebody lives in another place."""
    if old.kind not in ("fact", "context") or old.speaker != "human" or _DENIES.search(old.quote):
        return False
    lives = re.search(
        rf"\b{re.escape(who)},? (?:now |still |also )?lives? (?:in|near|at) (?P<place>[A-Z][\w'-]+)", old.quote
    )
    return lives is not None and lives["place"].casefold() != where.casefold()


def _tells(thing: frozenset[str], about_speaker: bool, old: Extraction) -> bool:
    """Whether an earlier statement tells of nothing but a thing that it is used, or where somebody is."""
    if old.kind not in ("decision", "context", "fact", "dynamic") or not _can_be_of(old, about_speaker=about_speaker):
        return False
    return thing <= {key_of(found["what"].split()[0].rstrip(".'-")) for found in _TOLD.finditer(old.quote)}


def _is_valued_anew(now: Told, about_speaker: bool, old: Extraction) -> bool:
    """Whether an earlier statement gives another value to a subject: `We shifted the backup to 05:00`."""
    if old.kind not in ("fact", "context", "decision"):
        return False
    before = told_in(old.quote)
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
    return ours == theirs and _can_be_of(old, about_speaker=about_speaker)


def _is_rejected(denied: frozenset[str], about: frozenset[str], old: Extraction) -> bool:
    """Whether an earlier statement says just what a sentence says is not so: `Billing belongs to Lena, not to Paul`."""
    if old.kind == "correction" or (old.kind in _OF_THE_SPEAKER and old.speaker != "human"):
        return False
    said = subject_of(old.quote) - _SAID_WITH
    rest = said - denied - _OF_COURSE
    return denied <= said and len(about & rest) >= max(1, _HALF * len(rest)) and not _DENIES.search(old.quote)
