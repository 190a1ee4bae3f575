"""A new value in the place of an old one: `The deploy runs at 23:30 now`, `Our rent went up to 980 euros`, `My daughter
turned six`, and the opposite of what somebody liked.

The sentence must say that something changed, and both must say the same of the same thing but for that one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory_pipeline.conversations.claims import begins_with_speaker, key_of, subject_of, values_of, words_of_subject
from memory_pipeline.conversations.forms import is_plain
from memory_pipeline.conversations.own_words import as_read
from memory_pipeline.conversations.taking_back import OFTEN, TEMPORARY
from memory_pipeline.records import Extraction, ExtractionKind
from memory_pipeline.wording.memo import remembered

#: Says that what was so before is not so now.
_CHANGED = re.compile(
    r"\b(?:now|from now on|nowadays|these days|moved|moves|moving|changed|changes|switched|turned|turns|went (?:up|down)|goes (?:up|down)|"
    r"rose|raised|lowered|fell|dropped|increased|decreased|grew|shrank|postponed|brought forward|pushed (?:back|to)|shifted|shifts|rescheduled|instead|(?:cut|extended|reduced|shortened|prolonged|set|set back) to|(?:is|are) (?:now )?(?:down|up) to|"
    r"(?:from|as of|since|starting) (?:now|today|tomorrow|next \w+|last \w+|this \w+|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|\d{4}))\b",
    re.IGNORECASE,
)
#: What else is so besides.
_BESIDES = re.compile(
    r"\b(?:also|too|as well|another|additional\w*|besides|in addition|a second|second|extra)\b", re.IGNORECASE
)
#: Words of changing, and of when something changed, which are no part of what is so.
_CHANGING = re.compile(
    r"\b(?:(?:has|have|was|were|got|been|is|are|being) )*(?:moved|moves|moving|changed|changes|switched|turned|turns|went (?:up|down)|goes (?:up|down)|rose|raised|lowered|fell|dropped|"
    r"increased|decreased|grew|shrank|postponed|brought forward|pushed (?:back|to)|shifted|shifts|rescheduled|cut|extended|reduced|shortened|prolonged|set|down to|up to)(?: back)?\b|"
    r"\b(?:yesterday|recently|nowadays|these days|(?:last|this|over the|on the|at the) (?:night|week|weekend|month|year|spring|summer|autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"(?:from|as of|since|starting) (?:now|today|tomorrow|next \w+|last \w+|january|february|march|april|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?! (?:to|through|until)\b)))\b",
    re.IGNORECASE,
)
#: Who changed it is no part of what is so: `We've moved the weekly sync to Tuesdays`.
_WHO_CHANGED = re.compile(
    r"\A\W*(?:(?:and|so|but|ok|okay|also),? )*(?:we|i|they|he|she)(?:'ve|'re|'m|'s| have| are| am| has| had| will|'ll)? (?:now |just |all )?"
    r"(?=(?:mov|chang|shift|rais|lower|cut|extend|reduc|shorten|prolong|postpon|push|reschedul|set|bring|brought)\w* (?:the|our|my)\b)",
    re.IGNORECASE,
)
#: `My phone number has changed, it's 0160 9988`.
_IT_IS = re.compile(
    r" (?:has |have |was |were )?(?:changed|moved)[,:;]? (?:it's|it is|they're|they are)(?: now)? ", re.IGNORECASE
)
_CHANGED_IT = re.compile(
    r"\A\W*(?:(?:we|i|they)(?:'ve| have)? )?(?:just )?changed (?P<what>(?:the|our|my) [\w' -]{2,40}?), (?:it's|it is|they're|they are)(?: now)? ",
    re.IGNORECASE,
)
#: Who has a role or does something that one does: `Lena is our accountant`, `Tim handles the billing`.
_IN_ROLE = re.compile(
    r"\A\W*(?P<name>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)(?: is| 's|'s)? (?:now )?(?:(?P<role>(?:our|my|the) (?!\w+ (?:one|best)\b)(?:[\w-]+ ){0,2}?[\w-]+)|"
    r"(?P<does>(?:handles|runs|manages|leads|owns|oversees|coordinates|responsible for|in charge of|takes care of|takes over|took over|has taken over|looks after|does) (?:the|our|all)\b.*?))(?: now| these days)?\W*\Z",
    re.IGNORECASE,
)
#: Of these there are several at a time.
_MANY = re.compile(
    r"\b(?:neighbou?r|colleague|friend|customer|client|tenant|member|cousin|student|intern|teammate|partner|supplier|contact|developer|designer|engineer|driver|assistant|aunt|uncle|"
    r"brother|sister|son|daughter|child|cat|dog|best|favou?rite|only|problem|new|second|other)s?\b",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"(?:the|this|that|it|he|she|we|they|there|our|my|your|what|who|everything|someone|nobody)\b", re.IGNORECASE
)
_FAVOURITE = re.compile(r"\bmy favou?rite \w+ (?:is|are)\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:have|has|got|only|with|just|own) (?:only |just )?one\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;–—](?!\d)\s|\.\s|\s-\s|\b(?:because|since (?:the|it|we|he|she|they)|so that|not)\b")
#: Verbs that only say when something is, or how much: `The call moves to Friday` says the same of it.
_OF_COURSE = frozenset(map(key_of, (
    "run start begin open close happen take place cost pay meet stand set schedule plan hold last due expire leave arrive "
    "weigh be stay amount total come end finish"
).split()))  # fmt: skip
_NAME = re.compile(r"(?<=[a-z,] )(?:Dr\. |Mr\. |Mrs\. |Ms\. |Prof\. )?[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
#: A name that is what is told: at the end, behind a form of `be`, or where, with or for whom.
_TOLD_NAME = re.compile(
    r"\b(?:is|are|'s|at|in|with|by|from|for|to|on|called|use|uses|named)(?: now)? (?:the )?(?=(?-i:[A-Z])[\w'. -]*$)", re.IGNORECASE
)  # fmt: skip
_DAYS = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december)$",
    re.IGNORECASE,
)
_KINDS: frozenset[ExtractionKind] = frozenset({"fact", "context", "decision"})
_TAKING_OVER = re.compile(
    r"\A(?:handles|runs|manages|leads|owns|oversees|coordinates|responsible for|in charge of|takes care of|takes over|took over|has taken over|looks after|does) ", re.IGNORECASE
)  # fmt: skip
_LIKES = {"like": True, "love": True, "enjoy": True, "adore": True, "hate": False, "dislike": False, "detest": False,
          "loathe": False, "despise": False, "stand": False, "bear": False, "mind": False}  # fmt: skip
LIKING_KEYS = frozenset(map(key_of, (*_LIKES, "prefer")))
_LIKING = re.compile(
    r"\bi(?:'ve| have)? (?P<between>(?:[a-z']+ ){0,4}?)(?P<verb>like|love|enjoy|adore|hate|dislike|detest|loathe|despise|stand|bear|mind)(?:d|s)?\b(?P<what>[^,;:.!?–—]*)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|never|no longer|no|any ?more|any longer)\b|n['’]t\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b|\bcannot\b", re.IGNORECASE)
_HAS_CHANGED = re.compile(
    r"\b(?:now|actually|again|any ?more|no longer|these days|nowadays|meanwhile|by now|come to|grown to|started to|begun to|learned to|learnt to|these days|changed my mind)\b", re.IGNORECASE
)  # fmt: skip
#: `I prefer window seats`: of one sort of thing, or at one time of the day.
_PREFERS = re.compile(
    r"\bi(?:'ve| have)? (?:[a-z]+ ){0,3}?prefer (?P<what>(?:the )?[\w-]+(?: (?:in|at|on)(?: the)?)? (?P<head>[\w-]+))(?=\s*(?:[.,;!]|$|now\b|these days\b|nowadays\b|to\b|over\b))",
    re.IGNORECASE,
)
_TIMES_OF_DAY = frozenset(map(key_of, "morning afternoon evening night noon lunchtime weekend weekday".split()))
_RATHER = (
    re.compile(r"\bi (?:[a-z]+ ){0,2}?prefer (?:an? |the )?(?P<one>[\w' -]+?) (?:over|to|rather than|instead of) (?:an? |the )?(?P<other>[\w' -]+)", re.IGNORECASE),
    re.compile(r"\bi(?:'d| would)? (?:much |always |now )?(?:rather|like|love|prefer) (?:(?:get|have|take|do|use|read|write|make|receive) )?(?:an? |the )?(?P<one>[\w' -]+?) (?:more )?than (?:(?:get|have|take|do|use|read|write|make|receive) )?(?:an? |the )?(?P<other>[\w' -]+)", re.IGNORECASE),
    re.compile(r"\b(?:give me )?(?P<one>[\w' -]+?) over (?P<other>[\w' -]+), (?:always|any day|any time|every time)\b", re.IGNORECASE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What a statement says of what: its words, and its values by what they are."""

    words: frozenset[str]
    values: Mapping[str, frozenset[str]]


@remembered
def told_in(text: str) -> Told:
    """What the first clause of a statement tells."""
    text = _IT_IS.sub(" is ", _CHANGED_IT.sub(r"\g<what> is ", _WHO_CHANGED.sub("", text)))
    end = _CLAUSE_END.search(text)
    clause = text[: end.start()] if end else text
    role = _IN_ROLE.match(clause)
    if role and not _NOT_A_NAME.match(role["name"]) and not _MANY.search(role["role"] or ""):
        clause = f"{role['role'] or re.sub(_TAKING_OVER, '', role['does'])} is {role['name']}"
    clause = _CHANGING.sub(" ", clause).strip(" .!;,")
    named = _TOLD_NAME.search(clause.removesuffix(" now").strip())
    names = frozenset(
        name.lower()
        for name in (match.group() for match in _NAME.finditer(clause))
        if named is not None and clause.find(name) >= named.end() and not _DAYS.match(name)
    )
    numbers = {"number": frozenset("1")} if _ONE.search(clause) else {}
    values = {**numbers, **values_of(clause), **({"name": names} if names else {})}
    of_names = {key_of(word) for name in names for word in re.findall(r"\w+", name)}
    of_values = {key_of(word) for found in values.values() for value in found for word in value.split()}
    return Told(words_of_subject(clause) - of_names - of_values, values)


def clauses_told(text: str) -> tuple[Told, ...]:
    """What a statement tells, and each of its clauses: `We sold one of the cars, so we have one car now.`"""
    parts = [part.removeprefix("so ").removeprefix("and ") for part in re.split(r"[,;–—](?!\d)\s+", text)]
    whole = _IT_IS.sub(" is ", _CHANGED_IT.sub(r"\g<what> is ", text))
    affirmed = dict.fromkeys([*filter(_CHANGED.search, parts), *([whole] if whole != text else [])])
    return tuple(told_in(part) for part in affirmed if not _DENIES.search(part))


def is_change(text: str) -> bool:
    """Whether a sentence says that something changed for good."""
    is_said = _CHANGED.search(text) and not any(other.search(text) for other in (TEMPORARY, OFTEN, _BESIDES))
    return bool(is_said) and is_plain(as_read(text))


def replaces(new: Extraction, old: Extraction) -> bool:
    """Whether a statement of a human gives a new value to what an earlier one told."""
    kinds = _KINDS | {"preference"} if _FAVOURITE.search(new.quote) else _KINDS
    if old.kind not in kinds or _is_own(new.quote) != _is_own(old.quote):
        return False
    before = told_in(old.quote)
    changing = bool(_CHANGING.search(new.quote))
    return any(_replaces(now, before, changing=changing) for now in clauses_told(new.quote))


def _is_own(text: str) -> bool:
    return begins_with_speaker(text) and _WHO_CHANGED.match(text) is None and _IN_ROLE.match(text) is None


def _replaces(now: Told, before: Told, *, changing: bool) -> bool:
    other = [kind for kind, values in now.values.items() if values != before.values.get(kind)]
    if len(other) != 1:
        return False
    values, earlier = now.values[other[0]], before.values.get(other[0], frozenset())
    if len(values) != len(earlier) or values & earlier:
        return False
    if not now.words <= before.words or not (now.words or before.words):
        return False
    return before.words - now.words <= (_OF_COURSE if changing else frozenset())


def likes_otherwise(new: Extraction, old: Extraction) -> bool:
    """Whether a human likes now what he or she did not, or the other way round; or prefers the other of two."""
    if old.kind not in ("preference", "dynamic"):
        return False
    pairs = [_rather_in(new.quote), _rather_in(old.quote)]
    if pairs[0] and pairs[1]:
        return pairs[0] == pairs[1][::-1]
    preferred = [_PREFERS.search(new.quote), _PREFERS.search(old.quote)]
    if preferred[0] and preferred[1]:
        one, other = (subject_of(found["what"]) for found in preferred if found)
        is_of_one_sort = key_of(preferred[0]["head"]) == key_of(preferred[1]["head"])
        return (
            len(one) == len(other) == 2 and len(one & other) == 1 and (is_of_one_sort or (one ^ other) <= _TIMES_OF_DAY)
        )
    liked = [_liking_in(new.quote), _liking_in(old.quote)]
    return None not in liked and liked[0][0] != liked[1][0] and liked[0][1] == liked[1][1]  # type: ignore[index]


def liked_in(text: str) -> frozenset[str]:
    """Words of what somebody likes, or likes less, where it says that this changed."""
    if not _HAS_CHANGED.search(text) or TEMPORARY.search(text) or not is_plain(as_read(text)):
        return frozenset()
    pair, liked, preferred = _rather_in(text), _liking_in(text), _PREFERS.search(text)
    words = (pair[0] | pair[1] if pair else frozenset()) | (liked[1] if liked else frozenset())
    return words | (subject_of(preferred["what"]) if preferred else frozenset())


def is_liking(opposites: str) -> bool:
    """Whether two opposites (`love / hate`) say that something is liked or not."""
    return all(word in _LIKES for word in opposites.split(" / "))


def is_of_one_thing(one: str, other: str) -> bool:
    """Whether two statements, one of which says no, can be about one thing: `I don't like long flights` is not about
    long explanations, who likes a town may not like its airport, and what denies a part is an exception."""
    ones, others = words_of_subject(one) - LIKING_KEYS, words_of_subject(other) - LIKING_KEYS
    if _LIKING.search(one) and _LIKING.search(other):
        return ones == others
    denied = [_DENIES.search(text) is not None for text in (one, other)]
    if denied[0] == denied[1]:
        return ones <= others or others <= ones
    return ones <= others if denied[0] else others <= ones


def share_a_subject(one: str, other: str, *, apart_from: Iterable[str]) -> bool:
    """Whether all that the shorter of two statements is about, some words aside, is what the other one is about:
    `ask Annelies about the house before you order` is not about ordering paper without asking."""
    aside = LIKING_KEYS | {key_of(word) for word in apart_from}
    ones, others = words_of_subject(one) - aside, words_of_subject(other) - aside
    return ones <= others or others <= ones


def _rather_in(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    for pattern in _RATHER:
        found = pattern.search(text)
        if found is not None and (pair := (subject_of(found["one"]), subject_of(found["other"])))[0] and pair[1]:
            return pair
    return None


def _liking_in(text: str) -> tuple[bool, frozenset[str]] | None:
    found = _LIKING.search(text)
    if found is None or not (liked := subject_of(_HAS_CHANGED.sub(" ", found["what"]))):
        return None
    verb = found["verb"].lower()
    denied = bool(_NOT.search(found["between"]))
    return (not denied if _LIKES[verb] else denied and verb not in ("stand", "bear")), liked
