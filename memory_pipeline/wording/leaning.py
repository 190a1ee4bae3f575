"""What a statement speaks of: of all before it or a part, and whether it holds until somebody says otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.facts import find_facts
from memory_pipeline.wording.grammar import PRESENT, Word, clauses_of, words_of
from memory_pipeline.wording.memo import remembered

#: How closely a sentence leans: on all that the sentence before it says; on one of the things that it names; on what it
#: is about; on something in it.
ON_ALL, ON_PART, ON_SUBJECT, ON_SOMETHING = 1, 2, 3, 4
_ALL = re.compile(
    r"\b(?:say|says|said|think|thinks|thought|confirm|confirms|do|does|did) so\b"
    r"|\b(?:afterwards|beforehand|instead|then|even so)[.!]?$"
    r"|\b(?:about|after|because of|before|by|despite|exactly|for|from|of|over|to|with|without) (?:this|that)[.!]?$"
    r"|^(?:because of (?:this|that)|that is why|this is why|for (?:this|that) reason|as a result|therefore|hence|so)\b",
    re.IGNORECASE,
)
_SOMETHING = re.compile(r"^(?:then|afterwards|otherwise|instead)\b|\bthe same \w+[.!]?$", re.IGNORECASE)
_PART = re.compile(r"\bof (?:them|these|those)\b|^the (?:\w+ )?(?:ones?|same|latter|former)\b", re.IGNORECASE)
_DEMONSTRATIVES = frozenset(("this", "that", "these", "those"))
_PERSONAL = frozenset(("it", "they", "he", "she"))
#: Whom these mean is clear from further away: what stands between is seldom a person.
_OF_PERSONS = frozenset(("he", "she", "his", "her"))
_OBJECTS = frozenset(("it", "them", "him"))
_AT_ITS_END = re.compile(r"(\w+) (?:about|against|for|of|to|with) (?:it|them)[.!]?$", re.IGNORECASE)
_OWNED = frozenset(("its", "their", "his", "her"))


@remembered
def leaning_of(sentence: str) -> int | None:
    """How closely a sentence leans on the one before it, or None if it stands by itself."""
    text = sentence.strip()
    if _ALL.search(text):
        return ON_ALL
    if _PART.search(text):
        return ON_PART
    words = words_of(text)
    for place, word in enumerate(words):
        if word.low in _DEMONSTRATIVES and not place:
            return ON_ALL if place + 1 < len(words) and words[place + 1].is_verb else ON_SUBJECT
        if word.low in _PERSONAL | _OWNED and _opens(words[:place]):
            return ON_SOMETHING if word.low in _OF_PERSONS else ON_SUBJECT
        if word.low in _OBJECTS and _has_only_a_subject(words[:place]):
            return ON_SOMETHING
    if _ends_on_what_it_names_not(text, words):
        return ON_SUBJECT
    return ON_SOMETHING if _SOMETHING.search(text) else None


def _opens(before: Sequence[Word]) -> bool:
    """Whether nothing stands before a word but a circumstance: `in summer`."""
    return not before or (before[0].tag == "PRP" and len(before) < 5 and not any(word.is_verb for word in before))


def _has_only_a_subject(before: Sequence[Word]) -> bool:
    """Whether before an object stand one verb and what does it, which the object is not: `only the network shows`."""
    verbs = [place for place, word in enumerate(before) if word.tag[:1] == "V"]
    if not verbs or any(word.tag in ("CJS", "AVQ", "PNQ", "DTQ") for word in before):
        return False
    return not any(word.is_noun or word.tag == "NP0" for word in before[verbs[0] + 1 :]) and verbs[-1] - verbs[0] < 3


def _ends_on_what_it_names_not(text: str, words: Sequence[Word]) -> bool:
    """Whether a sentence ends with what one thing is for or about, and names no other that this could be: `Priya has a
    script for it`."""
    end = _AT_ITS_END.search(text)
    if end is None:
        return False
    verbs = [place for place, word in enumerate(words) if word.tag[:1] == "V"]
    named = [word.low for word in words[verbs[0] :] if word.is_noun] if verbs else []
    persons = verbs and all(word.tag in ("NP0", "PNP", "PNI") for word in words[: verbs[0]] if word.tag[:1] in "NP")
    return bool(persons) and named == [end[1].lower()]


def refers_back(sentence: str) -> bool:
    """Whether a sentence speaks of something that it does not name: a pronoun comes before any noun."""
    for word in words_of(sentence):
        if word.is_noun or word.tag == "NP0":
            return False
        if word.low in ("it", "them", "this", "these", "that", "those", "they"):
            return True
    return False


#: A label before what is said: `**Email:** ...`.
_LABEL = re.compile(r"^[\W_]{0,4}[^\s:.][^:.]{0,40}?[:*_]{1,4}\s+")
#: Words that tie a statement to one moment; those of one day tie a rule to it as well.
_OF_ONE_DAY = r"this (?:time|round|run|week|morning|afternoon|evening)|today|tonight|yesterday|tomorrow"
NAMES_A_MOMENT = re.compile(
    rf"\b(?:again|another|now|so far|next|last (?:week|night|run|time)|{_OF_ONE_DAY})\b", re.IGNORECASE
)
_NAMES_A_DAY = re.compile(rf"\b(?:{_OF_ONE_DAY})\b", re.IGNORECASE)
_CLOSING = " \t*_\"'”’)"
#: Who talk: pronouns that need no sentence before them.
_SPEAKERS = frozenset("i me we us you".split())
_MOMENTS = frozenset(("date", "time"))


def are_decidable(kind: str, claims: tuple[str, str], *, rules: tuple[bool, bool], same_day: bool) -> bool:
    """Whether a person should be asked which of two claims that differ in one place is right.

    Both are rules, or both say what holds and name no moment but the one in which they differ. Two times of one day
    that no rule gives are two moments of a log, and how much or how often, said in words, is nothing to decide.
    `rules`: whether each is a rule; `same_day`: whether both are of one day.
    """
    if kind == "quantifier" or any(_NAMES_A_DAY.search(claim) or not is_whole(claim) for claim in claims):
        return False
    if all(rules):
        return True
    if (kind == "time" and same_day) or not all(map(max, rules, map(is_standing, claims))):
        return False
    return max(map(moments_in, claims)) <= (kind in _MOMENTS)


@remembered
def is_standing(statement: str) -> bool:
    """Whether it begins with a whole clause in the present tense."""
    clauses = clauses_of(_LABEL.sub("", statement))
    verb = next((word.tag for word in clauses[0].words if word.is_verb), None) if clauses else None
    return verb in PRESENT


@remembered
def is_whole(statement: str) -> bool:
    """Whether it says by itself what it speaks of: no question, no heading, and nothing that only a sentence before it
    names (`has him at 32`)."""
    if statement.rstrip(_CLOSING).endswith(("?", ":")):
        return False
    return not any(word.tag == "PNP" and word.low not in _SPEAKERS for word in words_of(statement))


@remembered
def moments_in(statement: str) -> int:
    """How many days and times of day it names."""
    return sum(fact.kind in _MOMENTS for fact in find_facts(statement))
